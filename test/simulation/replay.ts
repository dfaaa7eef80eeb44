// V17: what every record says of its state equals the replay of its events and step rows. It knows
// the tables of moves and nothing else of the product.
import { TASK_MOVES, type TaskState } from '../../src/core/task/moves.ts';
import type { RunRecord } from '../../src/core/run/record.ts';
import type { ConversationRecord, EventRecord } from '../../src/core/session/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { StepRecord, TurnRecord } from '../../src/core/turn/record.ts';
import { dataOf, group, type Dump } from './dump.ts';

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
  const evidence = evidenceOf(dump);
  return [
    ...dump.tasks.flatMap((task) => differences(task.id, task, replayTask(task, evidence, bounds))),
    ...dump.tasks.flatMap((task) => illegalMoves(task.id, evidence)),
    ...dump.runs.flatMap((run) => differences(run.id, run, replayRun(run, evidence))),
    ...dump.turns.flatMap((turn) => differences(turn.id, turn, replayTurn(turn, evidence))),
    ...dump.conversations.flatMap((one) =>
      differences(one.id, one, replayConversation(one, evidence)),
    ),
    ...judgeQueued(dump),
  ];
}

interface Evidence {
  readonly ofTask: ReadonlyMap<string, EventRecord[]>;
  readonly ofRun: ReadonlyMap<string, EventRecord[]>;
  readonly ofTurn: ReadonlyMap<string, EventRecord[]>;
  readonly ofConversation: ReadonlyMap<string, EventRecord[]>;
  readonly stepsOfTurn: ReadonlyMap<string, StepRecord[]>;
  readonly stepsOfConversation: ReadonlyMap<string, StepRecord[]>;
  /** Inputs that the host itself wrote. */
  readonly generated: ReadonlySet<string>;
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
    stepsOfConversation: group(dump.steps, (step) => step.conversationId),
    generated: new Set(byHost.map((event) => String(dataOf(event)['messageId']))),
  };
}

type Replayed<R> = Partial<R>;

function replayTask(task: TaskRecord, evidence: Evidence, bounds: Bounds): Replayed<TaskRecord> {
  const events = evidence.ofTask.get(task.id) ?? [];
  const created = events.find((event) => event.type === 'task.created');
  const moves = events.filter((event) => event.type === 'task.moved');
  const last = moves.at(-1);
  const state = (last?.toState ?? created?.toState ?? 'none') as TaskState;
  const hasEnded = TASK_MOVES[state]?.length === 0;
  return {
    state,
    reason: (last?.reason ?? null) as TaskRecord['reason'],
    enrollment: 'current',
    createdAt: created?.at ?? -1,
    endedAt: hasEnded ? (last?.at ?? null) : null,
    deadline: bounds.deadlineMs === null ? null : (created?.at ?? -1) + bounds.deadlineMs,
    turnsLimit: bounds.turns,
    tokensLimit: bounds.tokens,
    costLimit: bounds.cost,
    continuationsLimit: bounds.continuations,
    ...replayCounts(events, evidence),
    waitKind: (state === 'waiting' && last !== undefined
      ? (dataOf(last)['wait'] ?? null)
      : null) as TaskRecord['waitKind'],
    waitUntil: null,
    recoveryEpoch: 1,
    recoveryAttempts: 0,
    recoveryLifetimeAttempts: 0,
    recoveryNextAt: null,
  };
}

/** What a task has spent: turns when they start, tokens and money when they end, corrections in a row. */
function replayCounts(events: readonly EventRecord[], evidence: Evidence): Replayed<TaskRecord> {
  let turnsUsed = 0;
  let tokensUsed = 0;
  let costUsed = 0;
  let correctionsUsed = 0;
  for (const event of events) {
    const data = dataOf(event);
    if (event.type === 'turn.started') {
      turnsUsed += 1;
      const head = (data['messageIds'] as readonly string[])[0] ?? '';
      if (!evidence.generated.has(head)) correctionsUsed = 0;
    }
    if (event.type === 'message.accepted' && evidence.generated.has(String(data['messageId']))) {
      correctionsUsed += 1;
    }
    if (event.type !== 'turn.ended') continue;
    for (const step of evidence.stepsOfTurn.get(event.turnId ?? '') ?? []) {
      tokensUsed += (step.inputTokens ?? 0) + (step.outputTokens ?? 0);
      costUsed += step.cost ?? 0;
    }
  }
  return { turnsUsed, tokensUsed, costUsed, continuationsUsed: 0, correctionsUsed };
}

function illegalMoves(taskId: string, evidence: Evidence): readonly string[] {
  const problems: string[] = [];
  let state: string = 'none';
  for (const event of evidence.ofTask.get(taskId) ?? []) {
    if (event.type === 'task.created') state = event.toState ?? 'none';
    if (event.type !== 'task.moved') continue;
    const may: readonly string[] = TASK_MOVES[event.fromState as TaskState] ?? [];
    if (event.fromState !== state || !may.includes(event.toState ?? '')) {
      problems.push(
        `T-3 ${taskId} was ${state} and moved from ${event.fromState} to ${event.toState}`,
      );
    }
    state = event.toState ?? 'none';
  }
  return problems;
}

const RUN_ENDS = {
  'run.completed': 'completed',
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
} as const;

function replayRun(run: RunRecord, evidence: Evidence): Replayed<RunRecord> {
  const events = evidence.ofRun.get(run.id) ?? [];
  const queued = events.find((event) => event.type === 'run.queued');
  const ends = events.filter((event) => event.type in RUN_ENDS);
  const [end] = ends;
  const data = end === undefined ? {} : dataOf(end);
  return {
    state: ends.length > 1 ? ('ended twice' as 'open') : stateOfRun(end),
    createdAt: queued?.at ?? -1,
    endedAt: end?.at ?? null,
    outcomeCode: (data['code'] ?? null) as string | null,
    outcomeId: (data['outboxId'] ?? null) as RunRecord['outcomeId'],
  };
}

function stateOfRun(end: EventRecord | undefined): RunRecord['state'] {
  return end === undefined ? 'open' : RUN_ENDS[end.type as keyof typeof RUN_ENDS];
}

function replayTurn(turn: TurnRecord, evidence: Evidence): Replayed<TurnRecord> {
  const events = evidence.ofTurn.get(turn.id) ?? [];
  const started = events.find((event) => event.type === 'turn.started');
  const ended = events.find((event) => event.type === 'turn.ended');
  const isStopping = events.some((event) => event.type === 'turn.stopping');
  return {
    state: ended !== undefined ? 'ended' : isStopping ? 'stopping' : 'running',
    end: (ended === undefined ? null : dataOf(ended)['end']) as TurnRecord['end'],
    token: (started === undefined ? -1 : dataOf(started)['token']) as number,
    firstSeq: started?.seq ?? -1,
    startedAt: started?.at ?? -1,
    endedAt: ended?.at ?? null,
  };
}

/** A claim, a stop and a takeover each take the next token; the last event or step is the version. */
function replayConversation(
  conversation: ConversationRecord,
  evidence: Evidence,
): Replayed<ConversationRecord> {
  let token = 0;
  let turnId: string | null = null;
  let seq = 0;
  for (const event of evidence.ofConversation.get(conversation.id) ?? []) {
    seq = Math.max(seq, event.seq);
    if (event.type === 'turn.started') {
      token += 1;
      turnId = event.turnId;
    }
    if (event.type === 'turn.stopping') token += 1;
    if (event.type !== 'turn.ended') continue;
    turnId = null;
    const end = String(dataOf(event)['end']);
    if (end === 'interrupted' || end === 'stopped') token += 1;
  }
  for (const step of evidence.stepsOfConversation.get(conversation.id) ?? []) {
    seq = Math.max(seq, step.seq, step.finishedSeq ?? 0);
  }
  return { token, seq, turnId: turnId as ConversationRecord['turnId'] };
}

/** Each entry of the outbox stands at the place of the event that queued it, and the other way round. */
function judgeQueued(dump: Dump): readonly string[] {
  const queued = new Map<string, EventRecord>();
  const problems: string[] = [];
  for (const event of dump.events) {
    if (!['reply.queued', 'notice.queued', 'command.answered'].includes(event.type)) continue;
    const id = String(dataOf(event)['outboxId']);
    // A stop answers its command with the notice that it queued anyway.
    if (!queued.has(id)) queued.set(id, event);
  }
  for (const entry of dump.outbox) {
    const event = queued.get(entry.id);
    if (event?.seq !== entry.seq)
      problems.push(`V17 ${entry.id} was queued by no event of its place`);
  }
  if (queued.size !== dump.outbox.length)
    problems.push('V17 an event queued what is not in the outbox');
  return problems;
}

function differences<R extends object>(
  name: string,
  record: R,
  replayed: Replayed<R>,
): readonly string[] {
  const problems: string[] = [];
  for (const key of Object.keys(replayed) as (keyof R & string)[]) {
    if (record[key] === replayed[key]) continue;
    problems.push(
      `V17 ${name}: ${key} is ${String(record[key])}, its events say ${String(replayed[key])}`,
    );
  }
  return problems;
}
