import type { Spent } from '../../core/budget/spend.ts';
import type { StepRecord, StepState, TurnRecord } from '../../core/turn/record.ts';
import { NOT_RUN } from '../../core/turn/transcript.ts';
import type { ModelUsage } from '../../ports/model.ts';
import type { Ledger } from '../session/ledger.ts';

/** What a step is before it runs. */
export interface StepStart {
  readonly ordinal: number;
  readonly kind: 'model' | 'tool';
  readonly tool?: string;
  readonly callId?: string;
  readonly repeatable?: 'yes' | 'no';
  readonly input?: string;
}

/** What a step came to. */
export interface StepEnd {
  readonly state: Exclude<StepState, 'started'>;
  readonly output: string | null;
  readonly errorCode: string | null;
  readonly provider?: string;
  readonly model?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cost?: number | null;
}

/** What a call came to that was reserved and never made: the turn was interrupted first. */
export const NOT_BEGUN = {
  state: 'cut',
  output: NOT_RUN,
  errorCode: 'not_run',
} as const satisfies StepEnd;

/** The row of a step that is reserved now; its place and id are its `*.started` event (design principle 5). */
export function startedStep(
  ledger: Ledger,
  turn: Pick<TurnRecord, 'id' | 'conversationId' | 'taskId' | 'runId'>,
  start: StepStart,
): StepRecord {
  return {
    conversationId: turn.conversationId,
    seq: ledger.takeSeq(),
    turnId: turn.id,
    taskId: turn.taskId,
    runId: turn.runId,
    ordinal: start.ordinal,
    kind: start.kind,
    state: 'started',
    tries: 1,
    id: ledger.at.ids.next('event'),
    startedAt: ledger.at.now,
    tool: start.tool ?? null,
    callId: start.callId ?? null,
    repeatable: start.repeatable ?? null,
    input: start.input ?? null,
    output: null,
    errorCode: null,
    provider: null,
    model: null,
    inputTokens: null,
    outputTokens: null,
    cost: null,
    finishedId: null,
    finishedSeq: null,
    finishedAt: null,
  };
}

/** The columns of a step's row that its outcome fills. */
export function outcomeOf(
  end: StepEnd,
): Pick<
  StepRecord,
  'state' | 'output' | 'errorCode' | 'provider' | 'model' | 'inputTokens' | 'outputTokens' | 'cost'
> {
  return {
    state: end.state,
    output: end.output,
    errorCode: end.errorCode,
    provider: end.provider ?? null,
    model: end.model ?? null,
    inputTokens: end.inputTokens ?? null,
    outputTokens: end.outputTokens ?? null,
    cost: end.cost ?? null,
  };
}

/** How a call is named to a person: its tool, or `model`. */
export function nameOf({ kind, tool }: Pick<StepRecord, 'kind' | 'tool'>): string {
  return tool ?? kind;
}

/** The row of a step with its outcome; its finish takes a place of its own. */
export function finishedStep(ledger: Ledger, step: StepRecord, end: StepEnd): StepRecord {
  return {
    ...step,
    ...outcomeOf(end),
    finishedId: ledger.at.ids.next('event'),
    finishedSeq: ledger.takeSeq(),
    finishedAt: ledger.at.now,
  };
}

/** What the model steps of a turn spent. */
export function spentBy(
  steps: readonly Pick<StepRecord, 'inputTokens' | 'outputTokens' | 'cost'>[],
): Spent {
  let tokens = 0;
  let cost = 0;
  for (const step of steps) {
    tokens += (step.inputTokens ?? 0) + (step.outputTokens ?? 0);
    cost += step.cost ?? 0;
  }
  return { tokens, cost };
}

/** What two calls used together. A cost that is not known adds nothing to one that is. */
export function sumOf(one: ModelUsage | null, other: ModelUsage | null): ModelUsage | null {
  if (one === null || other === null) return one ?? other;
  const isUnpriced = one.cost === null && other.cost === null;
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cost: isUnpriced ? null : (one.cost ?? 0) + (other.cost ?? 0),
  };
}
