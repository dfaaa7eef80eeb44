// Small worlds of turns, stops and recoveries, in which a host dies at every single point.
import { MAINTENANCE_SCENARIOS } from './scenarios-maintenance.ts';
import { MEETING_SCENARIOS } from './scenarios-meetings.ts';
import { RECOVERY_SCENARIOS } from './scenarios-recovery.ts';
import type { Scenario } from './enumerate.ts';
import type { Script } from './simulate.ts';

const stopOnce = (when: (label: string) => boolean): Script => {
  return (world) => {
    world.client.openConversations(1);
    world.client.message(0);
    world.onceAt(when, () => {
      const [task] = world.look.openTasks();
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
          world.fleet.avoided = host;
          for (const task of world.look.openTasks()) world.client.stop(task);
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
  ...MEETING_SCENARIOS,
  ...RECOVERY_SCENARIOS,
  ...MAINTENANCE_SCENARIOS,
];
