// no pattern, however it repeats itself, takes more than a look at each character.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Literal } from '../../src/adapters/tools/literal.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { bench } from './tools-workbench.ts';

/** Of the processor, since others use it too. On the hard ones `indexOf` takes 2 to 11 s. */
const MOST_MS = 2_000;
const SIZE = LIMITS.toolFileBytesMax;
const HARD: readonly [what: string, text: string, pattern: string][] = [
  ['one other in the middle', 'a'.repeat(SIZE), `${'a'.repeat(500)}b${'a'.repeat(499)}`],
  ['one other late', 'a'.repeat(SIZE), `${'a'.repeat(700)}b${'a'.repeat(299)}`],
  ['one other first', 'a'.repeat(SIZE), `b${'a'.repeat(999)}`],
  ['one other last', 'a'.repeat(SIZE), `${'a'.repeat(999)}b`],
  ['pairs', 'ab'.repeat(SIZE / 2), `bb${'ab'.repeat(499)}`],
  ['wide characters', 'é'.repeat(SIZE / 2), `${'é'.repeat(500)}x${'é'.repeat(499)}`],
  ['one that would be catastrophic for a regular expression', 'a'.repeat(SIZE), '(a+)+$'],
];

describe('X-9: a search is done in linear time', () => {
  for (const [what, text, pattern] of HARD) {
    test(`for ${what}`, async () => {
      await using at = await bench();
      await writeFile(join(at.workspace, 'a'), text);
      const began = process.cpuUsage();
      assert.equal((await at.call('search', { pattern })).text, 'nothing found in .');
      tookLittle(began);
    });
  }
});

describe('X-9: the place of an edit is found in linear time', () => {
  const cases: readonly [what: string, old: string, says: RegExp][] = [
    ['a text half as long', `${'a'.repeat(SIZE / 4)}b${'a'.repeat(SIZE / 4)}`, /0 times/],
    ['one that is there all over', 'a'.repeat(SIZE / 2), /occurs 1000 times/],
  ];
  for (const [what, old, says] of cases) {
    test(`of ${what}`, async () => {
      await using at = await bench();
      await writeFile(join(at.workspace, 'a'), 'a'.repeat(SIZE));
      const began = process.cpuUsage();
      assert.match((await at.call('edit', { path: 'a', old, new: 'x' })).text, says);
      tookLittle(began);
    });
  }
});

test('it finds exactly what `indexOf` finds', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀'), maxLength: 40 });
  const pattern = fc.string({
    unit: fc.constantFrom('a', 'b', 'é', '😀'),
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(text, pattern, fc.nat(40), (within, wanted, from) => {
      const places: number[] = [];
      for (let at = within.indexOf(wanted, from); at !== -1; at = within.indexOf(wanted, at + 1)) {
        places.push(at);
      }
      const literal = new Literal(wanted);
      assert.deepEqual([...literal.in(within, from)], places);
      assert.equal(literal.find(within, from), within.indexOf(wanted, from));
    }),
    { numRuns: 3_000 },
  );
});

function tookLittle(began: NodeJS.CpuUsage): void {
  const { user, system } = process.cpuUsage(began);
  const ms = (user + system) / 1_000;
  assert.ok(ms < MOST_MS, `${ms} ms`);
}
