// Small worlds of what a turn can meet: approvals, words while it runs, quotas, outages, fallbacks.
import { MINUTE } from '../../src/kernel/time.ts';
import type { Scenario } from './enumerate.ts';
import { ADMIN, GUEST, PERSON } from './people.ts';
import type { Providers } from './provider.ts';
import type { Script } from './simulate.ts';
import type { Sometime } from './sometimes.ts';

const asks =
  (principal = PERSON): Script =>
  (world) => {
    world.client.openConversations(1);
    world.client.message(0, 'message', principal);
  };

/** The own model's provider does this for a while. */
const meets =
  (kind: Parameters<Providers['plan']>[0]['kind'], minutes: number): Script =>
  (world) => {
    world.providers.plan({ kind, account: 'a', from: 0, to: minutes * MINUTE });
    asks()(world);
  };

const approves: Script = (world) => {
  asks()(world);
  world.client.approveFirst(ADMIN);
};

/** What comes of a message that arrives while a turn runs. */
const MET: Readonly<Record<(typeof BUSY)[number], readonly Sometime[]>> = {
  steer: ['steered'],
  wait: [],
  interrupt: ['interrupted_by_words'],
  collect: [],
};

const BUSY = ['steer', 'wait', 'interrupt', 'collect'] as const;
/** Steps between which a message can arrive. */
const LONG_TURN = [['look_up', 'send_mail'], ['task_note', 'look_up'], 'text'] as const;
// What is waited for by the wall clock alone: no look that finds nothing is a point.
const QUIET = { tickMs: 60 * MINUTE } as const;

const sayingAnything = (words: typeof PERSON): readonly Scenario[] =>
  BUSY.map((whileBusy) => ({
    name: `a message of ${words.id} at each point of an admin's turn, to ${whileBusy}`,
    shared: false,
    model: LONG_TURN,
    options: { whileBusy },
    words,
    script: asks(ADMIN),
  }));

const sayingTwo: readonly Scenario[] = BUSY.map((whileBusy) => ({
  name: `a turn that meets a message, to ${whileBusy}`,
  reaches: MET[whileBusy],
  shared: true,
  model: LONG_TURN,
  options: { whileBusy },
  script: (world) => {
    asks()(world);
    world.onceAt(
      (label) => label.startsWith('tool.end'),
      () => world.client.message(0),
    );
  },
}));

export const MEETING_SCENARIOS: readonly Scenario[] = [
  {
    name: 'an approval that is asked, given and carried out',
    reaches: ['approval_ran'],
    shared: true,
    model: [['look_up', 'deploy', 'send_mail'], 'text', 'text'],
    script: approves,
  },
  {
    name: 'an approval that a second person gives',
    reaches: ['approval_other', 'approval_ran'],
    shared: false,
    model: [['pay'], 'text'],
    script: approves,
  },
  ...sayingTwo,
  ...sayingAnything(GUEST),
  ...sayingAnything(ADMIN),
  {
    name: 'a quota that parks a turn, and its wake',
    reaches: ['stood_awaits_quota', 'woken_quota', 'turn_parked'],
    shared: false,
    model: [['look_up'], 'text'],
    options: QUIET,
    whole: true,
    script: meets('far', 3),
  },
  {
    name: 'an outage that parks a turn, and the return',
    reaches: ['stood_awaits_provider', 'limiter_down'],
    shared: false,
    model: ['text'],
    options: QUIET,
    whole: true,
    script: meets('outage', 3),
  },
  {
    name: 'a fallback that goes on where the own model stopped',
    reaches: ['fallback', 'limiter_refused'],
    shared: true,
    model: [['look_up'], ['send_mail'], 'text'],
    options: { fallbacks: 1 },
    script: meets('key_refused', 3),
  },
  {
    name: 'tries that are used up before the fallback answers',
    reaches: ['tries_used_up', 'fallback'],
    shared: false,
    model: ['text'],
    options: { fallbacks: 1, ...QUIET },
    script: meets('overload', 10),
  },
  {
    name: 'a wait for an instant, and its wake',
    reaches: ['woken_instant'],
    shared: false,
    model: [['task_note', 'task_wait'], 'text'],
    options: QUIET,
    whole: true,
    script: asks(),
  },
  {
    name: 'a task that goes on by itself',
    reaches: ['turn_continued'],
    shared: true,
    model: [['task_continue'], ['task_continue'], 'text'],
    script: asks(),
  },
];
