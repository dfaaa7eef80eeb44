import type {
  Committed,
  Decision,
  ReadName,
  Reads,
  Store,
  StoreTraits,
  Unit,
  UnitReads,
} from '../../ports/store.ts';

/** A unit that a host wants to commit and that is held. */
export interface HeldUnit {
  readonly unit: Unit<UnitReads, unknown>;
  resolve(committed: Committed<unknown>): void;
  reject(error: unknown): void;
}

/** What a held unit would decide now; `threw` where its decision does not come to an end. */
export type Judged =
  | { readonly kind: 'decided'; readonly decision: Decision<unknown> }
  | { readonly kind: 'threw'; readonly error: unknown };

/** The store of one host: reads pass, commits are held until they are let through. */
export class HeldStore implements Store {
  /** Nothing else has the store in memory: a host that is gone is known to be gone. */
  readonly traits: StoreTraits = { exclusive: true, description: 'in memory' };
  readonly #real: Store;
  #held: HeldUnit[] = [];
  #isDead = false;
  /** Rises with whatever the host asks of it. */
  asked = 0;

  constructor(real: Store) {
    this.#real = real;
  }

  get held(): readonly HeldUnit[] {
    return this.#held;
  }

  commit<R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> {
    this.asked += 1;
    if (this.#isDead) return NEVER;
    return new Promise((resolve, reject) => {
      const held = { unit: unit as unknown as HeldUnit['unit'], resolve, reject };
      this.#held.push(held as HeldUnit);
    });
  }

  query<N extends ReadName>(read: N, args: Reads[N]['args']): Promise<Reads[N]['rows']> {
    this.asked += 1;
    return this.#isDead ? NEVER : this.#real.query(read, args);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Asks for the decision and writes nothing: it is pure, and asked again when it is let through. */
  async judge({ unit }: HeldUnit): Promise<Judged> {
    let decision: Decision<unknown> | undefined;
    try {
      await this.#real.commit({
        ...unit,
        decide: (rows, at) => {
          decision = unit.decide(rows, at);
          return { verdict: undefined, writes: [] };
        },
      });
    } catch (error) {
      return { kind: 'threw', error };
    }
    return { kind: 'decided', decision: decision as Decision<unknown> };
  }

  /** Lets a unit through; gives what it has decided, or undefined when nothing came of it. */
  async letThrough(held: HeldUnit): Promise<Decision<unknown> | undefined> {
    this.#held = this.#held.filter((one) => one !== held);
    const { unit } = held;
    let decision: Decision<unknown> | undefined;
    try {
      const committed = await this.#real.commit({
        ...unit,
        decide: (rows, at) => (decision = unit.decide(rows, at)),
      });
      held.resolve(committed);
      return committed.kind === 'done' ? decision : undefined;
    } catch (error) {
      held.reject(error);
      return undefined;
    }
  }

  /** As after a lost race: what it found out before is to be found out again. */
  lookAgain(held: HeldUnit, verdict: unknown): void {
    this.#held = this.#held.filter((one) => one !== held);
    held.resolve({ kind: 'done', verdict, now: 0 });
  }

  /** The host is gone: nothing that it asked for is ever answered. */
  die(): void {
    this.#isDead = true;
    this.#held = [];
  }
}

const NEVER = new Promise<never>(() => {});
