// All judgements over one run, in the order in which they explain most.
import type { DatabaseSync } from 'node:sqlite';
import { dumper, type Dump, type Dumper } from './dump.ts';
import { judgeRows, SeenEnds, type Outside } from './invariants.ts';
import { judgeDiagnostics, judgeHeld, judgeToldHeld, SeenHeld } from './invariants-held.ts';
import { judgeGrants } from './invariants-grants.ts';
import { judgeMaintenance, judgeMaintenanceWords } from './invariants-maintenance.ts';
import { judgeWords } from './invariants-notices.ts';
import type { SimulationOptions } from './options.ts';
import { judgeAcks, judgeAnswers, judgeRest } from './reference.ts';
import { judgeReplay } from './replay.ts';

/** What was seen outside the store. */
export interface OracleInputs extends Outside {
  readonly options: Pick<SimulationOptions, 'bounds' | 'recovery'>;
  /** Tasks whose mark a restore has taken, and no boundary has given another since. */
  readonly unmarked: ReadonlySet<string>;
}

export class Oracle {
  readonly #dumper: Dumper;
  readonly #seen: OracleInputs;
  readonly #ends = new SeenEnds();
  readonly #held = new SeenHeld();
  judgements = 0;

  constructor(db: DatabaseSync, seen: OracleInputs) {
    this.#dumper = dumper(db);
    this.#seen = seen;
  }

  /** What must hold in every state. */
  judge(): readonly string[] {
    return this.#always(this.#dumper.read());
  }

  /** What must hold once everything has come to rest. */
  judgeRest(): readonly string[] {
    const { dump, changed } = this.#dumper.whole();
    return [
      ...changed,
      ...this.#always(dump),
      ...judgeWords(dump),
      ...judgeMaintenanceWords(dump),
      ...judgeRest(this.#seen.history, dump),
      ...judgeToldHeld(dump),
    ];
  }

  /** The store was restored. */
  restored(): void {
    this.#held.restored();
  }

  #always(dump: Dump): readonly string[] {
    this.judgements += 1;
    const { history, options, unmarked } = this.#seen;
    const { bounds, recovery } = options;
    return [
      ...judgeAcks(history, dump),
      ...judgeAnswers(history, dump),
      ...judgeRows(dump, this.#seen),
      ...this.#ends.judge(dump),
      ...this.#held.judge(dump),
      ...judgeReplay(dump, { bounds, unmarked }),
      ...judgeGrants(history, dump),
      ...judgeMaintenance(dump),
      ...judgeHeld(history, dump),
      ...judgeDiagnostics(dump, recovery.diagnostics),
    ];
  }
}
