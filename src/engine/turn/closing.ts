import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import { countSpent, moveTask, type Move } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord, TurnEnd, TurnRecord } from '../../core/turn/record.ts';
import { REASONS } from '../../core/notice/reasons.ts';
import type { TaskReason } from '../../core/task/moves.ts';
import type { OutboxId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { NoticeLevel } from '../../core/outbox/record.ts';
import { queueNotice } from '../outbox/queue.ts';
import { endRun } from '../run/end.ts';
import type { Ledger } from '../session/ledger.ts';
import { requestOf } from '../task/mandate.ts';
import type { Spent } from './step.ts';

/** What the end of a turn is decided on, read in its own unit. */
export interface Ending {
  readonly turn: TurnRecord;
  /** As the store has it; what the turn spent is not booked yet. */
  readonly task: TaskRecord;
  readonly messages: readonly MessageRecord[];
  readonly unbound: readonly MessageRecord[];
  readonly approvals: readonly ApprovalRecord[];
  readonly run: RunRecord | undefined;
  readonly spent: Spent;
  /** Whether a model call of the turn was answered: it ends the row of quota waits (T-12). */
  readonly hasAnswered: boolean;
  /** What the last step noted, not saved yet. */
  readonly note: string | null;
}

/** `continued`: what arrived was claimed, or a budget has grown, and the turn goes on (T-11). */
export type Ended =
  /** `dueAt`: when its task comes due by itself, where it stands still now. */
  | { readonly kind: 'ended'; readonly dueAt: Instant | null }
  | { readonly kind: 'fenced' }
  | {
      readonly kind: 'continued';
      readonly started: StepRecord;
      readonly task: TaskRecord | undefined;
    };

/** The task with what its turn spent and noted. */
export function booked({ task, spent, hasAnswered, note }: Ending): TaskRecord {
  const counted = countSpent(task, spent);
  return {
    ...counted,
    checkpoint: note ?? counted.checkpoint,
    quotaWaits: hasAnswered ? 0 : counted.quotaWaits,
  };
}

/** Moves the task to where the turn's end leads it. */
export function save(
  ledger: Ledger,
  ending: Ending,
  move: Omit<Move, 'now' | 'outcomeData'> & {
    readonly data?: JsonObject;
    readonly counts?: Partial<TaskRecord>;
  },
): TaskRecord {
  const { task, turn } = ending;
  invariant(task.state === 'active', 'a turn runs only for an active task');
  const { data, counts = {}, ...to } = move;
  const outcome = data === undefined ? {} : { outcomeData: JSON.stringify(data) };
  const moved = moveTask(
    { ...booked(ending), ...counts },
    { ...to, now: ledger.at.now, ...outcome },
  );
  ledger.add({ write: 'task.save', row: moved });
  addNoted(ledger, turn, ending.note);
  const { id: turnId, runId } = turn;
  const { reason } = move;
  const wait =
    move.wait === undefined ? {} : { data: { wait: move.wait.kind, until: move.wait.until } };
  const about = { taskId: task.id, turnId, runId, from: task.state, to: move.to, reason };
  ledger.event('task.moved', { ...about, ...wait });
  return moved;
}

/** Books what the turn spent on a task that stays active, for the input that comes next. */
export function keepActive(ledger: Ledger, ending: Ending, counts: Partial<TaskRecord> = {}): void {
  const task = booked(ending);
  const row = { ...task, ...counts, version: task.version + 1, changedAt: ledger.at.now };
  ledger.add({ write: 'task.save', row });
  addNoted(ledger, ending.turn, ending.note);
}

/** The event of what the task noted of its own progress, if it did. */
export function addNoted(
  ledger: Ledger,
  { id: turnId, taskId, runId }: Pick<TurnRecord, 'id' | 'taskId' | 'runId'>,
  note: string | null,
): void {
  if (note !== null) ledger.event('task.noted', { taskId, turnId, runId, data: { text: note } });
}

/** Whose notice it is. */
export interface Told {
  readonly turn: Pick<TurnRecord, 'conversationId' | 'taskId' | 'runId'>;
  readonly task: TaskRecord;
}

/** The one notice of the task's next state, under the key of its version (O-6). */
function tell(
  ledger: Ledger,
  { turn, task }: Told,
  notice: { readonly level: NoticeLevel; readonly code: string; readonly params: JsonObject },
): OutboxId {
  const { conversationId, taskId, runId } = turn;
  const params = { request: requestOf(task), taskId, ...notice.params };
  const { level, code } = notice;
  return queueNotice(ledger, {
    conversationId,
    key: `notice:${taskId}:${task.version + 1}`,
    level,
    code,
    params,
    subjectId: taskId,
    taskId,
    runId,
  });
}

/** The notice that the table of reasons names for this reason. */
export function tellReason(
  ledger: Ledger,
  ending: Told,
  reason: TaskReason,
  params: JsonObject,
): OutboxId {
  const { level, notice } = REASONS[reason];
  invariant(level !== null && notice !== null, `${reason} has a notice`);
  return tell(ledger, ending, { level, code: notice, params });
}

/** Closes what the turn has read: the answer to it is this entry. */
export function closeClaimed(
  ledger: Ledger,
  messages: readonly MessageRecord[],
  answerId: OutboxId,
): void {
  for (const { id, state } of messages)
    if (state === 'claimed') ledger.add({ write: 'message.done', id, answerId });
}

/** Closes everything that the task had: it has ended, nothing of it is taken up any more. */
export function closeAll(
  ledger: Ledger,
  messages: readonly MessageRecord[],
  answerId: OutboxId,
): void {
  for (const { id } of messages) ledger.add({ write: 'message.done', id, answerId });
}

/** Withdraws the open approvals of a task that has ended: what was asked can no longer be answered (E-4). */
export function withdraw(ledger: Ledger, approvals: readonly ApprovalRecord[], by: string): void {
  for (const approval of approvals) {
    const row: ApprovalRecord = {
      ...approval,
      state: 'denied',
      decidedBy: by,
      decidedAt: ledger.at.now,
    };
    ledger.add({ write: 'approval.decide', row });
    const { id: approvalId, taskId, turnId, runId } = approval;
    const data = { approvalId, state: 'denied' };
    ledger.event('approval.decided', { taskId, turnId, runId, data });
  }
}

/** Ends the task's run as failed: a blocked notice or a failure is its last word. */
export function failRun(
  ledger: Ledger,
  run: RunRecord | undefined,
  code: string,
  outcomeId: OutboxId,
): void {
  endRun(ledger, run, { state: 'failed', code, outcomeId });
}

/** Gives the turn its recorded end and frees the conversation. */
export function finish(
  ledger: Ledger,
  { turn }: Pick<Ending, 'turn'>,
  end: TurnEnd,
  moved?: TaskRecord,
): Ended {
  const { id, taskId, runId } = turn;
  ledger.hold(null);
  ledger.add({ write: 'turn.end', id, end, endedAt: ledger.at.now });
  ledger.event('turn.ended', { taskId, turnId: id, runId, data: { end } });
  return { kind: 'ended', dueAt: moved?.dueAt ?? null };
}
