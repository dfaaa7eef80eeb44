// Small worlds without chance faults, in which a host dies at every single point.
import { HOUR } from '../../src/kernel/time.ts';
import { NO_FAULTS, WIDE_BOUNDS, WIDE_WINDOW, type SimulationOptions } from './options.ts';
import { simulate, type Outcome, type Script } from './simulate.ts';
import type { ModelPlan } from './script.ts';
import type { World } from './world.ts';

export interface Scenario {
  readonly name: string;
  readonly shared: boolean;
  readonly hosts?: 2;
  readonly seed?: number;
  /** What the model answers, in order; after that plain answers. */
  readonly model: readonly ModelPlan[];
  readonly script: Script;
  /** A host has died here before: the enumeration is of the recovery. */
  readonly firstCrash?: (label: string) => boolean;
}

const stopOnce = (when: (label: string) => boolean): Script => {
  return (world) => {
    world.client.openConversations(1);
    world.client.message(0);
    world.onceAt(when, () => {
      const [task] = world.heldTasks();
      if (task !== undefined) world.client.stop(task);
    });
  };
};

/** Its tool would run for longer than a stop may take. */
const SLOW_TOOL_SEED = 3;

const isTool = (label: string): boolean => label.startsWith('tool.end');

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'one message that is answered with a text',
    shared: false,
    model: ['text'],
    script: (world) => {
      world.client.openConversations(1);
      world.client.message(0);
    },
  },
  {
    name: 'three tool calls before the answer',
    shared: false,
    model: [['look_up', 'send_mail', 'long_build'], 'text'],
    script: (world) => {
      world.client.openConversations(1);
      world.client.message(0);
    },
  },
  {
    name: 'a run that is given a further message',
    shared: true,
    model: [['long_read'], 'text', 'text'],
    script: (world) => {
      world.client.openConversations(1);
      world.client.message(0, 'run');
      world.onceAt(isTool, () => world.client.further());
    },
  },
  {
    name: 'a stop while a tool runs',
    shared: false,
    model: [['long_build'], 'text'],
    script: stopOnce((label) => label.startsWith('tool.begin')),
  },
  {
    name: 'a stop that arrives at another host',
    shared: true,
    hosts: 2,
    seed: SLOW_TOOL_SEED,
    model: [['long_build'], 'text'],
    script: (world) => {
      world.client.openConversations(1);
      world.client.message(0);
      world.onceAt(
        (label) => label.startsWith('tool.begin'),
        (host) => {
          world.avoid(host);
          for (const task of world.heldTasks()) world.client.stop(task);
        },
      );
    },
  },
  {
    name: 'the recovery of an interrupted turn',
    shared: true,
    model: [['send_mail'], 'text'],
    script: (world) => {
      world.client.openConversations(1);
      world.client.message(0);
    },
    firstCrash: isTool,
  },
];

export interface Enumeration {
  readonly scenario: string;
  /** Points at which a host died, one run each. */
  readonly points: number;
  readonly commits: number;
  readonly failures: readonly { readonly point: number; readonly problems: readonly string[] }[];
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
    fallbacks: 0,
    sharesAccount: false,
    window: WIDE_WINDOW,
    long: false,
    concurrent: 8,
    tickMs: 5_000,
    leaseMs: 15_000,
    faults: NO_FAULTS,
  };
}

function play(
  scenario: Scenario,
  crashAt: readonly number[],
  trace?: (line: string) => void,
): Promise<Outcome> {
  const script = (world: World): void => {
    if (scenario.firstCrash !== undefined) world.dieOnceAt(scenario.firstCrash);
    scenario.script(world);
  };
  const plan = { options: optionsOf(scenario), model: scenario.model, crashAt, trace };
  return simulate(plan, script);
}

/** Plays a scenario once without a death, then once for each step of its hosts with a death before it. */
export async function enumerate(scenario: Scenario): Promise<Enumeration> {
  const whole = await play(scenario, []);
  const failures = whole.problems.length > 0 ? [{ point: 0, problems: whole.problems }] : [];
  for (let point = 1; point <= whole.busyHostSteps; point += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one world at a time
    const outcome = await play(scenario, [point]);
    if (outcome.problems.length > 0) failures.push({ point, problems: outcome.problems });
  }
  return { scenario: scenario.name, points: whole.busyHostSteps, commits: whole.commits, failures };
}

/** Prints the steps of one point of a scenario. */
export async function tracePoint(
  index: number,
  point: number,
  print: (line: string) => void,
): Promise<Outcome> {
  const scenario = SCENARIOS[index];
  if (scenario === undefined) throw new RangeError(`there are ${SCENARIOS.length} scenarios`);
  return play(scenario, point === 0 ? [] : [point], print);
}
