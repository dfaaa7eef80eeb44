import type { ApprovalRecord, Shown } from '../../core/approval/record.ts';
import type { AskedCall } from '../../core/turn/decide.ts';
import type { StepRecord } from '../../core/turn/record.ts';
import type { ApprovalId } from '../../kernel/ids.ts';
import { canonicalJson, type Json } from '../../kernel/json.ts';
import type { Examined, Tools } from '../../ports/tools.ts';
import type { StepStart } from './step.ts';
import { isTaskTool } from './task-tools.ts';

/** What a person is asked about a call: all that would run, and who may answer (E-4, E-6). */
export interface Question {
  readonly shown: Shown;
  readonly approver: Examined['approver'];
}

/** What a person has to be asked about a call; null when it may run. */
export async function questionOf(tools: Tools, call: AskedCall): Promise<Question | null> {
  if (isTaskTool(call.name)) return null;
  const { needsApproval, shown, approver } = await tools.examine({ ...call, stepId: '' });
  return needsApproval && shown !== null ? { shown, approver } : null;
}

/** A call that waits for a person is recorded as asked and never as run: nothing of it can be uncertain. */
export function toolStart(
  tools: Tools,
  call: AskedCall,
  { ordinal, isAsked }: { readonly ordinal: number; readonly isAsked: boolean },
): StepStart {
  const tool = tools.list.find(({ name }) => name === call.name);
  const repeatable = isAsked ? 'yes' : (tool?.repeatable ?? 'yes');
  const { name, id: callId, args: input } = call;
  return { ordinal, kind: 'tool', tool: name, callId, repeatable, input };
}

/** The record of a question; the commit that asks it gives it its instants. */
export function approvalOf(
  step: StepRecord,
  of: {
    readonly id: ApprovalId;
    readonly question: Question;
    readonly requestedBy: string;
  },
): ApprovalRecord {
  const { conversationId, taskId, runId, turnId, tool, input } = step;
  return {
    id: of.id,
    conversationId,
    taskId,
    runId,
    turnId,
    stepId: step.id,
    kind: 'call',
    tool: tool ?? '',
    input: input ?? '',
    shown: canonicalJson(of.question.shown as unknown as Json),
    approver: of.question.approver,
    state: 'open',
    requestedBy: of.requestedBy,
    decidedBy: null,
    at: 0,
    expiresAt: 0,
    decidedAt: null,
  };
}
