// The proof of what is promised, from the command line:
//   npm run prove                               the full tier, as with every change
//   npm run prove -- --release                  the long tier; started again, it goes on where it was
//   npm run prove -- --release --only seeds --from 100001 --count 50000
//                                               a range of it, for a tier that is split
//   npm run prove -- --list                     what there is, and how much each tier runs of it
// How far it is goes to stderr; the last line of stdout is one document of JSON. Exit code 1: something
// failed, or too little ran.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commitNow, ROOT } from './commit.ts';
import { ProgressFile } from './progress.ts';
import type { Proof, Tier } from './proof.ts';
import { PROOFS } from './proofs.ts';
import type { Range } from './ranges.ts';
import { runTier } from './tier.ts';

const { values } = parseArgs({
  options: {
    release: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    from: { type: 'string' },
    count: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const tier: Tier = values.release ? 'release' : 'full';
if (values.list) for (const proof of PROOFS) print(described(proof));
else await prove();

function described({ name, unit, counts }: Proof): string {
  return `${name.padEnd(16)} ${counts.full} ${unit}; release: ${counts.release}`;
}

async function prove(): Promise<void> {
  const began = performance.now();
  const commit = commitNow();
  // Changed files have no name by which a later run would know them again.
  const isKept = values.release && !commit.endsWith('+');
  const path = isKept ? join(ROOT, '.prove', 'release.json') : null;
  const order = { tier, proofs: chosen(), floors: floors(), range: rangeAsked(), say };
  const report = await runTier({ ...order, progress: new ProgressFile(path, commit) });
  const seconds = Math.round((performance.now() - began) / 1_000);
  for (const problem of report.problems) say(problem);
  const passed = report.problems.length === 0;
  print(JSON.stringify({ tier, commit, passed, seconds, proofs: report.proofs }));
  if (!passed) process.exitCode = 1;
}

function chosen(): readonly Proof[] {
  if (values.only.length === 0) return PROOFS;
  return values.only.map((name) => {
    const found = PROOFS.find((proof) => proof.name === name);
    if (found !== undefined) return found;
    const names = PROOFS.map((proof) => proof.name).join(', ');
    throw new RangeError(`there is no proof ${name}; there are ${names}`);
  });
}

function rangeAsked(): Range | undefined {
  if (values.from === undefined && values.count === undefined) return undefined;
  const range = { from: Number(values.from ?? 1), count: Number(values.count) };
  const isRange = Number.isSafeInteger(range.from) && Number.isSafeInteger(range.count);
  if (isRange && range.from >= 1 && range.count >= 1) return range;
  throw new RangeError('--from and --count are whole numbers from 1 on, --count is needed');
}

function floors(): Readonly<Record<string, number>> {
  const text = readFileSync(join(ROOT, '.ci/floor.json'), 'utf8');
  return (JSON.parse(text) as { prove: Record<string, number> }).prove;
}
