import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { At } from '../../ports/store.ts';
import { conversationRow, idOf } from '../../testing/store-rows.ts';
import { findReader, tellIn, tellReads } from './told.ts';

const HERE = idOf('conversation', 1);
const at = { now: 5_000, ids: { next: () => idOf('event', 1) } } as unknown as At;

type Store = Parameters<typeof findReader>[0]['store'];

test('B-10 what belongs to no conversation is said in the newest that a person reads', async () => {
  const asked: unknown[] = [];
  const store = (found: unknown): Store =>
    ({
      query: (name: string, args: object) => {
        asked.push([name, args]);
        return Promise.resolve(found);
      },
    }) as unknown as Store;
  assert.equal(await findReader({ store: store(conversationRow({ id: HERE })) }), HERE);
  assert.equal(await findReader({ store: store(undefined) }), undefined);
  assert.deepEqual(asked[0], ['conversation.newestRead', {}]);
});

test('B-10 where nobody reads, nothing is read and nothing said', () => {
  assert.deepEqual(tellReads(undefined), {});
  assert.deepEqual(tellReads(HERE), {
    conversation: { read: 'conversation.byId', args: { id: HERE } },
  });
  const never = (): never => assert.fail('nobody is there');
  assert.deepEqual(tellIn(undefined, { at, by: 'host:h' }, never), []);
});

test('O-1 what is said is committed with the advance of the conversation that it is said in', () => {
  let queuedIn: unknown;
  const writes = tellIn(
    conversationRow({ id: HERE, seq: 7 }),
    { at, by: 'host:h' },
    (ledger, id) => {
      queuedIn = id;
      ledger.event('notice.queued');
    },
  );
  assert.equal(queuedIn, HERE);
  assert.deepEqual(
    writes.map(({ write }) => write),
    ['conversation.advance', 'event.insert'],
  );
  assert.partialDeepStrictEqual(writes[1], { row: { by: 'host:h', seq: 8 } });
});
