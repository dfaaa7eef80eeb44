// B-2, B-3, B-8 and V9 at the moment of each commit: nothing is released before the boundary is committed,
// it judges each record as its proof says, and afterwards history sleeps.
import type { EventRecord } from '../../src/core/session/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { Write } from '../../src/ports/store.ts';
import type { CommittedUnit } from './faulty-store.ts';
import type { Look } from './look.ts';
import { isAdminName } from './people.ts';
import type { Sometime } from './sometimes.ts';
import type { Judged, Restored } from './restore.ts';

export interface BoundaryWatchParts {
  readonly look: Look;
  readonly problem: (text: string) => void;
  readonly reached: (name: Sometime) => void;
}

/** What may be committed while restored records are not judged: of the host, and of the boundary itself. */
const BEFORE = /^(?:lease|boundary)\./;
/** What may end a held task: its exact stop. */
const STOPS = new Set(['task.stop']);

export class BoundaryWatch {
  readonly #parts: BoundaryWatchParts;
  #due: ReadonlyMap<string, Judged> | undefined;
  #aside: ReadonlySet<string> = new Set();
  readonly #held = new Set<string>();

  constructor(parts: BoundaryWatchParts) {
    this.#parts = parts;
  }

  restored({ due, aside }: Restored): void {
    this.#held.clear();
    this.#aside = aside;
    this.#due = due.size === 0 ? undefined : due;
  }

  see(unit: CommittedUnit): void {
    const { problem } = this.#parts;
    const isEarly = this.#due !== undefined && !BEFORE.test(unit.unit);
    if (isEarly && unit.writes.length > 0)
      problem(`B-2 ${unit.unit} was committed before the boundary`);
    for (const write of unit.writes) {
      if (write.write === 'boundary.end') this.#judgeAll(write.id);
      if (write.write === 'message.claim' && this.#aside.has(write.id))
        problem(`V9 the input ${write.id} of a held task was claimed`);
    }
    if (!unit.unit.startsWith('boundary.')) this.#judgeHeld(unit);
    for (const write of unit.writes) this.#keep(write);
  }

  #keep(write: Write): void {
    if (write.write !== 'task.save' && write.write !== 'execution.save') return;
    if (write.row.enrollment === 'held-legacy') this.#held.add(write.row.id);
    else this.#held.delete(write.row.id);
  }

  /** B-3, B-6 and B-7: each record is what its proof makes of it. */
  #judgeAll(boundaryId: string): void {
    const { look, problem } = this.#parts;
    const held = [...(this.#due ?? [])].filter(([, judged]) => judged === 'held-legacy').length;
    const counted = look.countedBy(boundaryId);
    // What was restored once more before the end is counted once more.
    if (counted < held) problem(`B-10 ${boundaryId} held ${held} and counts ${counted}`);
    for (const [id, due] of this.#due ?? []) {
      const got = look.task(id)?.enrollment ?? look.execution(id)?.enrollment;
      if (got !== due) problem(`B-3 ${id} is ${got} and should be ${due}`);
    }
    this.#due = undefined;
  }

  /** V9: what is held changes by an admin's exact resume or an exact stop; a resume wakes exactly one. */
  #judgeHeld({ unit, writes }: CommittedUnit): void {
    const { problem } = this.#parts;
    const events = writes.flatMap((write) => (write.write === 'event.insert' ? [write.row] : []));
    const woken = events.filter(({ type }) => type === 'task.enrolled');
    if (woken.length > 1) problem(`V9 ${unit} woke ${woken.length} tasks`);
    for (const write of writes) {
      if (write.write === 'task.save' && this.#held.has(write.row.id))
        this.#judgeTask(unit, write.row, events);
      const isWorker = write.write === 'execution.save' && this.#held.has(write.row.id);
      if (isWorker && !/resume|enrol|stop/.test(unit))
        problem(`V9 the held worker ${write.row.id} was changed by ${unit}`);
    }
  }

  #judgeTask(unit: string, row: TaskRecord, events: readonly EventRecord[]): void {
    const { problem } = this.#parts;
    const of = events.filter(({ taskId }) => taskId === row.id);
    const isStopped = row.state === 'stopped' || row.state === 'cancelled';
    if (isStopped && STOPS.has(unit)) return this.#parts.reached('held_stopped');
    const enrolled = of.find(({ type }) => type === 'task.enrolled');
    const isByAdmin = enrolled !== undefined && isAdminName(enrolled.by);
    if (!isByAdmin) problem(`V9 the held ${row.id} was changed by ${unit}`);
    if (row.enrollment !== 'current') problem(`V9 the held ${row.id} stays held after ${unit}`);
  }
}
