// Small worlds of interrupted work and of restored stores, in which a host dies at every single point.
import { MINUTE } from '../../src/kernel/time.ts';
import type { Scenario } from './enumerate.ts';
import { PERSON } from './people.ts';
import type { Script } from './simulate.ts';

const asks: Script = (world) => {
  world.client.openConversations(1);
  world.client.message(0);
};

/** The host dies while this happens, and the next comes up much later. */
const late: Script = (world) => {
  world.fleet.away = 40 * MINUTE;
  asks(world);
};

const isTool = (label: string): boolean => label.startsWith('tool.end');
const hasWaited = (label: string): boolean => label === 'store.learn turn.end';
// What is waited for by the wall clock alone: no look that finds nothing is a point.
const QUIET = { tickMs: 60 * MINUTE } as const;

/** A person asks, and at this step the store is restored from an export of itself. */
const restores =
  (when: (label: string) => boolean): Script =>
  (world) => {
    asks(world);
    world.client.message(0, 'run', PERSON);
    world.onceAt(when, () => world.restores.now());
  };

export const RECOVERY_SCENARIOS: readonly Scenario[] = [
  {
    name: 'an assessment that fails, and one that lets its task go on',
    reaches: ['assessment_failed', 'assessment_continue', 'recovery_followed', 'recovery_passed'],
    shared: false,
    model: [['look_up'], 'text'],
    assessments: ['fails', 'continue'],
    options: QUIET,
    firstCrash: isTool,
    script: asks,
  },
  {
    name: 'attempts that are used up, and their reset',
    reaches: ['stood_recovery_assessment_failed', 'recovery_reset', 'assessment_late'],
    shared: false,
    model: [['look_up'], 'text'],
    assessments: ['fails', 'invalid', 'slow'],
    options: QUIET,
    firstCrash: isTool,
    whole: true,
    script: asks,
  },
  {
    name: 'an assessment that comes to nothing, and its resume',
    reaches: ['stood_recovery_inconclusive', 'recovery_reset'],
    shared: false,
    model: [['look_up'], 'text'],
    assessments: ['inconclusive'],
    options: QUIET,
    firstCrash: isTool,
    whole: true,
    script: asks,
  },
  {
    name: 'an assessment that ends its task',
    reaches: ['stood_ended_by_assessment'],
    shared: false,
    model: [['send_mail'], 'text'],
    assessments: ['end'],
    options: QUIET,
    firstCrash: isTool,
    script: asks,
  },
  {
    name: 'the boundary, drawn over a turn that has no end',
    reaches: ['restored_in_turn', 'boundary_kept', 'assessment_continue'],
    shared: false,
    model: [['look_up', 'send_mail'], 'text', 'text'],
    options: QUIET,
    script: restores(isTool),
  },
  {
    name: 'history that is held, and woken',
    reaches: ['stood_held_legacy', 'summary_told', 'enrolled'],
    shared: false,
    model: [['task_ask'], ['task_ask'], 'text'],
    options: QUIET,
    whole: true,
    script: restores(hasWaited),
  },
  {
    name: 'an order that is late, and carried out by the word of a person',
    reaches: ['stood_order_late', 'resumed_late'],
    shared: false,
    model: [['task_order'], 'text'],
    options: QUIET,
    firstCrash: hasWaited,
    whole: true,
    script: late,
  },
];
