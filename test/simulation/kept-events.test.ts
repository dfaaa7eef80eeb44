import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { KeptEvents } from './kept-events.ts';

const CONVERSATIONS = [{ id: 'conv_1' }, { id: 'conv_2' }] as const;

function withEvents(): { readonly db: DatabaseSync; readonly add: (id: string) => void } {
  const db = new DatabaseSync(':memory:');
  db.exec(`create table event (conversation_id text, seq integer, id text, data text)`);
  const insert = db.prepare(`insert into event values (?, ?, ?, 'as it was')`);
  const add = (id: string): void => {
    const [conversation, seq] = id.split('-');
    insert.run(`conv_${conversation}`, Number(seq), id);
  };
  for (const id of ['1-1', '1-3', '2-1']) add(id);
  return { db, add };
}

describe('the events of a world', () => {
  const read = (kept: KeptEvents): readonly string[] =>
    kept.read(CONVERSATIONS).map(({ id }) => id);

  test('are read by conversation and place, new ones too', () => {
    const { db, add } = withEvents();
    const kept = new KeptEvents(db);
    assert.deepEqual(read(kept), ['1-1', '1-3', '2-1']);
    add('2-2');
    add('1-4');
    assert.deepEqual(read(kept), ['1-1', '1-3', '1-4', '2-1', '2-2']);
  });

  test('are all read when one came to a place that was passed, or went', () => {
    const { db, add } = withEvents();
    const kept = new KeptEvents(db);
    read(kept);
    add('1-2');
    assert.deepEqual(read(kept), ['1-1', '1-2', '1-3', '2-1']);
    db.exec(`delete from event where id = '1-3'`);
    assert.deepEqual(read(kept), ['1-1', '1-2', '2-1']);
  });

  test('are what they were', () => {
    const { db } = withEvents();
    const kept = new KeptEvents(db);
    read(kept);
    assert.deepEqual(kept.again(), []);
    db.exec(`update event set data = 'another' where id = '1-1'`);
    db.exec(`delete from event where id = '2-1'`);
    assert.deepEqual(kept.again(), ['event 1-1 is not what it was', 'event 2-1 is gone']);
  });
});
