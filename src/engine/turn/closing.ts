import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { Spent } from '../../core/budget/spend.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import { passRecovery } from '../../core/recovery/decide.ts';
import { countSpent, moveTask, type Move } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord, TurnEnd, TurnRecord } from '../../core/turn/record.ts';
import { WAIT_REASONS, type TaskReason } from '../../core/task/moves.ts';
import type { OutboxId, SessionId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Ledger } from '../session/ledger.ts';
import { addMoved } from '../task/move.ts';
import { tellReason } from '../task/tell.ts';

/** What the end of a turn is decided on, read in its own unit. */
export interface Ending {
  readonly turn: TurnRecord;
  /** As the store has it; what the turn spent is not booked yet. */
  readonly task: TaskRecord;
  readonly messages: readonly MessageRecord[];
  readonly unbound: readonly MessageRecord[];
  /** In which new tasks of the conversation begin. */
  readonly sessionId: SessionId;
  readonly approvals: readonly ApprovalRecord[];
  readonly run: RunRecord | undefined;
  readonly spent: Spent;
  /** Whether a model call of the turn was answered: it ends the row of quota waits (T-12). */
  readonly hasAnswered: boolean;
  /** What the last step noted, not saved yet. */
  readonly note: string | null;
  /** Whether this end completes the turn: after a `continue` the count starts anew. */
  readonly completes?: boolean;
}

/** `continued`: what arrived was claimed, or a budget has grown, and the turn goes on (T-11). */
export type Ended =
  /** `dueAt`: when its task comes due by itself, where it stands still now. */
  | {
      readonly kind: 'ended';
      readonly dueAt: Instant | null;
      readonly isMaintained: boolean;
      /** Whether the turn came to something (R-3, M-19). */
      readonly completes: boolean;
    }
  | { readonly kind: 'fenced' }
  | {
      readonly kind: 'continued';
      readonly started: StepRecord;
      readonly task: TaskRecord;
    };

/** What a turn leaves with its task. */
export type Booking = Pick<
  Ending,
  'turn' | 'task' | 'spent' | 'hasAnswered' | 'note' | 'completes'
>;

/** The task with what its turn spent and noted. */
export function booked({ task, spent, hasAnswered, note, completes }: Booking): TaskRecord {
  const counted = countSpent(task, spent);
  const noted: TaskRecord = {
    ...counted,
    checkpoint: note ?? counted.checkpoint,
    quotaWaits: hasAnswered ? 0 : counted.quotaWaits,
  };
  // An order with its own time has been carried out, or its turn has set another (T-15).
  return completes === true ? { ...passRecovery(noted), orderAt: null } : noted;
}

/** The event of a count of assessments that starts anew. */
function addPassed(ledger: Ledger, { turn, task }: Booking, next: TaskRecord): void {
  if (next.recoveryState === task.recoveryState) return;
  const { id: turnId, taskId, runId } = turn;
  const data = { recovery: next.recoveryState, epoch: next.recoveryEpoch };
  ledger.event('recovery.state', { taskId, turnId, runId, data });
}

/** Moves the task to where the turn's end leads it. */
export function save(
  ledger: Ledger,
  ending: Booking,
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
  addNoted(ledger, turn, ending.note);
  addPassed(ledger, ending, moved);
  const { id: turnId, runId } = turn;
  const wait =
    move.wait === undefined ? {} : { data: { wait: move.wait.kind, until: move.wait.until } };
  addMoved(ledger, task, moved, { turnId, runId, ...wait });
  return moved;
}

/** Books what the turn spent on a task that stays active, for the input that comes next. */
export function keepActive(
  ledger: Ledger,
  ending: Booking,
  counts: Partial<TaskRecord> = {},
): void {
  const task = booked(ending);
  const row = { ...task, ...counts, version: task.version + 1, changedAt: ledger.at.now };
  ledger.add({ write: 'task.save', row });
  addNoted(ledger, ending.turn, ending.note);
  addPassed(ledger, ending, task);
}

/** The event of what the task noted of its own progress, if it did. */
export function addNoted(
  ledger: Ledger,
  { id: turnId, taskId, runId }: Pick<TurnRecord, 'id' | 'taskId' | 'runId'>,
  note: string | null,
): void {
  if (note !== null) ledger.event('task.noted', { taskId, turnId, runId, data: { text: note } });
}

/** The one notice of the task's next state: it is told before the task is saved with its next version. */
export function tellNext(
  ledger: Ledger,
  { turn: { runId }, task }: Pick<Ending, 'turn' | 'task'>,
  reason: TaskReason,
  params: JsonObject = {},
): OutboxId {
  return tellReason(ledger, task, { reason, version: task.version + 1, runId, params });
}

type Waited = keyof typeof WAIT_REASONS;

/** Ends the turn and lets its task wait (T-6); whoever calls it has told the person. */
export function endInWait(
  ledger: Ledger,
  ending: Ending,
  wait: NonNullable<Move['wait']> & { readonly kind: Waited },
  further: {
    readonly end: 'waited' | 'parked';
    readonly data?: JsonObject;
    readonly counts?: Partial<TaskRecord>;
  } = { end: 'waited' },
): Ended {
  const { end, ...saved } = further;
  const reason = WAIT_REASONS[wait.kind];
  const moved = save(ledger, ending, { to: 'waiting', reason, wait, ...saved });
  return finish(ledger, ending, end, moved);
}

/** Gives the turn its recorded end and frees the conversation. */
export function finish(
  ledger: Ledger,
  { turn, completes = false }: Pick<Ending, 'turn' | 'completes'>,
  end: TurnEnd,
  moved?: TaskRecord,
): Ended {
  const { id, taskId, runId } = turn;
  ledger.hold(null);
  if (completes) ledger.passFence();
  ledger.add({ write: 'turn.end', id, end, endedAt: ledger.at.now });
  ledger.event('turn.ended', { taskId, turnId: id, runId, data: { end } });
  return { kind: 'ended', dueAt: moved?.dueAt ?? null, isMaintained: false, completes };
}
