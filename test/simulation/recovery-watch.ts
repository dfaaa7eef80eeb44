// V5, V6, R-3, R-9 and R-16 at the moment of each commit: how attempts are counted, when they are made,
// and which turns begin on them.
import type { EventRecord } from '../../src/core/session/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { SECOND, type Millis } from '../../src/kernel/time.ts';
import type { Write } from '../../src/ports/store.ts';
import type { CommittedUnit } from './faulty-store.ts';
import { dataOf } from './dump.ts';
import { isAdminName } from './people.ts';
import type { Sometime } from './sometimes.ts';

/** What is known of one task by what was committed of it. */
interface Known {
  row: TaskRecord | undefined;
  /** Work of it was cut, and nobody has said since that it may go on. */
  needs: boolean;
  /** Turns after the `continue` that were followed: one may end the epoch. */
  followed: boolean;
  granted: { readonly at: Millis; readonly starts: number } | undefined;
  reservedAt: Millis | undefined;
  nextAt: number;
  open: string | undefined;
}

export interface RecoveryWatchParts {
  readonly elapsed: () => Millis;
  readonly spacingMs: Millis;
  /** The instants of the wall clock can be compared. */
  readonly isSteady: boolean;
  readonly problem: (text: string) => void;
  readonly reached: (name: Sometime) => void;
}

const COMPLETED: ReadonlySet<unknown> = new Set(['answered', 'waited', 'continued', 'yielded']);

export class RecoveryWatch {
  readonly #parts: RecoveryWatchParts;
  readonly #tasks = new Map<string, Known>();
  /** In which order hosts started. */
  readonly #starts = new Map<string, number>();

  constructor(parts: RecoveryWatchParts) {
    this.#parts = parts;
  }

  /** Tasks came in another way than by a commit: what was known of them is gone. */
  restored(rows: readonly TaskRecord[]): void {
    for (const row of rows) {
      const known = this.#of(row.id);
      known.row = row;
    }
  }

  see(unit: CommittedUnit): void {
    const events = unit.writes.flatMap((write) =>
      write.write === 'event.insert' ? [write.row] : [],
    );
    for (const write of unit.writes) {
      if (write.write === 'host.insert') this.#starts.set(unit.host, this.#starts.size + 1);
      this.#seeSave(write, events);
    }
    for (const event of events) this.#seeEvent(event, unit);
  }

  #of(taskId: string): Known {
    const known = this.#tasks.get(taskId);
    if (known !== undefined) return known;
    const fresh: Known = {
      row: undefined,
      needs: false,
      followed: false,
      granted: undefined,
      reservedAt: undefined,
      nextAt: 0,
      open: undefined,
    };
    this.#tasks.set(taskId, fresh);
    return fresh;
  }

  #seeSave(write: Write, events: readonly EventRecord[]): void {
    if (write.write !== 'task.save' && write.write !== 'task.insert') return;
    const { row } = write;
    const known = this.#of(row.id);
    const before = known.row;
    known.row = row;
    if (before === undefined) return;
    const isLate = before.reason === 'order_late' && row.endedAt === null;
    if (isLate && row.reason !== 'order_late') this.#parts.reached('resumed_late');
    const of = events.filter(({ taskId }) => taskId === row.id);
    // What an older version parked counts as used up.
    const isRepaired = of.some((one) => isAdminName(one.by) && dataOf(one)['by'] === 'repair');
    if (isRepaired) return;
    this.#judgeCounts(before, row, { events: of, known });
    this.#judgeStill(before, row, of);
  }

  /** V5: counts only grow within an epoch, one by one; an epoch changes for a reason. */
  #judgeCounts(
    before: TaskRecord,
    row: TaskRecord,
    { events, known }: { readonly events: readonly EventRecord[]; readonly known: Known },
  ): void {
    const { problem } = this.#parts;
    const { id, recoveryEpoch: epoch, recoveryAttempts: attempts } = row;
    const grown = row.recoveryLifetimeAttempts - before.recoveryLifetimeAttempts;
    const reserved = events.filter(({ type }) => type === 'assessment.reserved').length;
    if (grown !== reserved || reserved > 1)
      problem(`V5 ${id} has ${grown} attempts more and ${reserved} were reserved`);
    const stands = before.state === 'waiting' && before.waitKind === 'assessment';
    if (reserved > 0 && !stands) problem(`R-9 ${id} is assessed while it is ${before.state}`);
    if (epoch !== before.recoveryEpoch) return this.#judgeEpoch(before, row, { events, known });
    if (attempts !== before.recoveryAttempts + reserved)
      problem(
        `V5 ${id} had ${before.recoveryAttempts} attempts and has ${attempts} of the same epoch`,
      );
    if (attempts > LIMITS.recoveryAttempts) problem(`V6 ${id} has ${attempts} attempts`);
  }

  #judgeEpoch(
    before: TaskRecord,
    { id, recoveryEpoch: epoch }: TaskRecord,
    { events, known }: { readonly events: readonly EventRecord[]; readonly known: Known },
  ): void {
    const { problem } = this.#parts;
    const isAdmitted = events.some(({ type, by }) => type === 'recovery.reset' && isAdminName(by));
    const ended = events.find(({ type }) => type === 'turn.ended');
    const isCompleted =
      ended !== undefined && COMPLETED.has(dataOf(ended)['end']) && known.followed;
    if (epoch !== before.recoveryEpoch + 1)
      problem(`V5 ${id} went from epoch ${before.recoveryEpoch} to ${epoch}`);
    if (!isAdmitted && !isCompleted) problem(`V5 ${id} came to epoch ${epoch} by itself`);
    if (isCompleted) known.followed = false;
  }

  /** nothing but what is allowed happens to a task whose attempts are used up. */
  #judgeStill(before: TaskRecord, row: TaskRecord, events: readonly EventRecord[]): void {
    const { problem } = this.#parts;
    const isReset = events.some(({ type }) => type === 'recovery.reset');
    if (!isReset) return;
    if (before.deadline !== row.deadline) problem(`R-8 a reset moved the deadline of ${row.id}`);
    const kept = ['turnsLimit', 'tokensLimit', 'costLimit', 'turnsUsed', 'tokensUsed'] as const;
    for (const key of kept)
      if (before[key] !== row[key]) problem(`R-8 a reset changed ${key} of ${row.id}`);
  }

  #seeEvent(event: EventRecord, unit: CommittedUnit): void {
    if (event.taskId === null) return;
    const known = this.#of(event.taskId);
    switch (event.type) {
      case 'assessment.reserved':
        return this.#seeReserved(event, known);
      case 'assessment.ended':
        return this.#seeOutcome(event, known);
      case 'turn.started':
        return this.#seeStart(event, known, unit);
      default:
        if (interrupts(event)) need(known);
    }
  }

  /** at least the spacing after the reservation before; by the machine's own clock. */
  #seeReserved(event: EventRecord, known: Known): void {
    const { elapsed, spacingMs, isSteady, problem } = this.#parts;
    const { epoch, attempt, nextAt } = dataOf(event);
    const since = elapsed() - (known.reservedAt ?? -Infinity);
    if (isSteady && since < spacingMs)
      problem(`R-3 ${event.taskId} is assessed again after ${since} ms`);
    known.reservedAt = elapsed();
    known.nextAt = Number(nextAt);
    known.open = `${String(epoch)}:${String(attempt)}`;
    if (known.nextAt !== event.at + spacingMs)
      problem(`R-3 ${event.taskId} was reserved at ${event.at} and is next due at ${known.nextAt}`);
    if (!known.needs) problem(`R-10 ${event.taskId} is assessed and was not interrupted`);
  }

  #seeOutcome(event: EventRecord, known: Known): void {
    const { problem, elapsed } = this.#parts;
    const { epoch, attempt, outcome, code, nextAt } = dataOf(event);
    const name = `${String(epoch)}:${String(attempt)}`;
    if (known.open !== name)
      problem(`V5 ${event.taskId} records ${name}, reserved is ${known.open}`);
    known.open = undefined;
    const isLater = Number(nextAt ?? known.nextAt) > known.nextAt;
    const mayBeLater = outcome === 'failed' && code === 'http_429';
    if (isLater && !mayBeLater)
      problem(`R-3 the spacing of ${event.taskId} is counted from its outcome`);
    if (outcome !== 'continue') return;
    known.needs = false;
    known.granted = { at: elapsed(), starts: this.#starts.size };
  }

  /** V6 and R-16: no turn of interrupted work without a `continue` that still holds. */
  #seeStart(event: EventRecord, known: Known, unit: CommittedUnit): void {
    const { problem, elapsed, isSteady } = this.#parts;
    const { granted } = known;
    if (known.needs) problem(`V6 ${event.turnId} of the interrupted ${event.taskId} has begun`);
    if (granted === undefined) return;
    known.granted = undefined;
    known.followed = true;
    const age = elapsed() - granted.at;
    if (isSteady && age > LIMITS.recoveryGrantMs + 10 * SECOND)
      problem(`R-16 ${event.turnId} follows a continue of ${age} ms ago`);
    if ((this.#starts.get(unit.host) ?? 0) > granted.starts)
      problem(`R-16 ${event.turnId} follows a continue from before the start of its host`);
  }
}

/** Whether work was cut, or is to be assessed for another reason. */
function interrupts(event: EventRecord): boolean {
  const { end, recovery } = dataOf(event);
  if (event.type === 'turn.ended') return end === 'interrupted';
  if (event.type === 'recovery.state') return recovery === 'needed';
  return event.type === 'task.moved' && event.reason === 'interrupted';
}

function need(known: Known): void {
  known.needs = true;
  known.granted = undefined;
  known.followed = false;
}
