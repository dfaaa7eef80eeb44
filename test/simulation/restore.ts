// What an export and its import do to a stopped store: every mark is gone, unsent entries are uncertain,
// workers are among the records; and what the boundary has to make of each record (B-2, B-3).
import type { DatabaseSync } from 'node:sqlite';
import type { ExecutionRecord, ExecutionState } from '../../src/core/dispatch/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { HostId } from '../../src/kernel/ids.ts';
import { MINUTE } from '../../src/kernel/time.ts';
import type { Ids } from '../../src/ports/ids.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { OperationRecord } from '../../src/core/maintenance/record.ts';
import { dumper, type Dump } from './dump.ts';
import { forgetNotices, useUp } from './restore-upkeep.ts';
import type { Sometime } from './sometimes.ts';

export type Judged = 'current' | 'held-legacy';

/** One restore, as it was seen from outside. */
export interface Restored {
  /** What the boundary has to make of each open task and worker. */
  readonly due: ReadonlyMap<string, Judged>;
  /** Generated inputs of tasks that have to be held: nothing ever claims them (B-4). */
  readonly aside: ReadonlySet<string>;
  readonly tasks: readonly TaskRecord[];
  readonly operations: readonly OperationRecord[];
  /** The task that was parked without a reason, if any (R-11). */
  readonly silent: string | null;
}

export interface RestoreParts {
  readonly db: DatabaseSync;
  readonly random: Random;
  readonly ids: Ids;
  readonly now: () => number;
  readonly reached: (name: Sometime) => void;
  /** Odds that an open task is one that an older version parked without a reason (R-11). */
  readonly parked: number;
  /** Odds that an operation is one whose tries an older version has used up (M-15). */
  readonly older: number;
}

const ENDS = new Set(['completed', 'failed', 'stopped', 'cancelled', 'expired']);
const OVER = new Set<ExecutionState>(['completed', 'failed', 'cancelled']);

/** Restores a store that no host has open. */
export function restore(parts: RestoreParts): Restored {
  const { db, reached } = parts;
  const rows = dumper(db);
  const before = rows.read();
  addWorkers(parts, before);
  db.exec(`update task set enrollment = 'unmarked'`);
  // One that an older version left here: it is none of the restored.
  const silent = parts.random.chance(parts.parked) ? park(parts, before) : null;
  db.exec(`update execution set enrollment = 'unmarked'`);
  db.exec(`update outbox set state = 'uncertain' where state = 'pending'`);
  forgetNotices(db);
  useUp(parts, rows.read());
  reached('restored');
  const seen = rows.read();
  const open = seen.tasks.filter(({ id, state }) => !ENDS.has(state) && id !== silent);
  const due = new Map<string, Judged>(open.map((task) => [task.id, judge(task, seen)]));
  for (const worker of seen.executions)
    if (!OVER.has(worker.state)) due.set(worker.id, judgeWorker(worker, seen, due));
  const generated = seen.messages.filter(({ kind }) => kind === 'generated');
  const aside = generated.filter(
    ({ state, taskId }) => state === 'unclaimed' && due.get(taskId ?? '') === 'held-legacy',
  );
  if (aside.length > 0) reached('input_set_aside');
  // What no boundary had set aside before this restore is judged anew with its task.
  const kept = generated.filter(({ state }) => state === 'held');
  const turns = seen.turns.filter(({ state }) => state !== 'ended');
  if (turns.length > 0) reached('restored_in_turn');
  const { tasks, operations } = seen;
  return {
    due,
    aside: new Set([...kept, ...aside].map(({ id }) => id)),
    tasks,
    operations,
    silent,
  };
}

/** B-3: a person's unfinished input, or a worker that was accepted or runs and matches in both. */
function judge({ id, mandateHash }: TaskRecord, dump: Dump): Judged {
  const openTurns = new Set<string | null>(
    dump.turns.filter(({ state }) => state !== 'ended').map((turn) => turn.id),
  );
  const hasInput = dump.messages.some(
    ({ taskId, kind, state, turnId }) =>
      taskId === id &&
      kind === 'genuine' &&
      (state === 'unclaimed' || (state === 'claimed' && openTurns.has(turnId))),
  );
  const hasWorker = dump.executions.some(
    (one) => isAtWork(one) && one.taskId === id && one.mandateHash === mandateHash,
  );
  return hasInput || hasWorker ? 'current' : 'held-legacy';
}

function isAtWork({ state }: ExecutionRecord): boolean {
  return state === 'ready' || state === 'running';
}

function judgeWorker(
  worker: ExecutionRecord,
  { tasks }: Dump,
  due: ReadonlyMap<string, Judged>,
): Judged {
  const owner = tasks.find(({ id }) => id === worker.taskId);
  const isCurrent =
    isAtWork(worker) &&
    owner !== undefined &&
    owner.mandateHash === worker.mandateHash &&
    (due.get(owner.id) ?? owner.enrollment) === 'current' &&
    !ENDS.has(owner.state);
  return isCurrent ? 'current' : 'held-legacy';
}

const WORKER_STATES: readonly ExecutionState[] = [
  'ready',
  'running',
  'running',
  'retrying',
  'paused',
  'blocked',
  'completed',
  'failed',
];

/** Workers of all kinds: of this task, of its id with another mandate, of nobody, of a task that is gone. */
function addWorkers(parts: RestoreParts, { tasks, executions, hosts }: Dump): void {
  const { random, db } = parts;
  // One that an earlier restore has brought stays as it is.
  if (executions.length > 12) return;
  for (const task of tasks) {
    if (!random.chance(0.25)) continue;
    insert(db, 'execution', workerOf(parts, task, hosts.at(-1)?.id ?? null));
    parts.reached('restored_worker');
  }
}

function workerOf(parts: RestoreParts, task: TaskRecord, host: HostId | null): ExecutionRecord {
  const { random } = parts;
  const [matches, owned] = [random.chance(0.6), random.chance(0.85)];
  const state = random.pick(WORKER_STATES);
  const now = parts.now();
  const mandateHash = matches ? task.mandateHash : 'of another mandate';
  const { id: taskId, conversationId } = task;
  const nobodys = { taskId: null, mandateHash: null, conversationId: null };
  return {
    id: parts.ids.next('execution'),
    ...(owned ? { taskId, mandateHash, conversationId } : nobodys),
    enrollment: 'current',
    state,
    version: 1,
    hostId: state === 'running' ? host : null,
    job: 'a part of it',
    outcome: null,
    deadline: random.chance(0.2) ? now + random.below(60 * MINUTE) : null,
    createdAt: now,
    changedAt: now,
    endedAt: OVER.has(state) ? now : null,
  };
}

const PARKABLE = new Set(['active', 'waiting', 'paused', 'blocked']);

/** A task that stands still without a reason, with the event of how it came to. */
function park(parts: RestoreParts, { tasks, conversations, turns, runs }: Dump): string | null {
  const { db, random } = parts;
  const running = new Set<string>([
    ...turns.filter(({ state }) => state !== 'ended').map(({ taskId }) => taskId),
    ...runs.map(({ taskId }) => taskId),
  ]);
  const able = tasks.filter(
    ({ id, state, enrollment }) =>
      enrollment === 'current' && !running.has(id) && PARKABLE.has(state),
  );
  if (able.length === 0) return null;
  const task = random.pick(able);
  const conversation = conversations.find(({ id }) => id === task.conversationId);
  if (conversation === undefined) return null;
  const seq = conversation.seq + 1;
  const at = parts.now();
  db.prepare('update conversation set seq = ? where id = ?').run(seq, conversation.id);
  db.prepare(
    `update task set enrollment = 'current', state = 'blocked', reason = null, wait_kind = null, wait_id = null,
       wait_until = null, wait_question = null, due_at = deadline, version = version + 1,
       changed_at = ? where id = ?`,
  ).run(at, task.id);
  insert(db, 'event', {
    conversationId: conversation.id,
    seq,
    id: parts.ids.next('event'),
    type: 'task.moved',
    taskId: task.id,
    runId: null,
    turnId: null,
    fromState: task.state,
    toState: 'blocked',
    reason: null,
    by: 'host:older',
    at,
    data: null,
  });
  parts.reached('parked_without_reason');
  return task.id;
}

function insert(db: DatabaseSync, table: string, row: object): void {
  const entries = Object.entries(row) as [string, string | number | null][];
  const columns = entries.map(([name]) => name.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`));
  const marks = columns.map(() => '?').join(', ');
  db.prepare(
    `insert into "${table}" (${columns.map((name) => `"${name}"`).join(', ')}) values (${marks})`,
  ).run(...entries.map(([, value]) => value));
}
