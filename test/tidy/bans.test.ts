// Time, chance and the outside world come through ports. The linter says so too, by name; this
// check also holds where a line tells the linter to look away.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isTest, lineAt, readFiles, withoutComments, type Files } from './source.ts';

const RINGS = ['kernel', 'core', 'ports', 'engine', 'text', 'wire'];

/** A name on its own, not a member of something: `clock.setTimeout(` is a port's affair. */
const BANNED: readonly RegExp[] = [
  /(?<![.\w$])Date\.now\b/g,
  /(?<![.\w$])new Date\b/g,
  /(?<![.\w$])Math\.random\b/g,
  /(?<![.\w$])AbortSignal\.timeout\b/g,
  /(?<![.\w$])performance\.[a-z]/g,
  /(?<![.\w$])crypto\.[a-z]/g,
  /(?<![.\w$])process\.[a-z]/g,
  /(?<![.\w$])console\.[a-z]/g,
  /(?<![.\w$])globalThis\b/g,
  /(?<![.\w$])(?:setTimeout|setInterval|setImmediate|fetch)\s*\(/g,
  /['"]node:(?:child_process|crypto|dns|fs|https?2?|net|os|perf_hooks|process|timers|tls)\b/g,
];

test('what decides and what drives reaches the world through ports alone', () => {
  const files = readFiles(`src/{${RINGS.join(',')}}/**/*.ts`);
  assert.ok(files.size > 0, 'a check that looked at nothing has not passed');
  assert.deepEqual(bannedIn(files), []);
});

describe('the check of banned words sees', () => {
  const planted = [
    'const now = Date.now();',
    'const now = new Date();',
    'const now = new Date(0);',
    'const chance = Math.random();',
    'const pick = Math.random;',
    'setTimeout(wake, 10);',
    'setInterval(wake, 10);',
    'setImmediate(wake);',
    'const home = process.env;',
    'process.exit(1);',
    "await fetch('http://localhost');",
    'const id = crypto.randomUUID();',
    'const at = performance.now();',
    "console.log('x');",
    'globalThis.setTimeout(wake, 10);',
    'await call(AbortSignal.timeout(10));',
    "import { setTimeout as sleep } from 'node:timers/promises';",
    'const sentence = `at ${Date.now()}`;',
  ];
  for (const line of planted) {
    test(line, () => {
      for (const ring of RINGS) {
        const path = `src/${ring}/task/a.ts`;
        const found = bannedIn(new Map([[path, `export const x = 1;\n${line}\n`]]));
        assert.ok(found.length > 0, `not seen in ${ring}`);
        for (const where of found) assert.ok(where.startsWith(`${path}:2: `), where);
      }
    });
  }

  test('nothing in comments, sentences, members and tests', () => {
    const text = `
      // Date.now() belongs to the clock
      /* and so does setTimeout( */
      const sentence = 'Restart the process. Then fetch the file.';
      clock.setTimeout(wake); store.fetch(id); task.process.id; prefetch();
      const url = 'http://localhost'; // new Date()
    `;
    assert.deepEqual(bannedIn(new Map([['src/engine/task/a.ts', text]])), []);
    assert.deepEqual(bannedIn(new Map([['src/engine/task/a.test.ts', 'Date.now()']])), []);
  });
});

/** Where a banned word stands, as `path:line: word`. */
function bannedIn(files: Files): string[] {
  const product = [...files].filter(([path]) => !isTest(path));
  return product.flatMap(([path, text]) => {
    const code = withoutComments(text);
    const found = BANNED.flatMap((banned) => [...code.matchAll(banned)]);
    return found.map((match) => `${path}:${lineAt(code, match.index)}: ${match[0]}`);
  });
}
