// V17 and V15 of tasks: state, wait, counts and bounds equal the replay of their events.
import { TASK_MOVES, type TaskState } from '../../src/core/task/moves.ts';
import type { EventRecord } from '../../src/core/session/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { StepRecord } from '../../src/core/turn/record.ts';
import { dataOf, type Dump } from './dump.ts';
import type { TaskBounds } from './options.ts';
import type { Problems } from './problems.ts';
import { claimedBy, compare, fold, type Evidence, type Fold } from './replay-fold.ts';

type Counted =
  | 'turnsUsed'
  | 'tokensUsed'
  | 'costUsed'
  | 'correctionsUsed'
  | 'continuationsUsed'
  | 'quotaWaits';
type TaskReplay = Readonly<Record<string, string | number | null>> &
  Readonly<Record<Counted, number>>;

const FRESH: TaskReplay = {
  enrollment: null,
  state: 'unmade',
  reason: null,
  waitKind: null,
  waitUntil: null,
  checkpoint: null,
  deadline: null,
  turnsLimit: null,
  turnsUsed: 0,
  tokensLimit: null,
  tokensUsed: 0,
  costLimit: null,
  costUsed: 0,
  continuationsLimit: null,
  continuationsUsed: 0,
  correctionsUsed: 0,
  quotaWaits: 0,
  recoveryState: 'none',
  recoveryEpoch: 1,
  recoveryAttempts: 0,
  recoveryLifetimeAttempts: 0,
  recoveryNextAt: null,
  recoveryOutcome: null,
  recoveryGrantedAt: null,
  createdAt: 'never',
  endedAt: null,
};

/** What no event says: the configured bounds, and tasks whose mark a restore has taken. */
export interface Given {
  readonly bounds: TaskBounds;
  readonly unmarked: ReadonlySet<string>;
}

export function judgeTasks(
  problems: Problems,
  dump: Dump,
  of: Given & { readonly evidence: Evidence },
): void {
  for (const task of dump.tasks) {
    const events = of.evidence.ofTask.get(task.id) ?? [];
    const replayed = fold(events, FRESH, FOLD, of.evidence);
    const mark = of.unmarked.has(task.id) ? { enrollment: 'unmarked' } : {};
    compare(problems, task, { ...replayed, ...mark });
    judgeMoves(problems, task.id, events);
    judgeFirstGrant(problems, task, { events, bounds: of.bounds });
    judgeDueAt(problems, task);
  }
}

/** How assessments and the boundary are replayed. */
const RECOVERY_FOLD: Fold<TaskReplay> = {
  'assessment.reserved': (task, event) => {
    const { epoch, attempt, lifetime, nextAt } = dataOf(event) as Record<string, number>;
    return {
      ...task,
      recoveryEpoch: epoch ?? 0,
      recoveryAttempts: attempt ?? 0,
      recoveryLifetimeAttempts: lifetime ?? 0,
      recoveryNextAt: nextAt ?? null,
      recoveryOutcome: 'reserved',
    };
  },
  'assessment.ended': (task, event) => {
    const data = dataOf(event) as Record<string, number>;
    const { inputTokens = 0, outputTokens = 0, cost = 0, nextAt = null, outcome } = data;
    return {
      ...task,
      tokensUsed: task.tokensUsed + inputTokens + outputTokens,
      costUsed: task.costUsed + cost,
      recoveryOutcome: String(outcome),
      recoveryNextAt: nextAt ?? task['recoveryNextAt'] ?? null,
    };
  },
  'recovery.state': (task, event) => {
    const { recovery, epoch, by, attempts, lifetime } = dataOf(event);
    const isNew = Number(epoch) !== task['recoveryEpoch'];
    // What an older version parked counts as used up.
    const counts = { recoveryAttempts: Number(attempts), recoveryOutcome: 'reserved' };
    const parked = { ...counts, recoveryLifetimeAttempts: Number(lifetime) };
    return {
      ...task,
      ...(by === 'repair' ? parked : {}),
      recoveryState: String(recovery),
      recoveryEpoch: Number(epoch),
      recoveryGrantedAt: null,
      ...(isNew ? FRESH_EPOCH : {}),
    };
  },
  'recovery.reset': (task, event) => ({
    ...task,
    ...FRESH_EPOCH,
    recoveryEpoch: Number(dataOf(event)['epoch']),
  }),
  // An assessment has waited long for its provider: it is told once, and looked at no more.
  'notice.queued': (task, event) =>
    dataOf(event)['code'] === 'assessment_unreached' ? { ...task, waitUntil: null } : task,
  'task.held': (task, event) => ({
    ...task,
    enrollment: 'held-legacy',
    state: event.toState ?? 'unmade',
    reason: event.reason,
    waitKind: null,
    waitUntil: null,
  }),
  // A wait of an import becomes a polling window; whom a resume has woken is assessed before all (B-8).
  'task.enrolled': (task, event) => {
    const { by, until } = dataOf(event);
    const window = until === undefined ? {} : { waitKind: null, waitUntil: until as number };
    const needs = by === 'resume' ? NEEDED : {};
    return { ...task, enrollment: 'current', ...window, ...needs };
  },
};

const NEEDED = { recoveryState: 'needed', recoveryGrantedAt: null };

/** What a move says of whether interrupted work may go on. */
function recoveryOf(event: EventRecord): Pick<TaskReplay, string> {
  if (event.reason === 'interrupted') return NEEDED;
  const isGranted = dataOf(event)['recovery'] === 'granted';
  return isGranted ? { recoveryState: 'granted', recoveryGrantedAt: event.at } : {};
}

/** A turn that begins on a `continue` has followed it. */
function followed(task: TaskReplay): Pick<TaskReplay, string> {
  const isGranted = task['recoveryState'] === 'granted';
  return isGranted ? { recoveryState: 'followed', recoveryGrantedAt: null } : {};
}

const FRESH_EPOCH = { recoveryAttempts: 0, recoveryOutcome: null };

const FOLD: Fold<TaskReplay> = {
  ...RECOVERY_FOLD,
  // What it was given stands in the event that made it.
  'task.created': (task, event) => ({
    ...task,
    state: event.toState ?? 'unmade',
    createdAt: event.at,
    ...(dataOf(event) as Pick<TaskReplay, string>),
  }),
  'task.moved': (task, event, evidence) => {
    const { wait = null, until = null } = dataOf(event) as Record<string, string | number>;
    // A model call that is answered ends the row of quota waits (T-12).
    const isOwn = event.reason !== 'interrupted';
    const before = isOwn && hasAnswered(event, evidence) ? 0 : task.quotaWaits;
    return {
      ...task,
      state: event.toState ?? 'unmade',
      reason: event.reason,
      waitKind: wait,
      waitUntil: until,
      quotaWaits: wait === 'quota' ? before + 1 : before,
      endedAt: hasEnded(event.toState) ? event.at : null,
      ...recoveryOf(event),
    };
  },
  'task.noted': (task, event) => ({ ...task, checkpoint: String(dataOf(event)['text']) }),
  'task.continued': (task, event) => ({
    ...task,
    continuationsUsed: Number(dataOf(event)['continuationsUsed']),
  }),
  'task.extended': (task, event) => ({ ...task, ...(dataOf(event) as Pick<TaskReplay, string>) }),
  // A turn is spent when it starts; a person's own words end the rows of what goes on by itself.
  'turn.started': (task, event, evidence) => {
    const { classifier, returns } = dataOf(event);
    const { tokens = 0, cost = 0 } = (classifier ?? {}) as Record<string, number>;
    return {
      ...spoken(task, event, evidence),
      ...followed(task),
      turnsUsed: task.turnsUsed + (returns === true ? 0 : 1),
      tokensUsed: task.tokensUsed + tokens,
      costUsed: task.costUsed + cost,
    };
  },
  'turn.continued': (task, event, evidence) => spoken(task, event, evidence),
  'message.accepted': (task, event, { message }) => {
    const isCorrective = message(dataOf(event)['messageId'])?.channel === 'host';
    return { ...task, correctionsUsed: task.correctionsUsed + (isCorrective ? 1 : 0) };
  },
  // Tokens and money are counted when the turn ends.
  'turn.ended': (task, event, evidence) => {
    const steps = evidence.stepsOfTurn.get(event.turnId ?? '') ?? [];
    const isCut = ['interrupted', 'stopped'].includes(String(dataOf(event)['end']));
    const tokens = (step: StepRecord): number => (step.inputTokens ?? 0) + (step.outputTokens ?? 0);
    const waitsAgain = task['waitKind'] === 'quota' || isCut;
    // Nothing of history changes, what a turn of it had spent included (V9).
    if (task['enrollment'] === 'held-legacy') return task;
    return {
      ...task,
      tokensUsed: task.tokensUsed + sum(steps, tokens),
      costUsed: task.costUsed + sum(steps, (step) => step.cost ?? 0),
      quotaWaits: hasAnswered(event, evidence) && !waitsAgain ? 0 : task.quotaWaits,
    };
  },
};

function spoken(task: TaskReplay, event: EventRecord, evidence: Evidence): TaskReplay {
  const isByPerson = claimedBy(event, evidence).some(({ kind }) => kind === 'genuine');
  return isByPerson ? { ...task, correctionsUsed: 0, continuationsUsed: 0 } : task;
}

/** Whether a model call of the event's turn was answered. */
function hasAnswered(event: EventRecord, { stepsOfTurn }: Evidence): boolean {
  const steps = stepsOfTurn.get(event.turnId ?? '') ?? [];
  return steps.some((step) => step.kind === 'model' && step.state === 'finished');
}

function sum(steps: readonly StepRecord[], of: (step: StepRecord) => number): number {
  return steps.reduce((total, step) => total + of(step), 0);
}

function movesFrom(state: string | null): readonly string[] {
  return TASK_MOVES[state as TaskState] ?? [];
}

function hasEnded(state: string | null): boolean {
  return movesFrom(state).length === 0;
}

/** V15: the configuration alone gives a new task its bounds. */
function judgeFirstGrant(
  problems: Problems,
  task: TaskRecord,
  of: { readonly events: readonly EventRecord[]; readonly bounds: TaskBounds },
): void {
  const created = of.events.find(({ type }) => type === 'task.created');
  if (created === undefined) return;
  const { turns, tokens, cost, continuations, deadlineMs } = of.bounds;
  const given = dataOf(created);
  const got = ['turnsLimit', 'tokensLimit', 'costLimit', 'continuationsLimit', 'deadline'];
  const deadline = deadlineMs === null ? null : task.createdAt + deadlineMs;
  const want = [turns, tokens, cost, continuations, deadline];
  const isAsConfigured = got.every((key, index) => given[key] === want[index]);
  problems.unless(isAsConfigured, () => `V15 ${task.id} was given ${created.data}`);
}

/** T-6 and T-7: what stands still comes due by its wait or its deadline, whichever is first. */
function judgeDueAt(problems: Problems, task: TaskRecord): void {
  const { state, waitUntil, deadline, dueAt, enrollment } = task;
  // The boundary says first what it is.
  if (enrollment === 'unmarked') return;
  // What is held comes due by nothing (B-4).
  const isOver = state === 'active' || hasEnded(state) || enrollment === 'held-legacy';
  const instants = [waitUntil, deadline].filter((at) => at !== null);
  const due = isOver || instants.length === 0 ? null : Math.min(...instants);
  problems.unless(dueAt === due, () => `V17 ${task.id} (${state}) is due at ${dueAt}, not ${due}`);
}

/** T-3: each move begins where the one before it ended, and the table knows it. */
function judgeMoves(problems: Problems, taskId: string, events: readonly EventRecord[]): void {
  let state: string | null = 'unmade';
  for (const { type, fromState, toState } of events) {
    if (type === 'task.created') state = toState;
    if (type !== 'task.moved' && type !== 'task.held') continue;
    const before = state;
    const isLegal = fromState === before && movesFrom(before).includes(String(toState));
    problems.unless(
      isLegal,
      () => `T-3 ${taskId} was ${before} and moved from ${fromState} to ${toState}`,
    );
    state = toState;
  }
}
