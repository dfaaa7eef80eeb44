// A seed's script as a file: its options, expanded, and each step that it took. Played again it shows the first step
// that another version takes differently. What is drawn on the way follows from the options' own seed.
import { readFileSync, writeFileSync } from 'node:fs';
import type { SimulationOptions } from './options.ts';
import type { Defect } from './planting.ts';
import { simulate, type Outcome } from './simulate.ts';

const FORMAT = 'sekisho-simulation';
/** Steps that are shown before the one that differs. */
const BEFORE = 5;

/** What one run was and did. */
export interface SavedScript {
  readonly format: typeof FORMAT;
  readonly version: 1;
  readonly options: SimulationOptions;
  /** The number of the planted defect; null of none. */
  readonly defect: number | null;
  readonly steps: readonly string[];
  readonly problems: readonly string[];
}

export interface Difference {
  /** From 1 on. */
  readonly step: number;
  /** The steps before it, the same in both. */
  readonly before: readonly string[];
  /** Undefined where one of them has ended. */
  readonly saved: string | undefined;
  readonly now: string | undefined;
}

/** Plays options and gives what came of it with every step. */
export async function playSteps(
  options: SimulationOptions,
  defect?: Defect,
): Promise<{ readonly outcome: Outcome; readonly steps: readonly string[] }> {
  const steps: string[] = [];
  const outcome = await simulate({ options, defect, trace: (line) => steps.push(line) });
  return { outcome, steps };
}

export function saveScript(path: string, script: Omit<SavedScript, 'format' | 'version'>): void {
  const saved: SavedScript = { format: FORMAT, version: 1, ...script };
  writeFileSync(path, `${JSON.stringify(saved, null, 1)}\n`);
}

/** Throws for a file that is no script of this version. */
export function readScript(path: string): SavedScript {
  const script = JSON.parse(readFileSync(path, 'utf8')) as Partial<SavedScript>;
  if (script.format !== FORMAT || script.version !== 1)
    throw new RangeError(`${path} is no script of a simulated world that this version plays`);
  return script as SavedScript;
}

/** The first step that differs; undefined where all are the same. */
export function firstDifference(
  saved: readonly string[],
  now: readonly string[],
): Difference | undefined {
  const length = Math.max(saved.length, now.length);
  for (let at = 0; at < length; at += 1) {
    if (saved[at] === now[at]) continue;
    const before = saved.slice(Math.max(0, at - BEFORE), at);
    return { step: at + 1, before, saved: saved[at], now: now[at] };
  }
  return undefined;
}

/** What a replay came to, as lines. */
export function describeReplay(
  script: SavedScript,
  played: Awaited<ReturnType<typeof playSteps>>,
): readonly string[] {
  const difference = firstDifference(script.steps, played.steps);
  if (difference === undefined)
    return [`the same ${script.steps.length} steps as saved, seed ${script.options.seed}`];
  const { step, before, saved, now } = difference;
  return [
    `step ${step} differs from the saved one, seed ${script.options.seed}`,
    ...before.map((line) => `    ${line}`),
    `  saved: ${saved ?? 'nothing: the run had ended'}`,
    `  now:   ${now ?? 'nothing: the run has ended'}`,
  ];
}
