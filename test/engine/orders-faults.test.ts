// Every order whose commit is not seen, whose store is busy, or whose race is lost, is carried out once:
// through the API and as a command, with its receipt, its entry in the log of admin actions, its input.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Engine, EngineOptions } from '../../src/engine/engine.ts';
import { verifyAudit } from '../../src/engine/audit/verify.ts';
import type { ApprovalId, TaskId } from '../../src/kernel/ids.ts';
import type { Store } from '../../src/ports/store.ts';
import { ADMIN, asks, Installation, OPTIONS, says } from '../support/host.ts';
import { restOf } from '../support/acts.ts';
import {
  askingToPay,
  counted,
  losing,
  standing,
  taskOf,
  type,
  withoutOutcome,
  type Standing,
} from '../support/orders.ts';
import { QuickClock, ShakyStore } from '../support/store-faults.ts';

type Verdict = { readonly kind: string };
interface Case {
  readonly name: string;
  readonly unit: string;
  readonly arrange: (place: Installation, engine: Engine) => Promise<Standing>;
  readonly options?: Partial<EngineOptions>;
  readonly api: (engine: Engine, found: Standing) => Promise<Verdict>;
  readonly typed: (found: Standing) => string;
  /** How the task stands when all of it is done. */
  readonly stands: string;
  /** Generated inputs, and what the order left in the conversation beside the command's answer. */
  readonly inputs: number;
}

const taskOrder = ({
  taskId,
}: Standing): { taskId: TaskId; principal: typeof ADMIN; channel: string } => ({
  taskId,
  principal: ADMIN,
  channel: 'api',
});

function idOfApproval(found: Standing): ApprovalId {
  return (found as Standing & { approval: { id: ApprovalId } }).approval.id;
}

async function exhausted(place: Installation, engine: Engine): Promise<Standing> {
  place.model.answer = () => asks(['task_continue', { note: 'more' }]);
  const found = await standing(engine);
  assert.equal((await taskOf(engine, found)).reason, 'budget_exhausted');
  place.model.answer = () => says('done');
  return found;
}

const CASES: readonly Case[] = [
  {
    name: 'resume',
    unit: 'task.resume',
    arrange: withoutOutcome,
    api: (engine, found) => engine.resumeTask(taskOrder(found)),
    typed: ({ taskId }) => `/task-resume ${taskId}`,
    stands: 'completed',
    inputs: 2,
  },
  {
    name: 'pause',
    unit: 'task.pause',
    arrange: askingToPay,
    api: (engine, found) => engine.pauseTask(taskOrder(found)),
    typed: ({ taskId }) => `/pause ${taskId}`,
    stands: 'paused',
    inputs: 0,
  },
  {
    name: 'extend',
    unit: 'task.extend',
    arrange: exhausted,
    options: { turnsLimit: 1 },
    api: (engine, found) => engine.extendTask({ ...taskOrder(found), grant: { turns: 3 } }),
    typed: ({ taskId }) => `/extend ${taskId} turns=+3`,
    stands: 'completed',
    inputs: 1,
  },
  {
    name: 'approve',
    unit: 'approval.answer',
    arrange: askingToPay,
    api: (engine, found) => {
      const order = { principal: ADMIN, channel: 'api', decision: 'approve' } as const;
      return engine.answerApproval({ ...order, approvalId: idOfApproval(found) });
    },
    typed: (found) => `/approve ${idOfApproval(found)}`,
    stands: 'completed',
    inputs: 1,
  },
  {
    name: 'deny',
    unit: 'approval.answer',
    arrange: askingToPay,
    api: (engine, found) => {
      const order = { principal: ADMIN, channel: 'api', decision: 'deny' } as const;
      return engine.answerApproval({ ...order, approvalId: idOfApproval(found) });
    },
    typed: (found) => `/deny ${idOfApproval(found)}`,
    stands: 'completed',
    inputs: 1,
  },
  {
    name: 'stop',
    unit: 'task.stop',
    arrange: askingToPay,
    api: (engine, found) => engine.stopTask({ ...taskOrder(found), receiptId: 'once' }),
    typed: ({ taskId }) => `/stop ${taskId}`,
    stands: 'stopped',
    inputs: 0,
  },
];

const MISHAPS = {
  'whose commit was not seen': (store: Store, unit: string) => shaky(store, unit, 'unseen'),
  'that finds the store busy': (store: Store, unit: string) => shaky(store, unit, 'busy'),
  'that loses its race': (store: Store, unit: string) => losing(store, unit),
};

function shaky(store: Store, name: string, mishap: 'unseen' | 'busy'): Store {
  let isFirst = true;
  return new ShakyStore(store, ({ unit }) => {
    if (unit !== name || !isFirst) return undefined;
    isFirst = false;
    return mishap;
  });
}

for (const one of CASES)
  describe(`an order to ${one.name}`, () => {
    for (const [how, wrap] of Object.entries(MISHAPS))
      for (const door of ['api', 'chat'] as const)
        test(`${how} is carried out once: ${door}`, async () => {
          const place = new Installation();
          const engine = await place.host({
            store: wrap(place.store, one.unit),
            clock: new QuickClock(),
            options: { ...OPTIONS, ...one.options },
          });
          const found = await one.arrange(place, engine);
          const { conversationId } = found;
          if (door === 'chat') await type(engine, conversationId, one.typed(found), ADMIN);
          else assert.notEqual((await one.api(engine, found)).kind, 'refused');
          await restOf(engine);
          await holdsOnce(place, engine, { one, found, door });
          await engine.stop(0);
        });
  });

async function holdsOnce(
  place: Installation,
  engine: Engine,
  done: { readonly one: Case; readonly found: Standing; readonly door: 'api' | 'chat' },
): Promise<void> {
  const { one, found, door } = done;
  const task = await taskOf(engine, found);
  assert.equal(task.state, one.stands);
  assert.equal(task.turnsLimit, one.name === 'extend' ? 4 : 50);
  const isStopByCommand = one.name === 'stop' && door === 'chat';
  assert.equal((await place.rows('receipt')).length, isStopByCommand ? 0 : 1);
  assert.equal((await place.rows('audit')).length, 1);
  assert.deepEqual(await verifyAudit(engine.parts), { kind: 'whole', entries: 1 });
  assert.equal((await counted(place, 'message', 'kind'))['generated'] ?? 0, one.inputs);
  assert.equal(
    (await counted(place, 'event', 'type'))['command.answered'] ?? 0,
    Number(door === 'chat'),
  );
  assert.equal(
    (await place.rows('message')).filter(({ state }) => state !== 'done').length,
    one.name === 'pause' ? 1 : 0,
  );
  assert.equal(place.tools.ran.length, one.name === 'approve' ? 1 : 0);
  const keys = (await place.rows('outbox')).map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length);
}
