import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { REASONS, type Way } from '../../src/core/notice/reasons.ts';
import type { TaskReason, TaskState } from '../../src/core/task/moves.ts';
import type { EngineOptions } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { eventually, pass } from '../support/acts.ts';
import { asks, fails, OPTIONS, says, SILENT, taskIn, type Installation } from '../support/host.ts';
import { createApi } from '../../src/http/api.ts';
import { openDoor, SECRETS, type KeyName, type TestDoor } from './door.ts';

// Each reason is reached through the API, its one notice is read there, and each command that the notice
// quotes is typed as the principal that the table names: the task then goes on or ends (V8).

interface Scene {
  readonly door: TestDoor;
  readonly place: Installation;
  readonly conversationId: ConversationId;
}

interface Stop {
  readonly options?: Partial<EngineOptions>;
  /** How the model and the tools behave until what stood in the way is mended. */
  readonly arrange: (place: Installation) => void;
  /** What happens after the request. */
  readonly act?: (scene: Scene) => Promise<void>;
}

/** Types something into the conversation and waits until it is accepted. */
async function type(scene: Scene, text: string, key: KeyName = 'runner'): Promise<void> {
  const path = `/v1/conversations/${scene.conversationId}/messages`;
  const answer = await scene.door.ask('POST', path, { key, body: { text } });
  assert.equal(answer.status, 202, answer.text);
}

async function waitFor(scene: Scene, state: TaskState) {
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

const STOPS: Readonly<Record<TaskReason, Stop>> = {
  interrupted: {
    arrange: (place) => {
      place.tools.perform = (_call, signal) =>
        new Promise((resolve) => {
          const ended = { kind: 'error', code: 'ended', text: 'ended' } as const;
          signal.addEventListener('abort', () => resolve(ended));
        });
      place.model.answer = () => asks(['look', {}]);
    },
    act: async ({ door, place }) => {
      await eventually(() => place.tools.ran.length === 1);
      // Cut by a drain; what follows is asked of the next host behind the same door.
      await door.engine.stop(0);
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
  base_too_large: {
    arrange: (place) => {
      place.model.contextWindow = 200;
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

/** The last instant that the provider named has come. */
function pastQuota(reason: TaskReason, { clock }: Installation): void {
  if (reason === 'quota') clock.advance(3 * HOUR);
}

/** What the provider, the tools and the window are once somebody has mended them. */
function mend(place: Installation): void {
  place.model.contextWindow = 128_000;
  place.model.alive = true;
  place.model.answer = () => says('done');
  place.tools.perform = () => ({ kind: 'result', text: 'done' });
}

const WHO: Readonly<Record<Way['who'], KeyName>> = {
  task_principal_or_admin: 'runner',
  admin: 'ops',
  person: 'runner',
};

/** Where the task stands after each way out, once what stood in the way is mended. */
const LEADS: Readonly<Record<Way['effect'], TaskState>> = {
  stop: 'stopped',
  pause: 'paused',
  resume: 'completed',
  extend: 'completed',
  approve: 'completed',
  deny: 'completed',
  fresh: 'completed',
};

async function reach(context: TestContext, reason: TaskReason): Promise<Scene> {
  const stop = STOPS[reason];
  const door = await openDoor(context, {}, {}, (place) => {
    stop.arrange(place);
    return { options: { ...OPTIONS, deadlineMs: 30 * DAY, ...stop.options } };
  });
  const made = await door.ask('POST', '/v1/conversations', { key: 'runner', body: {} });
  const conversationId = made.json['id'] as ConversationId;
  const scene = { door, place: door.installation, conversationId };
  if (reason === 'cancelled_by_caller') {
    const body = { input: 'do it', conversation: conversationId };
    await door.ask('POST', '/v1/runs', { key: 'runner', body });
  } else await type(scene, 'do it');
  await stop.act?.(scene);
  return scene;
}

interface Entry {
  readonly kind: string;
  readonly code: string | null;
  readonly text: string;
}

async function noticesOf({ door, conversationId }: Scene, code: string): Promise<readonly Entry[]> {
  const path = `/v1/outbox?conversation=${conversationId}`;
  const { json } = await door.ask('GET', path, { key: 'ops' });
  return (json['items'] as readonly Entry[]).filter((entry) => entry.code === code);
}

describe('V8 each reason is reached, told once and left by the command that its notice quotes', () => {
  for (const [name, entry] of Object.entries(REASONS)) {
    const reason = name as TaskReason;
    test(`${reason}: ${entry.state}, told once`, async (context) => {
      const scene = await reach(context, reason);
      const task = await waitFor(scene, entry.state);
      const { json } = await scene.door.ask('GET', `/v1/tasks/${task.id}`, { key: 'runner' });
      assert.deepEqual([json['state'], json['reason']], [entry.state, reason]);
      if (entry.notice === null) return;
      const told = await noticesOf(scene, entry.notice);
      assert.equal(told.length, 1, reason);
      const commands = entry.ways.map(({ command }) => command.split(' ')[0] ?? '');
      for (const command of commands) assert.ok(told[0]?.text.includes(`\`${command}`), command);
    });

    if (reason === 'interrupted') {
      test('interrupted: left by /stop of its principal, said to the next host', async (context) => {
        const scene = await reach(context, reason);
        const task = await waitFor(scene, entry.state);
        const [told] = await noticesOf(scene, 'interrupted');
        const command = /`(\/stop [^`]+)`/.exec(told?.text ?? '')?.[1] ?? '';
        const { place, door } = scene;
        const engine = await place.host();
        const options = { version: '1.2.3' };
        const api = createApi({ engine, keys: door.keys, log: SILENT, options });
        const path = `/v1/conversations/${scene.conversationId}/messages`;
        const answer = await api.fetch(
          new Request(`http://localhost${path}`, {
            method: 'POST',
            headers: {
              authorization: `Bearer ${SECRETS.runner}`,
              'content-type': 'application/json',
            },
            body: JSON.stringify({ text: command }),
          }),
        );
        assert.equal(answer.status, 202);
        assert.equal((await taskIn(engine, scene.conversationId, 'stopped')).id, task.id);
        await engine.stop(0);
      });
      continue;
    }
    for (const way of entry.ways) {
      test(`${reason}: left by ${way.command} of ${way.who}`, async (context) => {
        const scene = await reach(context, reason);
        const task = await waitFor(scene, entry.state);
        const [told] = entry.notice === null ? [] : await noticesOf(scene, entry.notice);
        const verb = way.command.split(' ')[0] ?? '';
        const quoted = [...(told?.text ?? '').matchAll(/`(\/[^`]+)`/g)].map(
          ([, text = '']) => text,
        );
        const command = quoted.find((text) => text.split(' ')[0] === verb) ?? `${verb} ${task.id}`;
        mend(scene.place);
        pastQuota(reason, scene.place);
        if (way.who === 'admin') {
          await type(scene, command, 'other').catch(() => {});
          assert.equal((await waitFor(scene, entry.state)).id, task.id);
        }
        await type(scene, command, WHO[way.who]);
        const left = await waitFor(scene, LEADS[way.effect]);
        assert.equal(left.id, task.id);
      });
    }

    if (!entry.reply) continue;
    test(`W-7 ${reason}: left by a reply of its principal`, async (context) => {
      const scene = await reach(context, reason);
      const task = await waitFor(scene, entry.state);
      mend(scene.place);
      pastQuota(reason, scene.place);
      const path = `/v1/conversations/${scene.conversationId}/messages`;
      const body = { text: 'go on then', replyTo: task.id };
      await scene.door.ask('POST', path, { key: 'runner', body });
      assert.equal((await waitFor(scene, 'completed')).id, task.id);
    });
  }
});
