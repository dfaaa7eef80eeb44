import { openApproval, type Question } from '../../core/approval/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { endOfOpenStep } from '../../core/turn/decide.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import type { EngineParts } from '../engine.ts';
import { agentOf } from '../session/agent.ts';
import type { Ledger } from '../session/ledger.ts';
import { readAgain } from '../settle.ts';
import { tellOfTask } from '../task/tell.ts';
import { addApproval, askedParams } from './ask.ts';
import { againQuestionOf } from './question.ts';

/** What a person can be asked about a new call, by the step whose outcome is unknown; null: nothing. */
export type Questions = ReadonlyMap<string, Question | null>;

/** Finds out what could be asked about the turn's calls, before their outcome is judged (E-2). */
export async function questionsOf(
  parts: EngineParts,
  { id, conversationId, taskId }: Pick<TurnRecord, 'id' | 'conversationId' | 'taskId'>,
): Promise<Questions> {
  const open = await readAgain(parts, 'step.open', { conversationId });
  const asked = mayBeUncertain(open, id);
  if (asked.length === 0) return new Map();
  const task = await readAgain(parts, 'task.byId', { id: taskId });
  const { tools } = agentOf(parts, task?.agent ?? '');
  const found = new Map<string, Question | null>();
  for (const { id: stepId, tool, input } of asked) {
    const call = { name: tool ?? '', args: input ?? '', stepId };
    found.set(stepId, await againQuestionOf(parts, tools, call));
  }
  return found;
}

/** Whether each call that may become uncertain was looked at: until its turn is closed its host may begin one. */
export function areKnown(
  questions: Questions,
  open: readonly StepRecord[],
  turnId: TurnRecord['id'],
): boolean {
  return mayBeUncertain(open, turnId).every(({ id }) => questions.has(id));
}

function mayBeUncertain(
  open: readonly StepRecord[],
  turnId: TurnRecord['id'],
): readonly StepRecord[] {
  return open.filter((step) => step.turnId === turnId && endOfOpenStep(step) === 'uncertain');
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
  if (question === undefined || question === null) return;
  const { now: at } = ledger.at;
  const { mandatePrincipal: requestedBy } = task;
  const asked = { kind: 'uncertain', requestedBy, at, expiresAt: at + options.approvalMs } as const;
  const approval = openApproval(step, { ...question, ...asked });
  addApproval(ledger, approval);
  tellOfTask(ledger, task, {
    runId: step.runId,
    key: `uncertain:${step.id}`,
    level: 'escalation',
    code: 'uncertain_effect',
    // Its turn was cut: what was not set aside is interrupted.
    params: {
      ...askedParams(approval),
      reason: task.state === 'paused' ? 'paused' : 'interrupted',
    },
  });
}
