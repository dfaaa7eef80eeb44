import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { Tools } from '../../src/ports/tools.ts';
import { ANNA, asks, Installation, says, until } from '../support/host.ts';
import { CountingStore, type Counts } from './counting-store.ts';

interface Place {
  readonly installation: Installation;
  readonly store: CountingStore;
  readonly engine: Engine;
  readonly conversationId: ConversationId;
}

async function placeOf(
  installation = new Installation(),
  given: { readonly tools?: Tools } = {},
): Promise<Place> {
  const store = new CountingStore(installation.store);
  const engine = await installation.host({ store, ...given });
  const opening = { channel: 'api', address: 'here', principal: ANNA };
  const conversationId = await engine.openConversation(opening);
  return { installation, store, engine, conversationId };
}

/** One turn and what it asked of the store; who waits for its end asks elsewhere. */
async function turn({ installation, store, engine, conversationId }: Place): Promise<Counts> {
  const run = { input: 'hello', conversationId, principal: ANNA };
  store.take();
  const accepted = await engine.acceptRun(run);
  if (accepted.kind !== 'accepted') assert.fail();
  await until(engine, conversationId, async () => {
    const found = await installation.store.query('run.byId', { id: accepted.runId });
    return found?.state === 'completed';
  });
  // The look for a next message belongs to the turn.
  await new Promise(setImmediate);
  return store.take();
}

test('a turn of one message is three commits, however long the conversation is', async () => {
  const place = await placeOf();
  const first = await turn(place);
  assert.ok(first.commits <= 3, `${first.commits} commits`);
  for (let count = 0; count < LIMITS.historyStepsMax + 50; count += 1) await turn(place);
  const late = await turn(place);
  assert.equal(late.commits, first.commits);
  assert.ok(late.queries <= first.queries, `${late.queries} queries, at first ${first.queries}`);
  assert.ok(late.rows <= first.rows + 1, `${late.rows} rows, at first ${first.rows}`);
  await place.engine.stop(0);
});

async function turnOfTools(count: number): Promise<Counts> {
  const place = await placeOf();
  const { model } = place.installation;
  const calls = Array.from({ length: count }, (_, n) => ['look', { n }] as const);
  model.answer = ({ messages }) => (messages.at(-1)?.role === 'tool' ? says('ok') : asks(...calls));
  const counts = await turn(place);
  await place.engine.stop(0);
  return counts;
}

test('a turn of ten tools is one commit for each step that follows another, and three', async () => {
  const [one, ten] = [await turnOfTools(1), await turnOfTools(10)];
  assert.equal(one.commits, 3 + 2);
  assert.equal(ten.commits, one.commits + 9);
  assert.equal(ten.queries, one.queries, 'a further tool asks nothing beside its commit');
  assert.equal(ten.rows, one.rows + 9, 'and that reads its conversation');
  assert.ok(one.rows <= 18, `${one.rows} rows`);
});

test('a call of a tool that asks nobody is not examined before it runs, any other is', async () => {
  const installation = new Installation();
  const { tools, model } = installation;
  const [look, ...others] = tools.list;
  assert.ok(look !== undefined);
  const list = [{ ...look, approval: 'never' } as const, ...others];
  const examined: string[] = [];
  const examine: Tools['examine'] = (call) => {
    examined.push(call.name);
    return tools.examine(call);
  };
  const place = await placeOf(installation, {
    tools: { list, examine, run: (...call) => tools.run(...call) },
  });
  const calls = [
    ['look', { n: 1 }],
    ['note', { n: 2 }],
    ['look', { n: 3 }],
  ] as const;
  model.answer = ({ messages }) => (messages.at(-1)?.role === 'tool' ? says('ok') : asks(...calls));
  await turn(place);
  assert.deepEqual(examined, ['note']);
  assert.equal(tools.ran.length, 3);
  await place.engine.stop(0);
});

test('the tools of an agent are measured once, not for each turn', async () => {
  const installation = new Installation();
  const { tools } = installation;
  let measured = 0;
  const parameters = {
    get type() {
      measured += 1;
      return 'object';
    },
  };
  const list = tools.list.map((tool) => ({ ...tool, parameters }));
  const place = await placeOf(installation, {
    tools: {
      list,
      examine: (call) => tools.examine(call),
      run: (...call) => tools.run(...call),
    },
  });
  await turn(place);
  const first = measured;
  assert.ok(first > 0);
  for (let count = 0; count < 3; count += 1) await turn(place);
  assert.equal(measured, first);
  await place.engine.stop(0);
});

test('every statement is prepared when the store opens and none later', async (t) => {
  const prepare = t.mock.method(DatabaseSync.prototype, 'prepare');
  const place = await placeOf();
  const atStart = prepare.mock.callCount();
  assert.ok(atStart > 30);
  for (let count = 0; count < 20; count += 1) await turn(place);
  await place.engine.acceptMessage({
    conversationId: place.conversationId,
    text: '/status',
    principal: ANNA,
  });
  await place.engine.stop(0);
  assert.equal(prepare.mock.callCount(), atStart);
});
