import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { REASONS, type Way } from '../../src/core/notice/reasons.ts';
import type { TaskReason, TaskState } from '../../src/core/task/moves.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { DAY, HOUR } from '../../src/kernel/time.ts';
import { judges, OPTIONS, says, until, type Installation } from '../support/host.ts';
import { openDoor, type KeyName } from './door.ts';
import { STOPS, type, waitFor, type Scene } from './reason-stops.ts';

// Each reason is reached through the API, its one notice is read there, and each command that the notice
// quotes is typed as the principal that the table names: the task then goes on or ends (V8).

/** Types a command and waits until it is answered. */
async function command(scene: Scene, text: string, key: KeyName): Promise<void> {
  const { door, conversationId } = scene;
  const { messageId } = await door.client(key).postMessage(conversationId, { text });
  await until(door.engine, conversationId, async () => {
    return (await door.client(key).message(messageId)).state === 'done';
  });
}

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
