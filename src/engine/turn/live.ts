import type { ConversationId, RunId, TaskId, TurnId } from '../../kernel/ids.ts';

/** What happens while a turn runs and is not kept. `hint`: something was committed, look it up. */
export type LiveEvent =
  | { readonly kind: 'hint' }
  | {
      readonly kind: 'text';
      readonly turnId: TurnId;
      readonly taskId: TaskId;
      readonly runId: RunId | null;
      readonly piece: string;
      /** The turn said another text before, which this one does not go on with. */
      readonly isAnew?: boolean;
    };

/** The text that a running model call has produced so far. */
export interface TextInProgress {
  readonly turnId: TurnId;
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  readonly text: string;
}

export type LiveListener = (event: LiveEvent) => void;

/** Listeners of this process, by conversation. Losing an event only makes a reader slower. */
export class Live {
  readonly #listeners = new Map<ConversationId, Set<LiveListener>>();
  readonly #texts = new Map<ConversationId, TextInProgress>();

  /** Calls `listener` until the returned function is called. */
  subscribe(conversationId: ConversationId, listener: LiveListener): () => void {
    const listeners = this.#listeners.get(conversationId) ?? new Set();
    this.#listeners.set(conversationId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      const isLast = listeners.size === 0 && this.#listeners.get(conversationId) === listeners;
      if (isLast) this.#listeners.delete(conversationId);
    };
  }

  textInProgress(conversationId: ConversationId): TextInProgress | undefined {
    return this.#texts.get(conversationId);
  }

  hint(conversationId: ConversationId): void {
    this.#tell(conversationId, { kind: 'hint' });
  }

  text(
    conversationId: ConversationId,
    piece: Omit<TextInProgress, 'text'> & { readonly piece: string; readonly isAnew?: boolean },
  ): void {
    const before = this.#texts.get(conversationId);
    const text = before?.turnId === piece.turnId ? before.text + piece.piece : piece.piece;
    this.#texts.set(conversationId, {
      turnId: piece.turnId,
      taskId: piece.taskId,
      runId: piece.runId,
      text,
    });
    this.#tell(conversationId, { kind: 'text', ...piece });
  }

  /** The text's step is committed: from here the store has it. */
  textDone(conversationId: ConversationId): void {
    this.#texts.delete(conversationId);
  }

  #tell(conversationId: ConversationId, event: LiveEvent): void {
    const listeners = this.#listeners.get(conversationId);
    if (listeners === undefined) return;
    for (const listener of listeners) {
      try {
        listener(event);
      } catch {
        // What was committed stays so whatever a reader makes of the hint; a broken one hears no more.
        listeners.delete(listener);
      }
    }
  }
}
