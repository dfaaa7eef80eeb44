import type { ModelMessage } from '../../ports/model.ts';

/** Messages that mean the same wherever they stand: no call in them is answered outside. */
type Part = readonly ModelMessage[];

interface Piece {
  readonly part: Part;
  /** What the library made of them; null while it is not known. */
  readonly text: string | null;
}
type Known = Piece & { readonly text: string };

/** Stands in a payload where the messages go. */
const PLACE = '\u0000messages';
const PLACE_IN_BODY = `"messages":${JSON.stringify(PLACE)}`;

/**
 * What the library has made of the messages of one model. A conversation is sent again with each call, and what
 * stands in it stays as it was said: the library makes what is new, the rest is known by the very objects
 * that it was made of and is forgotten with them. What cannot be told apart in what the library made is
 * not kept, so that a request is always the one that the library would make of all its messages.
 */
export class SaidBefore {
  readonly #known = new WeakMap<ModelMessage, Known>();

  /** One request's messages. Those from its last own words on are always made. */
  open(messages: readonly ModelMessage[]): Restated {
    const pieces: Piece[] = [];
    for (let start = 0; start < messages.length;) {
      const known = this.#knownAt(messages, start);
      const piece = known ?? { part: messages.slice(start, endOf(messages, start)), text: null };
      pieces.push(piece);
      start += piece.part.length;
    }
    return new Restated(pieces, (piece) => {
      const [first] = piece.part;
      if (first !== undefined) this.#known.set(first, piece);
    });
  }

  #knownAt(messages: readonly ModelMessage[], start: number): Known | undefined {
    const first = messages[start];
    const known = first === undefined ? undefined : this.#known.get(first);
    if (known === undefined) return undefined;
    const { length } = known.part;
    for (let at = 1; at < length; at += 1)
      if (messages[start + at] !== known.part[at]) return undefined;
    return isApart(messages, start + length) ? known : undefined;
  }
}

/** One request of which a part may be known. */
export class Restated {
  /** What the library has to make, in order. */
  readonly fresh: readonly ModelMessage[];
  /** What the library made cannot be told apart: the request has to be made whole. */
  isRefused = false;
  readonly #pieces: readonly Piece[];
  readonly #learn: (piece: Known) => void;
  #messages: string | null = null;

  constructor(pieces: readonly Piece[], learn: (piece: Known) => void) {
    this.#pieces = pieces;
    this.#learn = learn;
    this.fresh = pieces.flatMap(({ part, text }) => (text === null ? part : []));
  }

  /** The payload that the library goes on with. Throws where it has to be made whole. */
  payload(made: unknown): unknown {
    const items = itemsIn(made);
    const head = items.length - this.fresh.length;
    const isKnown = this.#pieces.some(({ text }) => text !== null);
    if (!isOneByOne(this.fresh, items.slice(Math.max(0, head)))) {
      this.isRefused = isKnown;
      if (isKnown) throw new Error('a message is not one message of the payload');
      return made;
    }
    const whole = this.#restate(items, head);
    if (!isKnown) return made;
    this.#messages = `[${whole.join(',')}]`;
    return { ...(made as object), messages: PLACE };
  }

  /** The body of the request, from the one that was made of the payload. */
  body(made: string): string {
    if (this.#messages === null) return made;
    const at = made.indexOf(PLACE_IN_BODY);
    if (at === -1) throw new Error('the body has no place for its messages');
    const begin = at + '"messages":'.length;
    return made.slice(0, begin) + this.#messages + made.slice(at + PLACE_IN_BODY.length);
  }

  /** The texts of all parts behind what stands before them; what is new is kept, but for the last. */
  #restate(items: readonly unknown[], head: number): readonly string[] {
    const whole = items.slice(0, head).map((item) => JSON.stringify(item));
    let next = head;
    for (const [at, { part, text }] of this.#pieces.entries()) {
      if (text !== null) {
        whole.push(text);
        continue;
      }
      const own = items.slice(next, next + part.length);
      next += part.length;
      const made = own.map((item) => JSON.stringify(item)).join(',');
      if (at < this.#pieces.length - 1) this.#learn({ part, text: made });
      whole.push(made);
    }
    return whole;
  }
}

/** Where the part ends that begins here. */
function endOf(messages: readonly ModelMessage[], start: number): number {
  let end = start + 1;
  while (end < messages.length && !isApart(messages, end)) end += 1;
  return end;
}

/** Whether it answers no call before it: a message of a person or the host that begins a part. */
function isApart(messages: readonly ModelMessage[], at: number): boolean {
  if (messages[at]?.role !== 'user') return false;
  const before = messages[at - 1];
  return before?.role === 'user' || (before?.role === 'assistant' && before.calls.length === 0);
}

function itemsIn(payload: unknown): readonly unknown[] {
  const { messages } = payload as { readonly messages?: unknown };
  return Array.isArray(messages) ? messages : [];
}

/** Whether each message has become one item of its own role. */
function isOneByOne(messages: readonly ModelMessage[], items: readonly unknown[]): boolean {
  return (
    items.length === messages.length &&
    messages.every(({ role }, at) => (items[at] as { readonly role?: unknown }).role === role)
  );
}
