import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Above, widthOf, wrapRows } from '../../src/cli/chat/above.ts';
import { atMost, readGreeting } from '../../src/cli/chat/greeting.ts';
import { watchHost } from '../../src/cli/chat/watch.ts';
import type { Client } from '../../src/client/client.ts';

const UP = '\u001B[1A';
const CLEAR = '\u001B[J';

describe('text above the input', () => {
  function aboveOf(row = 0): { readonly above: Above; readonly written: string[] } {
    const written: string[] = [];
    const above = new Above({
      write: (text) => written.push(text),
      columns: () => 21,
      cursorRow: () => row,
      redraw: () => written.push('<input>'),
    });
    return { above, written };
  }

  test('writes an unfinished row again with what came, and the input after each piece', () => {
    const { above, written } = aboveOf();
    above.put('Hel');
    above.put('lo\n');
    above.put('next\n');
    assert.deepEqual(written, [
      `\r${CLEAR}Hel\n`,
      '<input>',
      `\r${UP}${CLEAR}Hello\n`,
      '<input>',
      `\r${CLEAR}next\n`,
      '<input>',
    ]);
  });

  test('goes on below a line that was entered meanwhile, and loses nothing', () => {
    const { above, written } = aboveOf();
    above.put('Hel');
    above.passed();
    above.put('lo\n');
    assert.equal(written.at(-2), `\r${CLEAR}Hello\n`);
  });

  test('leaves the room that an input of several rows goes up by', () => {
    const { above, written } = aboveOf(2);
    above.put('a\n');
    assert.equal(written[0], `\r\u001B[2A${CLEAR}a\n\n\n`);
  });

  test('breaks rows at spaces, and a word only where it fills a row', () => {
    assert.deepEqual(wrapRows('one two three', 8), { rows: ['one two'], rest: 'three' });
    assert.deepEqual(wrapRows('abcdefghij\nk', 4), { rows: ['abcd', 'efgh', 'ij'], rest: 'k' });
    assert.deepEqual(wrapRows('done\n', 8), { rows: ['done'], rest: '' });
    assert.equal(widthOf('関所'), 4);
    assert.deepEqual(wrapRows('関所関所', 5), { rows: ['関所'], rest: '関所' });
  });
});

describe('the greeting', () => {
  const entry = (id: string, at: string, taskId: string | null) => ({ id, at, taskId, text: id });
  const clientWith = (parts: object): Client =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a greeting asks for
    parts as unknown as Client;

  test('tells what came since the start in order, and what waits beside it', async () => {
    const wait = (subjectId: string) => ({
      level: 'blocked',
      subjectId,
      sentence: subjectId,
      command: '/stop X',
    });
    const client = clientWith({
      outbox: () =>
        Promise.resolve({
          items: [
            entry('second', '2026-11-30T12:00:02.000Z', null),
            entry('first', '2026-11-30T12:00:01.000Z', 'task_1'),
            entry('before', '2026-11-30T11:00:00.000Z', null),
          ],
        }),
      attention: () => Promise.resolve({ items: [wait('task_1'), wait('task_2')] }),
    });
    const { missed, waiting } = await readGreeting(client, 'conv_1', {
      since: Date.parse('2026-11-30T12:00:00.000Z'),
      isNew: false,
    });
    assert.deepEqual(
      missed.map(({ id }) => id),
      ['first', 'second'],
    );
    assert.deepEqual(waiting, ['■ task_2\n  /stop X']);
  });

  test('R-13: leaves out what the report of this start names with its command', async () => {
    const report = { ...entry('report', '2026-11-30T12:00:01.000Z', null), text: '- a: `/stop X`' };
    const client = clientWith({
      outbox: () => Promise.resolve({ items: [report] }),
      attention: () =>
        Promise.resolve({
          items: [{ level: 'blocked', subjectId: 'task_1', sentence: 'a', command: '/stop X' }],
        }),
    });
    const since = Date.parse('2026-11-30T12:00:00.000Z');
    const { missed, waiting } = await readGreeting(client, 'conv_1', { since, isNew: false });
    assert.deepEqual([missed.length, waiting], [1, []]);
  });

  test('B-10: leaves what is held to the one notice of it, but where nobody has been before', async () => {
    const held = {
      level: 'info',
      code: 'held_legacy',
      subjectId: 'host_1',
      taskId: null,
      command: '/tasks held',
    };
    const client = clientWith({
      attention: () => Promise.resolve({ items: [{ ...held, sentence: '5 older tasks' }] }),
    });
    const greeted = async (isNew: boolean) => {
      const { waiting } = await readGreeting(client, 'conv_1', { since: undefined, isNew });
      return waiting;
    };
    assert.deepEqual(await greeted(false), []);
    assert.deepEqual(await greeted(true), ['▸ 5 older tasks\n  /tasks held']);
  });

  test('shows five and counts the others', () => {
    const lines = ['1', '2', '3', '4', '5', '6', '7'];
    assert.deepEqual(atMost(lines.slice(0, 5)), lines.slice(0, 5));
    assert.deepEqual(atMost(lines), ['1', '2', '3', '4', '5', 'and 2 more: /tasks']);
  });
});

test('a host that goes and comes back is told once each', async () => {
  const looks = [true, false, false, true, true];
  const told: boolean[] = [];
  const over = new AbortController();
  const ready = (): Promise<{ status: string }> => {
    const look = looks.shift();
    if (look === undefined) over.abort();
    return look === false ? Promise.reject(new TypeError('gone')) : Promise.resolve({ status: '' });
  };
  await watchHost({ ready }, (isThere) => told.push(isThere), { signal: over.signal, everyMs: 0 });
  assert.deepEqual(told, [false, true]);
});
