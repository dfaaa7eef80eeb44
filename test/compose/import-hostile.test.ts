// Every field of a real export with values that an enemy would write: the file is refused with its line, or
// the installation that takes it works.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { sha256 } from '../../src/adapters/digest/sha256.ts';
import { openKeyIndex } from '../../src/adapters/store/archive-index.ts';
import { INSTANT_MAX, WHOLE_MAX, type AnyField } from '../../src/core/archive/field.ts';
import { ArchiveJudge } from '../../src/core/archive/judge.ts';
import { readLine, writeLine } from '../../src/core/archive/line.ts';
import { ARCHIVE_KINDS, EXPORT_VERSION, type Archived } from '../../src/core/archive/record.ts';
import { ARCHIVE_SHAPES } from '../../src/core/archive/shape.ts';
import { bring, sqlitePlace, take } from '../support/archive.ts';
import { lived, liveOn } from '../support/hostile.ts';

let records: readonly Archived[] = [];
before(async () => {
  const cleanups: (() => void)[] = [];
  records = await lived(sqlitePlace({ after: (clean: () => void) => void cleanups.push(clean) }));
  for (const clean of cleanups) clean();
});

interface Change {
  readonly at: number;
  readonly name: string;
  readonly value: unknown;
}

function changed(all: readonly Archived[], { at, name, value }: Change): readonly Archived[] {
  const one = all[at];
  assert.ok(one !== undefined);
  const record: Record<string, unknown> = { ...one.record, [name]: value };
  if (one.kind === 'task' && name === 'mandateText') record['mandateHash'] = sha256(String(value));
  return all.with(at, { kind: one.kind, record } as unknown as Archived);
}

/** What is wrong with a file of these records, as an import says it. */
function problemOf(all: readonly Archived[]): string | undefined {
  const index = openKeyIndex();
  try {
    const judge = new ArchiveJudge({ digest: sha256, index });
    for (const [at, one] of all.entries()) {
      const read = readLine(writeLine(one), EXPORT_VERSION);
      if ('problem' in read) return read.problem;
      assert.notEqual(read.kind, 'end');
      const problem = judge.take(read as Archived, at + 2);
      if (problem !== undefined) return problem;
    }
    return judge.end()?.problem;
  } finally {
    index.close();
  }
}

const ODD_JSON = [null, 7, -1, 1e300, 'x', [], [null], {}, { state: 7 }, true];
const ODD_KEYS = ['was', 'outcome', 'request', 'tools', 'detail', 'deadline', 'said', 'until'];
const ODD = {
  text: ['', 'x', 'key:anna', ':', '/stop all', '\u202E\u001B[2J', '[]', 'x'.repeat(20_000)],
  code: ['x', 'constructor', 'held_legacy', 'interrupted', 'awaits_answer', 'task.created'],
  hash: ['0'.repeat(64)],
  instant: [0, 1, INSTANT_MAX - 1, INSTANT_MAX, INSTANT_MAX + 1, Number.MAX_SAFE_INTEGER],
} as const;

function hostile(kind: Archived['kind'], field: AnyField, was: unknown): readonly unknown[] {
  const none = field.orNull ? [null] : [];
  if (field.is === 'whole')
    return [...none, -1, 0, 1, 3, WHOLE_MAX - 1, WHOLE_MAX, WHOLE_MAX + 1, 2 ** 53 - 1];
  if (field.is === 'one') return [...none, ...field.of];
  if (field.is === 'id')
    return [...none, ...idsOf(field.to ?? kind), `${String(was).split('_')[0]}_ZZZZZZZZZZZZZZZZ`];
  return [...none, ...(field.is === 'json' ? oddObjects(was) : ODD[field.is])];
}

function idsOf(kind: string): readonly unknown[] {
  const ids = records.flatMap((one) =>
    one.kind === kind && 'id' in one.record ? [one.record.id] : [],
  );
  return ids.slice(0, 5);
}

function oddObjects(was: unknown): readonly string[] {
  const held = typeof was === 'string' ? (JSON.parse(was) as object) : {};
  const keys = [...new Set([...Object.keys(held), ...ODD_KEYS])];
  return ODD_JSON.map((odd) =>
    JSON.stringify({ ...held, ...Object.fromEntries(keys.map((key) => [key, odd])) }),
  );
}

/** The same number for the same seed, evenly in [0, 1). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function changes(): readonly Change[] {
  const seen = new Set<string>();
  const found: Change[] = [];
  for (const [at, { kind, record }] of records.entries()) {
    const values = record as unknown as Readonly<Record<string, unknown>>;
    const form = [kind, values['state'], values['kind'], values['reason'], values['type']].join(
      ' ',
    );
    if (seen.has(form)) continue;
    seen.add(form);
    for (const [name, field] of Object.entries(ARCHIVE_SHAPES[kind] as Record<string, AnyField>)) {
      const others = hostile(kind, field, values[name]).filter((value) => value !== values[name]);
      found.push(...others.map((value) => ({ at, name, value })));
    }
  }
  return found;
}

describe('an export of real work', () => {
  test('is taken as it is, and goes on', async (t) => {
    assert.deepEqual(new Set(records.map(({ kind }) => kind)), new Set(ARCHIVE_KINDS));
    const place = sqlitePlace(t);
    assert.deepEqual(await liveOn(records, place), { troubles: [] });
    // What was judged, held and gone on since is an export like any other.
    const again = await bring(await take(place), sqlitePlace(t).filling);
    assert.equal(again.kind, 'imported', JSON.stringify(again));
  });

  test('with any field changed is refused with its line, or its installation works', async (t) => {
    const random = numbers(7);
    const all = changes();
    assert.ok(all.length > 2_000, `${all.length} changes`);
    // As many at once as fit one another, so that few installations hold them all.
    for (let files = 0; files < 4; files += 1) {
      let file = records;
      const made: Change[] = [];
      for (let tries = 0; tries < 150; tries += 1) {
        const change = all[Math.floor(random() * all.length)] as Change;
        const next = changed(file, change);
        if (problemOf(next) !== undefined) continue;
        file = next;
        made.push(change);
      }
      assert.ok(made.length > 20, `${made.length} changes fit`);
      const said = JSON.stringify(
        made.map(({ value, ...rest }) => ({ ...rest, value: String(value).slice(0, 80) })),
      );
      assert.deepEqual(await liveOn(file, sqlitePlace(t)), { troubles: [] }, said);
    }
  });
});
