// What a set, an enumeration and a drill say in plain lines.
import type { Drilled } from './drill.ts';
import type { Failure, SeedSet } from './many.ts';
import type { Enumeration } from './enumerate.ts';
import type { Sometime } from './sometimes.ts';

const HOUR = 3_600_000;

export function describeSet(set: SeedSet, missed: readonly Sometime[]): string {
  const seconds = set.wallMs / 1_000;
  return [
    set.sometimes.table(),
    ...set.failures.slice(0, 20).map(describeFailure),
    ...missed.map((name) => `too seldom: ${name}`),
    `${set.seeds} seeds from ${set.from} on, ${set.failures.length} failed, ${set.twice} played twice`,
    `${set.steps} steps, ${set.commits} commits, ${set.crashes} crashes, ${(set.elapsed / HOUR).toFixed(1)} virtual hours`,
    `${seconds.toFixed(1)} s, ${(set.seeds / seconds).toFixed(1)} seeds/s`,
  ].join('\n');
}

export function replayOfSeed(seed: number): string {
  return `node test/simulation/run.ts --seed ${seed} --trace`;
}

/** Scenarios are named by their place in their list. */
export function replayOfPoints(scenario: number, points: readonly number[]): string {
  return `node test/simulation/run.ts --scenario ${scenario} --point ${points.join(',')} --trace`;
}

export function describeFailure({ seed, problems }: Failure): string {
  return [
    `seed ${seed} failed; replay: ${replayOfSeed(seed)}`,
    ...problems.slice(0, 5).map((one) => `   ${one}`),
  ].join('\n');
}

export function describeEnumeration(enumeration: Enumeration): string {
  const { scenario, points, commits, failures } = enumeration;
  const first = failures
    .slice(0, 5)
    .map(({ point, problems }) => `   point ${point}: ${problems[0]}`);
  return [
    `${scenario}: ${points} points, ${commits} commits, ${failures.length} failed`,
    ...first,
  ].join('\n');
}

export function describeDrill(drilled: readonly Drilled[]): string {
  return drilled
    .map(({ defect, caughtAt, seeds, problem }) =>
      caughtAt === null
        ? `${defect}: NOT CAUGHT in ${seeds} seeds`
        : `${defect}: caught at seed ${caughtAt} (${problem})`,
    )
    .join('\n');
}
