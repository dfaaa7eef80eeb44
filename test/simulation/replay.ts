// V17: what every record says of its state equals the replay of its events and step rows. It knows
// the table of a task's moves and nothing else of the product.
import { TASK_MOVES, type TaskState } from '../../src/core/task/moves.ts';
import type { RunRecord } from '../../src/core/run/record.ts';
import type { ConversationRecord, EventRecord } from '../../src/core/session/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { StepRecord, TurnRecord } from '../../src/core/turn/record.ts';
import { dataOf, group, type Dump } from './dump.ts';
import { Problems } from './problems.ts';

/** The bounds that every task of a run was given. */
export interface Bounds {
  readonly deadlineMs: number | null;
  readonly turns: number;
  readonly tokens: number;
  readonly cost: number;
  readonly continuations: number;
}

/** Where replay and record differ, each as one sentence. */
export function judgeReplay(dump: Dump, bounds: Bounds): readonly string[] {
  const problems = new Problems();
  const evidence = evidenceOf(dump);
  for (const task of dump.tasks) {
    const events = evidence.ofTask.get(task.id) ?? [];
    compare(problems, task, fold(events, freshTask(), TASK_FOLD, evidence));
    judgeMoves(problems, task.id, events);
    judgeGrant(problems, task, bounds);
  }
  for (const run of dump.runs) {
    compare(problems, run, fold(evidence.ofRun.get(run.id) ?? [], FRESH_RUN, RUN_FOLD, evidence));
  }
  for (const turn of dump.turns) {
    compare(
      problems,
      turn,
      fold(evidence.ofTurn.get(turn.id) ?? [], FRESH_TURN, TURN_FOLD, evidence),
    );
  }
  for (const one of dump.conversations) {
    const events = evidence.ofConversation.get(one.id) ?? [];
    compare(problems, one, fold(events, FRESH_CONVERSATION, CONVERSATION_FOLD, evidence));
  }
  judgeQueued(problems, dump);
  return problems.found;
}

interface Evidence {
  readonly ofTask: ReadonlyMap<string, EventRecord[]>;
  readonly ofRun: ReadonlyMap<string, EventRecord[]>;
  readonly ofTurn: ReadonlyMap<string, EventRecord[]>;
  readonly ofConversation: ReadonlyMap<string, EventRecord[]>;
  readonly stepsOfTurn: ReadonlyMap<string, StepRecord[]>;
  /** Inputs that the host itself wrote. */
  readonly generated: ReadonlySet<unknown>;
}

function evidenceOf(dump: Dump): Evidence {
  const accepted = dump.events.filter((event) => event.type === 'message.accepted');
  const byHost = accepted.filter((event) => event.by.startsWith('host:'));
  return {
    ofTask: group(dump.events, (event) => event.taskId),
    ofRun: group(dump.events, (event) => event.runId),
    ofTurn: group(dump.events, (event) => event.turnId),
    ofConversation: group(dump.events, (event) => event.conversationId),
    stepsOfTurn: group(dump.steps, (step) => step.turnId),
    generated: new Set(byHost.map((event) => dataOf(event)['messageId'])),
  };
}

/** What each type of event makes of the state before it. */
type Fold<S> = Readonly<Record<string, (state: S, event: EventRecord, evidence: Evidence) => S>>;

function fold<S>(events: readonly EventRecord[], fresh: S, how: Fold<S>, evidence: Evidence): S {
  return events.reduce((state, event) => how[event.type]?.(state, event, evidence) ?? state, fresh);
}

type Counted = 'turnsUsed' | 'tokensUsed' | 'costUsed' | 'correctionsUsed';
type TaskReplay = Readonly<Record<string, string | number | null>> &
  Readonly<Record<Counted, number>>;

function freshTask(): TaskReplay {
  return {
    enrollment: null,
    state: 'unmade',
    reason: null,
    waitKind: null,
    waitUntil: null,
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
    recoveryEpoch: 1,
    recoveryAttempts: 0,
    recoveryLifetimeAttempts: 0,
    recoveryNextAt: null,
    createdAt: 'never',
    endedAt: null,
  };
}

const TASK_FOLD: Fold<TaskReplay> = {
  // What it was given stands in the event that made it.
  'task.created': (task, event) => ({
    ...task,
    state: event.toState ?? 'unmade',
    createdAt: event.at,
    ...(dataOf(event) as Pick<TaskReplay, string>),
  }),
  'task.moved': (task, event) => ({
    ...task,
    state: event.toState ?? 'unmade',
    reason: event.reason,
    waitKind: (dataOf(event)['wait'] ?? null) as string | null,
    endedAt: hasEnded(event.toState) ? event.at : null,
  }),
  // A turn is spent when it starts; a person's own words end the row of corrections.
  'turn.started': (task, event, { generated }) => {
    const inputs = dataOf(event)['messageIds'] as readonly unknown[];
    const isByHost = inputs.every((id) => generated.has(id));
    const correctionsUsed = isByHost ? task.correctionsUsed : 0;
    return { ...task, turnsUsed: task.turnsUsed + 1, correctionsUsed };
  },
  'message.accepted': (task, event, { generated }) => ({
    ...task,
    correctionsUsed: task.correctionsUsed + (generated.has(dataOf(event)['messageId']) ? 1 : 0),
  }),
  // Tokens and money are counted when the turn ends.
  'turn.ended': (task, event, { stepsOfTurn }) => {
    const steps = stepsOfTurn.get(event.turnId ?? '') ?? [];
    return {
      ...task,
      tokensUsed:
        task.tokensUsed + sum(steps, (step) => (step.inputTokens ?? 0) + (step.outputTokens ?? 0)),
      costUsed: task.costUsed + sum(steps, (step) => step.cost ?? 0),
    };
  },
};

function sum(steps: readonly StepRecord[], of: (step: StepRecord) => number): number {
  return steps.reduce((total, step) => total + of(step), 0);
}

function movesFrom(state: string | null): readonly string[] {
  return TASK_MOVES[state as TaskState] ?? [];
}

function hasEnded(state: string | null): boolean {
  return movesFrom(state).length === 0;
}

/** V15: nothing but the configuration gives a task its bounds. */
function judgeGrant(problems: Problems, task: TaskRecord, bounds: Bounds): void {
  const { deadlineMs, turns, tokens, cost, continuations } = bounds;
  const given = [task.turnsLimit, task.tokensLimit, task.costLimit, task.continuationsLimit];
  const isAsConfigured = given.join(' ') === [turns, tokens, cost, continuations].join(' ');
  problems.unless(isAsConfigured, () => `V15 ${task.id} may spend ${given.join(' ')}`);
  const deadline = deadlineMs === null ? null : task.createdAt + deadlineMs;
  problems.unless(task.deadline === deadline, () => `V15 ${task.id} has until ${task.deadline}`);
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

type RunReplay = Record<'state' | 'createdAt' | 'endedAt' | 'outcomeCode' | 'outcomeId', unknown>;
const FRESH_RUN: RunReplay = {
  state: 'unmade',
  createdAt: 'never',
  endedAt: null,
  outcomeCode: null,
  outcomeId: null,
};

const endOfRun =
  (end: RunRecord['state']) =>
  (run: RunReplay, event: EventRecord): RunReplay => ({
    ...run,
    state: run.state === 'open' ? end : 'ended twice',
    endedAt: event.at,
    outcomeCode: dataOf(event)['code'] ?? null,
    outcomeId: dataOf(event)['outboxId'],
  });

const RUN_FOLD: Fold<RunReplay> = {
  'run.queued': (run, event) => ({ ...run, state: 'open', createdAt: event.at }),
  'run.completed': endOfRun('completed'),
  'run.failed': endOfRun('failed'),
  'run.cancelled': endOfRun('cancelled'),
};

type TurnReplay = Record<
  keyof Pick<TurnRecord, 'state' | 'end' | 'token' | 'firstSeq' | 'startedAt' | 'endedAt'>,
  unknown
>;
const FRESH_TURN: TurnReplay = {
  state: 'unmade',
  end: null,
  token: 0,
  firstSeq: 0,
  startedAt: 'never',
  endedAt: null,
};

const TURN_FOLD: Fold<TurnReplay> = {
  'turn.started': (turn, event) => ({
    ...turn,
    state: 'running',
    token: dataOf(event)['token'],
    firstSeq: event.seq,
    startedAt: event.at,
  }),
  'turn.stopping': (turn) => ({ ...turn, state: 'stopping' }),
  'turn.ended': (turn, event) => ({
    ...turn,
    state: 'ended',
    end: dataOf(event)['end'],
    endedAt: event.at,
  }),
};

interface ConversationReplay {
  readonly token: number;
  readonly turnId: string | null;
}
const FRESH_CONVERSATION: ConversationReplay = { token: 0, turnId: null };

/** A claim, a stop and a takeover each take the next token. */
const CONVERSATION_FOLD: Fold<ConversationReplay> = {
  'turn.started': ({ token }, event) => ({ token: token + 1, turnId: event.turnId }),
  'turn.stopping': ({ token, turnId }) => ({ token: token + 1, turnId }),
  'turn.ended': ({ token }, event) => {
    const isTaken = ['interrupted', 'stopped'].includes(String(dataOf(event)['end']));
    return { token: token + (isTaken ? 1 : 0), turnId: null };
  },
};

const QUEUES: ReadonlySet<string> = new Set(['reply.queued', 'notice.queued', 'command.answered']);

/** Each entry of the outbox stands at the place of the event that queued it, and the other way round. */
function judgeQueued(problems: Problems, dump: Dump): void {
  const queued = new Map<unknown, number>();
  for (const event of dump.events) {
    if (!QUEUES.has(event.type)) continue;
    const id = dataOf(event)['outboxId'];
    // A stop answers its command with the notice that it queued anyway.
    if (!queued.has(id)) queued.set(id, event.seq);
  }
  for (const { id, seq } of dump.outbox) {
    problems.unless(queued.get(id) === seq, () => `V17 ${id} was queued by no event of its place`);
  }
  const isWhole = queued.size === dump.outbox.length;
  problems.unless(isWhole, () => 'V17 an event queued what is not in the outbox');
}

function compare(
  problems: Problems,
  record: TaskRecord | RunRecord | TurnRecord | ConversationRecord,
  replayed: object,
): void {
  const fields = record as unknown as Readonly<Record<string, unknown>>;
  for (const [key, value] of Object.entries(replayed)) {
    const say = (): string =>
      `V17 ${record.id}: ${key} is ${String(fields[key])}, its events say ${String(value)}`;
    problems.unless(fields[key] === value, say);
  }
}
