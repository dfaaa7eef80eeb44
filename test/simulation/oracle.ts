// All judgements over one run, in the order in which they explain most.
import type { DatabaseSync } from 'node:sqlite';
import { dumper, type Dump } from './dump.ts';
import { judgeRows, SeenEnds, type Outside } from './invariants.ts';
import { judgeGrants } from './invariants-grants.ts';
import { judgeWords } from './invariants-notices.ts';
import type { TaskBounds } from './options.ts';
import { judgeAcks, judgeAnswers, judgeRest } from './reference.ts';
import { judgeReplay } from './replay.ts';

/** What was seen outside the store. */
export interface OracleInputs extends Outside {
  readonly bounds: TaskBounds;
}

export class Oracle {
  readonly #dump: () => Dump;
  readonly #seen: OracleInputs;
  readonly #ends = new SeenEnds();
  judgements = 0;

  constructor(db: DatabaseSync, seen: OracleInputs) {
    this.#dump = dumper(db);
    this.#seen = seen;
  }

  /** What must hold in every state. */
  judge(): readonly string[] {
    return this.#always(this.#dump());
  }

  /** What must hold once everything has come to rest. */
  judgeRest(): readonly string[] {
    const dump = this.#dump();
    return [...this.#always(dump), ...judgeWords(dump), ...judgeRest(this.#seen.history, dump)];
  }

  dump(): Dump {
    return this.#dump();
  }

  #always(dump: Dump): readonly string[] {
    this.judgements += 1;
    const { history, bounds } = this.#seen;
    return [
      ...judgeAcks(history, dump),
      ...judgeAnswers(history, dump),
      ...judgeRows(dump, this.#seen),
      ...this.#ends.judge(dump),
      ...judgeReplay(dump, bounds),
      ...judgeGrants(history, dump),
    ];
  }
}
