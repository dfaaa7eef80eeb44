import type { StepRecord, StepState, TurnEnd } from './record.ts';

/** A call as the model asked for it; `args` is its raw text. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** What a model step came to, as the turn judges it. */
export type ModelResult =
  | {
      readonly kind: 'reply';
      readonly text: string;
      readonly calls: readonly AskedCall[];
      readonly stop: 'end' | 'calls' | 'length';
    }
  /** An answer that could not be read. */
  | { readonly kind: 'fault' };

/** What the turn does next. */
export type TurnVerdict =
  | { readonly kind: 'calls'; readonly calls: readonly AskedCall[] }
  | { readonly kind: 'answer'; readonly text: string }
  /** Neither an answer nor a call: T-8. */
  | { readonly kind: 'invalid'; readonly why: 'empty' | 'nonsense' | 'cut_off' | 'no_progress' };

/** A final text without a call is the answer; what is neither it nor a call is invalid (T-8). */
export function judgeModel(result: ModelResult): TurnVerdict {
  if (result.kind === 'fault') return { kind: 'invalid', why: 'nonsense' };
  if (result.calls.length > 0) return { kind: 'calls', calls: result.calls };
  if (result.text.trim() === '') return { kind: 'invalid', why: 'empty' };
  return result.stop === 'length'
    ? { kind: 'invalid', why: 'cut_off' }
    : { kind: 'answer', text: result.text };
}

/** How an open step ends when its outcome was never learnt: harmless to make anew, or uncertain (E-2). */
export function endOfOpenStep(step: Pick<StepRecord, 'kind' | 'repeatable'>): 'cut' | 'uncertain' {
  return step.kind === 'tool' && step.repeatable === 'no' ? 'uncertain' : 'cut';
}

/**
 * How a call ends that was ended half way with its turn. After a stop that is what it came to (W-1);
 * an interrupted task may go on, and for it such a call of a tool that is not repeatable may or may
 * not have happened (E-2).
 */
export function endOfEndedStep(
  step: Pick<StepRecord, 'kind' | 'repeatable'>,
  came: { readonly state: Exclude<StepState, 'started'>; readonly errorCode: string | null },
  turnEnd: TurnEnd,
): Exclude<StepState, 'started'> {
  const wasEnded = came.state === 'cut' && came.errorCode === 'ended';
  return wasEnded && turnEnd === 'interrupted' ? endOfOpenStep(step) : came.state;
}

/** The code of a call that only waits for a person: its result says so, and nothing of it has run (E-4). */
export const ASKED = 'asked';

/** Whether a finished step stands for a call that was asked for and did not run. */
export function wasAsked({ kind, errorCode }: Pick<StepRecord, 'kind' | 'errorCode'>): boolean {
  return kind === 'tool' && errorCode === ASKED;
}

type Call = Pick<StepRecord, 'tool' | 'input' | 'output' | 'errorCode'>;

/** The same call with the same result `times` times in a row (T-19). `calls` are the turn's, oldest first. */
export function repeatsItself(calls: readonly Call[], times: number): boolean {
  const last = calls.slice(-times);
  const first = last[0];
  if (first === undefined || last.length < times) return false;
  return last.every(
    (call) =>
      call.tool === first.tool &&
      call.input === first.input &&
      call.output === first.output &&
      call.errorCode === first.errorCode,
  );
}

/** What one candidate of a model call came to without an answer. */
export type Missed = {
  readonly code: string;
  readonly said: string;
  /** Who was asked, as `provider/name`; undefined when nobody could be. */
  readonly model?: string;
} & (
  | { readonly kind: 'refused' }
  /** The provider says that the request does not fit its window: its session is maintained (M-13). */
  | { readonly kind: 'too_long' }
  /** It can be used again at `until`, as the provider itself said (T-12). */
  | { readonly kind: 'quota'; readonly account: string; readonly until: number }
  | { readonly kind: 'down'; readonly account: string }
);

/**
 * What a turn does when no candidate has answered (T-12, T-18): it waits for the quota that ends first,
 * else for the first provider that may come back; only when all have refused for good has it failed,
 * with the refusal of the model that was asked for.
 */
export function judgeMissed(missed: readonly Missed[]): Missed {
  const tooLong = missed.find(({ kind }) => kind === 'too_long');
  if (tooLong !== undefined) return tooLong;
  const quotas = missed.filter((one) => one.kind === 'quota');
  const soonest = quotas.toSorted((one, other) => one.until - other.until)[0];
  const chosen = soonest ?? missed.find(({ kind }) => kind === 'down') ?? missed[0];
  return chosen ?? { kind: 'refused', code: 'no_model', said: 'no model is configured' };
}
