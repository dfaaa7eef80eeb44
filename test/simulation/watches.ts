// All who look at each single commit of a run, in one hand.
import type { Delays } from '../../src/core/maintenance/decide.ts';
import type { Millis } from '../../src/kernel/time.ts';
import { BoundaryWatch } from './boundary-watch.ts';
import type { CommittedUnit } from './faulty-store.ts';
import type { History } from './history.ts';
import type { Look } from './look.ts';
import { MaintenanceWatch } from './maintenance-watch.ts';
import type { OperationBook } from './operation-book.ts';
import type { SimulationOptions } from './options.ts';
import { RecoveryWatch } from './recovery-watch.ts';
import type { Restored } from './restore.ts';
import type { Sometime } from './sometimes.ts';
import { StormWatch } from './storm-watch.ts';
import { WaitWatch } from './wait-watch.ts';

export interface WatchesParts {
  readonly options: SimulationOptions;
  readonly history: History;
  readonly book: OperationBook;
  readonly delays: () => readonly Delays[];
  readonly look: Look;
  readonly elapsed: () => Millis;
  readonly problem: (text: string) => void;
  readonly reached: (name: Sometime) => void;
}

export class Watches {
  readonly #parts: WatchesParts;
  readonly #waits: WaitWatch | undefined;
  readonly #recovery: RecoveryWatch;
  readonly #boundary: BoundaryWatch;
  readonly #storm: StormWatch;
  readonly #upkeep: MaintenanceWatch;
  /** Tasks whose mark a restore has taken, and no boundary has given another since. */
  readonly unmarked = new Set<string>();

  constructor(parts: WatchesParts) {
    this.#parts = parts;
    const { options, elapsed, look, problem, reached } = parts;
    const { faults, shared, recovery } = options;
    const isSteady = faults.clockSteps + faults.clockLeaps === 0;
    this.#waits = shared ? undefined : new WaitWatch(elapsed, isSteady);
    this.#recovery = new RecoveryWatch({
      elapsed,
      spacingMs: recovery.spacingMs,
      isSteady,
      problem,
      reached,
    });
    this.#boundary = new BoundaryWatch({ look, problem, reached });
    const { native } = options.upkeep;
    const { history, book, delays } = parts;
    this.#upkeep = new MaintenanceWatch({ look, history, book, native, delays, problem, reached });
    const isJudged = recovery.safeMode && !shared && isSteady;
    this.#storm = new StormWatch({ elapsed, isJudged, problem });
  }

  see(unit: CommittedUnit): void {
    for (const problem of this.#waits?.see(unit) ?? []) this.#parts.problem(problem);
    this.#recovery.see(unit);
    this.#boundary.see(unit);
    this.#storm.see(unit);
    this.#upkeep.see(unit);
    for (const write of unit.writes) {
      if (write.write !== 'event.insert') continue;
      const { type, taskId } = write.row;
      if (type === 'task.held' || type === 'task.enrolled') this.unmarked.delete(taskId ?? '');
    }
  }

  ready(host: string): void {
    this.#storm.ready(host);
  }

  restored(seen: Restored): void {
    this.#waits?.restored();
    this.#recovery.restored(seen.tasks);
    this.#boundary.restored(seen);
    this.#upkeep.restored(seen.operations);
    for (const { id } of seen.tasks) if (id !== seen.silent) this.unmarked.add(id);
  }
}
