// The path rule, as a model can try it: by its text, by links, and by a race.
import assert from 'node:assert/strict';
import { mkdirSync, openSync, readFileSync, realpathSync, closeSync, existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { ToolProblem } from '../../src/adapters/tools/tool-problem.ts';
import { locate, pathInside } from '../../src/adapters/tools/workspace-path.ts';
import { bench, type Bench } from './tools-workbench.ts';

const SECRET = 'the secret outside';
const RACE_MS = 1_000;

describe('a path that leads out of the workspace is refused', () => {
  const paths: readonly string[] = [
    '..',
    '../secret',
    'a/../../secret',
    './/../secret',
    '/etc/passwd',
    '/proc/self/environ',
    '/proc/self/root/etc/passwd',
    '../workspace-2/x',
    'file-link',
    'folder-link/secret',
    'folder-link/new',
    'up/secret',
    'chain/secret',
    'nowhere',
    'nowhere/x',
    'a\0b',
    'a\nb',
    'a\u007fb',
    'a\u0085b',
    'a\ud800b',
    `${'d/'.repeat(2_100)}x`,
  ];
  for (const path of paths) {
    test(`${JSON.stringify(path).slice(0, 40)}, by every tool`, async () => {
      await using at = await besieged();
      for (const [name, args] of [
        ['read', { path }],
        ['write', { path, content: 'x' }],
        ['edit', { path, old: 'secret', new: 'x' }],
        ['list', { path }],
        ['search', { pattern: 'secret', path }],
      ] as const) {
        const outcome = await at.call(name, args);
        assert.equal(outcome.kind === 'error' && outcome.code, 'refused', outcome.text);
        assert.ok(!outcome.text.includes(SECRET));
      }
      await untouched(at);
    });
  }
});

describe('a path inside the workspace is taken', () => {
  const paths: readonly string[] = [
    'in/a.txt',
    './in//a.txt',
    'in/../in/a.txt',
    'inner-link/a.txt',
    '..in/a.txt',
  ];
  for (const path of paths) {
    test(path, async () => {
      await using at = await besieged();
      assert.equal((await at.call('read', { path })).text, 'inside');
      assert.equal((await at.call('write', { path, content: 'new' })).kind, 'result');
      assert.equal((await at.call('read', { path })).text, 'new');
    });
  }

  test('when it is absolute, by the configured path and by the real one', async () => {
    await using at = await besieged();
    const linked = join(at.outer, 'linked-workspace');
    await symlink(at.workspace, linked);
    for (const path of [join(at.workspace, 'in/a.txt'), join(linked, 'in/a.txt')]) {
      assert.deepEqual((await locate(linked, path)).segments, ['in', 'a.txt']);
    }
  });
});

describe('whatever the text of a path', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '',
      '/',
      '//',
      'in',
      'a.txt',
      'folder-link',
      'file-link',
      'up',
      'chain',
      'inner-link',
      '\0',
      '..\\',
      '%2e%2e',
      '~',
      'secret',
    ),
    fc.string({ unit: 'grapheme', maxLength: 6 }),
  );
  const path = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('/'));

  test('it is refused or lies inside, by its text', () => {
    let taken = 0;
    fc.assert(
      fc.property(path, (text) => {
        try {
          const inner = pathInside('/w/s', text);
          assert.ok(!inner.startsWith('/') && !inner.split('/').includes('..'), inner);
          taken += 1;
        } catch (error) {
          assert.ok(error instanceof ToolProblem);
          assert.equal(error.code, 'refused');
        }
      }),
      { numRuns: 2_000 },
    );
    assert.ok(taken > 0);
  });

  test('it is refused or lies inside, with every link resolved', async () => {
    await using at = await besieged();
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(path, async (text) => {
        const place = await locate(at.workspace, text).catch(() => undefined);
        if (place === undefined) return;
        const target = join(place.root, ...place.segments);
        const real = existsSync(target) ? realpathSync(target) : target;
        assert.ok(!relative(at.workspace, real).split('/').includes('..'), real);
        taken += 1;
      }),
      { numRuns: 500 },
    );
    assert.ok(taken > 0);
  });

  test('what is written lands inside', async () => {
    await using at = await besieged();
    await fc.assert(
      fc.asyncProperty(path, async (text) => {
        await at.call('write', { path: text === '' ? '.' : text, content: 'x' });
        await untouched(at);
      }),
      { numRuns: 300 },
    );
  });
});

// A folder is swapped for a link to the outside, as fast as a thread can. A check by name loses.
describe(
  'a folder that is swapped for a link while it is used',
  { skip: process.platform === 'win32' },
  () => {
    test('lets a check by name read outside, so the race is real', async () => {
      await using at = await besieged();
      let escapes = 0;
      await whileSwapping(at, async () => {
        const until = performance.now() + 20_000;
        while (escapes === 0 && performance.now() < until) {
          escapes += naiveRead(at) === SECRET ? 1 : 0;
        }
      });
      assert.ok(escapes > 0);
    });

    for (const [name, args] of [
      ['read', { path: 'swapped/secret' }],
      ['write', { path: 'swapped/secret', content: 'inside' }],
      ['search', { path: 'swapped', pattern: 'e' }],
    ] as const) {
      test(`never lets ${name} reach outside`, async () => {
        await using at = await besieged();
        let inside = 0;
        let refused = 0;
        await whileSwapping(at, async () => {
          const until = performance.now() + RACE_MS;
          while (performance.now() < until || inside === 0 || refused === 0) {
            const outcome = await at.call(name, args);
            assert.ok(!outcome.text.includes(SECRET));
            if (outcome.kind === 'result') inside += 1;
            else refused += 1;
          }
        });
        await untouched(at);
      });
    }
  },
);

/** A workspace with links to the outside, where a secret lies. */
async function besieged(): Promise<Bench> {
  const at = await bench();
  const outside = join(at.outer, 'outside');
  await mkdir(outside);
  await mkdir(join(at.outer, 'workspace-2'));
  await writeFile(join(outside, 'secret'), SECRET);
  for (const folder of ['in', '..in', 'swapped']) await mkdir(join(at.workspace, folder));
  await writeFile(join(at.workspace, 'in/a.txt'), 'inside');
  await writeFile(join(at.workspace, '..in/a.txt'), 'inside');
  await writeFile(join(at.workspace, 'swapped/secret'), 'inside');
  const links = {
    'file-link': join(outside, 'secret'),
    'folder-link': outside,
    up: '../outside',
    chain: 'up',
    'inner-link': 'in',
    nowhere: join(at.outer, 'not-there'),
  };
  for (const [name, target] of Object.entries(links)) {
    await symlink(target, join(at.workspace, name));
  }
  return at;
}

async function untouched(at: Bench): Promise<void> {
  assert.deepEqual((await readdir(at.outer)).toSorted(), ['outside', 'workspace', 'workspace-2']);
  assert.deepEqual(await readdir(join(at.outer, 'outside')), ['secret']);
  assert.deepEqual(await readdir(join(at.outer, 'workspace-2')), []);
  assert.equal(await readFile(join(at.outer, 'outside/secret'), 'utf8'), SECRET);
}

/** Swaps for as long as `work` takes. */
async function whileSwapping(at: Bench, work: () => Promise<void>): Promise<void> {
  mkdirSync(join(at.workspace, 'spare'));
  const code = `
    const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
    const { workerData: w } = require('node:worker_threads');
    let away = 0;
    // A write may make the folder anew while it is away.
    const make = (step) => {
      try {
        step();
      } catch {
        try {
          renameSync(w + '/swapped', w + '/spare/' + ++away);
        } catch {}
      }
    };
    for (;;) {
      make(() => renameSync(w + '/swapped', w + '/spare/real'));
      make(() => symlinkSync('../outside', w + '/swapped'));
      make(() => unlinkSync(w + '/swapped'));
      make(() => renameSync(w + '/spare/real', w + '/swapped'));
    }`;
  const worker = new Worker(code, { eval: true, workerData: at.workspace });
  try {
    await work();
  } finally {
    await worker.terminate();
  }
}

function naiveRead(at: Bench): string | undefined {
  const path = join(at.workspace, 'swapped/secret');
  try {
    if (realpathSync(path) !== path) return undefined;
    const file = openSync(path, 'r');
    try {
      return readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}
