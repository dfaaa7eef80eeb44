import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConversationId, SessionId } from '../../src/kernel/ids.ts';
import type { ReadName, Reads } from '../../src/ports/store.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import type { TranscriptItem } from '../../src/wire/conversation.ts';
import { asks, says, until } from '../support/host.ts';
import { codeOf, openDoor, type TestDoor } from './door.ts';
import { openPlace } from './history.ts';
import { handOver, inLedger } from './upkeep.ts';

async function answered(door: TestDoor, id: ConversationId, text: string): Promise<void> {
  const { messageId } = await door.client('runner').postMessage(id, { text });
  await until(door.engine, id, async () => {
    return (await door.client().message(messageId)).state === 'done';
  });
}

async function transcriptOf(
  door: TestDoor,
  id: ConversationId,
  query: { readonly session?: string; readonly limit?: number },
): Promise<readonly TranscriptItem[]> {
  const items: TranscriptItem[] = [];
  let cursor: string | null = null;
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor };
    const page = await door.client('reader').transcript(id, { ...query, ...from });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items.toReversed();
}

const SEED = {
  summary: 'They talked about March.',
  conditions: [{ at: 1_800_000_000_000, text: 'Ask before you delete.' }],
};

describe('the sessions of a conversation', () => {
  test('M-16 are listed with their links in both directions, archived ones among them', async (context) => {
    const door = await openDoor(context);
    const here = await openPlace(door);
    const { sessionId: first } = await door.client('runner').conversation(here);
    const second = await handOver(door, here, { seed: JSON.stringify(SEED), cutSeq: 3 });
    const third = await handOver(door, here);
    const { items, nextCursor } = await door.client('runner').sessions(here);
    assert.equal(nextCursor, null);
    assert.deepEqual(
      items.map(({ id, previousId, nextId, isCurrent }) => [id, previousId, nextId, isCurrent]),
      [
        [third, second, null, true],
        [second, first, third, false],
        [first, null, second, false],
      ],
    );
    const page = await door.client('runner').sessions(here, { limit: 2 });
    assert.equal(page.nextCursor, second);
    const rest = await door.client('runner').sessions(here, { limit: 2, cursor: second });
    assert.deepEqual(
      rest.items.map(({ id }) => id),
      [first],
    );
    const one = await door.client('runner').session(second);
    assert.deepEqual(one, items[1]);
    const { startedAt, endedAt, ...facts } = one;
    const now = new Date(door.installation.clock.now()).toISOString();
    assert.deepEqual([startedAt, endedAt], [now, now]);
    assert.deepEqual(facts, {
      id: second,
      conversationId: here,
      previousId: first,
      nextId: third,
      compactions: 0,
      cutSeq: 3,
      summary: SEED.summary,
      conditions: [{ at: now, text: 'Ask before you delete.' }],
      isCurrent: false,
    });
  });

  test('are read by whoever may read the conversation, and by nobody else', async (context) => {
    const door = await openDoor(context);
    const here = await openPlace(door);
    const { sessionId } = await door.client('runner').conversation(here);
    for (const path of [`/v1/conversations/${here}/sessions`, `/v1/sessions/${sessionId}`]) {
      for (const key of ['runner', 'reader', 'ops'] as const)
        assert.equal((await door.ask('GET', path, { key })).status, 200, key);
      assert.equal(codeOf(await door.ask('GET', path, { key: 'other' })), 'not_found');
    }
    for (const path of ['/v1/sessions/sess_0000000000000000', '/v1/sessions/x'])
      assert.equal((await door.ask('GET', path, { key: 'ops' })).status, 404);
    const wrong = await door.ask('GET', `/v1/conversations/${here}/sessions?cursor=conv_1`, {
      key: 'ops',
    });
    assert.deepEqual([wrong.status, codeOf(wrong)], [400, 'bad_request']);
  });
});

describe('the transcript of one session', () => {
  test('M-16 holds all of it and nothing of another, page by page', async (context) => {
    const door = await openDoor(context);
    const here = await openPlace(door);
    const { sessionId: first } = await door.client('runner').conversation(here);
    const answers = [asks(['look', { at: 1 }]), says('one'), says('two')];
    door.installation.model.answer = () => answers.shift() ?? says('three');
    await answered(door, here, 'begin');
    await answered(door, here, 'go on');
    const second = await handOver(door, here);
    await answered(door, here, 'after it');
    const texts = (items: readonly TranscriptItem[]): readonly string[] =>
      items.map(({ role, content }) => `${role}: ${content}`);
    const old = ['user: begin', 'assistant: ', 'tool: done', 'assistant: one', 'user: go on'];
    const before = [...old, 'assistant: two'];
    const after = ['user: after it', 'assistant: three'];
    for (const limit of [1, 2, 50]) {
      assert.deepEqual(texts(await transcriptOf(door, here, { session: first, limit })), before);
      assert.deepEqual(texts(await transcriptOf(door, here, { session: second, limit })), after);
      assert.deepEqual(texts(await transcriptOf(door, here, { limit })), [...before, ...after]);
    }
  });

  test('is found however far behind the conversation it lies', async (context) => {
    const door = await openDoor(context);
    const here = await openPlace(door);
    await skipPlaces(door, here, 30_000);
    const session = await handOver(door, here);
    const answers = [says('at first'), says('at last')];
    door.installation.model.answer = () => answers.shift() ?? says('ok');
    await answered(door, here, 'long ago');
    await skipPlaces(door, here, 5_000);
    await answered(door, here, 'less long ago');
    await handOver(door, here);
    await skipPlaces(door, here, 50_000);
    await answered(door, here, 'today');
    const { store } = door.engine;
    const query = store.query.bind(store);
    const read: { readonly places: number; readonly limit: number }[] = [];
    context.mock.method(store, 'query', (name: ReadName, args: Reads[ReadName]['args']) => {
      const { after, upTo, limit } = args as Reads['step.ofSession']['args'];
      if (name === 'step.ofSession') read.push({ places: upTo - after, limit });
      return query(name, args);
    });
    const { items } = await door.client('reader').transcript(here, { session });
    assert.equal(items[0]?.content, 'at last');
    // Looked for by halves, a row at a time, and then read once.
    assert.ok(read.length < 20, `${read.length} reads`);
    const [whole, ...more] = read.filter(({ limit }) => limit > 1);
    assert.deepEqual(more, []);
    assert.ok(whole !== undefined && whole.places <= 800);
  });

  test('of another conversation, or of none, is refused', async (context) => {
    const door = await openDoor(context);
    const [here, there] = [await openPlace(door), await openPlace(door)];
    const { sessionId } = await door.client('runner').conversation(there);
    for (const session of [sessionId, 'sess_0000000000000000', 'x', '']) {
      const path = `/v1/conversations/${here}/transcript?session=${session}`;
      const answer = await door.ask('GET', path, { key: 'ops' });
      assert.deepEqual([answer.status, codeOf(answer)], [400, 'bad_request'], session);
    }
  });
});

test('a seed that an import brought without its parts is told as far as it goes', async (context) => {
  const door = await openDoor(context);
  const here = await openPlace(door);
  const { sessionId } = await door.client('runner').conversation(here);
  const id = sessionId as SessionId;
  for (const seed of ['{}', '{"conditions":[{"text":"x"},5,null]}', '{"summary":5}']) {
    await mustPut(door.engine.store, {
      write: 'session.seed',
      id,
      seed,
      cutSeq: 1,
      compactions: 1,
    });
    const { summary, conditions, compactions } = await door.client().session(id);
    assert.deepEqual([summary, conditions, compactions], [null, [], 1], seed);
  }
});

/** What a long conversation has behind it: places of its order that nothing of a session takes. */
async function skipPlaces(door: TestDoor, here: ConversationId, places: number): Promise<void> {
  await inLedger(door, here, (ledger) => {
    for (let place = 0; place < places; place += 1) ledger.takeSeq();
  });
}
