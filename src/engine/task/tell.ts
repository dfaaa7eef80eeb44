import { REASONS } from '../../core/notice/reasons.ts';
import type { NoticeLevel } from '../../core/outbox/record.ts';
import type { TaskReason } from '../../core/task/moves.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { OutboxId } from '../../kernel/ids.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { queueNotice } from '../outbox/queue.ts';
import type { Ledger } from '../session/ledger.ts';
import { requestOf } from './mandate.ts';

type Told = Pick<TaskRecord, 'id' | 'conversationId' | 'mandateText'>;

export interface TaskNotice {
  readonly runId: string | null;
  /** The stable delivery id, derived from the transition that caused it (O-1, O-6). */
  readonly key: string;
  readonly level: NoticeLevel;
  readonly code: string;
  /** Beside the task's id and the beginning of its request, which every notice of a task has. */
  readonly params?: JsonObject;
}

/** Queues a notice about a task in its conversation, in the commit of what it tells. */
export function tellOfTask(ledger: Ledger, task: Told, notice: TaskNotice): OutboxId {
  const { id: taskId, conversationId } = task;
  const { params, ...told } = notice;
  return queueNotice(ledger, {
    conversationId,
    ...told,
    params: { request: requestOf(task), taskId, ...params },
    subjectId: taskId,
    taskId,
  });
}

/** The key of the one notice of how a task stands: each of its versions has its own (O-6). */
export function noticeKey(taskId: string, version: number): string {
  return `notice:${taskId}:${version}`;
}

/**
 * The one notice of how a task stands at `version`, as the table of reasons names it (design principle
 * 4). Only for a reason that has a notice.
 */
export function tellReason(
  ledger: Ledger,
  task: Told,
  standing: {
    readonly reason: TaskReason | null;
    readonly version: number;
    readonly runId: string | null;
    readonly params?: JsonObject;
  },
): OutboxId {
  const { reason, version, ...told } = standing;
  invariant(reason !== null, 'a task that stands still says why');
  const { level, notice: code } = REASONS[reason];
  invariant(level !== null && code !== null, `${reason} has a notice`);
  return tellOfTask(ledger, task, { ...told, key: noticeKey(task.id, version), level, code });
}
