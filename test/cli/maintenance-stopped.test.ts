// Upkeep as the records of a stopped host have it, and the order that only a running one takes.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createSystemClock } from '../../src/adapters/clock/system.ts';
import { createIds } from '../../src/adapters/ids/ids.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import type { ConversationId, OperationId } from '../../src/kernel/ids.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import { operationRow } from '../../src/testing/store-rows-maintenance.ts';
import type { ConversationReply } from '../../src/wire/conversation.ts';
import type { Page } from '../../src/wire/shape.ts';
import type { OperationReply, SessionReply } from '../../src/wire/maintenance.ts';
import { EXHAUSTED } from '../http/upkeep.ts';
import { Place, type Ended } from '../e2e/process.ts';

const ID: OperationId = 'mop_3H8D0V5B7N2K6PQA';

/** Blocks the conversation behind the host's back, as seven failures would. */
async function block({ data }: Place, conversationId: ConversationId): Promise<void> {
  const clock = createSystemClock();
  const ids = createIds({ now: () => clock.now(), random: () => 1 });
  const store = openSqlite({ path: join(data, 'sekisho.db'), clock, ids });
  const found = await store.query('conversation.byId', { id: conversationId });
  assert.ok(found !== undefined);
  const { sessionId } = found;
  const row = operationRow({ id: ID, conversationId, sessionId, ...EXHAUSTED });
  const fence = { id: conversationId, fence: 'blocked', operationId: ID } as const;
  await mustPut(
    store,
    { write: 'operation.insert', row },
    { write: 'conversation.fence', ...fence },
  );
  await store.close();
}

function documentOf({ stdout, stderr, code }: Ended): unknown {
  assert.deepEqual([code, stderr], [0, '']);
  return JSON.parse(stdout);
}

describe('on a stopped host', () => {
  const place = new Place();
  let here = '';
  before(async () => {
    const host = await place.start();
    here = (await host.client().createRun({ input: 'hello', wait: 20 })).conversationId;
    await host.stop();
    await block(place, here as ConversationId);
  });
  after(() => place.clear());

  test('operations and sessions are read from the store', async () => {
    const ended = await place.run(['maintenance', '--json']);
    const { items } = documentOf(ended) as Page<OperationReply>;
    assert.deepEqual(
      items.map(({ id, state, conversationId }) => [id, state, conversationId]),
      [[ID, 'blocked', here]],
    );
    const one = documentOf(await place.run(['maintenance', ID, '--json'])) as OperationReply;
    assert.deepEqual([one.version, one.commands[0]?.command], [15, `/admit ${ID}`]);
    const list = await place.run(['session', '--conversation', here, '--json']);
    const [session] = (documentOf(list) as Page<SessionReply>).items;
    const shown = await place.run(['session', session?.id ?? '', '--transcript']);
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /^ {4}hello$/m);
    const talks = await place.run(['conversations', '--json']);
    const [talk] = (documentOf(talks) as Page<ConversationReply>).items;
    assert.equal(talk?.maintenance?.state, 'blocked');
  });

  test('status and why say what opens it, and that a host has to run first', async () => {
    const now = await place.run(['status']);
    assert.match(now.stdout, /^context 1 blocked: sekisho maintenance --state open$/m);
    assert.match(now.stdout, new RegExp(`sekisho admit ${ID}`));
    const why = await place.run(['why', ID]);
    assert.equal(why.code, 0, why.stderr);
    assert.match(why.stdout, /^ {2}sekisho start {2}\(first: no host runs here\)$/m);
    assert.match(why.stdout, new RegExp(`^  sekisho admit ${ID}  \\(`, 'm'));
  });

  test('M-7 an admission needs a running host, and goes by the version that was named', async () => {
    const stopped = await place.run(['admit', ID]);
    assert.equal(stopped.code, 5);
    assert.match(stopped.stderr, /sekisho start/);
    const host = await place.start();
    const stale = await place.run(['admit', ID, '--version', '14']);
    assert.equal(stale.code, 3);
    assert.match(stale.stderr, /^version_conflict: /);
    const args = ['admit', ID, '--version', '15', '--receipt', 'r1', '--json'];
    const admitted = documentOf(await place.run(args)) as OperationReply;
    assert.deepEqual([admitted.epoch, admitted.version], [3, 16]);
    const again = await place.run(args);
    assert.equal(again.code, 3);
    assert.match(again.stderr, /^receipt_used: /);
    await host.stop();
  });
});
