// Each reason for which an operation is blocked, reached through the API: told once, and left by each command
// that its notice quotes, typed by whom the table names (V8).
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import {
  OPERATION_REASONS,
  waysOfOperation,
  type OperationWay,
} from '../../src/core/maintenance/reasons.ts';
import type { OperationKind } from '../../src/core/maintenance/record.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { SECOND } from '../../src/kernel/time.ts';
import { ScriptedRuntime } from '../../src/testing/scripted-runtime.ts';
import type { OperationReply } from '../../src/wire/maintenance.ts';
import type { OutboxReply } from '../../src/wire/status.ts';
import {
  compactedOut,
  elapse,
  keptBy,
  later,
  ONE_BY_ONE,
  saysFull,
} from '../engine/maintenance-support.ts';
import { fails, says, sumsUp, until, type Installation } from '../support/host.ts';
import { openDoor, type KeyName, type TestDoor } from './door.ts';
import { openPlace } from './history.ts';
import { kept, openLine, types } from './line.ts';

interface Stop {
  readonly reason: keyof typeof OPERATION_REASONS;
  readonly kind: OperationKind;
  readonly arrange: (place: Installation, runtime: ScriptedRuntime) => void;
  /** Whether the agent's sessions are kept by the runtime. */
  readonly isNative?: boolean;
}

/** How each is reached: the request is a message. */
const STOPS: readonly Stop[] = [
  {
    reason: 'exhausted',
    kind: 'compact',
    arrange: ({ model, summariser }) => {
      model.answer = () => saysFull('read');
      summariser.answer = () => fails('transient', 'http_503');
    },
  },
  {
    reason: 'uncertain',
    kind: 'compact',
    isNative: true,
    arrange: ({ model }, runtime) => {
      model.answer = () => saysFull('read');
      runtime.fail('compact', { kind: 'rejects' });
    },
  },
  {
    reason: 'uncertain',
    kind: 'handover',
    isNative: true,
    arrange: ({ model }, runtime) => {
      model.answer = () => saysFull('read');
      runtime.fail('summarise', { kind: 'rejects' });
    },
  },
  {
    reason: 'base_too_large',
    kind: 'compact',
    arrange: ({ model }) => {
      model.contextWindow = 200;
    },
  },
];

interface Scene {
  readonly door: TestDoor;
  readonly here: ConversationId;
  readonly operation: OperationReply;
}

/** What stood in the way, once somebody has mended it. */
function mend({ model, summariser }: Installation): void {
  model.contextWindow = 128_000;
  model.answer = () => says('answered');
  summariser.answer = () => sumsUp('what was said so far');
}

async function reach(context: TestContext, stop: Stop): Promise<Scene> {
  const runtime = new ScriptedRuntime();
  const door = await openDoor(context, {}, {}, (place) => {
    stop.arrange(place, runtime);
    const given = { options: ONE_BY_ONE };
    return stop.isNative === true ? keptBy(place, runtime, given) : given;
  });
  const here = await openPlace(door);
  if (stop.kind === 'handover') await compactedOut(door.installation, here);
  await door.client('runner').postMessage(here, { text: 'do it' });
  return { door, here, operation: await blocked(door, here) };
}

async function blocked(door: TestDoor, here: ConversationId): Promise<OperationReply> {
  for (let seconds = 0; seconds < 600; seconds += 1) {
    await later(door.installation, SECOND);
    const asked = { conversation: here, state: 'blocked' } as const;
    const [found] = (await door.client().operations(asked)).items;
    if (found !== undefined) return found;
  }
  return assert.fail('it was never blocked');
}

async function noticesOf({ door, here }: Scene, code: string): Promise<readonly OutboxReply[]> {
  const { items } = await door.client().outbox({ conversation: here });
  return items.filter((entry) => entry.code === code);
}

/** Types a command and gives its answer. */
async function typed({ door, here }: Scene, text: string, key: KeyName): Promise<string> {
  const { messageId } = await door.client(key).postMessage(here, { text });
  return answerTo(door, here, messageId);
}

async function answerTo(door: TestDoor, here: ConversationId, messageId: string): Promise<string> {
  return until(door.engine, here, async () => {
    const { state, answer } = await door.client().message(messageId);
    return state === 'done' && (answer ?? '');
  });
}

/** Whose words the voice page fixes; `why` names the rest. */
function isLeftOut(reason: Stop['reason'], command: string): boolean {
  return reason === 'exhausted' && command === '/new';
}

const LEADS: Readonly<Record<OperationWay['effect'], OperationReply['state']>> = {
  admit: 'done',
  handover: 'done',
  drop: 'dropped',
};

describe('V8 each reason of a blocked operation is reached, told once and left by what its notice quotes', () => {
  for (const stop of STOPS) {
    const { reason, kind } = stop;
    const { notice } = OPERATION_REASONS[reason];

    test(`${reason} of a ${kind}: told once, with its commands`, async (context) => {
      const scene = await reach(context, stop);
      const { door, operation } = scene;
      assert.deepEqual([operation.reason, operation.kind], [reason, kind]);
      await elapse(door.installation, 120 * SECOND);
      const [told, ...more] = await noticesOf(scene, notice);
      assert.deepEqual(more, []);
      assert.deepEqual([told?.level, told?.subjectId], ['blocked', operation.id]);
      const quoted = operation.commands.map(({ command }) => command);
      for (const command of quoted.filter((one) => !isLeftOut(reason, one)))
        assert.ok(told?.text.includes(`\`${command}\``), told?.text);
      const { items } = await door.client('reader').attention();
      assert.deepEqual(
        items.map(({ level, code, subjectId, command }) => [level, code, subjectId, command]),
        [['blocked', reason, operation.id, quoted[0]]],
      );
    });

    const id = 'mop_0000000000000000';
    for (const way of waysOfOperation({ id, kind, state: 'blocked', reason })) {
      const shown = way.command.replace(id, 'ID');
      test(`${reason} of a ${kind}: left by ${shown} of an ${way.who}`, async (context) => {
        const scene = await reach(context, stop);
        const { door, here, operation } = scene;
        const waits = await door.client('runner').postMessage(here, { text: 'kept' });
        mend(door.installation);
        const command = way.command.replace(id, operation.id);
        assert.notEqual(await typed(scene, command, 'runner'), '');
        const same = await door.client().operation(operation.id);
        assert.deepEqual([same.state, same.version], ['blocked', operation.version]);
        assert.equal((await door.client().message(waits.messageId)).state, 'unclaimed');
        await typed(scene, command, 'ops');
        assert.equal(await answerTo(door, here, waits.messageId), 'answered');
        const left = await door.client().operation(operation.id);
        assert.equal(left.state, LEADS[way.effect]);
        assert.equal(left.lifetimeFailures, operation.lifetimeFailures);
        const { fence, maintenance } = await door.client().conversation(here);
        assert.deepEqual([fence, maintenance], ['none', null]);
      });
    }
  }
});

test('A-2 a run behind a fence is told of the wait, ends with the block, and its task goes on later', async (context) => {
  const door = await openDoor(context, {}, {}, (place) => {
    place.model.answer = () => saysFull('read');
    place.summariser.answer = () => fails('transient', 'http_503');
    return { options: ONE_BY_ONE };
  });
  const { installation: place } = door;
  const client = door.client('runner');
  const here = await openPlace(door);
  const { messageId } = await client.postMessage(here, { text: 'read it all' });
  assert.equal(await answerTo(door, here, messageId), 'read');
  const { id } = await client.createRun({ input: 'count', conversation: here });
  const line = await openLine(door, `/v1/runs/${id}/events`, { key: 'runner' });
  await elapse(place, 6 * SECOND);
  const told = (await line.upTo('notice')).at(-1)?.data;
  assert.ok(told?.type === 'notice');
  assert.deepEqual([told.level, told.code, told.command], ['waiting', 'maintenance_waiting', null]);
  assert.equal((await client.run(id)).status, 'queued');
  const operation = await blocked(door, here);
  assert.deepEqual(types(kept(await line.rest())), ['run.failed']);
  const run = await client.run(id);
  assert.deepEqual([run.status, run.outcome?.code], ['failed', 'exhausted']);
  assert.ok(run.outcome?.message.includes(`/admit ${operation.id}`), run.outcome?.message);
  assert.deepEqual(run.later, { taskState: 'active' });
  await assert.rejects(client.messageRun(id, 'go on'), { status: 409, code: 'run_ended' });
  mend(place);
  await door.client().admit(operation.id, {
    contractVersion: 1,
    expectedVersion: operation.version,
    receiptId: 'rcpt_1',
  });
  await until(door.engine, here, async () => (await client.task(run.taskId)).state === 'completed');
  const after = await client.run(id);
  assert.deepEqual([after.status, after.later], ['failed', { taskState: 'completed' }]);
  const { items } = await door.client().outbox({ conversation: here });
  assert.deepEqual(
    items.map(({ kind, code = '', level = '' }) => [kind, code, level].join(' ').trim()),
    [
      'reply',
      'notice maintenance_over info',
      'notice maintenance_exhausted blocked',
      'notice maintenance_waiting waiting',
      'reply',
    ],
  );
});
