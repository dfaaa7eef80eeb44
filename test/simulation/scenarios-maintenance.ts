// Small worlds of sessions that outgrow their windows, in which a host dies at every single point.
import { MINUTE, SECOND } from '../../src/kernel/time.ts';
import type { Scenario } from './enumerate.ts';
import type { SimulationOptions } from './options.ts';
import { NO_UPKEEP } from './options-upkeep.ts';
import { ADMIN, PERSON } from './people.ts';
import type { Script } from './simulate.ts';
import type { World } from './world.ts';

const upkeep = (of: Partial<SimulationOptions['upkeep']> = {}): Partial<SimulationOptions> => ({
  window: 2_400,
  // What is waited for by the wall clock alone: no look that finds nothing is a point.
  tickMs: 60 * MINUTE,
  upkeep: {
    ...NO_UPKEEP,
    isOn: true,
    maintenance: { startAt: 0.5, firstDelayMs: SECOND, maxDelayMs: 60 * SECOND },
    ...of,
  },
});

/** Whoever leaves a block here admits its operation. */
const ADMITS = 3;

/** Two of them are half of a window. */
const LONG = 1_500;

const hasEnded = (label: string): boolean => label === 'store.learn turn.end';
const isSummary = (label: string): boolean => label.startsWith('sum up');

/** Long words, each once the turn of the one before has ended. */
const says =
  (count: number, then: Script = () => undefined, chars = LONG): Script =>
  (world) => {
    world.client.openConversations(1);
    let left = count;
    const next = (): void => {
      left -= 1;
      world.client.sayMuch(0, chars);
      if (left > 0) world.onceAt(hasEnded, next);
    };
    next();
    then(world);
  };

/** Somebody says this when the summary is asked for. */
const during =
  (what: (world: World) => void): Script =>
  (world) =>
    world.onceAt(isSummary, () => what(world));

const speaks = during((world) => {
  world.client.message(0);
  world.client.message(0, 'run');
});

/** Who may not give it up, and then who may. */
const gives: Script = (world) => {
  world.onceAt(isSummary, () => {
    world.client.message(0);
    world.client.say('/new', 0, PERSON);
    world.onceAt(isSummary, () => world.client.say('/new', 0, ADMIN));
  });
};

const FAILS = Array.from({ length: 7 }, () => 'fails' as const);
const TEXTS = Array.from({ length: 14 }, () => 'text' as const);

export const MAINTENANCE_SCENARIOS: readonly Scenario[] = [
  {
    name: 'a compact, with words and a run behind its fence',
    reaches: ['upkeep_usage', 'compacted', 'asked_shortened'],
    shared: false,
    model: TEXTS,
    options: upkeep(),
    script: says(2, speaks),
  },
  {
    name: 'words at each point of a compact that fails at first',
    reaches: ['compacted', 'upkeep_waited'],
    shared: false,
    model: TEXTS,
    summaries: ['invalid', 'good'],
    options: upkeep(),
    words: PERSON,
    script: says(2),
  },
  {
    name: 'a compact that another host takes over',
    reaches: ['compacted'],
    shared: true,
    hosts: 2,
    model: TEXTS,
    options: { ...upkeep(), tickMs: 15 * SECOND },
    firstCrash: isSummary,
    script: says(2),
  },
  {
    name: 'a session that is compacted three times and then handed over',
    reaches: ['compacted', 'handed_over'],
    shared: false,
    model: TEXTS,
    options: { ...upkeep(), window: 6_000 },
    script: says(8, undefined, 3_600),
  },
  {
    name: 'seven failures, and an admission',
    seed: ADMITS,
    reaches: ['upkeep_exhausted', 'waiting_told', 'run_ended_by_block', 'compacted', 'over_told'],
    shared: false,
    model: TEXTS,
    summaries: [...FAILS, 'good'],
    options: upkeep(),
    whole: true,
    script: says(2, speaks),
  },
  {
    name: 'a fresh session behind a fence, by who may not and who may',
    reaches: ['upkeep_dropped', 'fresh_session'],
    shared: false,
    model: TEXTS,
    summaries: ['fails', 'fails', 'fails'],
    options: upkeep(),
    script: says(2, gives),
  },
  {
    name: 'a turn whose results outgrow the window',
    reaches: ['overflow_in_turn', 'compacted', 'asked_shortened'],
    shared: false,
    model: [['look_up', 'send_mail'], ['look_up'], ['send_mail'], 'text'],
    options: upkeep({ padding: 4_500 }),
    script: says(1),
  },
  {
    name: 'a request that its provider finds too long',
    reaches: ['context_too_long', 'upkeep_too_long', 'compacted'],
    shared: false,
    model: TEXTS,
    options: {
      ...upkeep({
        density: 2,
        padding: 9_000,
        maintenance: { startAt: 0.95, firstDelayMs: SECOND, maxDelayMs: 60 * SECOND },
      }),
      window: 6_000,
    },
    script: (world) => {
      world.client.openConversations(1);
      world.client.message(0);
      world.onceAt(hasEnded, () => {
        world.client.message(0);
        world.onceAt(hasEnded, () => world.client.sayMuch(0, 4_500));
      });
    },
  },
  {
    name: 'a native compact that is cut in flight, and its reconciliation',
    seed: ADMITS,
    reaches: ['upkeep_uncertain', 'reconciled', 'handed_over'],
    shared: false,
    model: TEXTS,
    options: upkeep({ native: true }),
    firstCrash: (label) => label.startsWith('runtime.compact'),
    whole: true,
    script: says(2),
  },
  {
    name: 'a handover whose seed fails on the disk',
    seed: ADMITS,
    reaches: ['upkeep_uncertain', 'native_eio', 'upkeep_waited', 'handed_over'],
    shared: false,
    model: TEXTS,
    runtime: ['rejected', 'done', 'done', 'throws', 'throws', 'done'],
    options: upkeep({ native: true }),
    whole: true,
    script: says(2),
  },
  {
    name: 'a base that no operation can shorten',
    reaches: ['upkeep_too_large'],
    shared: false,
    model: TEXTS,
    options: upkeep(),
    whole: true,
    script: (world) => {
      world.client.openConversations(1);
      world.client.sayMuch(0, 9_000);
    },
  },
];
