// What one seed plays: everything is drawn here, so that a run can print its expanded options.
import type { EngineOptions } from '../../src/engine/engine.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { seededRandom, type Random } from '../../src/testing/sim-random.ts';
import { drawUpkeep, UPKEEP_SWITCHES, type Upkeep, type UpkeepFault } from './options-upkeep.ts';

/** Odds per call, or counts per run; zero where the seed switched the fault off. */
export interface Faults {
  readonly busy: number;
  readonly disconnected: number;
  readonly unknown: number;
  /** A guard that matched no row, as under a store with several writers. */
  readonly lostRace: number;
  readonly slow: number;
  readonly diskFull: number;
  readonly io: number;
  /** A crash on average once in so many steps; 0: none. */
  readonly crashEvery: number;
  /** A pause on average once in so many steps (shared stores); 0: none. */
  readonly pauseEvery: number;
  readonly restartEvery: number;
  readonly clockSteps: number;
  /** Steps of the wall clock so far that nobody believes it (design principle 8). */
  readonly clockLeaps: number;
  readonly model: number;
  readonly modelNonsense: number;
  readonly modelSlow: number;
  /** Episodes of a provider: outages, limits, refusals. */
  readonly episodes: number;
  /** Odds of a reply that waits, goes on by itself, repeats itself, or calls what a person must approve. */
  readonly waits: number;
  readonly continues: number;
  readonly loops: number;
  readonly asks: number;
  /** Odds of a classifier that is wrong, late or talks nonsense. */
  readonly classifier: number;
  readonly tool: number;
  /** Odds that the bytes of a call change between its question and its answer. */
  readonly edits: number;
  readonly instructions: number;
  readonly duplicate: number;
  readonly reorder: number;
  readonly otherBody: number;
  readonly lostAck: number;
  /** Odds of what an assessment comes to beside `continue`, and of a host that dies during its call. */
  readonly judgeFails: number;
  readonly judgeInvalid: number;
  readonly judgeEnds: number;
  readonly judgeDoubts: number;
  readonly judgeSlow: number;
  readonly judgeDies: number;
  /** Times at which a stopped store is restored from what was exported of it. */
  readonly restores: number;
  /** Odds that a restore brings a task that an older version parked without a reason. */
  readonly parked: number;
  /** Minutes for which whoever judges cannot be reached; 0: always answers. */
  readonly judgeGone: number;
  /** Odds of what a summary comes to beside a good one, of a host that dies while it is made. */
  readonly summaryFails: number;
  readonly summaryInvalid: number;
  readonly summarySlow: number;
  readonly summaryQuota: number;
  /** A summary may say that everything is done and nothing was asked for. */
  readonly summaryLies: number;
  readonly upkeepDies: number;
  /** The same of a runtime that keeps the session itself. */
  readonly runtimeRejects: number;
  readonly runtimeThrows: number;
  readonly runtimeSlow: number;
  /** Odds that a restore brings an operation that an older version left with its tries used up (M-15). */
  readonly older: number;
}

export interface SimulationOptions {
  readonly seed: number;
  /** The trait of the store: exclusive, or shared by hosts whose leases are waited out. */
  readonly shared: boolean;
  /** Two hosts at once from the start (shared stores). */
  readonly hosts: 1 | 2;
  readonly file: boolean;
  readonly conversations: number;
  readonly actions: number;
  /** Virtual milliseconds over which the actions are spread. */
  readonly span: number;
  readonly bounds: TaskBounds;
  readonly whileBusy: EngineOptions['whileBusy'];
  readonly approvalMs: number;
  readonly recovery: EngineOptions['recovery'];
  /** How many fallback models there are, and whether the first shares the account of the own model. */
  readonly fallbacks: 0 | 1 | 2;
  readonly sharesAccount: boolean;
  /** Tokens of the own model's window. */
  readonly window: number;
  readonly upkeep: Upkeep;
  /** Episodes of a provider last hours, and waits are set for hours ahead. */
  readonly long: boolean;
  readonly concurrent: number;
  readonly tickMs: number;
  readonly leaseMs: number;
  readonly faults: Faults;
}

/** What may cost a turn its host or its lease; without it every turn comes to its own end. */
const HARSH = [
  'slow',
  'diskFull',
  'io',
  'crashEvery',
  'pauseEvery',
  'restartEvery',
  'clockSteps',
  'clockLeaps',
  'instructions',
  'restores',
] as const satisfies readonly (keyof Faults)[];
const GENTLE_SHARE = 0.15;

/** Whether nothing in this run may interrupt a turn: passing faults of the store never do. */
export function isGentle({ faults }: Pick<SimulationOptions, 'faults'>): boolean {
  return HARSH.every((name) => faults[name] === 0);
}

const RECOVERY_SWITCHES = [
  'judgeFails',
  'judgeInvalid',
  'judgeEnds',
  'judgeDoubts',
  'judgeSlow',
  'judgeDies',
  'restores',
  'parked',
  'judgeGone',
] as const satisfies readonly (keyof Faults)[];
type RecoveryFault = (typeof RECOVERY_SWITCHES)[number];

const SWITCHES = [
  'busy',
  'disconnected',
  'unknown',
  'lostRace',
  'slow',
  'diskFull',
  'io',
  'crashEvery',
  'pauseEvery',
  'restartEvery',
  'clockSteps',
  'clockLeaps',
  'model',
  'modelNonsense',
  'modelSlow',
  'episodes',
  'waits',
  'continues',
  'loops',
  'asks',
  'classifier',
  'tool',
  'edits',
  'instructions',
  'duplicate',
  'reorder',
  'otherBody',
  'lostAck',
] as const satisfies readonly (keyof Faults)[];

export const NO_FAULTS: Faults = Object.fromEntries(
  [...SWITCHES, ...RECOVERY_SWITCHES, ...UPKEEP_SWITCHES].map((name) => [name, 0]),
) as Record<keyof Faults, number>;

/** What each task is given, and when it ends at the latest. */
export interface TaskBounds {
  readonly deadlineMs: number | null;
  readonly turns: number;
  readonly tokens: number;
  readonly cost: number;
  readonly continuations: number;
}

/** Bounds that nothing reaches. */
export const WIDE_BOUNDS: TaskBounds = {
  deadlineMs: null,
  turns: LIMITS.turnsPerTask,
  tokens: LIMITS.tokensPerTask,
  cost: LIMITS.costPerTaskMicroUsd,
  continuations: LIMITS.continuationsPerTask,
};

/** The options of a seed. Swarm: each fault is off in about half of the seeds. */
export function optionsOf(seed: number): SimulationOptions {
  const random = seededRandom(seed, 'options');
  const long = random.chance(0.08);
  // What lasts for hours is played where no lease is renewed every few seconds.
  const shared = random.chance(0.55) && !long;
  const hosts = random.chance(0.3) && shared ? 2 : 1;
  // Looks that find nothing are most of what a seed costs: few worlds look often.
  const tickMs = random.pick([5 * SECOND, 60 * SECOND, 5 * MINUTE, 5 * MINUTE]);
  const options = {
    seed,
    shared,
    hosts,
    file: random.chance(0.025),
    conversations: random.between(1, 3),
    actions: random.between(4, 14),
    span: random.pick([2 * SECOND, 20 * SECOND, 2 * MINUTE, 10 * MINUTE]),
    concurrent: random.pick([1, 2, 8]),
    // Where two hosts live, each hears of the other's stops at its tick only.
    tickMs: hosts === 2 ? LIMITS.tickMsShared : long ? 10 * MINUTE : tickMs,
    leaseMs: random.pick([15 * SECOND, 60 * SECOND, 60 * SECOND]),
    faults: drawFaults(random),
  } as const;
  const meetings = drawMeetings(seededRandom(seed, 'meetings'));
  const { recovery, faults } = drawRecovery(seededRandom(seed, 'recovery'));
  // A world that nothing disturbs is not restored either, nor a file, which its host has open.
  const isSpared = options.file || isGentle({ faults: { ...options.faults, restores: 0 } });
  const restores = isSpared ? 0 : faults.restores;
  const { faults: upkeepFaults, ...upkeep } = drawUpkeep(seededRandom(seed, 'upkeep'));
  const all: Faults = { ...options.faults, ...faults, ...upkeepFaults, restores };
  // Where requests are counted as they are, a turn takes many times the tokens.
  const { tokens } = meetings.bounds;
  const bounds = { ...meetings.bounds, tokens: upkeep.upkeep.isOn ? tokens * 40 : tokens };
  return { ...options, ...meetings, ...upkeep, bounds, faults: all, recovery, long };
}

const RECOVERY_ODDS: Readonly<Partial<Record<RecoveryFault, number>>> = {
  restores: 0.6,
  judgeGone: 0.25,
};

/** Drawn apart from the other faults, so that neither reshuffles the other. */
function drawRecovery(random: Random): {
  readonly recovery: SimulationOptions['recovery'];
  readonly faults: Readonly<Record<RecoveryFault, number>>;
} {
  const drawn: Readonly<Record<RecoveryFault, number>> = {
    judgeFails: random.next(),
    judgeInvalid: random.next() * 0.8,
    judgeEnds: random.next() * 0.4,
    judgeDoubts: random.next() * 0.4,
    judgeSlow: random.next() * 0.5,
    judgeDies: random.next() * 0.6,
    restores: random.pick([1, 1, 2]),
    parked: 1,
    judgeGone: random.between(12, 40),
  };
  const odds = (name: RecoveryFault): number => RECOVERY_ODDS[name] ?? 0.4;
  const on = RECOVERY_SWITCHES.map(
    (name) => [name, random.chance(odds(name)) ? drawn[name] : 0] as const,
  );
  const recovery = {
    safeMode: random.chance(0.3),
    spacingMs: random.pick([60 * SECOND, 60 * SECOND, 5 * SECOND]),
    callMs: random.pick([60 * SECOND, 20 * SECOND]),
    diagnostics: random.chance(0.3),
  };
  return { recovery, faults: Object.fromEntries(on) as Record<RecoveryFault, number> };
}

type Meetings = Pick<
  SimulationOptions,
  'bounds' | 'whileBusy' | 'approvalMs' | 'fallbacks' | 'sharesAccount'
>;

function drawMeetings(random: Random): Meetings {
  const tight = random.chance(0.4);
  const of = <T>(narrow: readonly T[], wide: T): T => {
    const drawn = random.pick(narrow);
    return tight && random.chance(0.5) ? drawn : wide;
  };
  return {
    bounds: {
      deadlineMs: random.pick([null, null, 24 * HOUR, 24 * HOUR, HOUR, 3 * MINUTE, 30 * SECOND]),
      turns: of([1, 2, 3], WIDE_BOUNDS.turns),
      tokens: of([100, 250, 600], WIDE_BOUNDS.tokens),
      cost: of([0, 7, 20, 40], WIDE_BOUNDS.cost),
      continuations: of([0, 1, 2], WIDE_BOUNDS.continuations),
    },
    whileBusy: random.pick(['steer', 'wait', 'interrupt', 'collect'] as const),
    approvalMs: random.pick([24 * HOUR, 24 * HOUR, 10 * MINUTE, 20 * SECOND]),
    fallbacks: random.pick([0, 1, 2] as const),
    sharesAccount: random.chance(0.3),
  };
}

/** How often a fault is on where it is not in every other seed. */
const ODDS_ON: Readonly<Partial<Record<keyof Faults, number>>> = {
  pauseEvery: 0.85,
  clockLeaps: 0.2,
  asks: 0.6,
  edits: 0.8,
  instructions: 0.25,
};

function drawFaults(random: Random): Faults {
  const drawn: Omit<Faults, RecoveryFault | UpkeepFault> = {
    busy: random.next() * 0.1,
    disconnected: random.next() * 0.02,
    unknown: random.next() * 0.04,
    lostRace: random.next() * 0.05,
    slow: random.next() * 0.05,
    diskFull: random.next() * 0.02,
    io: random.next() * 0.005,
    crashEvery: random.pick([20, 60, 200, 600]),
    pauseEvery: random.pick([40, 120]),
    restartEvery: random.pick([150, 400]),
    clockSteps: random.between(1, 5),
    clockLeaps: random.between(1, 3),
    model: random.next() * 0.4,
    modelNonsense: random.next() * 0.4,
    modelSlow: random.next() * 0.1,
    episodes: random.between(1, 3),
    waits: random.next() * 0.3,
    continues: random.next() * 0.4,
    loops: random.next() * 0.3,
    asks: random.next(),
    classifier: random.next(),
    tool: random.next() * 0.3,
    edits: random.next(),
    instructions: random.next() * 0.1,
    duplicate: random.next() * 0.5,
    reorder: random.next() * 0.3,
    otherBody: random.next() * 0.6,
    lostAck: random.next() * 0.2,
  };
  // Pauses only happen on shared stores, and sleepers that wake too late are wanted in many seeds.
  const odds = (name: (typeof SWITCHES)[number]): number => ODDS_ON[name] ?? 0.5;
  const on = SWITCHES.map((name) => [name, random.chance(odds(name)) ? drawn[name] : 0] as const);
  const spares = random.chance(GENTLE_SHARE);
  const faults: Faults = { ...NO_FAULTS, ...Object.fromEntries(on) };
  return spares ? { ...faults, ...Object.fromEntries(HARSH.map((name) => [name, 0])) } : faults;
}
