// Files that are no whole export, and that nothing of them is stored.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { runningSha256 } from '../../src/adapters/digest/running.ts';
import { sha256 } from '../../src/adapters/digest/sha256.ts';
import { openKeyIndex } from '../../src/adapters/store/archive-index.ts';
import type { AnyField } from '../../src/core/archive/field.ts';
import { ARCHIVE_KINDS, type Archived } from '../../src/core/archive/record.ts';
import { ARCHIVE_KEYS, ARCHIVE_SHAPES } from '../../src/core/archive/shape.ts';
import { importExport } from '../../src/engine/archive/import.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { bring, fileOf, sqlitePlace, withEnd } from '../support/archive.ts';
import {
  changed,
  closeTarget,
  FILE,
  LINES,
  nothingStored,
  openTarget,
  placeOf,
  RECORDS,
  refuses,
  target,
} from '../support/import-target.ts';

before(openTarget);
after(closeTarget);

test('the file itself is taken, in whatever pieces it comes', async (t) => {
  for (const size of [1, 7, 64, 1_000_000]) {
    const outcome = await bring(FILE, sqlitePlace(t).filling, size);
    assert.ok(outcome.kind === 'imported', JSON.stringify(outcome));
    assert.equal(outcome.records, RECORDS.length);
  }
});

describe('a file is refused whole that', () => {
  test('was cut between two lines', async () => {
    for (let kept = 1; kept < LINES.length; kept += 1) {
      const cut = LINES.slice(0, kept)
        .map((line) => `${line}\n`)
        .join('');
      await refuses(cut, { line: kept + 1, problem: /was cut/ }, `after ${kept} lines`);
    }
    await nothingStored();
  });

  test('was cut inside a line', async () => {
    const bytes = Buffer.from(FILE);
    const first = bytes.indexOf('\n') + 1;
    for (let kept = first + 1; kept < bytes.length; kept += 13) {
      const line = bytes.subarray(0, kept).toString('latin1').split('\n').length;
      if (bytes[kept - 1] === 0x0a) continue;
      await refuses(bytes.subarray(0, kept), { line, problem: /was cut/ }, `after ${kept} bytes`);
    }
    const last = bytes.subarray(0, -1);
    await refuses(last, { line: LINES.length, problem: /was cut/ }, 'without its last byte');
    await nothingStored();
  });

  test('is none', async () => {
    const none = { code: 'no_export', line: 1 } as const;
    await refuses('', { ...none, problem: /empty/ });
    await refuses('{"format":"sekisho-export"', { ...none, problem: /no export/ });
    for (const text of ['\n', 'hello\n', '{}\n', '[]\n', 'null\n', '{"format":"other"}\n']) {
      await refuses(text, { ...none, problem: /This is no export/ }, text);
    }
    await refuses(Buffer.from([0xff, 0xfe, 0x0a]), { ...none, problem: /This is no export/ });
    await refuses(`\uFEFF${FILE}`, { ...none, problem: /This is no export/ });
    await nothingStored();
  });

  test('a newer version wrote', async () => {
    const newer = fileOf(RECORDS, { header: { version: 3, more: 'x' } });
    await refuses(newer, { line: 1, problem: /version 3 .* up to 2; import it with a newer one/ });
    for (const version of [0, -1, 0.5, '1', null]) {
      const other = fileOf(RECORDS, { header: { version } });
      await refuses(other, { line: 1, problem: /There is no version/ }, String(version));
    }
    for (const [name, value] of [
      ['schema', 'x'],
      ['schema', -1],
      ['exportedAt', 'yesterday'],
      ['product', 7],
      ['more', 1],
    ] as const) {
      const other = fileOf(RECORDS, { header: { [name]: value } });
      await refuses(other, { line: 1, problem: new RegExp(name) }, name);
    }
    await nothingStored();
  });

  test('has a wrong count or digest, or lines behind its end', async () => {
    const line = LINES.length;
    const count = fileOf(RECORDS, { end: { records: RECORDS.length + 1 } });
    await refuses(count, { line, problem: /counts \d+ records and there are \d+/ });
    const digest = fileOf(RECORDS, { end: { sha256: 'a'.repeat(64) } });
    await refuses(digest, { line, problem: /SHA-256/ });
    const altered = FILE.replace('"address":"home"', '"address":"hone"');
    await refuses(altered, { line, problem: /SHA-256/ });
    const odd = fileOf(RECORDS, { end: { more: 1 } });
    await refuses(odd, { line, problem: /unknown field "more"/ });
    const typed = fileOf(RECORDS, { end: { records: 'x' } });
    await refuses(typed, { line, problem: /count/ });
    await refuses(`${FILE}${LINES[1]}\n`, { line: line + 1, problem: /behind the last line/ });
    await refuses(`${FILE}\n`, { line: line + 1, problem: /behind the last line/ });
    await nothingStored();
  });

  test('has a line that is no record', async () => {
    const one = JSON.stringify(RECORDS[0]);
    const deep = `{"kind":"conversation","record":{"id":${'['.repeat(50)}${']'.repeat(50)}}}`;
    for (const [text, problem] of [
      ['', /no JSON/],
      ['{', /no JSON/],
      [`${one}${one}`, /no JSON/],
      ['[]', /no JSON object/],
      ['7', /no JSON object/],
      ['{"kind":"limiter","record":{}}', /no kind "limiter"/],
      ['{"kind":"host","record":{}}', /no kind "host"/],
      ['{"kind":7,"record":{}}', /no kind 7/],
      ['{"record":{}}', /no kind null/],
      ['{"kind":"toString","record":{}}', /no kind "toString"/],
      ['{"kind":"task"}', /lacks the field record/],
      ['{"kind":"task","record":[]}', /has to be an object/],
      ['{"kind":"task","record":{},"more":1}', /unknown field "more"/],
      [deep, /nested deeper/],
      ['{"kind":"task","record":{"__proto__":{}}}', /could reach a prototype/],
      ['{"kind":"task","record":{},"constructor":1}', /could reach a prototype/],
    ] as const) {
      const [header = ''] = LINES;
      const file = withEnd([header, text]);
      await refuses(file, { line: 2, problem }, text.slice(0, 60));
    }
    await nothingStored();
  });

  test('has a line longer than any record, or bytes that are no text', async () => {
    const [header = ''] = LINES;
    const long = `${header}\n"${'x'.repeat(LIMITS.archiveLineBytes)}"\n`;
    const outcome = await bring(long, target().filling, 1_000_000);
    assert.ok(outcome.kind === 'refused');
    assert.match(outcome.problem, /longer than any record/);
    const bytes = Buffer.from(FILE);
    bytes[bytes.indexOf('"agent":"main"') + 10] = 0xff;
    await refuses(bytes, { line: 2, problem: /no UTF-8/ });
    await nothingStored();
  });

  test('repeats a record of any kind, or a key of one', async () => {
    for (const [at, one] of RECORDS.entries()) {
      const twice = [...RECORDS.slice(0, at + 1), one, ...RECORDS.slice(at + 1)];
      await refuses(fileOf(twice), {
        line: at + 3,
        problem: new RegExp(`The ${one.kind} has the .* of line ${at + 2}\\.`),
      });
    }
    for (const kind of ARCHIVE_KINDS) {
      const [first, second] = RECORDS.flatMap((one, at) => (one.kind === kind ? [at] : []));
      if (first === undefined || second === undefined || kind === 'audit') continue;
      for (const fields of ARCHIVE_KEYS[kind] as readonly (readonly string[])[]) {
        const from = RECORDS[first]?.record as unknown as Record<string, unknown>;
        const key = Object.fromEntries(fields.map((name) => [name, from[name]]));
        const outcome = await bring(fileOf(changed(second, key)), target().filling);
        assert.equal(outcome.kind, 'refused', `${kind} ${fields.join()}`);
      }
    }
    await nothingStored();
  });

  test('has the kinds in another order', async () => {
    const session = placeOf('session');
    const moved = [RECORDS[session] as Archived, ...RECORDS.filter((_, at) => at !== session)];
    await refuses(fileOf(moved), { line: 2, problem: /conversation .*, which is not in the file/ });
    const [conversation, ...rest] = RECORDS;
    const behind = [...rest, conversation as Archived];
    const outcome = await bring(fileOf(behind), target().filling);
    assert.equal(outcome.kind, 'refused');
    await nothingStored();
  });
});

/** Values that no field of this form may hold. */
function misfits(field: AnyField): readonly unknown[] {
  const isNumber = field.is === 'whole' || field.is === 'instant';
  const odd = [true, [], {}, ...(field.orNull ? [] : [null])];
  if (isNumber) return [...odd, '7', -1, 1.5, 2 ** 53];
  const texts = { text: [], json: ['', '[]', '{', '{"__proto__":1}'], code: ['', 'a b', '7'] };
  const more = {
    ...texts,
    hash: ['x', 'A'.repeat(64)],
    id: ['', 'task_1'],
    one: ['', 'no-such-state'],
  };
  return [...odd, 7, 'a\0b', '\uD800', ...more[field.is]];
}

test('a record is refused for each field that is missing, unknown or holds what it may not', async () => {
  let looked = 0;
  const [header = ''] = LINES;
  for (const kind of ARCHIVE_KINDS) {
    const one = RECORDS[placeOf(kind)] as Archived;
    const lineOf = (record: object): string => JSON.stringify({ kind, record });
    const more = lineOf({ ...one.record, more: 1 });
    await refuses(withEnd([header, more]), { line: 2, problem: /unknown field "more"/ }, kind);
    for (const [name, field] of Object.entries(ARCHIVE_SHAPES[kind] as Record<string, AnyField>)) {
      const { [name]: _, ...rest } = one.record as unknown as Record<string, unknown>;
      const lacking = withEnd([header, lineOf(rest)]);
      await refuses(lacking, { line: 2, problem: new RegExp(`lacks the field ${name}\\.`) });
      for (const value of misfits(field)) {
        const text = lineOf({ ...one.record, [name]: value });
        const where = `${kind}.${name} = ${JSON.stringify(value)}`;
        const problem = new RegExp(`The field ${name} of the ${kind} |nested deeper|prototype`);
        await refuses(withEnd([header, text]), { line: 2, problem }, where);
        looked += 1;
      }
    }
  }
  assert.ok(looked > 1_000, `${looked} looked at`);
  await nothingStored();
});

test('a file that changes between its two readings is refused, and nothing is stored', async () => {
  let reading = 0;
  const other = FILE.replace('"address":"home"', '"address":"hone"');
  const texts = [FILE, other];
  const outcome = await importExport({
    bytes: () => once(texts[reading++] ?? ''),
    digest: sha256,
    running: runningSha256,
    index: openKeyIndex,
    filling: target().filling,
    principal: { kind: 'admin', id: 'terminal', isAdmin: true },
    channel: 'terminal',
    onProgress: () => {},
  });
  assert.ok(outcome.kind === 'refused');
  assert.match(outcome.problem, /was changed while it was read/);
  assert.equal(reading, 2);
  await nothingStored();
});

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

test('the last line may have its fields in any order', async (t) => {
  const [header = ''] = LINES;
  const body = `${header}\n`;
  const sum = createHash('sha256').update(body).digest('hex');
  const end = `{"sha256":"${sum}","records":0,"kind":"end"}\n`;
  assert.equal((await bring(body + end, sqlitePlace(t).filling)).kind, 'imported');
});
