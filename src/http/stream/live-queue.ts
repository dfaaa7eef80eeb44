import type { LiveEvent, TextInProgress } from '../../engine/turn/live.ts';

/** What a stream has heard and not yet sent, in the order in which it was heard. */
export type Heard =
  | { readonly kind: 'hint' }
  | { readonly kind: 'delta'; readonly piece: Piece }
  /** Text that was dropped or began before the stream: the whole of it is sent anew. */
  | { readonly kind: 'snapshot' };

export interface Piece {
  readonly taskId: string;
  readonly runId: string | null;
  readonly text: string;
  /** It goes on with nothing that was sent before. */
  readonly isAnew: boolean;
}

/** Characters that may wait for a slow reader; beyond it pieces give way to one snapshot. */
const CHARS_MAX = 262_144;
/** The same of what waits in pieces: short ones between many hints. */
const HEARD_MAX = 1_024;

/**
 * Holds a bounded amount, however slow the reader is: hints in a row are one hint, pieces in a row
 * one piece, and too much text becomes a snapshot, which the engine has whole.
 */
export class LiveQueue {
  readonly #runId: string | null;
  #heard: Heard[] = [];
  #chars = 0;
  #wake: (() => void) | undefined;

  constructor(runId: string | null, inProgress: TextInProgress | undefined) {
    this.#runId = runId;
    this.#heard.push({ kind: 'hint' });
    if (inProgress !== undefined && this.#concerns(inProgress.runId)) {
      this.#heard.push({ kind: 'snapshot' });
    }
  }

  push(event: LiveEvent): void {
    if (event.kind === 'hint') this.#pushHint();
    else if (this.#concerns(event.runId)) this.#pushText(event);
    this.#wake?.();
  }

  shift(): Heard | undefined {
    const next = this.#heard.shift();
    if (next?.kind === 'delta') this.#chars -= next.piece.text.length;
    return next;
  }

  /** Resolves when something is there to be shifted. */
  async filled(): Promise<void> {
    if (this.#heard.length > 0) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  #concerns(runId: string | null): boolean {
    return this.#runId === null || this.#runId === runId;
  }

  #pushHint(): void {
    if (this.#heard.at(-1)?.kind !== 'hint') this.#heard.push({ kind: 'hint' });
  }

  #pushText(event: LiveEvent & { kind: 'text' }): void {
    const { taskId, runId, piece, isAnew = false } = event;
    const last = this.#heard.at(-1);
    // A snapshot is taken when it is sent, so it will hold this piece too.
    if (last?.kind === 'snapshot') return;
    this.#chars += piece.length;
    if (this.#chars > CHARS_MAX || this.#heard.length >= HEARD_MAX) {
      this.#heard = [{ kind: 'hint' }, { kind: 'snapshot' }];
      this.#chars = 0;
    } else if (last?.kind === 'delta' && last.piece.taskId === taskId && !isAnew) {
      const text = last.piece.text + piece;
      this.#heard[this.#heard.length - 1] = { kind: 'delta', piece: { ...last.piece, text } };
    } else {
      this.#heard.push({ kind: 'delta', piece: { taskId, runId, text: piece, isAnew } });
    }
  }
}
