// The forms of an order: which task it fits, how it is typed, and how it is sent over the API.
import type { TaskRecord } from '../../src/core/task/record.ts';
import type {
  Admitted,
  ApprovalAnswered,
  Engine,
  Ordered,
  Stopped,
  TaskOrder,
  WorkerOrdered,
} from '../../src/engine/engine.ts';
import type { Grant } from '../../src/core/budget/extend.ts';
import type { Refusal } from '../../src/kernel/fault.ts';
import type { ApprovalId, ExecutionId, OperationId, TaskId } from '../../src/kernel/ids.ts';
import type { Order, OrderKind } from './history.ts';

/** Orders about one task. */
export type TaskOrderName = 'resume' | 'late' | 'reset' | 'pause' | 'extend';
export type Verdict = Ordered | WorkerOrdered | Stopped | ApprovalAnswered | Admitted | Refusal;

export const FITS: Readonly<Record<TaskOrderName, (task: TaskRecord) => boolean>> = {
  resume: ({ state }) => state === 'blocked' || state === 'paused',
  late: ({ reason }) => reason === 'order_late',
  reset: ({ reason }) =>
    reason === 'recovery_assessment_failed' || reason === 'recovery_no_progress',
  pause: ({ state }) => state === 'active' || state === 'waiting',
  extend: () => true,
};

export function isTaskOrder(name: string): name is TaskOrderName {
  return Object.hasOwn(FITS, name);
}

type About = Omit<TaskOrder, 'taskId'> & { readonly receiptId: string };
type Send = (engine: Engine) => Promise<Verdict>;

/** How the order reaches a host. */
export function sendOf({ kind, subjectId, grant, admission }: Order, about: About): Send {
  const taskId = subjectId as TaskId;
  const fingerprint = JSON.stringify(grant);
  const executionId = subjectId as ExecutionId;
  const answering =
    (decision: 'approve' | 'deny'): Send =>
    (engine) =>
      engine.answerApproval({ ...about, approvalId: subjectId as ApprovalId, decision });
  const sends: Readonly<Record<OrderKind, Send>> = {
    stop: (engine) => engine.stopTask({ ...about, taskId }),
    resume: (engine) => engine.resumeTask({ ...about, taskId }),
    late: (engine) => engine.resumeTask({ ...about, taskId, late: true }),
    reset: (engine) => engine.resetBudget({ ...about, taskId }),
    worker: (engine) => engine.resumeWorker({ ...about, executionId }),
    pause: (engine) => engine.pauseTask({ ...about, taskId }),
    extend: (engine) => engine.extendTask({ ...about, taskId, grant: grant ?? {}, fingerprint }),
    admit: (engine) =>
      engine.admit({
        ...about,
        operationId: subjectId as OperationId,
        ...(admission ?? { expectedVersion: 0 }),
      }),
    approve: answering('approve'),
    deny: answering('deny'),
  };
  return sends[kind];
}

/** Parked by an older version, without a reason. */
export function isSilent({ state, reason, waitKind }: TaskRecord): boolean {
  const standsStill = state === 'blocked' || (state === 'waiting' && waitKind === null);
  return standsStill && reason === null;
}

/** The command of an order, as it is typed. */
export function typed(name: TaskOrderName, id: string, grant?: Grant): string {
  return name === 'extend' ? extension(id, grant ?? {}) : TYPED[name].replace('ID', id);
}

const TYPED = {
  resume: '/task-resume ID',
  late: '/task-resume ID late',
  reset: '/budget-reset ID',
  pause: '/pause ID',
} as const;

function extension(id: string, grant: Grant): string {
  const { turns, tokens, costMicroUsd, continuations, deadline } = grant;
  const words = [
    turns === undefined ? '' : `turns=+${turns}`,
    tokens === undefined ? '' : `tokens=+${tokens}`,
    costMicroUsd === undefined ? '' : `cost=+${(costMicroUsd / 1_000_000).toFixed(6)}`,
    continuations === undefined ? '' : `continuations=+${continuations}`,
    deadline === undefined ? '' : 'deadline=+1h',
  ];
  return `/extend ${id} ${words.filter(Boolean).join(' ')}`;
}
