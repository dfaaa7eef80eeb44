import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { endOfOpenStep } from '../../core/turn/decide.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import type { ApprovalId } from '../../kernel/ids.ts';
import { canonicalJson, type Json } from '../../kernel/json.ts';
import type { EngineParts } from '../engine.ts';
import { agentOf } from '../session/agent.ts';
import type { Ledger } from '../session/ledger.ts';
import { readAgain } from '../settle.ts';
import { tellOfTask } from '../task/tell.ts';
import { addApproval, askedParams } from './ask.ts';

/** What a new call of the same bytes would run, by the step whose outcome is unknown. */
export type Questions = ReadonlyMap<string, Question>;

interface Question extends Pick<ApprovalRecord, 'shown' | 'approver'> {
  readonly approvalId: ApprovalId;
}

/** Finds out what could be asked about the turn's calls, before their outcome is judged (E-2). */
export async function questionsOf(
  parts: EngineParts,
  { id, conversationId, taskId }: Pick<TurnRecord, 'id' | 'conversationId' | 'taskId'>,
): Promise<Questions> {
  const open = await readAgain(parts, 'step.open', { conversationId });
  const asked = open.filter((step) => step.turnId === id && endOfOpenStep(step) === 'uncertain');
  if (asked.length === 0) return new Map();
  const task = await readAgain(parts, 'task.byId', { id: taskId });
  const { tools } = agentOf(parts, task?.agent ?? '');
  const found: [string, Question][] = [];
  for (const step of asked) {
    const call = { name: step.tool ?? '', args: step.input ?? '', stepId: step.id };
    const { shown, approver } = await tools.examine(call);
    if (shown === null) continue;
    const text = canonicalJson(shown as unknown as Json);
    found.push([step.id, { approvalId: parts.ids.next('approval'), shown: text, approver }]);
  }
  return new Map(found);
}

/**
 * Asks once about a call that may or may not have happened: the approval is for a new call of the same
 * bytes, and nothing runs by itself (E-2). A tool that is no longer there cannot be called anew.
 */
export function askUncertain(
  { options }: EngineParts,
  ledger: Ledger,
  {
    step,
    task,
    questions,
  }: {
    readonly step: StepRecord;
    readonly task: TaskRecord;
    readonly questions: Questions;
  },
): void {
  const question = questions.get(step.id);
  if (question === undefined) return;
  const { now } = ledger.at;
  const { conversationId, taskId, runId, turnId, tool, input } = step;
  const approval: ApprovalRecord = {
    id: question.approvalId,
    conversationId,
    taskId,
    runId,
    turnId,
    stepId: step.id,
    kind: 'uncertain',
    tool: tool ?? '',
    input: input ?? '',
    shown: question.shown,
    approver: question.approver,
    state: 'open',
    requestedBy: task.mandatePrincipal,
    decidedBy: null,
    at: now,
    expiresAt: now + options.approvalMs,
    decidedAt: null,
  };
  addApproval(ledger, approval);
  tellOfTask(ledger, task, {
    runId,
    key: `uncertain:${step.id}`,
    level: 'escalation',
    code: 'uncertain_effect',
    params: askedParams(approval),
  });
}
