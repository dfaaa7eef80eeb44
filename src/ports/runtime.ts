import type { SessionId } from '../kernel/ids.ts';

/** What a step in a runtime's own session came to. A rejected one may have had effects (M). */
export type RuntimeOutcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'rejected'; readonly code: string; readonly message: string };

/** Where the line of a session stands in a runtime. */
export interface RuntimeState {
  /** The session that goes on from the one that was asked about: itself, or the last that it was rotated to. */
  readonly session: SessionId;
  /** Whether that one was given its seed. */
  readonly isSeeded: boolean;
}

/**
 * A runtime that keeps the model's sessions itself and shortens them by its own means: one of each
 * conversation of its agent. `compact`, `summarise` and `rotate` are uncertain: a rejected or interrupted one
 * may have changed that session, and the host calls none of them again before an admission. `seed` is
 * repeatable: it changes nothing where its effect is there already. The built-in loop needs none: its
 * summary is a model call apart, and the host changes the session in one commit.
 *
 * Each method names its session. One that the runtime does not know, or is not on any more, is rejected and
 * changes nothing. Each settles within its own time; `signal` ends it sooner: it settles within a second
 * then, and may have had its effect. It may reject: that is a failure of the step with the error's `code`.
 * `src/testing/runtime-contract.ts` is the suite that every runtime passes.
 */
export interface Runtime {
  readonly name: string;
  /** Shortens the session in place; `tokens` is what it takes afterwards. */
  compact(
    session: SessionId,
    signal: AbortSignal,
  ): Promise<RuntimeOutcome<{ readonly tokens: number }>>;
  /** A summary of the session, and of which it is one. */
  summarise(
    session: SessionId,
    signal: AbortSignal,
  ): Promise<RuntimeOutcome<{ readonly session: SessionId; readonly summary: string }>>;
  /** Goes on from a session in a new one, which has no seed yet. */
  rotate(
    to: { readonly from: SessionId; readonly next: SessionId },
    signal: AbortSignal,
  ): Promise<RuntimeOutcome<null>>;
  /** Gives a session its seed; without effect where it has one. */
  seed(
    to: { readonly session: SessionId; readonly text: string },
    signal: AbortSignal,
  ): Promise<RuntimeOutcome<null>>;
  /**
   * Where the line of a session stands, whatever became of the steps before. Changes nothing; null of a
   * session that it does not know. Rejects when it cannot say.
   */
  look(session: SessionId, signal: AbortSignal): Promise<RuntimeState | null>;
}
