import { readInstant, type Millis } from '../../kernel/time.ts';

/** How far instants of the same decision may stand apart: between a clock's reading and its commit. */
const PLAY_MS: Millis = 5_000;

const ID = /\b[a-z]{3,5}_[0-9A-HJKMNP-TV-Z]{16}\b/g;
/** Ids, and instants as numbers and as texts: whatever differs between two runs that decide alike. */
const LOOSE =
  /\b[a-z]{3,5}_[0-9A-HJKMNP-TV-Z]{16}\b|\b1\d{12}\b|\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z/g;

/** Which id here is which one of the record: one to one, learnt from what was decided alike. */
export class Names {
  readonly #here = new Map<string, string>();
  readonly #there = new Map<string, string>();

  /** A text of the record in the names of this run. */
  translate(text: string): string {
    return text.replaceAll(ID, (id) => this.#here.get(id) ?? id);
  }

  /** What the record calls an id of this run. */
  recorded(id: string): string | undefined {
    return this.#there.get(id);
  }

  /** What this run calls an id of the record. */
  own(id: string): string | undefined {
    return this.#here.get(id);
  }

  /** A text of this run in the names of the record, for people. */
  told(text: string): string {
    return text.replaceAll(ID, (id) => this.#there.get(id) ?? id);
  }

  compare(): Comparison {
    return new Comparison(this.#here, this.#there);
  }
}

/** One decision held against the record: what it binds holds once it is kept. */
export class Comparison {
  readonly #here: Map<string, string>;
  readonly #there: Map<string, string>;
  readonly #newHere = new Map<string, string>();
  readonly #newThere = new Map<string, string>();

  constructor(here: Map<string, string>, there: Map<string, string>) {
    this.#here = here;
    this.#there = there;
  }

  /** Whether both texts say the same, ids and instants as they may differ. */
  isAlike(recorded: string, here: string): boolean {
    if (recorded.replaceAll(LOOSE, '#') !== here.replaceAll(LOOSE, '#')) return false;
    const [one, other] = [recorded.match(LOOSE) ?? [], here.match(LOOSE) ?? []];
    return one.every((token, index) => this.#isSame(token, other[index] ?? ''));
  }

  /** From here on these ids are known by one another. */
  keep(): void {
    for (const [recorded, here] of this.#newHere) this.#here.set(recorded, here);
    for (const [here, recorded] of this.#newThere) this.#there.set(here, recorded);
  }

  #isSame(recorded: string, here: string): boolean {
    const [one, other] = [instantOf(recorded), instantOf(here)];
    if (one !== undefined || other !== undefined)
      return one !== undefined && other !== undefined && Math.abs(one - other) <= PLAY_MS;
    return this.#binds(recorded, here);
  }

  #binds(recorded: string, here: string): boolean {
    if (kindOf(recorded) !== kindOf(here)) return false;
    const known = this.#newHere.get(recorded) ?? this.#here.get(recorded);
    if (known !== undefined) return known === here;
    if (this.#newThere.has(here) || this.#there.has(here)) return false;
    this.#newHere.set(recorded, here);
    this.#newThere.set(here, recorded);
    return true;
  }
}

function kindOf(id: string): string {
  return id.slice(0, id.indexOf('_'));
}

function instantOf(token: string): number | undefined {
  if (/^\d{13}$/.test(token)) return Number(token);
  return /^\d{4}-/.test(token) ? readInstant(token) : undefined;
}
