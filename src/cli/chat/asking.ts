/** An approval that stands at the prompt. */
export interface Question {
  readonly id: string;
  readonly tool: string;
  /** Of a call that may have run already: what it came to is not known. */
  readonly isAgain: boolean;
}

/** What a line comes to while a question stands, or just stood, at the prompt. */
export type Taken =
  /** `y` or `n`, typed by hand below the question. */
  | { readonly kind: 'order'; readonly id: string; readonly text: string }
  | { readonly kind: 'show'; readonly id: string }
  /** An empty line: nothing is decided, and it is not asked again. */
  | { readonly kind: 'later'; readonly id: string }
  /** It looks like an answer and was pasted, recalled, or typed before the question could be read. */
  | { readonly kind: 'not_typed' }
  /** It looks like an answer to a question that is gone. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'message' };

/** A key pressed sooner than this after the question came up was not meant for it. */
const READ_MS = 300;
const ENTER: readonly string[] = ['\r', '\n', '\r\n'];
const BACK: readonly string[] = ['\u007F', '\b'];
const PRINTABLE = /^[^\p{Cc}]$/u;
/** How a terminal sets a paste apart when it is asked to. */
const PASTE = { begin: '\u001B[200~', end: '\u001B[201~' } as const;

/**
 * The approvals that wait to be asked at the prompt, one at a time. A call runs only for a `y` that a
 * hand typed below the question: keys come one by one, while a paste or typing ahead comes in one piece.
 */
export class Asking {
  readonly #now: () => number;
  #waiting: readonly string[] = [];
  #current: Question | undefined;
  #since = 0;
  /** What was typed by hand since the question came up or the last line; undefined: not all of it was. */
  #typed: string | undefined = '';
  #isPasting = false;
  /** The question went away below a line that was begun for it. */
  #isGone = false;

  /** `now` is any clock in milliseconds that is never set back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The question at the prompt. */
  get current(): Question | undefined {
    return this.#current;
  }

  /** The approval that would be asked about next; undefined while one is asked about or none waits. */
  get next(): string | undefined {
    return this.#current === undefined ? this.#waiting[0] : undefined;
  }

  /** Puts an approval behind those that wait, once. */
  add(id: string): void {
    if (this.#current?.id !== id && !this.#waiting.includes(id))
      this.#waiting = [...this.#waiting, id];
  }

  /** The question stands at an empty prompt from now on. False when it does not wait any more. */
  show(question: Question): boolean {
    if (this.#current !== undefined || !this.#waiting.includes(question.id)) return false;
    this.#leave(question.id);
    this.#current = question;
    this.#since = this.#now();
    this.#begin();
    return true;
  }

  /** It was answered elsewhere, has expired or may not be answered here. True when it was at the prompt. */
  withdraw(id: string, isHalfTyped = false): boolean {
    this.#leave(id);
    if (this.#current?.id !== id) return false;
    this.#current = undefined;
    this.#isGone = isHalfTyped;
    return true;
  }

  /** A piece of input, before it is a line. */
  heard(piece: string): void {
    const { begin, end } = PASTE;
    if (piece.includes(begin)) this.#isPasting = true;
    const isPasted = this.#isPasting;
    if (piece.includes(end)) this.#isPasting = piece.lastIndexOf(begin) > piece.lastIndexOf(end);
    if (ENTER.includes(piece) && !isPasted) return;
    if (this.#typed === undefined || this.#isUnread || isPasted) this.#typed = undefined;
    else if (BACK.includes(piece)) this.#typed = this.#typed.slice(0, -1);
    else if (PRINTABLE.test(piece)) this.#typed += piece;
    else this.#typed = undefined;
  }

  /** What an entered line means; an order or an empty line takes the question from the prompt. */
  take(line: string): Taken {
    const isByHand = this.#typed === line;
    const isGone = this.#isGone;
    this.#begin();
    const word = line.trim().toLowerCase();
    const current = this.#current;
    if (current === undefined) return { kind: isGone && isAnswer(word) ? 'gone' : 'message' };
    const { id } = current;
    if (word === '?') return { kind: 'show', id };
    if (word === '') return this.#later(id);
    if (!isAnswer(word)) return { kind: 'message' };
    if (!isByHand) return { kind: 'not_typed' };
    this.#current = undefined;
    return { kind: 'order', id, text: `/${word === 'y' ? 'approve' : 'deny'} ${id}` };
  }

  /** Enter alone leaves the question open, unless it was pressed before the question could be read. */
  #later(id: string): Taken {
    if (this.#isUnread) return { kind: 'message' };
    this.#current = undefined;
    return { kind: 'later', id };
  }

  get #isUnread(): boolean {
    return this.#now() - this.#since < READ_MS;
  }

  /** A new line is begun. */
  #begin(): void {
    this.#typed = this.#isPasting ? undefined : '';
    this.#isGone = false;
  }

  #leave(id: string): void {
    this.#waiting = this.#waiting.filter((one) => one !== id);
  }
}

function isAnswer(word: string): boolean {
  return word === 'y' || word === 'n';
}
