import type { ApprovalRecord } from '../../core/approval/record.ts';
import { WAIT_REASONS } from '../../core/task/moves.ts';
import type { StepRecord } from '../../core/turn/record.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Ledger } from '../session/ledger.ts';
import { tellOfTask } from '../task/tell.ts';
import { endInWait, type Ended, type Ending } from './closing.ts';
import { finishedStep, startedStep, type StepStart } from './step.ts';

/** What the model gets for a call that waits for a person, and for those behind it (E-4). */
export function waitingText(approvalId: string): string {
  return `waiting for approval ${approvalId}`;
}

function notRunText(approvalId: string): string {
  return `not run: waiting for ${approvalId}`;
}

export interface Asking {
  readonly approval: ApprovalRecord;
  /** The calls of the same reply behind it. */
  readonly notRun: readonly StepStart[];
  /** False when the same bytes are asked about already. */
  readonly isNew: boolean;
}

/** Records what a person is asked, once, with its notice; the calls behind it get their result (E-4). */
export function askApproval(ledger: Ledger, ending: Ending, asking: Asking): void {
  const { approval, notRun, isNew } = asking;
  if (isNew) addApproval(ledger, approval);
  for (const start of notRun) {
    const row: StepRecord = startedStep(ledger, ending.turn, start);
    const output = notRunText(approval.id);
    const end = { state: 'failed', output, errorCode: 'not_run' } as const;
    ledger.add({ write: 'step.insert', row: finishedStep(ledger, row, end) });
  }
  if (isNew) tellAsked(ledger, ending, approval);
}

/** Under the approval's own key: the turn may go on, and the task's next version be told of again (O-6). */
function tellAsked(ledger: Ledger, { task, turn }: Ending, approval: ApprovalRecord): void {
  tellOfTask(ledger, task, {
    runId: turn.runId,
    key: `approval:${approval.id}`,
    level: 'waiting',
    code: WAIT_REASONS.approval,
    params: askedParams(approval),
  });
}

/** The row of an approval and its event. */
export function addApproval(ledger: Ledger, approval: ApprovalRecord): void {
  ledger.add({ write: 'approval.insert', row: approval });
  const { id: approvalId, taskId, turnId, runId, tool, expiresAt } = approval;
  ledger.event('approval.asked', {
    taskId,
    turnId,
    runId,
    data: { approvalId, tool, expiresAt },
  });
}

/** What the notice of an approval says: everything that would run. */
export function askedParams({ id, tool, shown, approver, expiresAt }: ApprovalRecord): JsonObject {
  return { approvalId: id, tool, shown, approver, expiresAt };
}

/** Ends the turn in the wait for an open approval; it was asked before, so nothing is told again. */
export function waitForApproval(
  ledger: Ledger,
  ending: Ending,
  { id, expiresAt: until }: ApprovalRecord,
): Ended {
  return endInWait(ledger, ending, { kind: 'approval', id, until });
}
