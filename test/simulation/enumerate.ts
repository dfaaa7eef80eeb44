// Plays small worlds without chance faults once for every single point at which something can happen.
import { LIMITS } from '../../src/kernel/limits.ts';
import { HOUR } from '../../src/kernel/time.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import { NO_FAULTS, WIDE_BOUNDS, type SimulationOptions } from './options.ts';
import { NO_UPKEEP, WIDE_WINDOW } from './options-upkeep.ts';
import type { RuntimePlan } from './scripted-runtime.ts';
import type { SummaryPlan } from './scripted-summary.ts';
import { simulate, type Outcome, type Script } from './simulate.ts';
import type { AssessmentPlan } from './scripted-assessment.ts';
import type { ModelPlan } from './script.ts';
import type { Sometime } from './sometimes.ts';
import type { World } from './world.ts';

export interface Scenario {
  readonly name: string;
  readonly shared: boolean;
  readonly hosts?: 2;
  readonly seed?: number;
  /** What the model answers, in order; after that plain answers. */
  readonly model: readonly ModelPlan[];
  /** What the assessments come to, in order; after that each lets its task go on. */
  readonly assessments?: readonly AssessmentPlan[];
  /** What summaries, and steps of a native runtime, come to, in order; after that each is good. */
  readonly summaries?: readonly SummaryPlan[];
  readonly runtime?: readonly RuntimePlan[];
  readonly script: Script;
  /** A host has died here before: the enumeration is of the recovery. */
  readonly firstCrash?: (label: string) => boolean;
  /** What has to happen where nothing else does: else it is another scenario. */
  readonly reaches?: readonly Sometime[];
  readonly options?: Partial<SimulationOptions>;
  /** What happens at each point: a host dies, or this person says something. */
  readonly words?: Principal;
  /** Points of the ways out count too: the wake of a wait is one of them. */
  readonly whole?: boolean;
}

interface PointFailure {
  readonly point: number;
  /** Of a second death. */
  readonly second?: number;
  readonly problems: readonly string[];
}

export interface Enumeration {
  readonly scenario: string;
  /** Points at which a host can die. */
  readonly points: number;
  /** Those at which it did, one run each. */
  readonly played: number;
  readonly commits: number;
  readonly failures: readonly PointFailure[];
}

function optionsOf(scenario: Scenario): SimulationOptions {
  return {
    seed: scenario.seed ?? 1,
    shared: scenario.shared,
    hosts: scenario.hosts ?? 1,
    file: false,
    conversations: 1,
    actions: 0,
    span: 0,
    bounds: WIDE_BOUNDS,
    whileBusy: 'steer',
    approvalMs: 24 * HOUR,
    recovery: {
      safeMode: false,
      spacingMs: LIMITS.recoverySpacingMs,
      callMs: LIMITS.recoveryCallMs,
      diagnostics: false,
    },
    fallbacks: 0,
    sharesAccount: false,
    window: WIDE_WINDOW,
    upkeep: NO_UPKEEP,
    long: false,
    concurrent: 8,
    tickMs: 5_000,
    leaseMs: 15_000,
    faults: NO_FAULTS,
    ...scenario.options,
  };
}

function play(
  scenario: Scenario,
  points: readonly number[],
  trace?: (line: string) => void,
): Promise<Outcome> {
  const script = (world: World): void => {
    if (scenario.firstCrash !== undefined) world.dieOnceAt(scenario.firstCrash);
    scenario.script(world);
  };
  const { model, assessments = [], summaries = [], runtime = [], words } = scenario;
  const at = words === undefined ? { crashAt: points } : { wordsAt: points, words };
  const answers = { model, assessments, summaries, runtime };
  const plan = { options: optionsOf(scenario), ...answers, ...at, trace };
  return simulate(plan, script);
}

/**
 * Plays a scenario once without a death, then once for each step of its hosts with a death before it.
 *
 * @param every plays only each so-many-th point: for a look in passing.
 */
export async function enumerate(scenario: Scenario, every = 1): Promise<Enumeration> {
  const whole = await play(scenario, []);
  const missed = (scenario.reaches ?? []).filter((name) => !whole.happened.has(name));
  const first = [...whole.problems, ...missed.map((name) => `it does not reach ${name}`)];
  const failures: PointFailure[] = first.length > 0 ? [{ point: 0, problems: first }] : [];
  const points = pointsOf(scenario, whole);
  let played = 0;
  for (let point = 1; point <= points; point += every) {
    played += 1;
    // oxlint-disable-next-line no-await-in-loop -- one world at a time
    const { problems } = await playAt(scenario, [point]);
    if (problems.length > 0) failures.push({ point, problems });
  }
  return { scenario: scenario.name, points, played, commits: whole.commits, failures };
}

export interface TwiceOrder {
  /** Of the points of the first death every so-many-th is played, from this place on. */
  readonly slices: number;
  readonly slice: number;
  /** Of the points of the second death every so-many-th, from another one for each first death. */
  readonly stride: number;
}

/** Lets a host die at points of a scenario, and then another one at points of what follows. */
export async function enumerateTwice(scenario: Scenario, order: TwiceOrder): Promise<Enumeration> {
  const whole = await play(scenario, []);
  const failures: PointFailure[] = [];
  let [points, played, commits] = [0, 0, 0];
  for (let first = order.slice; first <= pointsOf(scenario, whole); first += order.slices) {
    // oxlint-disable-next-line no-await-in-loop -- one world at a time
    const once = await playAt(scenario, [first]);
    const last = pointsOf(scenario, once);
    points += last - first;
    commits += once.commits;
    for (let second = first + 1 + (first % order.stride); second <= last; second += order.stride) {
      played += 1;
      // oxlint-disable-next-line no-await-in-loop -- one world at a time
      const { problems } = await playAt(scenario, [first, second]);
      if (problems.length > 0) failures.push({ point: first, second, problems });
    }
  }
  return { scenario: scenario.name, points, played, commits, failures };
}

function pointsOf(scenario: Scenario, outcome: Outcome): number {
  return scenario.whole === true ? outcome.hostSteps : outcome.busyHostSteps;
}

/** Plays a scenario with something at each of these points; a death that did not come is a problem. */
async function playAt(scenario: Scenario, points: readonly number[]): Promise<Outcome> {
  const outcome = await play(scenario, points);
  if (scenario.words !== undefined || outcome.crashes >= points.length) return outcome;
  const missed = `${points.length} were to die, and ${outcome.crashes} did`;
  return { ...outcome, problems: [...outcome.problems, missed] };
}

/** Prints the steps of a scenario with something at each of these points. */
export async function tracePoints(
  scenario: Scenario,
  points: readonly number[],
  print: (line: string) => void,
): Promise<Outcome> {
  return play(scenario, points, print);
}
