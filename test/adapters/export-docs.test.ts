// docs/export.md names every field of every record with what it holds, and its example can be imported.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AnyField } from '../../src/core/archive/field.ts';
import { ARCHIVE_KINDS } from '../../src/core/archive/record.ts';
import { ARCHIVE_KEYS, ARCHIVE_SHAPES } from '../../src/core/archive/shape.ts';
import { bring, sqlitePlace } from '../support/archive.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/export.md'), 'utf8');

function formOf(field: AnyField): string {
  const forms = {
    text:
      field.is === 'text' && field.most !== null
        ? `text of at most ${field.most} characters`
        : 'text',
    json: 'text of a JSON object',
    code: 'code',
    hash: 'SHA-256',
    whole: field.is === 'whole' && field.from === 1 ? 'whole number from 1' : 'whole number',
    instant: 'instant',
    id: field.is === 'id' ? `id of a ${field.to ?? field.of}` : '',
    one: field.is === 'one' ? field.of.map((one) => `\`${one}\``).join(', ') : '',
  };
  return `${forms[field.is]}${field.orNull ? ', or null' : ''}`;
}

/** The section of a kind as the page has to hold it, its cells apart by one blank. */
function rowsOf(kind: (typeof ARCHIVE_KINDS)[number]): readonly string[] {
  const fields = Object.entries(ARCHIVE_SHAPES[kind] as Readonly<Record<string, AnyField>>);
  return fields.map(([name, field]) => `| \`${name}\` | ${formOf(field)} |`);
}

function sectionOf(kind: string): readonly string[] {
  const [, after = ''] = PAGE.split(`\n### ${kind}\n`);
  const [section = ''] = after.split('\n##');
  return section.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
}

test('the page of exports has each kind in its order, with its fields and keys', () => {
  const headings = [...PAGE.matchAll(/^### (\w+)$/gm)].map(([, kind]) => kind);
  assert.deepEqual(headings, [...ARCHIVE_KINDS]);
  for (const kind of ARCHIVE_KINDS) {
    const section = sectionOf(kind);
    const rows = section.filter((line) => line.startsWith('| `'));
    assert.deepEqual(rows, rowsOf(kind), kind);
    const keys = ARCHIVE_KEYS[kind].map((fields) =>
      fields.map((name) => `\`${name}\``).join(' with '),
    );
    assert.ok(section.includes(`Unique: ${keys.join('; ')}.`), `Unique: ${keys.join('; ')}.`);
  }
});

test('the example of the page of exports can be imported', async (t) => {
  const [, example = ''] = /```json\n([^`]*)```/.exec(PAGE) ?? [];
  const outcome = await bring(example, sqlitePlace(t).filling);
  assert.ok(outcome.kind === 'imported', JSON.stringify(outcome));
  assert.equal(outcome.records, 5);
});
