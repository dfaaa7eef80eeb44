import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import type { TaskId } from '../../kernel/ids.ts';
import type { EngineParts } from '../engine.ts';
import { agentOf } from '../session/agent.ts';
import type { Ledger } from '../session/ledger.ts';
import { startedStep } from './step.ts';

/** The call that an input lets run: of this very task, and only when a person has approved it (E-4). */
export function approvedFor(
  taskId: TaskId | null,
  approval: ApprovalRecord | undefined,
): ApprovalRecord | undefined {
  const isGiven = approval?.state === 'approved' && approval.taskId === taskId;
  return isGiven ? approval : undefined;
}

/** An approved call runs first, exactly as it was shown (E-4); every other turn begins with the model. */
export function firstStepOf(
  parts: EngineParts,
  ledger: Ledger,
  turn: TurnRecord,
  { task, approval }: { readonly task: TaskRecord; readonly approval: ApprovalRecord | undefined },
): StepRecord {
  if (approval === undefined) return startedStep(ledger, turn, { ordinal: 1, kind: 'model' });
  const { tool, input, id: callId } = approval;
  const known = agentOf(parts, task.agent).tools.list.find(({ name }) => name === tool);
  const repeatable = known?.repeatable ?? 'no';
  return startedStep(ledger, turn, { ordinal: 1, kind: 'tool', tool, callId, repeatable, input });
}
