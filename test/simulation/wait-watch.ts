// R-1 at the moment of each commit: which waits may go on by themselves, and which not.
import type { HostRecord } from '../../src/core/lease/record.ts';
import type { EventRecord } from '../../src/core/session/record.ts';
import type { Millis } from '../../src/kernel/time.ts';
import type { CommittedUnit } from './faulty-store.ts';
import { dataOf } from './dump.ts';

interface Start {
  readonly at: Millis;
  /** When no host ran before it, by the wall clock; `from` is null after an unclean stop. */
  readonly absence: { readonly from: number | null; readonly until: number } | null;
}

interface Wait {
  readonly at: Millis;
  readonly until: number | null;
}

const BY_ITSELF: ReadonlySet<unknown> = new Set(['instant', 'quota', 'provider']);

/** Knows when each wait began and each host started; for stores that one host has at a time. */
export class WaitWatch {
  readonly #elapsed: () => Millis;
  /** The instants of the wall clock can be compared. */
  readonly #isSteady: boolean;
  readonly #waits = new Map<string, Wait>();
  readonly #starts = new Map<string, Start>();
  #former: { readonly host: string; readonly id: string; stoppedAt: number | null } | null = null;

  constructor(elapsed: () => Millis, isSteady: boolean) {
    this.#elapsed = elapsed;
    this.#isSteady = isSteady;
  }

  /** What the commit shows to be wrong; asked of every commit. */
  see(unit: CommittedUnit): readonly string[] {
    const problems: string[] = [];
    for (const write of unit.writes) {
      if (write.write === 'host.insert') this.#started(unit.host, write.row);
      // Whoever comes after closes the row of a host that is dead: that was no clean stop.
      if (
        write.write === 'host.stop' &&
        this.#former?.id === write.id &&
        this.#former.host === unit.host
      )
        this.#former.stoppedAt = write.stoppedAt;
      if (write.write !== 'event.insert' || write.row.type !== 'task.moved') continue;
      const problem = this.#judge(unit, write.row);
      if (problem !== undefined) problems.push(problem);
      this.#move(write.row);
    }
    return problems;
  }

  /** No wait of an import goes on by itself (T-6). */
  restored(): void {
    this.#waits.clear();
  }

  #started(host: string, { id, startedAt: until }: HostRecord): void {
    const absence = this.#former === null ? null : { from: this.#former.stoppedAt, until };
    this.#starts.set(host, { at: this.#elapsed(), absence });
    this.#former = { host, id, stoppedAt: null };
  }

  #move({ taskId, toState, reason, data }: EventRecord): void {
    const { wait, until = null } = data === null ? {} : dataOf({ data });
    // An assessment that waits for its provider was interrupted before.
    const isParked = reason === 'interrupted';
    if (toState === 'waiting' && BY_ITSELF.has(wait) && !isParked)
      this.#waits.set(taskId ?? '', { at: this.#elapsed(), until: until as number | null });
    else this.#waits.delete(taskId ?? '');
  }

  #judge({ unit, host }: CommittedUnit, event: EventRecord): string | undefined {
    const wait = this.#waits.get(event.taskId ?? '');
    const start = this.#starts.get(host);
    if (unit !== 'task.due' || wait === undefined || start === undefined) return undefined;
    const how = missedBy(wait, start);
    // Instants of a clock that was stepped cannot be compared, nor hosts told apart by them.
    if (!this.#isSteady || (how !== 'unclean' && wait.until === null)) return undefined;
    return problemOf(event, how);
  }
}

function problemOf(event: EventRecord, how: ReturnType<typeof missedBy>): string | undefined {
  const { taskId, toState, reason } = event;
  if (toState === 'active' && how !== undefined)
    return `R-1 ${taskId} went on by itself after a wait that was missed (${how})`;
  return reason === 'interrupted' && how === undefined
    ? `R-1 ${taskId} was interrupted though its host saw its wait through`
    : undefined;
}

/** Why nobody saw the wait through: an unclean stop, or it ended while no host ran. */
function missedBy(wait: Wait, { at, absence }: Start): 'unclean' | 'absent' | undefined {
  if (absence === null || wait.at >= at) return undefined;
  const { from, until } = absence;
  if (from === null) return 'unclean';
  const due = wait.until ?? Infinity;
  return due > from && due <= until ? 'absent' : undefined;
}
