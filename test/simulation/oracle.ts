// All judgements over one run, in the order in which they explain most.
import type { DatabaseSync } from 'node:sqlite';
import { dumper, type Dump } from './dump.ts';
import type { History } from './history.ts';
import { judgeRows, SeenEnds } from './invariants.ts';
import type { Ledger } from './ledger.ts';
import { judgeAcks, judgeAnswers, judgeRest } from './reference.ts';
import { judgeReplay, type Bounds } from './replay.ts';

/** What was seen outside the store. */
export interface OracleInputs {
  readonly ledger: Ledger;
  readonly history: History;
  readonly bounds: Bounds;
}

export class Oracle {
  readonly #dump: () => Dump;
  readonly #ledger: Ledger;
  readonly #history: History;
  readonly #bounds: Bounds;
  readonly #ends = new SeenEnds();
  judgements = 0;

  constructor(db: DatabaseSync, seen: OracleInputs) {
    this.#dump = dumper(db);
    this.#ledger = seen.ledger;
    this.#history = seen.history;
    this.#bounds = seen.bounds;
  }

  /** What must hold in every state. */
  judge(): readonly string[] {
    return this.#always(this.#dump());
  }

  /** What must hold once everything has come to rest. */
  judgeRest(): readonly string[] {
    const dump = this.#dump();
    return [...this.#always(dump), ...judgeRest(this.#history, dump)];
  }

  dump(): Dump {
    return this.#dump();
  }

  #always(dump: Dump): readonly string[] {
    this.judgements += 1;
    return [
      ...judgeAcks(this.#history, dump),
      ...judgeAnswers(this.#history, dump),
      ...judgeRows(dump, this.#ledger),
      ...this.#ends.judge(dump),
      ...judgeReplay(dump, this.#bounds),
    ];
  }
}
