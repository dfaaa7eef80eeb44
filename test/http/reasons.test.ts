import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { REASONS, type Way } from '../../src/core/notice/reasons.ts';
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
  until,
  type Installation,
  type ScriptedModel,
} from '../support/host.ts';
import { openDoor, openDoorOf, type KeyName, type TestDoor } from './door.ts';

// Each reason is reached through the API, its one notice is read there, and each command that the notice
// quotes is typed as the principal that the table names: the task then goes on or ends (V8).

interface Scene {
  readonly context: TestContext;
  readonly door: TestDoor;
  readonly place: Installation;
  readonly conversationId: ConversationId;
}

interface Stop {
  readonly options?: Partial<EngineOptions>;
  /** How the model and the tools behave until what stood in the way is mended. */
  readonly arrange: (place: Installation) => void;
  /** What happens after the request. */
  readonly act?: (scene: Scene) => Promise<Scene | void>;
}

/** Types something into the conversation and waits until it is accepted. */
async function type(scene: Scene, text: string, key: KeyName = 'runner'): Promise<void> {
  const path = `/v1/conversations/${scene.conversationId}/messages`;
  const answer = await scene.door.ask('POST', path, { key, body: { text } });
  assert.equal(answer.status, 202, answer.text);
}

/** Types a command and waits until it is answered. */
async function command(scene: Scene, text: string, key: KeyName): Promise<void> {
  const { door, conversationId } = scene;
  const { messageId } = await door.client(key).postMessage(conversationId, { text });
  await until(door.engine, conversationId, async () => {
    return (await door.client(key).message(messageId)).state === 'done';
  });
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

/** Calls of tools end only when their turn is cut. */
function hangTools({ tools, model }: Installation): void {
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

const STOPS: Readonly<Record<TaskReason, Stop>> = {
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
  place.assessor.answer = () => judges('continue');
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
  late: 'completed',
  enrol: 'completed',
  reopen: 'completed',
};

async function reach(context: TestContext, reason: TaskReason): Promise<Scene> {
  const stop = STOPS[reason];
  const door = await openDoor(context, {}, {}, (place) => {
    stop.arrange(place);
    return { options: { ...OPTIONS, deadlineMs: 30 * DAY, ...stop.options } };
  });
  const made = await door.ask('POST', '/v1/conversations', { key: 'runner', body: {} });
  const conversationId = made.json['id'] as ConversationId;
  const scene = { context, door, place: door.installation, conversationId };
  if (reason === 'cancelled_by_caller') {
    const body = { input: 'do it', conversation: conversationId };
    await door.ask('POST', '/v1/runs', { key: 'runner', body });
  } else await type(scene, 'do it');
  return (await stop.act?.(scene)) ?? scene;
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

/** Whose words the voice page fixes; `why` names the rest. */
function isLeftOut(reason: TaskReason, verb: string): boolean {
  return reason === 'recovery_assessment_failed' && verb === '/stop';
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
      const verbs = entry.ways.map((way) => way.command.split(' ')[0] ?? '');
      for (const verb of verbs.filter((one) => !isLeftOut(reason, one)))
        assert.ok(told[0]?.text.includes(`\`${verb}`), verb);
    });

    for (const way of entry.ways) {
      test(`${reason}: left by ${way.command} of ${way.who}`, async (context) => {
        const scene = await reach(context, reason);
        const task = await waitFor(scene, entry.state);
        const [told] = entry.notice === null ? [] : await noticesOf(scene, entry.notice);
        const verb = way.command.split(' ')[0] ?? '';
        const quoted = [...(told?.text ?? '').matchAll(/`(\/[^`]+)`/g)].map(
          ([, text = '']) => text,
        );
        const text = quoted.find((one) => one.split(' ')[0] === verb) ?? `${verb} ${task.id}`;
        mend(scene.place);
        pastQuota(reason, scene.place);
        if (way.who === 'admin') {
          await assert.rejects(command(scene, text, 'other'));
          await command(scene, text, 'runner');
          assert.equal((await waitFor(scene, entry.state)).id, task.id);
        }
        await command(scene, text, WHO[way.who]);
        const { clock } = scene.place;
        // A fresh assessment keeps its spacing from the last one.
        if (way.effect === 'reopen') clock.advance(OPTIONS.recovery.spacingMs);
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
