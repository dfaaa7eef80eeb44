// What turns have claimed is read page by page, and no input of a place that many share is left out.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { readRange } from '../../src/engine/maintenance/range.ts';
import { readClaimed } from '../../src/engine/turn/claimed.ts';
import { field, mustPut } from '../../src/testing/store-calls.ts';
import {
  conversationRow,
  idOf,
  messageRow,
  sessionRow,
  turnRow,
} from '../../src/testing/store-rows.ts';
import { Installation, SILENT } from '../support/host.ts';

const place = new Installation();
const OF = { conversationId: idOf('conversation', 1), sessionId: idOf('session', 1) };
const store = openSqlite({ path: ':memory:', clock: place.clock, ids: place.ids });
const parts = { store, clock: place.clock, log: SILENT };
const PLACES = [
  ...Array.from({ length: 90 }, () => 200),
  201,
  202,
  ...Array.from({ length: 5 }, () => 203),
];

before(async () => {
  await mustPut(
    store,
    { write: 'conversation.insert', row: conversationRow() },
    { write: 'session.insert', row: sessionRow() },
    { write: 'turn.insert', row: turnRow({ firstSeq: 150 }) },
  );
  for (const [index, claimedSeq] of PLACES.entries()) {
    const text = `Never send mail ${index}.`;
    const row = messageRow({ id: idOf('message', index + 1), seq: index + 2, text });
    const { id: turnId } = turnRow();
    await mustPut(store, {
      write: 'message.insert',
      row: { ...row, state: 'claimed', turnId, claimedSeq },
    });
  }
});
after(() => store.close());

test('a place that more inputs share than one page holds is read whole', async () => {
  for (const page of [1, 7, 40, 400]) {
    const read = await readClaimed(parts, { ...OF, after: 0, upTo: 202 }, page);
    assert.deepEqual(
      field(read, 'seq'),
      Array.from({ length: 92 }, (_, index) => index + 2),
    );
  }
});

test('every word of a place that many share is summarised (M-17)', async () => {
  const { exchanges } = await readRange(parts, { ...OF, after: 0, upTo: 210 });
  assert.equal(exchanges.flatMap(({ said }) => said).length, PLACES.length);
});
