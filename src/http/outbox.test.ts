import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ABOVE_ALL_IDS } from '../kernel/ids.ts';
import { LIMITS } from '../kernel/limits.ts';
import { idOf, outboxRow } from '../testing/store-rows.ts';
import type { Call } from './call.ts';
import { OUTBOX_ROUTES } from './outbox.ts';
import { Problem } from './problems.ts';

const [LIST] = OUTBOX_ROUTES;
const ROWS = [3, 2, 1].map((seq) => outboxRow({ seq }));

/** The page of this query over a store with three entries, and what the store was asked. */
async function list(query: object): Promise<{ readonly asked: unknown[]; readonly page: unknown }> {
  const asked: unknown[] = [];
  const store = {
    query: (name: string, args: { readonly limit: number }) => {
      asked.push([name, args]);
      return Promise.resolve(ROWS.slice(0, args.limit));
    },
  };
  const response = await LIST?.handle({ query, door: { engine: { store } } } as unknown as Call);
  assert.equal(response?.status, 200);
  return { asked, page: await response.json() };
}

function viewOf(seq: number): object {
  const { id, conversationId, kind, state, text, taskId, runId, subjectId } = outboxRow({ seq });
  const at = '1970-01-01T00:00:03.000Z';
  return { id, conversationId, kind, state, text, subjectId, taskId, runId, at };
}

test('A-5 the outbox is listed for a key that reads', () => {
  const lines = OUTBOX_ROUTES.map(({ method, path, need }) => [method, path, need]);
  assert.deepEqual(lines, [['GET', '/v1/outbox', 'read']]);
  assert.match(LIST?.summary ?? '', /^What leaves/);
  assert.equal(LIST?.replies[200]?.what, 'A page');
  assert.ok(LIST.replies[200].shape?.safeParse({ items: [viewOf(1)], nextCursor: null }).success);
});

test('A-5 the outbox takes a state, a conversation and a place in the list, and nothing else', () => {
  const takes = (query: object): boolean | undefined => LIST?.query?.safeParse(query).success;
  assert.equal(takes({ state: 'pending', conversation: 'c', cursor: 'o', limit: '2' }), true);
  assert.equal(takes({}), true);
  for (const query of [{ state: 'sent' }, { conversation: 1 }, { key: 'reply:1' }])
    assert.equal(takes(query), false);
});

test('A-5 the outbox is listed from the newest, a page at a time', async () => {
  const { asked, page } = await list({});
  const every = { conversationId: '', state: '', before: ABOVE_ALL_IDS };
  assert.deepEqual(asked, [['outbox.list', { ...every, limit: LIMITS.listLimitDefault + 1 }]]);
  assert.deepEqual(page, { items: [3, 2, 1].map((seq) => viewOf(seq)), nextCursor: null });
});

test('A-5 the outbox is asked for what was asked, with one more that tells of a next page', async () => {
  const cursor = idOf('outbox', 4);
  const query = { state: 'pending', conversation: 'conv', cursor, limit: '2' };
  const { asked, page } = await list(query);
  const filter = { conversationId: 'conv', state: 'pending', before: cursor };
  assert.deepEqual(asked, [['outbox.list', { ...filter, limit: 3 }]]);
  assert.deepEqual(page, { items: [viewOf(3), viewOf(2)], nextCursor: idOf('outbox', 2) });
});

test('A-5 the outbox takes no cursor of another list', async () => {
  const isBad = (error: unknown): boolean =>
    error instanceof Problem && error.body.code === 'bad_request';
  await assert.rejects(list({ cursor: idOf('approval', 1) }), isBad);
});
