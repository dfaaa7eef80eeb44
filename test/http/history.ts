// Records as an import or an older host leaves them, put behind a door of the tests.
import type { ExecutionRecord } from '../../src/core/dispatch/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { ConversationId, ExecutionId, TaskId } from '../../src/kernel/ids.ts';
import type { Write } from '../../src/ports/store.ts';
import { executionRow, taskRow } from '../../src/testing/store-rows.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Installation } from '../support/host.ts';
import type { TestDoor } from './door.ts';

async function put(engine: Engine, writes: readonly Write[]): Promise<void> {
  await engine.store.commit({
    name: 'test.put',
    reads: {},
    decide: () => ({ verdict: undefined, writes: [...writes] }),
  });
}

/** A conversation of the key `runner`, as the API opens it. */
export async function openPlace(door: TestDoor): Promise<ConversationId> {
  const { id } = await door.client('runner').openConversation({});
  return id as ConversationId;
}

/** An open task of the key `runner` in this conversation; blocked unless it is given otherwise. */
export async function putTask(
  door: TestDoor,
  conversationId: ConversationId,
  over: Partial<TaskRecord>,
): Promise<TaskId> {
  const { clock, ids } = door.installation;
  const place = await door.engine.store.query('conversation.byId', { id: conversationId });
  if (place === undefined) throw new Error(`no conversation ${conversationId}`);
  const now = clock.now();
  const row = taskRow({
    id: ids.next('task'),
    conversationId,
    sessionId: place.sessionId,
    state: 'blocked',
    mandateText: 'Sum up the invoices',
    mandatePrincipal: 'key:runner',
    mandateAuthority: 'own',
    mandateOrigin: 'api',
    mandateAt: now,
    deadline: null,
    recoveryEpoch: 1,
    createdAt: now,
    changedAt: now,
    ...over,
  });
  await put(door.engine, [{ write: 'task.insert', row }]);
  return row.id;
}

/** What the boundary makes of a task that waited for an answer. */
export const HELD: Partial<TaskRecord> = {
  enrollment: 'held-legacy',
  reason: 'held_legacy',
  outcomeData: JSON.stringify({
    was: {
      state: 'waiting',
      reason: 'awaits_answer',
      waitKind: 'answer',
      waitId: null,
      waitUntil: 1_700_000_000_000,
      waitQuestion: 'Which March?',
      outcomeData: null,
    },
  }),
};

/** A task whose three assessments have failed. */
export const USED_UP: Partial<TaskRecord> = {
  reason: 'recovery_assessment_failed',
  recoveryState: 'needed',
  recoveryAttempts: 3,
  recoveryLifetimeAttempts: 3,
  recoveryOutcome: 'failed',
  outcomeData: JSON.stringify({
    outcome: 'failed',
    detail: 'http_500',
    said: null,
    deadline: null,
    workers: 0,
  }),
};

export const INCONCLUSIVE: Partial<TaskRecord> = {
  reason: 'recovery_inconclusive',
  recoveryState: 'needed',
  recoveryAttempts: 1,
  recoveryLifetimeAttempts: 1,
  recoveryOutcome: 'inconclusive',
  outcomeData: JSON.stringify({ said: 'nobody can tell' }),
};

/** A task whose order was for a time that has passed. */
export function lateAt(orderAt: number): Partial<TaskRecord> {
  return { reason: 'order_late', orderAt, outcomeData: JSON.stringify({ at: orderAt }) };
}

/** A held worker of nobody's task unless it is given otherwise. */
export async function putWorker(
  engine: Engine,
  { clock, ids }: Installation,
  over: Partial<ExecutionRecord> = {},
): Promise<ExecutionId> {
  const now = clock.now();
  const row = executionRow({
    id: ids.next('execution'),
    taskId: null,
    mandateHash: null,
    conversationId: null,
    enrollment: 'held-legacy',
    createdAt: now,
    changedAt: now,
    ...over,
  });
  await put(engine, [{ write: 'execution.insert', row }]);
  return row.id;
}
