/**
 * A text to look for, in time that grows with the text and the pattern alone; `indexOf` takes the product of both
 * for patterns that repeat themselves.
 */
export class Literal {
  readonly #pattern: string;
  /** How much of the pattern's beginning also ends its first n characters, for n from 1. */
  readonly #borders: Int32Array;

  /** The pattern is not empty. */
  constructor(pattern: string) {
    this.#pattern = pattern;
    this.#borders = new Int32Array(pattern.length);
    for (let at = 1, matched = 0; at < pattern.length; at += 1) {
      matched = this.#next(matched, pattern.charCodeAt(at));
      this.#borders[at] = matched;
    }
  }

  /** Where it begins in `text` from `from` on, overlapping ones too, in order. */
  *in(text: string, from = 0): Generator<number, void> {
    const first = this.#pattern.charAt(0);
    let matched = 0;
    for (let at = from; at < text.length; at += 1) {
      if (matched === 0) at = text.indexOf(first, at);
      if (at === -1) return;
      matched = this.#next(matched, text.charCodeAt(at));
      if (matched < this.#pattern.length) continue;
      yield at + 1 - matched;
      matched = this.#borders[matched - 1] ?? 0;
    }
  }

  /** Where the first begins from `from` on; -1 when there is none. */
  find(text: string, from = 0): number {
    return this.in(text, from).next().value ?? -1;
  }

  #next(matched: number, code: number): number {
    let rest = matched;
    while (rest > 0 && this.#pattern.charCodeAt(rest) !== code) rest = this.#borders[rest - 1] ?? 0;
    return this.#pattern.charCodeAt(rest) === code ? rest + 1 : 0;
  }
}
