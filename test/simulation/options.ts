// What one seed plays: everything is drawn here, so that a run can print its expanded options.
import { LIMITS } from '../../src/kernel/limits.ts';
import { HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { seededRandom, type Random } from '../../src/testing/sim-random.ts';

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
  readonly model: number;
  readonly modelNonsense: number;
  readonly modelSlow: number;
  readonly tool: number;
  readonly instructions: number;
  readonly duplicate: number;
  readonly reorder: number;
  readonly otherBody: number;
  readonly lostAck: number;
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
  readonly deadlineMs: number | null;
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
  'instructions',
] as const satisfies readonly (keyof Faults)[];
const GENTLE_SHARE = 0.15;

/** Whether nothing in this run may interrupt a turn: passing faults of the store never do. */
export function isGentle({ faults }: Pick<SimulationOptions, 'faults'>): boolean {
  return HARSH.every((name) => faults[name] === 0);
}

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
  'model',
  'modelNonsense',
  'modelSlow',
  'tool',
  'instructions',
  'duplicate',
  'reorder',
  'otherBody',
  'lostAck',
] as const satisfies readonly (keyof Faults)[];

export const NO_FAULTS: Faults = Object.fromEntries(SWITCHES.map((name) => [name, 0])) as Record<
  keyof Faults,
  number
>;

/** The options of a seed. Swarm: each fault is off in about half of the seeds. */
export function optionsOf(seed: number): SimulationOptions {
  const random = seededRandom(seed, 'options');
  const shared = random.chance(0.55);
  const hosts = random.chance(0.3) && shared ? 2 : 1;
  const tickMs = random.pick([5 * SECOND, 30 * SECOND, 60 * SECOND]);
  return {
    seed,
    shared,
    hosts,
    file: random.chance(0.05),
    conversations: random.between(1, 3),
    actions: random.between(4, 12),
    span: random.pick([2 * SECOND, 20 * SECOND, 2 * MINUTE]),
    deadlineMs: random.chance(0.5) ? null : 24 * HOUR,
    concurrent: random.pick([1, 2, 8]),
    // Where two hosts live, each hears of the other's stops at its tick only.
    tickMs: hosts === 2 ? LIMITS.tickMsShared : tickMs,
    leaseMs: random.pick([15 * SECOND, 45 * SECOND]),
    faults: drawFaults(random),
  };
}

/** What every task of the run may spend. */
export function boundsOf({ deadlineMs }: Pick<SimulationOptions, 'deadlineMs'>): {
  readonly deadlineMs: number | null;
  readonly turns: number;
  readonly tokens: number;
  readonly cost: number;
  readonly continuations: number;
} {
  return {
    deadlineMs,
    turns: LIMITS.turnsPerTask,
    tokens: LIMITS.tokensPerTask,
    cost: LIMITS.costPerTaskMicroUsd,
    continuations: LIMITS.continuationsPerTask,
  };
}

function drawFaults(random: Random): Faults {
  const drawn: Faults = {
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
    model: random.next() * 0.2,
    modelNonsense: random.next() * 0.4,
    modelSlow: random.next() * 0.1,
    tool: random.next() * 0.3,
    instructions: random.next() * 0.1,
    duplicate: random.next() * 0.5,
    reorder: random.next() * 0.3,
    otherBody: random.next() * 0.2,
    lostAck: random.next() * 0.2,
  };
  // Pauses only happen on shared stores, and sleepers that wake too late are wanted in many seeds.
  const odds = (name: keyof Faults): number => (name === 'pauseEvery' ? 0.85 : 0.5);
  const on = SWITCHES.map((name) => [name, random.chance(odds(name)) ? drawn[name] : 0] as const);
  const spares = random.chance(GENTLE_SHARE);
  const faults = Object.fromEntries(on) as unknown as Faults;
  return spares ? { ...faults, ...Object.fromEntries(HARSH.map((name) => [name, 0])) } : faults;
}
