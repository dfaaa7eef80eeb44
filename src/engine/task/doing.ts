import { admit } from '../../core/budget/limiter.ts';
import type { LimiterRecord } from '../../core/budget/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Model } from '../../ports/model.ts';
import type { EngineParts } from '../engine.ts';
import { chainOf } from '../session/agent.ts';
import { isLiving } from './living.ts';

/**
 * What is done for an active task now, told from what its records prove (W-3): that it is active says
 * neither that something moves nor what. `queued`: no turn has it. `tool`: a call runs. `model`: a model
 * was asked and has not answered; with `nextAt` its account gave some call no usable answer, and the next
 * one goes out then. `retry`: a further call of the step is due then. `between`: its last step, if any, is done and no further one has
 * begun. `cut`: a turn has it whose host lives no more, and a start of the host has it checked.
 */
export type Doing =
  | { readonly kind: 'queued'; readonly since: Instant }
  | {
      readonly kind: 'tool';
      readonly since: Instant;
      readonly step: number;
      readonly tool: string;
    }
  | ({ readonly kind: 'model' } & ModelCalls & Partial<Pause>)
  | ({ readonly kind: 'retry' } & ModelCalls & Pause)
  | { readonly kind: 'between'; readonly since: Instant; readonly step: number }
  | { readonly kind: 'cut'; readonly since: Instant };

interface ModelCalls {
  /** When the step began. */
  readonly since: Instant;
  readonly step: number;
  /** Calls of this step that were made, and how many there may be at most (T-18). */
  readonly calls: number;
  readonly callsMax: number;
}

interface Pause {
  /** What the last call of the account that failed came to. */
  readonly code: string;
  /** When the next call of the account goes out. */
  readonly nextAt: Instant;
}

/** Null for a task that is not active. Rejects with a `StoreFault`. */
export async function readDoing(parts: EngineParts, task: TaskRecord): Promise<Doing | null> {
  if (task.state !== 'active') return null;
  const { conversationId } = task;
  const turn = await parts.store.query('turn.ofConversation', { conversationId });
  return turn?.taskId === task.id
    ? readTurnDoing(parts, turn)
    : { kind: 'queued', since: task.changedAt };
}

/** The same of a turn that has its conversation. */
export async function readTurnDoing(parts: EngineParts, turn: TurnRecord): Promise<Doing> {
  if (!(await isLiving(parts, turn.hostId))) return { kind: 'cut', since: turn.startedAt };
  const { conversationId, id: turnId } = turn;
  const step = await parts.store.query('step.lastOf', { conversationId, turnId });
  if (step?.state !== 'started') return betweenSteps(turn, step);
  const { ordinal, startedAt: since, tool } = step;
  return tool === null
    ? askingModel(parts, turn, step)
    : { kind: 'tool', since, step: ordinal, tool };
}

function betweenSteps({ startedAt }: TurnRecord, step: StepRecord | undefined): Doing {
  const since = step?.finishedAt ?? step?.startedAt ?? startedAt;
  return { kind: 'between', since, step: step?.ordinal ?? 0 };
}

async function askingModel(
  parts: EngineParts,
  { conversationId: id }: TurnRecord,
  { ordinal: step, startedAt: since, tries: calls }: StepRecord,
): Promise<Doing> {
  const conversation = await parts.store.query('conversation.byId', { id });
  const chain = chainOf(parts, conversation ?? { agent: '', model: null });
  const callsMax = LIMITS.modelRetriesMax + chain.length;
  const asked = { since, step, calls, callsMax };
  const pause = await pauseOf(parts, chain);
  // The one call of a step may still be out: the account may have failed for another task.
  return calls > 1 && pause !== undefined
    ? { kind: 'retry', ...asked, ...pause }
    : { kind: 'model', ...asked, ...pause };
}

/** Until when the first model that can be asked at all is not asked, and why; undefined when it is. */
async function pauseOf(
  { store, clock }: EngineParts,
  chain: readonly Model[],
): Promise<Pause | undefined> {
  const now = clock.now();
  for (const { account } of chain) {
    const limiter = await store.query('limiter.byAccount', { account });
    if (limiter === undefined || isCallOut(limiter, now)) return undefined;
    const admission = admit(limiter, now);
    if (admission.kind === 'wait')
      return { code: limiter.code ?? 'unknown', nextAt: admission.until };
    if (admission.kind === 'go' || admission.kind === 'probe') return undefined;
  }
  return undefined;
}

/** One call was let through to find out: it is that call which is waited for. */
function isCallOut({ state, probeUntil }: LimiterRecord, now: Instant): boolean {
  return state === 'limited' && probeUntil !== null && probeUntil > now;
}
