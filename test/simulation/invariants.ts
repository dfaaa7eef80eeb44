// What holds in every state that is reached, read off the rows alone. Each problem begins with the
// invariant or rule that it breaks.
import type { OutboxRecord } from '../../src/core/outbox/record.ts';
import type { RunRecord } from '../../src/core/run/record.ts';
import type { EventRecord } from '../../src/core/session/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import { group, type Dump } from './dump.ts';
import { judgeInbox } from './invariants-inbox.ts';
import { judgeTurns } from './invariants-turns.ts';
import type { Ledger } from './ledger.ts';
import { Problems } from './problems.ts';

const ENDS: ReadonlySet<string> = new Set([
  'completed',
  'failed',
  'stopped',
  'cancelled',
  'expired',
]);

export function judgeRows(dump: Dump, ledger: Ledger): readonly string[] {
  const problems = new Problems();
  judgeNotices(problems, dump);
  judgeEnded(problems, dump);
  judgeOutbox(problems, dump);
  judgeRuns(problems, dump);
  return [...judgeInbox(dump), ...judgeTurns(dump, ledger), ...problems.found];
}

/** V8 and O-6: one notice for each entry into a state that needs one, and a reason. */
function judgeNotices(problems: Problems, dump: Dump): void {
  const notices = group(
    dump.outbox.filter((entry) => entry.kind === 'notice'),
    (entry) => entry.taskId,
  );
  const moves = group(
    dump.events.filter((event) => event.type === 'task.moved'),
    (event) => event.taskId,
  );
  for (const task of dump.tasks) {
    const hasReason = task.state !== 'blocked' || task.reason !== null;
    problems.unless(hasReason, () => `V8 ${task.id} is blocked without a reason`);
    const { correctionsUsed } = task;
    problems.unless(
      correctionsUsed <= 1,
      () => `T-8 ${task.id} was corrected ${correctionsUsed} times`,
    );
    const of = { notices: notices.get(task.id) ?? [], moves: moves.get(task.id) ?? [] };
    for (const level of ['blocked', 'waiting'] as const)
      judgeEntries(problems, task, { ...of, level });
  }
}

function judgeEntries(
  problems: Problems,
  task: TaskRecord,
  of: {
    readonly notices: readonly OutboxRecord[];
    readonly moves: readonly EventRecord[];
    readonly level: 'blocked' | 'waiting';
  },
): void {
  const entries = of.moves.filter((move) => move.toState === of.level).length;
  const told = of.notices.filter((notice) => notice.level === of.level).length;
  const say = (): string =>
    `V8 ${task.id} became ${of.level} ${entries} times and ${told} notices say so`;
  problems.unless(entries === told, say);
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
    const isOver = taskId !== null && ends.has(taskId);
    problems.unless(
      !isOver || state === 'done',
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
    const isTold = (end === 'answered') === replied.has(`reply:${id}`);
    problems.unless(isTold, () => `O-1 ${id} ended ${end}, and its reply does not fit`);
  }
}

/** T-16 and V10: a run ends with its task, and with nothing less. */
function judgeRuns(problems: Problems, dump: Dump): void {
  const runs = new Map<string, RunRecord>(dump.runs.map((run) => [run.taskId, run]));
  for (const task of dump.tasks) {
    const run = runs.get(task.id);
    // A blocked task has told its caller so: the run failed.
    const isOver = ENDS.has(task.state) || task.state === 'blocked';
    const isOpen = run?.state === 'open';
    problems.unless(
      !isOpen || !isOver,
      () => `T-16 the run of the ${task.state} ${task.id} is open`,
    );
    const isHonest = run === undefined || isOpen || isOver;
    problems.unless(isHonest, () => `V10 the run of the ${task.state} ${task.id} is ${run?.state}`);
  }
}

/** V18: ends that were seen once stay as they were. */
export class SeenEnds {
  readonly #seen = new Map<string, string>();
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
    this.#seeTexts(dump);
    return this.#problems.found;
  }

  #seeTexts(dump: Dump): void {
    for (const { id, state, answerId, text, bodyHash } of dump.messages) {
      if (state === 'done') this.#see(id, `done ${answerId}`);
      this.#see(`the body of ${id}`, `${text} ${bodyHash}`);
    }
    for (const { id, key, text, params } of dump.outbox) this.#see(id, `${key} ${text} ${params}`);
  }

  #see(id: string, end: string): void {
    const before = this.#seen.get(id) ?? end;
    this.#problems.unless(before === end, () => `V18 ${id} was ${before} and is ${end}`);
    this.#seen.set(id, end);
  }
}
