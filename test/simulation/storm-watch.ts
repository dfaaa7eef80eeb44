// R-12 at the moment of each commit: when safe mode has to begin, and what nobody starts while it is on.
import { MINUTE, type Millis } from '../../src/kernel/time.ts';
import type { Write } from '../../src/ports/store.ts';
import type { CommittedUnit } from './faulty-store.ts';
import { isAdminName } from './people.ts';

export interface StormWatchParts {
  readonly elapsed: () => Millis;
  /** Whether a storm begins safe mode at all, on a store that one host has, under a clock that is right. */
  readonly isJudged: boolean;
  readonly problem: (text: string) => void;
}

/** So many unclean starts, within so long; a little less, since a start takes its time. */
const STARTS = 3;
const WINDOW = 9 * MINUTE;

export class StormWatch {
  readonly #parts: StormWatchParts;
  readonly #running = new Set<string>();
  readonly #unclean: Millis[] = [];
  /** Which hosts found one that had not stopped. */
  readonly #found = new Map<string, boolean>();
  /** By message: how many hosts had started when it was made. */
  readonly #made = new Map<string, number>();
  readonly #starts = new Map<string, number>();
  #isOn = false;

  constructor(parts: StormWatchParts) {
    this.#parts = parts;
  }

  see(unit: CommittedUnit): void {
    if (!this.#parts.isJudged) return;
    for (const write of unit.writes) this.#see(unit, write);
    if (this.#isOn) this.#judgeClaim(unit);
  }

  /** A turn that a person's words or an input of this host begin may read along what was there. */
  #judgeClaim({ writes, host }: CommittedUnit): void {
    const claimed = writes.flatMap((write) => (write.write === 'message.claim' ? [write.id] : []));
    const isOld = (id: string): boolean =>
      (this.#made.get(id) ?? Infinity) < (this.#starts.get(host) ?? 0);
    if (claimed.length > 0 && claimed.every(isOld))
      this.#parts.problem(
        `R-12 ${claimed.join(' ')} of before the start of ${host} began a turn in safe mode`,
      );
  }

  /** A host takes requests: it has judged its start. */
  ready(host: string): void {
    const { isJudged, elapsed, problem } = this.#parts;
    if (!isJudged || this.#found.get(host) !== true) return;
    this.#unclean.push(elapsed());
    const near = this.#unclean.filter((at) => elapsed() - at < WINDOW);
    if (near.length >= STARTS && !this.#isOn)
      problem(`R-12 ${host} is the ${near.length}th unclean start and safe mode is off`);
  }

  #see(unit: CommittedUnit, write: Write): void {
    const { host } = unit;
    if (write.write === 'host.insert') {
      this.#found.set(host, this.#running.size > 0);
      this.#starts.set(host, this.#starts.size + 1);
      this.#running.add(write.row.id);
    }
    if (write.write === 'host.stop') this.#running.delete(write.id);
    if (write.write === 'message.insert' && write.row.kind === 'generated')
      this.#made.set(write.row.id, this.#starts.size);
    this.#seeStorm(write);
    if (this.#isOn) this.#judge(unit, write);
  }

  #seeStorm(write: Write): void {
    if (write.write === 'storm.insert') this.#isOn = true;
    if (write.write !== 'storm.end') return;
    this.#isOn = false;
    // None from before an admin's word counts any more.
    if (isAdminName(write.endedBy)) this.#unclean.length = 0;
  }

  #judge({ unit }: CommittedUnit, write: Write): void {
    const { problem } = this.#parts;
    if (write.write !== 'event.insert') return;
    const { type, toState, taskId } = write.row;
    if (type === 'operation.reserved') problem(`R-12 ${unit} maintains a session in safe mode`);
    if (type === 'assessment.reserved') problem(`R-12 ${taskId} is assessed in safe mode`);
    const wakes = type === 'task.moved' && toState === 'active' && unit === 'task.due';
    if (wakes) problem(`R-12 ${taskId} was woken in safe mode`);
  }
}
