// V7, M-8, M-14 and M-21 at the moment of each commit: what happens to a maintenance operation, and what
// happens behind its fence.
import { isOpen, type Delays } from '../../src/core/maintenance/decide.ts';
import type { OperationRecord, SessionSeed } from '../../src/core/maintenance/record.ts';
import type { EventRecord, FenceState } from '../../src/core/session/record.ts';
import type { Write } from '../../src/ports/store.ts';
import { dataOf } from './dump.ts';
import type { CommittedUnit } from './faulty-store.ts';
import type { History } from './history.ts';
import type { Look } from './look.ts';
import { judgeChange, type Change, type Known } from './maintenance-change.ts';
import type { OperationBook } from './operation-book.ts';
import { isAdminName } from './people.ts';
import { Problems } from './problems.ts';
import type { Sometime } from './sometimes.ts';

export interface MaintenanceWatchParts {
  readonly look: Look;
  readonly history: History;
  readonly book: OperationBook;
  readonly native: boolean;
  readonly delays: () => readonly Delays[];
  readonly problem: (text: string) => void;
  readonly reached: (name: Sometime) => void;
}

export class MaintenanceWatch {
  readonly #parts: MaintenanceWatchParts;
  readonly #operations = new Map<string, OperationRecord>();
  readonly #fences = new Map<string, FenceState>();
  /** The place at which each conversation was blocked last. */
  readonly #blockedSeq = new Map<string, number>();
  readonly #cuts = new Map<string, number>();

  constructor(parts: MaintenanceWatchParts) {
    this.#parts = parts;
  }

  /** Operations came in another way than by a commit (M-15). */
  restored(rows: readonly OperationRecord[]): void {
    for (const row of rows) this.#operations.set(row.id, row);
  }

  see(unit: CommittedUnit): void {
    const events = unit.writes.flatMap((write) =>
      write.write === 'event.insert' ? [write.row] : [],
    );
    for (const event of events) this.#seeEvent(event, unit, events);
    for (const write of unit.writes) this.#seeWrite(write, unit, events);
    for (const write of unit.writes)
      if (write.write === 'conversation.fence') this.#fences.set(write.id, write.fence);
    for (const { type, toState, conversationId, seq } of events)
      if (type === 'conversation.fence' && toState === 'blocked')
        this.#blockedSeq.set(conversationId, seq);
  }

  #isFenced(conversationId: string): boolean {
    const fence = this.#fences.get(conversationId);
    return fence === 'shut' || fence === 'blocked';
  }

  /** V7 and R-16: behind a fence no turn begins, no step is begun and nothing is assessed. */
  #seeEvent(event: EventRecord, unit: CommittedUnit, events: readonly EventRecord[]): void {
    const { problem } = this.#parts;
    const { type, conversationId, turnId, taskId } = event;
    if (!this.#isFenced(conversationId)) return;
    const fence = this.#fences.get(conversationId);
    if (type === 'command.answered') this.#noteRefused(event, events);
    if (TURNS.has(type)) problem(`V7 ${turnId} has begun behind a fence that is ${fence}`);
    if (type === 'assessment.reserved')
      problem(`R-16 ${taskId} is assessed behind a fence that is ${fence}`);
    const isFresh = type === 'session.started' && dataOf(event)['previousId'] == null;
    if (!isFresh) return;
    const isDropped = events.some((one) => one.toState === 'dropped');
    if (!isDropped || !isAdminName(event.by))
      problem(`M-21 ${unit.unit} of ${event.by} began a session behind a fence`);
  }

  /** M-21: from others a fresh session behind a fence is refused. */
  #noteRefused(event: EventRecord, events: readonly EventRecord[]): void {
    const { look, reached } = this.#parts;
    const command = look.upkeep.message(String(dataOf(event)['messageId']));
    const wants = command !== undefined && /^\/(?:new|reset)\b/.test(command.text);
    const isBegun = events.some(({ type }) => type === 'session.started');
    if (wants && !isBegun && command.authority !== 'admin') reached('fresh_refused');
  }

  #seeWrite(write: Write, unit: CommittedUnit, events: readonly EventRecord[]): void {
    const { problem } = this.#parts;
    if (write.write === 'operation.insert') this.#seeOpened(write.row);
    if (write.write === 'operation.save') this.#seeSaved(write.row, unit, events);
    if (write.write === 'session.seed') this.#seeSeed(write, unit);
    if (write.write === 'step.insert' && this.#isFenced(write.row.conversationId))
      problem(`V7 step ${write.row.id} has begun behind a fence`);
  }

  #seeOpened(row: OperationRecord): void {
    const { problem } = this.#parts;
    const open = [...this.#operations.values()].filter(
      (one) => one.conversationId === row.conversationId && isOpen(one),
    );
    if (open.length > 0) problem(`V7 ${row.id} was begun beside ${open[0]?.id}`);
    const isFresh = row.state === 'running' && row.attempts === 0 && row.lifetimeFailures === 0;
    if (!isFresh) problem(`M-1 ${row.id} was begun ${row.state} with ${row.attempts} tries`);
    this.#operations.set(row.id, row);
  }

  #seeSaved(row: OperationRecord, unit: CommittedUnit, all: readonly EventRecord[]): void {
    const { problem, book } = this.#parts;
    const before = this.#operations.get(row.id);
    this.#operations.set(row.id, row);
    if (before === undefined) return problem(`M-1 ${row.id} was saved unborn`);
    const events = all.filter((event) => dataOf(event)['operationId'] === row.id);
    const change: Change = { before, row, events, writes: unit.writes };
    const problems = new Problems();
    judgeChange(problems, change, this.#known(before));
    for (const text of problems.found) problem(text);
    if (row.state === 'dropped') this.#judgeDropped(row, unit, all);
    if (row.attempts > before.attempts) book.reserved(unit.host, row);
    else if (before.attemptAt !== null && row.attemptAt === null) book.closed(row, before);
    if (events.some((event) => dataOf(event)['code'] === 'full')) book.wasDone(before);
  }

  #known({ id, conversationId }: OperationRecord): Known {
    const { native, book, delays, history, look } = this.#parts;
    const blocked = this.#blockedSeq.get(conversationId) ?? 0;
    return {
      native,
      wasMade: book.wasMade(id),
      delays: delays(),
      expected: (scope) =>
        history.orders.find(({ by, receipt }) => scope === `${by} ${receipt}`)?.admission
          ?.expectedVersion,
      isOlder: (scope) => {
        const command = look.upkeep.message(scope.split(' ').at(-1) ?? '');
        return command !== undefined && command.seq < blocked;
      },
    };
  }

  /** M-21: given up by an admin's `/new`, or with its session's worker. */
  #judgeDropped(
    row: OperationRecord,
    { unit }: CommittedUnit,
    events: readonly EventRecord[],
  ): void {
    const begun = events.find(({ type }) => type === 'session.started');
    const isByAdmin = begun !== undefined && isAdminName(begun.by);
    if (!isByAdmin && this.#isUsed(row))
      this.#parts.problem(`M-21 ${row.id} was given up by ${unit}`);
  }

  /** Whether anything goes on, or begins, in the session of an operation. */
  #isUsed({ conversationId, sessionId, nextSessionId }: OperationRecord): boolean {
    const { upkeep } = this.#parts.look;
    const own = new Set<string | null | undefined>([sessionId, nextSessionId]);
    const isCurrent = own.has(upkeep.conversation(conversationId)?.sessionId);
    return isCurrent || upkeep.tasksOf(conversationId).some((task) => own.has(task.sessionId));
  }

  /** M-14: what stands for a session was really said, while a try was out, and nothing comes back before it. */
  #seeSeed(write: Extract<Write, { write: 'session.seed' }>, unit: CommittedUnit): void {
    const { problem, book } = this.#parts;
    const { id, cutSeq } = write;
    const { summary } = JSON.parse(write.seed) as SessionSeed;
    if (summary !== '' && !book.wasSaid(summary))
      problem(`M-14 ${id} has a seed that nobody has said: ${summary.slice(0, 80)}`);
    const saves = unit.writes.some((one) => one.write === 'operation.save');
    if (!saves) problem(`V7 ${unit.unit} shortened ${id} beside its operation`);
    if (cutSeq < (this.#cuts.get(id) ?? 0)) problem(`M-16 the cut of ${id} went back`);
    this.#cuts.set(id, cutSeq);
  }
}

const TURNS: ReadonlySet<string> = new Set(['turn.started', 'turn.continued']);
