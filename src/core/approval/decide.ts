import { refuse, type Refusal } from '../../kernel/fault.ts';
import { principalName, type Principal } from '../../kernel/principal.ts';
import type { Instant } from '../../kernel/time.ts';
import { mayOrder } from '../task/decide.ts';
import { hasEnded } from '../task/moves.ts';
import type { TaskRecord } from '../task/record.ts';
import type { StepRecord } from '../turn/record.ts';
import type { ApprovalRecord } from './record.ts';

/** What a person is asked about a call: all that would run, and who may answer (E-4, E-6). */
export type Question = Pick<ApprovalRecord, 'id' | 'shown' | 'approver'>;

/** A new approval of the call that a step journalled: open until it is answered or expires. */
export function openApproval(
  step: StepRecord,
  asked: Question & Pick<ApprovalRecord, 'kind' | 'requestedBy' | 'at' | 'expiresAt'>,
): ApprovalRecord {
  const { id: stepId, conversationId, taskId, runId, turnId, tool, input } = step;
  return {
    conversationId,
    taskId,
    runId,
    turnId,
    stepId,
    tool: tool ?? '',
    input: input ?? '',
    state: 'open',
    decidedBy: null,
    decidedAt: null,
    ...asked,
  };
}

/**
 * The open question about the very same bytes: they are asked about once, however often the model asks for
 * them while a person has not answered (E-4).
 */
export function askedBefore(
  open: readonly ApprovalRecord[],
  { tool, input }: Pick<StepRecord, 'tool' | 'input'>,
  { shown }: Pick<Question, 'shown'>,
): ApprovalRecord | undefined {
  return open.find(
    (one) => one.kind === 'call' && one.tool === tool && one.input === input && one.shown === shown,
  );
}

/**
 * Whether a principal may answer an approval now: never a model or the host (E-4), only whoever may
 * order the task, and not the one who asked where a second person is demanded (E-6). One whose time is
 * up is closed before the sweep has recorded it. `now` is null while the clock is not believed.
 */
export function judgeAnswer(
  approval: ApprovalRecord,
  task: TaskRecord,
  by: { readonly principal: Principal; readonly now: Instant | null },
): Refusal | undefined {
  const { principal, now } = by;
  const detail = { id: approval.id, taskId: task.id };
  const isPerson = principal.kind !== 'host' && principal.kind !== 'model';
  if (!isPerson || !mayOrder(task, principal)) return refuse('forbidden', detail);
  const isOwn = principalName(principal) === approval.requestedBy;
  if (approval.approver === 'other' && isOwn) return refuse('approver_other', detail);
  if (approval.state !== 'open') return closed(approval, approval.state);
  if (now !== null && approval.expiresAt <= now) return closed(approval, 'expired');
  return judgeStanding(approval, task);
}

/** Whether the task is one that an answer means anything to: not ended, and not history (B-5). */
function judgeStanding(approval: ApprovalRecord, task: TaskRecord): Refusal | undefined {
  const { id, state } = task;
  if (hasEnded(state)) return closed(approval, 'denied');
  if (task.enrollment !== 'held-legacy') return undefined;
  return refuse('not_allowed_now', { id, state, way: `/task-resume ${id}` });
}

/** The record of an approval that has its end. */
export function decideApproval(
  approval: ApprovalRecord,
  state: 'approved' | 'denied' | 'expired',
  by: { readonly name: string; readonly now: Instant },
): ApprovalRecord {
  return { ...approval, state, decidedBy: by.name, decidedAt: by.now };
}

/** Whether the task's wait is for exactly this approval, and over with it (E-4). */
export function waitsForIt(
  task: Pick<TaskRecord, 'state' | 'waitKind' | 'waitId'>,
  { id }: Pick<ApprovalRecord, 'id'>,
): boolean {
  return task.state === 'waiting' && task.waitKind === 'approval' && task.waitId === id;
}

/** Whether an answer lets the task go on: it waits for an approval, this one or another of its own (E-4). */
export function goesOnWithAnswer(task: Pick<TaskRecord, 'state' | 'waitKind'>): boolean {
  return task.state === 'waiting' && task.waitKind === 'approval';
}

function closed({ id, taskId, tool }: ApprovalRecord, state: string): Refusal {
  return refuse('approval_closed', { id, taskId, tool, state });
}
