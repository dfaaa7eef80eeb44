import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { longFiles, MAY_IMPORT, objections, untellingFolders } from './rings.ts';
import { readFiles } from './source.ts';

const src = readFiles('src/**/*.ts');
const everything = readFiles('{src,test,bench,plugins,web}/**/*.{ts,tsx}');

describe('the product keeps to its rings', () => {
  test('every import follows the table, and every folder has its line in it', () => {
    sawFiles(src);
    assert.deepEqual(objections(src), []);
  });

  test('no folder has a name that tells nothing', () => {
    sawFiles(everything);
    assert.deepEqual(untellingFolders(everything.keys()), []);
  });

  test('no file of src is longer than 400 lines', () => {
    sawFiles(src);
    assert.deepEqual(longFiles(src), []);
  });

  test('the table names only its own rings and has no circle', () => {
    const reaches = (ring: string, trail: readonly string[]): void => {
      assert.ok(!trail.includes(ring), `a circle: ${[...trail, ring].join(' > ')}`);
      const next = MAY_IMPORT[ring];
      assert.ok(next !== undefined, `${trail.at(-1)} names ${ring}, which has no line`);
      for (const inner of next) reaches(inner, [...trail, ring]);
    };
    assert.ok(Object.keys(MAY_IMPORT).length > 0);
    for (const ring of Object.keys(MAY_IMPORT)) reaches(ring, []);
  });
});

describe('the check of the rings sees', () => {
  const planted: readonly [what: string, path: string, text: string, objection: RegExp][] = [
    ['an upward import', 'src/core/task/a.ts', `import { x } from '../../engine/a.ts';`, /engine/],
    ['an upward type', 'src/kernel/a.ts', `import type { X } from '../core/a.ts';`, /core/],
    ['a re-export', 'src/ports/a.ts', `export { x } from '../http/a.ts';`, /http/],
    [
      'an import over several lines',
      'src/core/a.ts',
      `import {\n  x,\n  y,\n} from '../ports/a.ts';`,
      /ports/,
    ],
    [
      'a sideways import between adapters',
      'src/adapters/store/task.ts',
      `import { x } from '../clock/system.ts';`,
      /adapters\/clock/,
    ],
    [
      'an adapter that knows the engine',
      'src/adapters/store/task.ts',
      `import { x } from '../../engine/task/a.ts';`,
      /engine/,
    ],
    ['Node in core', 'src/core/a.ts', `import { join } from 'node:path';`, /pure/],
    ['a package in ports', 'src/ports/a.ts', `import { z } from 'zod';`, /pure/],
    ['a bare import', 'src/kernel/a.ts', `import 'node:fs';`, /pure/],
    ['a second import on a line', 'src/core/a.ts', `const x = 1;import 'node:fs';`, /pure/],
    ['a dynamic import', 'src/core/a.ts', `const x = await import('node:fs');`, /pure/],
    ['an imported type in place', 'src/core/a.ts', `let x: import('../http/a.ts').X;`, /http/],
    ['a computed import', 'src/engine/a.ts', `await import(name);`, /only the run/],
    ['a part computed import', 'src/cli/a.ts', 'await import(`./${name}.ts`);', /only the run/],
    [
      'the command line past compose',
      'src/cli/start.ts',
      `import { x } from '../adapters/store/open.ts';`,
      /cli may not import adapters/,
    ],
    [
      'the command line past compose, late',
      'src/cli/start.ts',
      `await import('../engine/task/a.ts');`,
      /cli may not import engine/,
    ],
    ['Node in the client', 'src/client/a.ts', `import { x } from 'node:fs';`, /browser/],
    ['a door used from within', 'src/http/a.ts', `import { x } from '../index.ts';`, /index/],
    ['the package by its name', 'src/http/a.ts', `import { x } from 'sekisho/ports';`, /by name/],
    ['a folder without a line', 'src/tools/a.ts', `export const x = 1;`, /tools is no ring/],
    ['a file without a ring', 'src/loose.ts', `export const x = 1;`, /loose\.ts is no ring/],
    ['an adapter without a kind', 'src/adapters/a.ts', `export const x = 1;`, /kind/],
    ['a way out of src', 'src/cli/a.ts', `import { x } from '../../test/a.ts';`, /leaves src/],
    [
      'a product that needs a test',
      'src/core/a.ts',
      `import { x } from './b.test.ts';`,
      /the test/,
    ],
    ['a default export', 'src/core/a.ts', `export default 1;`, /by name only/],
    ['a renamed default export', 'src/core/a.ts', `export { x as default };`, /by name only/],
    ['a star export', 'src/core/a.ts', `export * from './b.ts';`, /by name only/],
  ];
  for (const [what, path, text, objection] of planted) {
    test(what, () => {
      const found = objections(new Map([[path, text]]));
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found[0] ?? '', objection);
      assert.ok(found[0]?.startsWith(path));
    });
  }

  test('nothing in what is allowed', () => {
    const clean = new Map([
      ['src/kernel/id.ts', `// not as in: import 'node:fs'\nexport const from = 'x';`],
      ['src/core/task/moves.ts', `import type { Id } from '../../kernel/id.ts';`],
      ['src/core/task/moves.test.ts', `import { test } from 'node:test';`],
      ['src/adapters/store/sqlite/open.ts', `import { x } from '../task.ts';\nimport 'node:fs';`],
      ['src/adapters/plugin/load.ts', `await import(path);`],
      ['src/wire/task.ts', `import { z } from 'zod';`],
      ['src/cli/main.ts', `import pkg from '../../package.json' with { type: 'json' };`],
      ['src/compose/host.ts', `import { x } from '../adapters/store/open.ts';`],
    ]);
    assert.deepEqual(objections(clean), []);
  });

  test('an untelling folder at any depth', () => {
    assert.deepEqual(untellingFolders(['src/core/task/utils/a.ts', 'test/lib/b.ts']), [
      'utils',
      'lib',
    ]);
    assert.deepEqual(untellingFolders(['src/core/task/types.ts']), []);
  });

  test('the first line too many', () => {
    const lines = (count: number): string => 'x;\n'.repeat(count);
    const files = new Map([
      ['src/core/a.ts', lines(400)],
      ['src/core/b.ts', lines(401)],
    ]);
    assert.deepEqual(longFiles(files), ['src/core/b.ts']);
  });
});

function sawFiles(files: ReadonlyMap<string, string>): void {
  assert.ok(files.size > 0, 'a check that looked at nothing has not passed');
}
