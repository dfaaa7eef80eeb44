import type { SessionId } from '../kernel/ids.ts';

/** What a step in a runtime's own session came to. A rejected one may have had effects (M). */
export type RuntimeOutcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'rejected'; readonly code: string; readonly message: string };

/**
 * A runtime that keeps the model's session itself and shortens it by its own means. `compact`, `summarise`
 * and `rotate` are uncertain: a rejected or interrupted one may have changed that session, and the host
 * calls none of them again before an admission. `seed` is repeatable: it changes nothing where its effect is
 * there already. The built-in loop needs none: its summary is a model call apart, and the host changes the
 * session in one commit.
 *
 * Each method settles within its own time; `signal` ends it sooner. It may reject: that is a failure of the
 * step with the error's `code`.
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
  /** Goes on in a new session. */
  rotate(
    to: { readonly from: SessionId; readonly next: SessionId },
    signal: AbortSignal,
  ): Promise<RuntimeOutcome<null>>;
  /** Gives a session its seed; without effect where it has it. */
  seed(
    to: { readonly session: SessionId; readonly text: string },
    signal: AbortSignal,
  ): Promise<RuntimeOutcome<null>>;
  /** Which session it is on, and whether that has its seed. Changes nothing. */
  look(
    signal: AbortSignal,
  ): Promise<{ readonly session: SessionId | null; readonly isSeeded: boolean }>;
}
