// Breaks the source in every small way Stryker knows, and counts what the tests notice:
// `npm run mutate`, or `npm run mutate -- task approval` for some rooms. With `--again` what a former
// run found about unchanged code and tests is taken as found. Fails when a room is below its floor.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { ROOMS, type MutatedRoom } from './mutate-rooms.ts';
import { SAME } from './mutate-same.ts';

type Mutant = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

interface Score {
  readonly room: MutatedRoom;
  readonly mutants: number;
  readonly noticed: number;
  readonly survivors: readonly Mutant[];
}

const NOTICED: readonly Mutant['status'][] = ['Killed', 'Timeout'];
const UNNOTICED: readonly Mutant['status'][] = ['Survived', 'NoCoverage'];
/** Kept out of the repository with everything else that was installed or made. */
const KEPT = 'node_modules/.cache/mutate';
// A test file is a process for each mutant: what it loads is compiled once for all of them.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '..', KEPT, 'compiled');

async function breakRoom(room: MutatedRoom, isAgain: boolean): Promise<Score> {
  const scratch = mkdtempSync(join(tmpdir(), 'mutate-'));
  try {
    const found = await new Stryker({
      mutate: [...room.mutate, '!src/**/*.test.ts'],
      tap: { testFiles: [...room.tests] },
      incrementalFile: join(KEPT, `${room.name}.json`),
      jsonReporter: { fileName: join(KEPT, `${room.name}.report.json`) },
      force: !isAgain,
      tempDirName: scratch,
    }).runMutationTest();
    return scoreOf(room, found);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function scoreOf(room: MutatedRoom, found: readonly Mutant[]): Score {
  const noticed = found.filter(({ status }) => NOTICED.includes(status)).length;
  const survivors = found.filter(({ status }) => UNNOTICED.includes(status));
  return { room, mutants: noticed + survivors.length, noticed, survivors };
}

function percentOf({ mutants, noticed }: Score): number {
  return mutants === 0 ? 100 : (100 * noticed) / mutants;
}

function show(score: Score): string {
  const { room, mutants, noticed, survivors } = score;
  const percent = percentOf(score).toFixed(1);
  const total = `${room.name}: ${noticed} of ${mutants} noticed, ${percent} % (floor ${room.floor} %)`;
  return [...survivors.map(showOne), total].join('\n');
}

function showOne({ fileName, location, replacement, status }: Mutant): string {
  const { start, end } = location;
  const file = relative(process.cwd(), fileName);
  const line = readFileSync(fileName, 'utf8').split('\n')[start.line - 1] ?? '';
  const code = line.slice(start.column - 1, start.line === end.line ? end.column - 1 : undefined);
  const why = SAME[file]?.find(
    ([within, was, becomes]) => line.includes(within) && code === was && replacement === becomes,
  )?.[3];
  const reason = why === undefined ? '' : ` (looked at: ${why})`;
  return `  ${status} ${file}:${start.line} ${code.trim()} → ${replacement}${reason}`;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { again: { type: 'boolean', default: false } },
});
const unknown = positionals.filter((name) => !ROOMS.some((room) => room.name === name));
if (unknown.length > 0) throw new Error(`No such room: ${unknown.join(', ')}`);

for (const room of ROOMS) {
  if (positionals.length > 0 && !positionals.includes(room.name)) continue;
  const score = await breakRoom(room, values.again);
  process.stdout.write(`${show(score)}\n`);
  if (percentOf(score) < room.floor) process.exitCode = 1;
}
