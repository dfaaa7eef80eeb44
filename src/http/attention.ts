import type { ApprovalRecord } from '../core/approval/record.ts';
import type { LimiterRecord } from '../core/budget/record.ts';
import type { OperationRecord } from '../core/maintenance/record.ts';
import { waysOfOperation } from '../core/maintenance/reasons.ts';
import { reasonEntry, waysOf } from '../core/notice/reasons.ts';
import type { StormRecord } from '../core/recovery/record.ts';
import type { TaskRecord } from '../core/task/record.ts';
import type { Engine } from '../engine/engine.ts';
import { explainTask } from '../engine/task/why.ts';
import { ABOVE_ALL_IDS } from '../kernel/ids.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { StoreAlarm } from '../ports/store.ts';
import type { AttentionItem } from '../wire/status.ts';
import {
  limitersOf,
  sayAlarm,
  sayApproval,
  sayClock,
  sayHeld,
  sayLimiter,
  saySafeMode,
} from './view/attention.ts';
import { sayBriefly } from './view/maintenance.ts';
import { SAFE_MODE_OFF } from './view/speech.ts';

/** Open tasks that are looked through; of more it is said that there are so many. */
export const TASKS_COUNTED = 1_000;
/** More would not be read, and each needs its explanation. */
const ITEMS_MAX = 100;

/** What waits for a person, as the records have it. */
interface Waiting {
  readonly tasks: readonly TaskRecord[];
  readonly approvals: readonly ApprovalRecord[];
  readonly limiters: readonly LimiterRecord[];
  readonly isClockDistrusted: boolean;
  readonly alarm: StoreAlarm | null;
  readonly storm: StormRecord | null;
  /** Older tasks that the boundary holds: one line speaks for all of them (B-10). */
  readonly held: number;
  readonly operations: OperationCounts;
}

export interface OperationCounts {
  readonly running: number;
  readonly waiting: number;
  readonly blocked: number;
}

/** How many things wait for a person, and how many of them are approvals. */
export async function countWaiting(
  engine: Engine,
  open: readonly TaskRecord[],
): Promise<{ readonly all: number; readonly approvals: number }> {
  const waiting = await gather(engine, open);
  const { tasks, approvals, operations } = waiting;
  const standing = operations.blocked + operations.waiting;
  const others = approvals.length + standing + hostItems(engine, waiting).length;
  return { all: tasks.length + others, approvals: approvals.length };
}

/** Maintenance operations that are not over, by state. */
export async function countOperations({ store }: Engine): Promise<OperationCounts> {
  const {
    running = 0,
    waiting = 0,
    blocked = 0,
  } = (await store.query('operation.standing', {})) ?? {};
  return { running, waiting, blocked };
}

/** What waits for a person, the host's own troubles first, each with the command that resolves it. */
export async function readAttention(engine: Engine): Promise<readonly AttentionItem[]> {
  const open = await engine.store.query('task.open', { limit: TASKS_COUNTED });
  const waiting = await gather(engine, open);
  const { tasks, approvals } = waiting;
  const ofHost = [...hostItems(engine, waiting), ...(await operationItems(engine, waiting))];
  const left = Math.max(0, ITEMS_MAX - ofHost.length);
  const ofApprovals = approvals.slice(0, left).map((approval) => ofApproval(engine, approval));
  const ofTasks = tasks
    .slice(0, Math.max(0, left - ofApprovals.length))
    .map((task) => ofTask(engine, task));
  return [...ofHost, ...(await Promise.all([...ofApprovals, ...ofTasks]))];
}

/** What is of the host itself, the worst first. */
function hostItems(engine: Engine, waiting: Waiting): readonly AttentionItem[] {
  const { limiters, isClockDistrusted, alarm, storm, held } = waiting;
  return [
    ...(storm === null ? [] : [ofStorm(engine, storm)]),
    ...(isClockDistrusted ? [ofClock(engine)] : []),
    ...(alarm === null ? [] : [ofAlarm(engine, alarm)]),
    ...limiters.map((limiter) => ofLimiter(engine, limiter)),
    ...(held === 0 ? [] : [ofHeld(engine, held)]),
  ];
}

/** Conversations in which no turn begins: those that an admin must open, then those that go on by themselves. */
async function operationItems(
  engine: Engine,
  { operations }: Waiting,
): Promise<readonly AttentionItem[]> {
  const list = async (state: 'blocked' | 'waiting'): Promise<readonly OperationRecord[]> => {
    if (operations[state] === 0) return [];
    const asked = { state, conversationId: '', before: ABOVE_ALL_IDS, limit: ITEMS_MAX };
    return engine.store.query('operation.list', asked);
  };
  const rows = [...(await list('blocked')), ...(await list('waiting'))].slice(0, ITEMS_MAX);
  return Promise.all(rows.map((row) => ofOperation(engine, row)));
}

async function gather(engine: Engine, open: readonly TaskRecord[]): Promise<Waiting> {
  const { clock, safeMode: storm } = engine.health();
  const standing = await engine.store.query('recovery.standing', {});
  const approvals = await engine.store.query('approval.list', {
    state: 'open',
    conversationId: '',
    before: ABOVE_ALL_IDS,
    limit: LIMITS.listLimitMax,
  });
  // What is asked of history is answered once it is woken.
  const asleep = new Set(open.filter(isHistory).map(({ id }) => id));
  return {
    tasks: open.filter((task) => !isHistory(task) && needsPerson(task)),
    approvals: approvals.filter(({ taskId }) => !asleep.has(taskId)),
    limiters: limitersOf(engine).filter(({ state }) => state === 'down' || state === 'refused'),
    isClockDistrusted: !clock.isTrusted,
    alarm: engine.store.alarm ?? null,
    storm,
    held: standing?.held ?? 0,
    operations: await countOperations(engine),
  };
}

function isHistory({ enrollment }: TaskRecord): boolean {
  return enrollment !== 'current';
}

/** Other waits end by themselves, an assessment among them; an approval is told for itself. */
function needsPerson({ state, waitKind }: TaskRecord): boolean {
  if (state === 'waiting') return waitKind === 'answer';
  return state === 'blocked' || state === 'paused';
}

async function ofTask({ parts }: Engine, task: TaskRecord): Promise<AttentionItem> {
  const { id, state, reason } = task;
  const { locale, timeZone } = parts.options;
  const explanation = await explainTask(parts, id, { locale, timeZone, isBrief: true });
  // A question is answered in words, not by a command.
  const way = task.waitKind === 'answer' ? undefined : waysOf(task)[0];
  return {
    level: reasonEntry(reason)?.level ?? 'waiting',
    code: reason ?? state,
    subjectId: id,
    sentence: explanation?.sentence ?? '',
    command: way?.command ?? null,
    taskId: id,
  };
}

async function ofApproval(engine: Engine, approval: ApprovalRecord): Promise<AttentionItem> {
  const { id, taskId, kind } = approval;
  const task = await engine.store.query('task.byId', { id: taskId });
  return {
    level: kind === 'uncertain' ? 'escalation' : 'waiting',
    code: kind === 'uncertain' ? 'uncertain_effect' : 'awaits_approval',
    subjectId: id,
    sentence: sayApproval(engine, approval, task),
    command: `/approve ${id}`,
    taskId,
  };
}

async function ofOperation(engine: Engine, row: OperationRecord): Promise<AttentionItem> {
  const { id, state, reason } = row;
  return {
    level: state === 'blocked' ? 'blocked' : 'waiting',
    code: reason ?? 'maintenance_waiting',
    subjectId: id,
    sentence: await sayBriefly(engine, row),
    command: waysOfOperation(row)[0]?.command ?? null,
    taskId: null,
  };
}

function ofLimiter(engine: Engine, limiter: LimiterRecord): AttentionItem {
  return {
    level: limiter.state === 'refused' ? 'blocked' : 'waiting',
    code: `provider_${limiter.state}`,
    subjectId: limiter.account,
    sentence: sayLimiter(engine, limiter),
    command: null,
    taskId: null,
  };
}

function ofStorm(engine: Engine, storm: StormRecord): AttentionItem {
  return {
    level: 'escalation',
    code: 'safe_mode',
    subjectId: storm.id,
    sentence: saySafeMode(engine, storm),
    command: SAFE_MODE_OFF,
    taskId: null,
  };
}

function ofHeld(engine: Engine, held: number): AttentionItem {
  return {
    level: 'info',
    code: 'held_legacy',
    subjectId: engine.health().hostId,
    sentence: sayHeld(engine, held),
    command: '/tasks held',
    taskId: null,
  };
}

function ofClock(engine: Engine): AttentionItem {
  return {
    level: 'escalation',
    code: 'clock_distrusted',
    subjectId: engine.health().hostId,
    sentence: sayClock(engine),
    command: '/clock confirm',
    taskId: null,
  };
}

function ofAlarm(engine: Engine, alarm: StoreAlarm): AttentionItem {
  return {
    level: 'escalation',
    code: `store_${alarm.code}`,
    subjectId: engine.health().hostId,
    sentence: sayAlarm(engine, alarm),
    command: null,
    taskId: null,
  };
}
