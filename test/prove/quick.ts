// The quick tier, `npm test`: every test of the checkout, or those of the patterns that it is given.
//   npm test                                        all
//   npm test -- "test/http/**/*.test.ts"            some files
//   npm test -- --name "V8" "test/cli/*.test.ts"    some tests of them
// The last line is one document of JSON: what ran, how much of it, how long, on which commit.
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';
import { commitNow, ROOT } from './commit.ts';

/** Files that wait for processes come first: the short ones fill what they leave of the cores. */
const EVERYTHING = [
  'test/{crash,e2e,prove,simulation}/**/*.test.ts',
  'test/{adapters,cli}/**/*.test.ts',
  'test/**/*.test.ts',
  'src/**/*.test.ts',
];

/** What runs as one test for longer than this hangs. */
const TIMEOUT_MS = 600_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    name: { type: 'string', multiple: true, default: [] },
    /** Many tests wait for processes: more files than cores may be under way. */
    files: { type: 'string', default: String(availableParallelism() + 1) },
  },
});

// Each file is a process of its own: what one has compiled the next one need not.
process.env['NODE_COMPILE_CACHE'] ??= join(ROOT, 'node_modules/.cache/tests');

const began = performance.now();
const isWhole = positionals.length === 0 && values.name.length === 0;
const patterns = positionals.length === 0 ? EVERYTHING : positionals;
const files = new Set(patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT })));
const events = run({
  cwd: ROOT,
  files: Array.from(files, (file) => resolve(ROOT, file)),
  concurrency: Number(values.files),
  timeout: TIMEOUT_MS,
  testNamePatterns: values.name.map((name) => new RegExp(name)),
});
const ran = { tests: 0, failed: 0, skipped: 0 };
let passed = false;
events.on('test:summary', ({ file, success, counts }) => {
  if (file !== undefined) return;
  const skipped = counts.skipped + counts.todo;
  Object.assign(ran, {
    tests: counts.tests,
    failed: counts.tests - counts.passed - skipped,
    skipped,
  });
  // A pattern that finds nothing proves nothing.
  passed = success && counts.passed > 0;
});
events.compose(new spec()).pipe(process.stdout, { end: false });
events.on('end', () => {
  const seconds = Math.round((performance.now() - began) / 1_000);
  const tier = isWhole ? 'quick' : 'part of quick';
  const line = JSON.stringify({ tier, commit: commitNow(), passed, seconds, ...ran });
  process.exitCode = passed ? 0 : 1;
  // Behind what the reporter still has to say.
  setImmediate(() => process.stdout.write(`${line}\n`));
});
