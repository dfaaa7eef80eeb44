import { judgeEnrol, type SaidIn } from '../../core/boundary/enrol.ts';
import { isOver } from '../../core/dispatch/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { Refusal } from '../../kernel/fault.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { readObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Instant } from '../../kernel/time.ts';
import { catalogueOf } from '../../text/reader.ts';
import type { EngineParts, Ordered } from '../engine.ts';
import type { Ledger } from '../session/ledger.ts';
import { addMoveEvent } from '../task/move.ts';
import { commitOrder, type GivenOrder, type OrderRows } from '../task/order.ts';
import { reopened } from '../task/reset.ts';
import { tellReason } from '../task/tell.ts';

/** An order to wake a held task, and where it was typed. */
interface GivenEnrol extends GivenOrder {
  readonly saidIn?: SaidIn | undefined;
}

/**
 * Wakes exactly one held task, by an admin's order (B-8): it waits for its assessment, or with no attempt left
 * is blocked with the notice of R-6. Nothing that was set aside with it is replayed.
 */
export async function commitEnrol(
  parts: EngineParts,
  order: GivenEnrol,
): Promise<Ordered | Refusal> {
  const { principal, expectedVersion, saidIn } = order;
  const workers = await countWorkers(parts, order.taskId);
  const goesOn = await sessionOf(parts, order.taskId);
  return commitOrder(parts, order, {
    // One order whatever it wakes: under its receipt it is the same when the task is held no more.
    name: 'task.resume',
    admin: true,
    judge: ({ task, turn }, now) => {
      const isBusy = turn !== undefined;
      const of = { principal, expectedVersion, saidIn, isBusy, workers };
      const judged = judgeEnrol(task, of, now);
      return 'enrollment' in judged ? { ...judged, ...goesOn } : judged;
    },
    act: (ledger, rows, next) => {
      tellEnrolled(ledger, rows, next);
      return undefined;
    },
    says: (next, now) => sayEnrolled(parts, next, now),
    shows: ({ enrollment, state, reason }) => ({ enrollment, state, reason }),
  });
}

/** Held work stays behind when its session is handed over: woken, it goes on in the one that followed (M-16). */
async function sessionOf(
  { store }: EngineParts,
  id: TaskId,
): Promise<Partial<Pick<TaskRecord, 'sessionId'>>> {
  const task = await store.query('task.byId', { id });
  for (let sessionId = task?.sessionId; sessionId !== undefined;) {
    const session = await store.query('session.byId', { id: sessionId });
    if (session === undefined || session.nextId === null || session.endedAt === null)
      return { sessionId };
    sessionId = session.nextId;
  }
  return {};
}

async function countWorkers({ store }: EngineParts, taskId: TaskId): Promise<number> {
  const args = { taskId, limit: LIMITS.workersOfTaskMax };
  const workers = await store.query('execution.ofTask', args);
  return workers.filter(({ state }) => !isOver(state)).length;
}

function tellEnrolled(ledger: Ledger, { task, run }: OrderRows, next: TaskRecord): void {
  const runId = run?.id ?? null;
  ledger.event('task.enrolled', { taskId: next.id, runId, data: { by: 'resume' } });
  if (next.state !== 'blocked') return;
  // It was blocked before as well: the move is no save of its own.
  addMoveEvent(ledger, task, next, { runId });
  const { reason, version } = next;
  const { outcome = null, deadline = null, workers = 0 } = readObject(next.outcomeData);
  const params = { outcome, deadline, workers };
  tellReason(ledger, next, { reason, version, runId, params });
}

/** What whoever woke it is answered: when it is assessed, or how it is reopened where it cannot be. */
export function sayEnrolled(
  parts: Pick<EngineParts, 'options'>,
  task: TaskRecord,
  now: Instant,
): string {
  const { answers } = catalogueOf(parts.options.locale);
  const facts = reopened(parts, task, now);
  return task.state === 'blocked'
    ? answers.enrolledSpent({ ...facts, reset: `\`/budget-reset ${task.id}\`` })
    : answers.enrolled(facts);
}
