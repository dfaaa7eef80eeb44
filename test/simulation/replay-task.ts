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
  recoveryEpoch: 1,
  recoveryAttempts: 0,
  recoveryLifetimeAttempts: 0,
  recoveryNextAt: null,
  createdAt: 'never',
  endedAt: null,
};

export function judgeTasks(
  problems: Problems,
  dump: Dump,
  of: { readonly evidence: Evidence; readonly bounds: TaskBounds },
): void {
  for (const task of dump.tasks) {
    const events = of.evidence.ofTask.get(task.id) ?? [];
    compare(problems, task, fold(events, FRESH, FOLD, of.evidence));
    judgeMoves(problems, task.id, events);
    judgeFirstGrant(problems, task, { events, bounds: of.bounds });
    judgeDueAt(problems, task);
  }
}

const FOLD: Fold<TaskReplay> = {
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
  const { state, waitUntil, deadline, dueAt } = task;
  const isOver = state === 'active' || hasEnded(state);
  const instants = [waitUntil, deadline].filter((at) => at !== null);
  const due = isOver || instants.length === 0 ? null : Math.min(...instants);
  problems.unless(dueAt === due, () => `V17 ${task.id} (${state}) is due at ${dueAt}, not ${due}`);
}

/** T-3: each move begins where the one before it ended, and the table knows it. */
function judgeMoves(problems: Problems, taskId: string, events: readonly EventRecord[]): void {
  let state: string | null = 'unmade';
  for (const { type, fromState, toState } of events) {
    if (type === 'task.created') state = toState;
    if (type !== 'task.moved') continue;
    const before = state;
    const isLegal = fromState === before && movesFrom(before).includes(String(toState));
    problems.unless(
      isLegal,
      () => `T-3 ${taskId} was ${before} and moved from ${fromState} to ${toState}`,
    );
    state = toState;
  }
}
