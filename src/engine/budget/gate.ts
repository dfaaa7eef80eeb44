import type { LimiterRecord } from '../../core/budget/record.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Model, ModelOutcome } from '../../ports/model.ts';

/** Whether a model may be called now. `go` is used by exactly one call, whose outcome is told to the gate. */
export type Passage =
  /** `probe`: the one call that finds out whether a limited account answers again. */
  | { readonly kind: 'go'; readonly probe: boolean }
  /** The provider named an instant farther away than `LIMITS.quotaParkMs` (T-12). */
  | { readonly kind: 'quota'; readonly until: Instant; readonly code: string }
  /** Known to be unreachable; a cheap probe repeats by itself. */
  | { readonly kind: 'down'; readonly code: string }
  /** Key, account or balance were refused within `LIMITS.refusedCoolMs` (T-12). */
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'aborted' };

export type ModelFault = Extract<ModelOutcome, { kind: 'fault' }>;

/** The one limiter of each provider and account, for all tasks of this host and over its restarts (T-18). */
export class Gate {
  /** Accounts that are not open. */
  get limited(): readonly LimiterRecord[] {
    return [];
  }

  /**
   * Answers at once for an open account, without a read or a commit. On a limited one it waits its turn
   * in memory, in the order of arrival; it ends at once when `signal` aborts.
   */
  async pass(_model: Model, signal: AbortSignal): Promise<Passage> {
    return signal.aborted ? { kind: 'aborted' } : { kind: 'go', probe: false };
  }

  /** Commits what a failed call says of the account. Not called for aborted (`release`) or nonsense (`succeeded`: it answered). */
  async failed(_model: Model, _fault: ModelFault, _passage: Passage): Promise<void> {}

  /** The account answered: after a probe it is open again. */
  async succeeded(_model: Model, _passage: Passage): Promise<void> {}

  /**
   * The tries of a step are used up by transport failures, timeouts, 5xx, overload or rate limits: the
   * account is `down` until a probe finds it. Committed before the task waits for it.
   */
  async exhausted(_model: Model, _code: string): Promise<void> {}

  /** Gives a probe's turn back when its caller was aborted. Nothing for any other passage. */
  release(_model: Model, _passage: Passage): void {}
}
