// How a task comes to stand for each reason, through the API alone or over the starts of its host.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { TaskReason, TaskState } from '../../src/core/task/moves.ts';
import type { EngineOptions } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { eventually, pass } from '../support/acts.ts';
import {
  asks,
  fails,
  judges,
  OPTIONS,
  says,
  taskIn,
  type Installation,
  type ScriptedModel,
} from '../support/host.ts';
import { putTask } from './history.ts';
import { openDoorOf, type KeyName, type TestDoor } from './door.ts';

export interface Scene {
  readonly context: TestContext;
  readonly door: TestDoor;
  readonly place: Installation;
  readonly conversationId: ConversationId;
}

export interface Stop {
  readonly options?: Partial<EngineOptions>;
  /** How the model and the tools behave until what stood in the way is mended. */
  readonly arrange: (place: Installation) => void;
  /** What happens after the request. */
  readonly act?: (scene: Scene) => Promise<Scene | void>;
}

/** Types something into the conversation and waits until it is accepted. */
export async function type(scene: Scene, text: string, key: KeyName = 'runner'): Promise<void> {
  const path = `/v1/conversations/${scene.conversationId}/messages`;
  const answer = await scene.door.ask('POST', path, { key, body: { text } });
  assert.equal(answer.status, 202, answer.text);
}

/** The task of the conversation once it is in this state. */
export async function waitFor(scene: Scene, state: TaskState): ReturnType<typeof taskIn> {
  return taskIn(scene.door.engine, scene.conversationId, state);
}

/** Lets the clock run, second by second, until this holds. */
async function runClock(place: Installation, step: number, holds: () => boolean): Promise<void> {
  await eventually(async () => {
    await pass(3);
    if (holds()) return true;
    place.clock.advance(step);
    return false;
  });
}

const far = (place: Installation): number => place.clock.now() + 2 * HOUR;

/** Calls of tools end only when their turn is cut. */
export function hangTools({ tools, model }: Installation): void {
  tools.perform = (_call, signal) =>
    new Promise((resolve) => {
      const ended = { kind: 'error', code: 'ended', text: 'ended' } as const;
      signal.addEventListener('abort', () => resolve(ended));
    });
  model.answer = () => asks(['look', {}]);
}

/** Cuts the turn that runs by a drain, once it is in a call; the next host is behind a door of its own. */
async function cut(scene: Scene): Promise<Scene> {
  const { context, door, place } = scene;
  const ran = place.tools.ran.length;
  await eventually(() => door.engine.health().runningTurns === 1 && ran > 0);
  await door.engine.stop(0);
  return { ...scene, door: await openDoorOf(context, place, { given: () => PARTS }) };
}

const PARTS = { options: { ...OPTIONS, deadlineMs: 30 * DAY } };

/** Interrupted, and judged like this by every attempt that is made. */
function judged(answer: ScriptedModel['answer'], attempts = 1): Stop {
  return {
    arrange: (place) => {
      hangTools(place);
      place.assessor.answer = answer;
    },
    act: async (scene) => {
      const { place } = scene;
      await eventually(() => place.tools.ran.length === 1);
      const next = await cut(scene);
      await runClock(place, SECOND, () => place.assessor.requests.length === attempts);
      return next;
    },
  };
}

/** How each reason is reached. */
export const STOPS: Readonly<Record<TaskReason, Stop>> = {
  // Its assessment does not come back.
  interrupted: judged(() => new Promise(() => {})),
  recovery_assessment_failed: judged(() => fails('transient', 'http_503'), 3),
  recovery_inconclusive: judged(() => judges('inconclusive', 'it may have been sent')),
  ended_by_assessment: judged(() => judges('end', 'it is out of date')),
  recovery_no_progress: {
    arrange: (place) => {
      hangTools(place);
      place.assessor.answer = () => judges('continue');
    },
    // Let go on three times, and cut each time before a turn was completed.
    act: async (scene) => {
      const { place } = scene;
      let last = scene;
      for (const attempts of [0, 1, 2, 3]) {
        await runClock(place, SECOND, () => place.assessor.requests.length === attempts);
        await eventually(() => place.tools.ran.length === attempts + 1);
        last = await cut(last);
      }
      return last;
    },
  },
  order_late: {
    arrange: (place) => {
      const at = new Date(place.clock.now() + HOUR).toISOString();
      place.model.answer = () => asks(['task_wait', { for: 'instant', at }]);
    },
    act: async (scene) => {
      await waitFor(scene, 'waiting');
      await scene.place.clock.sleeper(HOUR);
      scene.place.clock.advance(2 * HOUR);
    },
  },
  held_legacy: {
    arrange: (place) => {
      place.model.answer = () => asks(['task_wait', { for: 'answer', question: 'Which?' }]);
    },
    // What an import makes of it, before the next start rules it.
    act: async (scene) => {
      const { context, door, place } = scene;
      const task = await waitFor(scene, 'waiting');
      await door.engine.stop(0);
      const row = { ...task, enrollment: 'unmarked', version: task.version + 1 } as const;
      await place.store.commit({
        name: 'test.unmark',
        reads: {},
        decide: () => ({ verdict: undefined, writes: [{ write: 'task.save', row }] }),
      });
      return { ...scene, door: await openDoorOf(context, place, { given: () => PARTS }) };
    },
  },
  awaits_instant: {
    arrange: (place) => {
      place.model.answer = () => asks(['task_wait', { for: 'instant', seconds: 3_600 }]);
    },
  },
  awaits_answer: {
    arrange: (place) => {
      place.model.answer = () => asks(['task_wait', { for: 'answer', question: 'Which?' }]);
    },
  },
  awaits_approval: {
    arrange: (place) => {
      place.tools.asked.add('pay');
      place.model.answer = () => asks(['pay', {}]);
    },
  },
  awaits_quota: {
    arrange: (place) => {
      const retryAt = far(place);
      place.model.answer = () => fails('transient', 'http_429', { retryAt });
    },
  },
  awaits_provider: {
    arrange: (place) => {
      place.model.alive = false;
      place.model.answer = () => fails('transient', 'connect');
    },
    act: ({ place }) =>
      runClock(place, SECOND, () => place.model.requests.length > LIMITS.modelRetriesMax),
  },
  paused: {
    arrange: (place) => {
      place.model.answer = () => asks(['task_wait', { for: 'instant', seconds: 3_600 }]);
    },
    act: async (scene) => {
      const { id } = await waitFor(scene, 'waiting');
      await type(scene, `/pause ${id}`);
    },
  },
  wait_elapsed: {
    arrange: (place) => {
      place.model.answer = () => asks(['task_wait', { for: 'answer', question: 'Which?' }]);
    },
    act: async (scene) => {
      await waitFor(scene, 'waiting');
      await scene.place.clock.sleeper(LIMITS.answerWaitMs);
      scene.place.clock.advance(LIMITS.answerWaitMs);
    },
  },
  no_outcome: {
    arrange: (place) => {
      place.model.answer = () => says('');
    },
  },
  no_progress: {
    arrange: (place) => {
      place.model.answer = () => asks(['look', {}]);
    },
  },
  quota: {
    arrange: (place) => {
      place.model.answer = () => fails('transient', 'http_429', { retryAt: far(place) });
    },
    // Ten waits in a row, and then the same again (T-12).
    act: ({ place }) =>
      eventually(async () => {
        await pass(3);
        const [task] = await place.rows('task');
        if (task?.['state'] === 'blocked') return true;
        place.clock.advance(HOUR);
        return false;
      }),
  },
  budget_exhausted: {
    options: { tokensLimit: 10 },
    arrange: (place) => {
      place.model.answer = () => asks(['look', {}]);
    },
  },
  // A person's session would be maintained: of a job nothing is (M-20).
  base_too_large: {
    arrange: (place) => {
      place.model.answer = () => asks(['task_wait', { for: 'answer', question: 'Which?' }]);
    },
    act: async (scene) => {
      const { door, place, conversationId } = scene;
      await type(scene, `/stop ${(await waitFor(scene, 'waiting')).id}`);
      await waitFor(scene, 'stopped');
      place.model.contextWindow = 200;
      const ofJob = { state: 'paused', reason: 'paused', mandateOrigin: 'job' } as const;
      await type(scene, `/task-resume ${await putTask(door, conversationId, ofJob)}`);
    },
  },
  stopped_by_person: {
    arrange: (place) => {
      place.model.answer = () => asks(['task_wait', { for: 'answer', question: 'Which?' }]);
    },
    act: async (scene) => {
      const { id } = await waitFor(scene, 'waiting');
      await type(scene, `/stop ${id}`);
    },
  },
  cancelled_by_caller: {
    arrange: (place) => {
      place.model.answer = () => asks(['task_wait', { for: 'answer', question: 'Which?' }]);
    },
    act: async (scene) => {
      // The request of this reason is a run, made by `request`.
      await waitFor(scene, 'waiting');
      const runs = await scene.door.ask('GET', '/v1/runs', { key: 'ops' });
      const [run] = runs.json['items'] as readonly { readonly id: string }[];
      await scene.door.ask('POST', `/v1/runs/${run?.id}/cancel`, { key: 'runner' });
    },
  },
  deadline_passed: {
    options: { deadlineMs: 30 * MINUTE },
    arrange: (place) => {
      place.model.answer = () => asks(['task_wait', { for: 'answer', question: 'Which?' }]);
    },
    act: async (scene) => {
      await waitFor(scene, 'waiting');
      await scene.place.clock.sleeper(30 * MINUTE);
      scene.place.clock.advance(30 * MINUTE);
    },
  },
  model_refused: {
    arrange: (place) => {
      place.model.answer = () => fails('refused', 'http_401', { scope: 'account' });
    },
  },
  answered: { arrange: () => {} },
};
