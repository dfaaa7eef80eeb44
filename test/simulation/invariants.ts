// What holds in every state that is reached, read off the rows alone. Each problem begins with the
// invariant or rule that it breaks.
import type { OutboxRecord } from '../../src/core/outbox/record.ts';
import type { RunRecord } from '../../src/core/run/record.ts';
import { group, type Dump } from './dump.ts';
import { judgeApprovals } from './invariants-approvals.ts';
import { judgeAuthority } from './invariants-authority.ts';
import { judgeInbox } from './invariants-inbox.ts';
import { isEndedByFence } from './invariants-maintenance.ts';
import { judgeNotices } from './invariants-notices.ts';
import { judgeTurns } from './invariants-turns.ts';
import type { CallBook } from './call-book.ts';
import type { History } from './history.ts';
import type { Ledger } from './ledger.ts';
import { Problems } from './problems.ts';

const ENDS: ReadonlySet<string> = new Set([
  'completed',
  'failed',
  'stopped',
  'cancelled',
  'expired',
]);

/** What was seen outside the store. */
export interface Outside {
  readonly ledger: Ledger;
  readonly history: History;
  /** Calls of models so far, and what those of each step used. */
  readonly calls: Pick<CallBook, 'count' | 'usedBy'>;
}

export function judgeRows(dump: Dump, outside: Outside): readonly string[] {
  const problems = new Problems();
  judgeNotices(problems, dump);
  judgeApprovals(problems, dump, outside);
  judgeAuthority(problems, dump);
  judgeEnded(problems, dump);
  judgeOutbox(problems, dump);
  judgeRuns(problems, dump);
  return [
    ...judgeInbox(dump, outside.ledger.bound),
    ...judgeTurns(dump, outside),
    ...problems.found,
  ];
}

/** V14 and V18: after the commit of its end nothing of a task starts or moves. */
function judgeEnded(problems: Problems, dump: Dump): void {
  const ends = endsOf(dump);
  const isLate = (row: { readonly taskId: string | null; readonly seq: number }): boolean =>
    row.seq > (ends.get(row.taskId) ?? Infinity);
  const starts = ['turn.started', 'turn.continued', 'model.selected'];
  for (const event of dump.events.filter(isLate)) {
    const { type, taskId } = event;
    problems.unless(!starts.includes(type), () => `V14 ${type} of ${taskId} after its end`);
    problems.unless(type !== 'task.moved', () => `V18 ${taskId} moved after its end`);
  }
  for (const { taskId } of dump.steps.filter(isLate)) {
    problems.unless(false, () => `V14 a step of ${taskId} started after its end`);
  }
  for (const { id, taskId, state } of dump.messages) {
    const isTaskOver = taskId !== null && ends.has(taskId);
    problems.unless(
      !isTaskOver || state === 'done' || state === 'held',
      () => `V14 ${id} of the ended ${taskId} is ${state}`,
    );
  }
}

/** The place at which each task ended first. */
function endsOf(dump: Dump): ReadonlyMap<string | null, number> {
  const ends = new Map<string | null, number>();
  for (const event of dump.events) {
    const isEnd = event.type === 'task.moved' && ENDS.has(event.toState ?? '');
    if (isEnd && !ends.has(event.taskId)) ends.set(event.taskId, event.seq);
  }
  return ends;
}

/** O-1 and O-6: each entry has one cause, and each cause one entry. */
function judgeOutbox(problems: Problems, dump: Dump): void {
  for (const [key, twins] of group(dump.outbox, (entry) => entry.key)) {
    problems.unless(twins.length === 1, () => `O-6 ${key} is in the outbox ${twins.length} times`);
  }
  const replies = dump.outbox.filter((entry) => entry.kind === 'reply');
  const replied = new Set(replies.map((entry) => entry.key));
  for (const { id, end } of dump.turns) {
    // What a model says beside a wait is told too.
    const isTold = end === 'waited' || (end === 'answered') === replied.has(`reply:${id}`);
    problems.unless(isTold, () => `O-1 ${id} ended ${end}, and its reply does not fit`);
  }
}

/** T-16 and V10: a run ends when its task ends or is blocked, and with nothing less. */
function judgeRuns(problems: Problems, dump: Dump): void {
  const runs = new Map<string, RunRecord>(dump.runs.map((run) => [run.taskId, run]));
  const over = new Set(
    dump.events
      .filter(({ type, toState }) => MOVES.has(type) && isOver(toState ?? ''))
      .map(({ taskId }) => taskId),
  );
  const entries = new Map(dump.outbox.map((entry) => [entry.id as string, entry]));
  for (const { id, state } of dump.tasks) {
    const run = runs.get(id);
    if (run === undefined) continue;
    const isOpen = run.state === 'open';
    problems.unless(!isOpen || !isOver(state), () => `T-16 the run of the ${state} ${id} is open`);
    // One that was blocked and goes on has told its caller so: the run keeps its end.
    const isEnded = over.has(id) || isEndedByFence(run);
    problems.unless(isOpen || isEnded, () => `V10 the run of the ${state} ${id} has ended`);
    const last = entries.get(run.outcomeId ?? '');
    problems.unless(isOpen || !isLess(last), () => `V10 the run of ${id} ended on ${last?.code}`);
  }
}

/** Whether a notice ends nothing: one of a wait, and of maintenance every one but that of a block (M-11). */
function isLess(entry: OutboxRecord | undefined): boolean {
  if (entry?.kind !== 'notice') return false;
  const isUpkeep = entry.subjectId?.startsWith('mop_') ?? false;
  return entry.level === 'waiting' || (isUpkeep && entry.level !== 'blocked');
}

const MOVES: ReadonlySet<string> = new Set(['task.moved', 'task.held']);

function isOver(state: string): boolean {
  return ENDS.has(state) || state === 'blocked';
}

/** V18: ends that were seen once stay as they were. */
export class SeenEnds {
  readonly #seen = new Map<string, string>();
  #rows = 0;
  #problems = new Problems();

  judge(dump: Dump): readonly string[] {
    this.#problems = new Problems();
    for (const task of dump.tasks) {
      const { id, state, reason, endedAt, mandateText, mandateHash, mandateAt } = task;
      if (ENDS.has(state)) this.#see(id, `${state} ${reason} ${endedAt}`);
      this.#see(`the mandate of ${id}`, `${mandateText} ${mandateHash} ${mandateAt}`);
    }
    for (const { id, state, outcomeCode, outcomeId } of dump.runs) {
      if (state !== 'open') this.#see(id, `${state} ${outcomeCode} ${outcomeId}`);
    }
    for (const { id, state, end, endedAt } of dump.turns) {
      if (state === 'ended') this.#see(id, `${end} ${endedAt}`);
    }
    for (const { id, state, finishedId, output } of dump.steps) {
      if (state !== 'started') this.#see(id, `${state} ${finishedId} ${output}`);
    }
    this.#seeApprovals(dump);
    this.#seeTexts(dump);
    this.#seeRows(dump);
    return this.#problems.found;
  }

  #seeApprovals(dump: Dump): void {
    for (const { id, state, decidedBy, decidedAt, shown, input } of dump.approvals) {
      if (state !== 'open') this.#see(id, `${state} ${decidedBy} ${decidedAt}`);
      this.#see(`what ${id} shows`, `${input} ${shown}`);
    }
  }

  #seeTexts(dump: Dump): void {
    for (const { id, state, answerId, text, bodyHash } of dump.messages) {
      if (state === 'done') this.#see(id, `done ${answerId}`);
      this.#see(`the body of ${id}`, `${text} ${bodyHash}`);
    }
    for (const { id, key, text, params, code } of dump.outbox) {
      // One that is held back says at last what is then known (M-10).
      const said = code === 'maintenance_waiting' ? '' : params;
      this.#see(id, `${key} ${text} ${said}`);
    }
  }

  /** M-16: nothing of a transcript is ever deleted. */
  #seeRows({ messages, steps, sessions, turns, events }: Dump): void {
    const rows = [messages, steps, sessions, turns, events].reduce(
      (sum, one) => sum + one.length,
      0,
    );
    const before = this.#rows;
    this.#problems.unless(rows >= before, () => `M-16 of ${before} rows ${rows} are left`);
    this.#rows = rows;
  }

  #see(id: string, end: string): void {
    const before = this.#seen.get(id) ?? end;
    this.#problems.unless(before === end, () => `V18 ${id} was ${before} and is ${end}`);
    this.#seen.set(id, end);
  }
}
