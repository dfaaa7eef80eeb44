// What a seed draws of context maintenance: windows that sessions outgrow, and what their upkeep meets.
import type { EngineOptions } from '../../src/engine/engine.ts';
import { SECOND } from '../../src/kernel/time.ts';
import type { Random } from '../../src/testing/sim-random.ts';

/** How sessions are maintained in a world. */
export interface Upkeep {
  /** Whether sessions outgrow their windows at all. */
  readonly isOn: boolean;
  readonly maintenance: EngineOptions['maintenance'];
  /** Tokens that the provider counts for one of what people write, as characters stand for it. */
  readonly density: number;
  /** Characters that answers and results of tools carry beside what they say. */
  readonly padding: number;
  /** Tokens of the window of the model that writes summaries. */
  readonly summaryWindow: number;
  /** The agent's runtime keeps the session itself. */
  readonly native: boolean;
  /** A host that starts later may run with another configuration (M-5). */
  readonly changes: boolean;
}

/** What the upkeep of a session can meet, as odds. */
export const UPKEEP_SWITCHES = [
  'summaryFails',
  'summaryInvalid',
  'summarySlow',
  'summaryQuota',
  'summaryLies',
  'upkeepDies',
  'runtimeRejects',
  'runtimeThrows',
  'runtimeSlow',
  'older',
] as const;
export type UpkeepFault = (typeof UPKEEP_SWITCHES)[number];

export const NO_UPKEEP: Upkeep = {
  isOn: false,
  maintenance: { startAt: 0.8, firstDelayMs: SECOND, maxDelayMs: 60 * SECOND },
  density: 1,
  padding: 0,
  summaryWindow: 100_000,
  native: false,
  changes: false,
};

export const WIDE_WINDOW = 100_000;
/** So small that a few exchanges outgrow it. */
const NARROW_WINDOWS = [2_400, 3_600, 6_000] as const;
const UPKEEP_SHARE = 0.4;

/** Drawn apart from everything else, so that neither reshuffles the other. */
export function drawUpkeep(random: Random): {
  readonly upkeep: Upkeep;
  readonly window: number;
  readonly faults: Readonly<Record<UpkeepFault, number>>;
} {
  const [isOn, isHard] = [random.chance(UPKEEP_SHARE), random.chance(0.35)];
  // Where it is hard, nearly nothing succeeds: seven failures are wanted in many seeds.
  const often = isHard ? 0.95 : 0.4;
  const drawn: Readonly<Record<UpkeepFault, number>> = {
    summaryFails: random.next() * often,
    summaryInvalid: random.next() * often,
    summarySlow: random.next() * 0.3,
    summaryQuota: random.next() * 0.6,
    summaryLies: 1,
    upkeepDies: random.next() * 0.5,
    runtimeRejects: random.next() * 0.8,
    runtimeThrows: random.next() * Math.max(often, 0.7),
    runtimeSlow: random.next() * 0.3,
    older: 1,
  };
  const on = UPKEEP_SWITCHES.map(
    (name) => [name, random.chance(0.6) && isOn ? drawn[name] : 0] as const,
  );
  const window = random.pick(NARROW_WINDOWS);
  const upkeep: Upkeep = {
    isOn,
    maintenance: drawMaintenance(random),
    density: random.pick([0.6, 1, 2, 3]),
    padding: random.pick([200, 900, 1_800]),
    summaryWindow: random.pick([1_700, 2_000, window, WIDE_WINDOW]),
    native: random.chance(0.45),
    changes: random.chance(0.3),
  };
  return {
    upkeep: isOn ? upkeep : NO_UPKEEP,
    window: isOn ? window : WIDE_WINDOW,
    faults: Object.fromEntries(on) as Record<UpkeepFault, number>,
  };
}

function drawMaintenance(random: Random): EngineOptions['maintenance'] {
  return {
    startAt: random.pick([0.5, 0.8, 0.95]),
    firstDelayMs: random.pick([SECOND, SECOND, 3 * SECOND]),
    maxDelayMs: random.pick([60 * SECOND, 60 * SECOND, 8 * SECOND]),
  };
}

/** What a host runs with: the world's own, or where configurations change, one that another start draws. */
export function configured(
  { window, upkeep }: { readonly window: number; readonly upkeep: Upkeep },
  random: Random,
): { readonly window: number; readonly maintenance: EngineOptions['maintenance'] } {
  const { maintenance, changes } = upkeep;
  if (!changes || !random.chance(0.5)) return { window, maintenance };
  return {
    window: Math.round(window * random.pick([1, 0.8, 1.5])),
    maintenance: drawMaintenance(random),
  };
}
