import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { auditRow, conversationRow, idOf, sessionRow, taskRow } from '../../testing/store-rows.ts';
import { operationRow } from '../../testing/store-rows-maintenance.ts';
import { INSTANT_MAX, WHOLE_MAX } from './field.ts';
import { readHeader, readLine, writeLine } from './line.ts';
import { EXPORT_VERSION, noRecords } from './record.ts';

const HEADER = {
  format: 'sekisho-export',
  version: 2,
  schema: 4,
  exportedAt: '2026-11-30T12:00:00.000Z',
  product: '0.1.0',
} as const;
const END = { kind: 'end', records: 3, sha256: 'a'.repeat(64) } as const;

/** What was wrong; undefined when it was taken. */
function problemOf(read: object): string | undefined {
  return 'problem' in read ? (read.problem as string) : undefined;
}

function header(over: object): string | undefined {
  return problemOf(readHeader(JSON.stringify({ ...HEADER, ...over })));
}

function line(value: unknown, version = EXPORT_VERSION): string | undefined {
  return problemOf(readLine(typeof value === 'string' ? value : JSON.stringify(value), version));
}

function without(record: object, ...names: readonly string[]): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

describe('the first line of an export', () => {
  test('is read as it was written', () => {
    assert.deepEqual(readHeader(writeLine(HEADER)), HEADER);
    assert.equal(header({ version: 1, schema: 0 }), undefined);
  });

  test('tells what is none from what is one of another program', () => {
    const none = 'This is no export: the first line of one says "format":"sekisho-export".';
    for (const text of ['', 'prose', '[]', 'null', '"sekisho-export"', '{}', '{"format":"tar"}'])
      assert.deepEqual(readHeader(text), { problem: none, isOther: true }, text);
    const newer = readHeader(JSON.stringify({ ...HEADER, version: 3 }));
    const known = 'this program reads versions up to 2';
    assert.deepEqual(newer, {
      problem: `The export has version 3 and ${known}; import it with a newer one.`,
      isOther: false,
    });
    const odd = readHeader(JSON.stringify({ ...HEADER, schema: -1 }));
    assert.ok('isOther' in odd && !odd.isOther);
  });

  test('holds each of its fields as it has to be, and no other', () => {
    const schema = 'The schema of the first line has to be a whole number from 0.';
    const at = 'The field exportedAt of the first line has to be an instant.';
    for (const [over, says] of [
      [{ version: 0 }, 'There is no version 0 of exports.'],
      [{ version: '2' }, 'There is no version "2" of exports.'],
      [{ version: 1.5 }, 'There is no version 1.5 of exports.'],
      [{ schema: '4' }, schema],
      [{ schema: -1 }, schema],
      [{ exportedAt: 5 }, at],
      [{ exportedAt: 'today' }, at],
      [{ product: null }, 'The product of the first line has to be a text.'],
      [{ more: 1 }, 'The first line has the unknown field "more".'],
    ] as const)
      assert.equal(header(over), says);
    for (const name of ['version', 'schema', 'exportedAt', 'product'])
      assert.equal(
        problemOf(readHeader(JSON.stringify(without(HEADER, name)))),
        `The first line lacks the field ${name}.`,
      );
  });
});

describe('the last line of an export', () => {
  test('holds the count and the sum, and no more', () => {
    assert.deepEqual(readLine(writeLine(END), 2), END);
    const wrong = 'The last line has to hold the count of records and their SHA-256.';
    assert.equal(line({ ...END, records: -1 }), wrong);
    assert.equal(line({ ...END, records: '3' }), wrong);
    assert.equal(line({ ...END, sha256: null }), wrong);
    assert.equal(line({ ...END, more: 1 }), 'The last line has the unknown field "more".');
    for (const name of ['records', 'sha256'])
      assert.equal(line(without(END, name)), `The last line lacks the field ${name}.`);
  });
});

describe('a line of an export', () => {
  const task = { kind: 'task', record: taskRow() } as const;

  test('steers no terminal, and is read as it was written', () => {
    const odd = { ...task, record: { ...task.record, mandateText: 'a\u001B[2J\u202E\n' } };
    const written = writeLine(odd);
    for (const sign of ['\u001B', '\u202E', '\n']) assert.ok(!written.includes(sign));
    assert.deepEqual(readLine(written, 2), odd);
  });

  test('X-9 is one object of a kind and a record, no deeper and of no hidden keys', () => {
    for (const [text, says] of [
      ['prose', 'The line is no JSON.'],
      ['[]', 'The line is no JSON object.'],
      ['{"a":{"b":{"c":{}}}}', 'The line is nested deeper than a record is.'],
      ['{"__proto__":1}', 'The line holds a key that could reach a prototype.'],
      ['{}', 'There is no kind null of records.'],
      ['{"kind":7}', 'There is no kind 7 of records.'],
      ['{"kind":"limiter","record":{}}', 'There is no kind "limiter" of records.'],
      ['{"kind":"task","record":[]}', 'The record has to be an object.'],
      ['{"kind":"task"}', 'The line lacks the field record.'],
      ['{"kind":"task","record":{},"x":1}', 'The line has the unknown field "x".'],
      ['{"kind":"task","record":{}}', 'The task lacks the field id.'],
    ] as const)
      assert.equal(line(text), says);
    const long = 'k'.repeat(80);
    assert.equal(line({ kind: long }), `There is no kind "${'k'.repeat(59)}… of records.`);
    const just = 'k'.repeat(58);
    assert.equal(line({ kind: just }), `There is no kind "${just}" of records.`);
    const more = { ...task.record, odd: 1 };
    assert.equal(line({ ...task, record: more }), 'The task has the unknown field "odd".');
    const lacks = without(task.record, 'version');
    assert.equal(line({ ...task, record: lacks }), 'The task lacks the field version.');
    assert.equal(
      line({ ...task, record: { ...lacks, odd: 1 } }),
      'The task lacks the field version.',
    );
  });

  test('holds in each field what that may hold', () => {
    const whole = `has to be a whole number from 0 to ${WHOLE_MAX}`;
    const ordinal = `has to be a whole number from 1 to ${WHOLE_MAX}`;
    const instant = `has to be a whole number from 0 to ${INSTANT_MAX}`;
    const kept = 'holds a character that no store keeps';
    const deep = `{"a":${'['.repeat(70)}${']'.repeat(70)}}`;
    for (const [name, value, says] of [
      ['turnsUsed', 0],
      ['turnsUsed', WHOLE_MAX],
      ['turnsUsed', WHOLE_MAX + 1, whole],
      ['turnsUsed', -1, whole],
      ['turnsUsed', 1.5, whole],
      ['turnsUsed', '1', whole],
      ['turnsUsed', null, 'may not be null'],
      ['version', 1],
      ['version', 0, ordinal],
      ['changedAt', INSTANT_MAX],
      ['changedAt', INSTANT_MAX + 1, instant],
      ['deadline', null],
      ['mandateText', 7, 'has to be a text'],
      ['mandateText', 'a\0b', kept],
      ['mandateText', 'a\ud800', kept],
      ['mandateText', 'x'.repeat(401)],
      ['waitId', 'x'.repeat(400)],
      ['waitId', 'x'.repeat(401), 'has to have at most 400 characters'],
      ['conversationId', idOf('task', 1), 'has to be the id of a conversation'],
      ['state', 'odd', /^has to be one of active, .*, expired$/],
      ['mandateAuthority', 'root', 'has to be one of admin, own'],
      ['reason', 'no_outcome'],
      ['reason', 'A.b-c_9'],
      ['reason', 'x'.repeat(100)],
      ['reason', 'x'.repeat(101), 'has to be a code'],
      ['reason', '9x', 'has to be a code'],
      ['reason', 'no outcome', 'has to be a code'],
      ['reason', '', 'has to be a code'],
      ['mandateHash', 'A'.repeat(64), 'has to be a SHA-256 as lower-case hex'],
      ['mandateHash', 'a'.repeat(63), 'has to be a SHA-256 as lower-case hex'],
      ['mandateHash', 'a'.repeat(65), 'has to be a SHA-256 as lower-case hex'],
      ['outcomeData', '{}'],
      ['outcomeData', '[]', 'has to be the text of a JSON object'],
      ['outcomeData', 'prose', 'has to be the text of a JSON object'],
      ['outcomeData', '{"__proto__":1}', 'holds a key that could reach a prototype'],
      ['outcomeData', deep, /^is nested deeper than \d+$/],
    ] as const) {
      const told = line({ ...task, record: { ...task.record, [name]: value } });
      const begin = `The field ${name} of the task `;
      if (says === undefined) assert.equal(told, undefined, `${name} ${value}`);
      else if (typeof says === 'string') assert.equal(told, `${begin}${says}.`);
      else assert.match(told?.slice(begin.length, -1) ?? '', says);
    }
    const named = { kind: 'operation', record: operationRow({ noticeId: 'x' as never }) };
    const says = 'The field noticeId of the operation has to be the id of a outbox.';
    assert.equal(line(named), says);
    const host = { kind: 'operation', record: operationRow({ hostId: 'x' as never }) };
    assert.equal(line(host), 'The field hostId of the operation has to be the id of a host.');
  });
});

describe('M-15 a file of an earlier version', () => {
  test('knew no maintenance: its records had none', () => {
    const conversation = conversationRow();
    const old = { kind: 'conversation', record: without(conversation, 'fence', 'operationId') };
    const now = { kind: 'conversation', record: conversation };
    assert.deepEqual(readLine(JSON.stringify(old), 1), now);
    assert.equal(line(old, 2), 'The conversation lacks the field fence.');
    assert.equal(line(now, 1), 'The conversation has the unknown field "fence".');
    const later = ['previousId', 'nextId', 'cutSeq', 'compactions', 'seed'];
    const session = { kind: 'session', record: without(sessionRow(), ...later) };
    assert.deepEqual(readLine(JSON.stringify(session), 1), {
      kind: 'session',
      record: sessionRow(),
    });
    const operation = { kind: 'operation', record: operationRow() };
    assert.equal(line(operation, 1), 'There is no kind "operation" of records.');
    assert.equal(line(operation, 2), undefined);
    assert.equal(line({ kind: 'audit', record: auditRow() }, 1), undefined);
  });

  test('counts every kind', () => {
    const counts = noRecords();
    assert.equal(Object.keys(counts).length, 14);
    assert.ok(Object.values(counts).every((count) => count === 0));
  });
});
