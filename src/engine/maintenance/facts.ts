import type { ExecutionRecord } from '../../core/dispatch/record.ts';
import { EXECUTION_MOVES } from '../../core/dispatch/record.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import { mergeConditions } from '../../core/maintenance/conditions.ts';
import type { StandingCondition } from '../../core/maintenance/record.ts';
import { readSeed } from '../../core/maintenance/summary.ts';
import type { ConversationRecord, SessionRecord } from '../../core/session/record.ts';
import { hasEnded } from '../../core/task/moves.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { wasAsked } from '../../core/turn/decide.ts';
import type { StepRecord } from '../../core/turn/record.ts';
import { ABOVE_ALL_IDS, type SessionId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { SessionFacts } from '../../text/session-facts.ts';
import type { EngineParts } from '../engine.ts';
import { foundIn } from './found.ts';
import { readAgain } from '../settle.ts';
import { isTaskTool } from '../turn/task-tools.ts';

/** Whose facts are read: a shortened session, and the task of the turn that is told them. */
export interface FactsAbout {
  readonly conversation: ConversationRecord;
  readonly task: TaskRecord | undefined;
  readonly session: SessionRecord;
}

type FactsParts = Pick<EngineParts, 'store' | 'clock' | 'log'>;

// How much of each is read; what is told of it follows the window.
const OPEN_MAX = LIMITS.namedMax;
const ENDED_MAX = LIMITS.namedMax;
// Open ones stand among them.
const ENDED_LOOKED_AT = 2 * ENDED_MAX;
const APPROVALS_MAX = 50;
const SESSIONS_MAX = 50;
const WORDS_LOOKED_AT = 30;
const WORDS_MAX = 3;
const WORKERS_MAX = 20;
const ENDED_WORKERS_MAX = 3;
const UNCERTAIN_MAX = LIMITS.recoveryShownMax;
const CALLS = { own: 40, other: 5, read: 10 } as const;

/**
 * What the records say that a turn of a shortened session has to be told (M-14, M-17), each list bounded
 * and oldest first. Calls are those that the session's requests no longer show. Rejects with a `StoreFault`.
 */
export async function readSessionFacts(
  parts: FactsParts,
  about: FactsAbout,
): Promise<SessionFacts> {
  const { conversation, session, task } = about;
  const { id: conversationId } = conversation;
  const open = await openTasks(parts, about);
  const perTask = await Promise.all(open.map((one) => readTask(parts, one, about)));
  const approvals = await readAgain(parts, 'approval.openOf', {
    conversationId,
    limit: APPROVALS_MAX,
  });
  const line = await lineOf(parts, session);
  const said = await newestSaid(parts, about, line);
  return {
    conditions: await conditionsOf(parts, session, said),
    openTasks: open.map((one) => taskFact(one, task)),
    finished: await finishedTasks(parts, about, line),
    doneCalls: perTask.flatMap(({ done }) => done).map(doneFact),
    uncertain: perTask.flatMap(({ uncertain }) => uncertain).map(uncertainFact),
    workers: perTask.flatMap(({ workers }) => workers).map(workerFact),
    approvals: approvals.map(({ id, taskId, tool, expiresAt }) => ({
      id,
      taskId,
      tool,
      expiresAt,
    })),
    latestWords: said.slice(-WORDS_MAX).map(({ at, text }) => ({ at, text })),
  };
}

/** Oldest first, and this turn's own in any case. */
async function openTasks(
  parts: FactsParts,
  { conversation, task }: FactsAbout,
): Promise<readonly TaskRecord[]> {
  const rows = await readAgain(parts, 'task.openOf', {
    conversationId: conversation.id,
    limit: OPEN_MAX,
  });
  const others = rows.filter(({ id, enrollment }) => enrollment === 'current' && id !== task?.id);
  const own = task === undefined || hasEnded(task.state) ? [] : [task];
  return [...others.toReversed(), ...own];
}

interface TaskRows {
  readonly done: readonly StepRecord[];
  readonly uncertain: readonly StepRecord[];
  readonly workers: readonly ExecutionRecord[];
}

async function readTask(
  parts: FactsParts,
  { id: taskId, conversationId }: TaskRecord,
  { session, task }: FactsAbout,
): Promise<TaskRows> {
  const isThis = taskId === task?.id;
  const calls = { conversationId, taskId, upTo: hiddenUpTo(session) };
  const [effects, reads, uncertain, workers] = await Promise.all([
    readAgain(parts, 'step.callsOf', {
      ...calls,
      state: '',
      repeatable: 'no',
      limit: isThis ? CALLS.own : CALLS.other,
    }),
    isThis
      ? readAgain(parts, 'step.callsOf', {
          ...calls,
          state: 'finished',
          repeatable: 'yes',
          limit: CALLS.read,
        })
      : [],
    readAgain(parts, 'step.callsOf', {
      ...calls,
      state: 'uncertain',
      repeatable: '',
      limit: UNCERTAIN_MAX,
    }),
    readAgain(parts, 'execution.ofTask', { taskId, limit: LIMITS.workersOfTaskMax }),
  ]);
  return {
    done: [...effects, ...reads].filter(isDone).toSorted((a, b) => a.seq - b.seq),
    uncertain: uncertain.toReversed(),
    workers: shownWorkers(workers),
  };
}

/** The place up to which no request of the session shows anything; of a handed over one, all before it. */
function hiddenUpTo({ cutSeq, firstSeq }: SessionRecord): number {
  return Math.max(cutSeq, firstSeq - 1);
}

function isDone(step: StepRecord): boolean {
  const hasRun = step.state === 'finished' || step.state === 'failed';
  return hasRun && !wasAsked(step) && !isTaskTool(step.tool ?? '');
}

/** Those that are under way by their ids, whatever else there was; of ended ones the newest. Oldest first. */
function shownWorkers(newestFirst: readonly ExecutionRecord[]): readonly ExecutionRecord[] {
  const isOver = ({ state }: ExecutionRecord): boolean => EXECUTION_MOVES[state].length === 0;
  const living = newestFirst.filter((worker) => !isOver(worker)).slice(0, WORKERS_MAX);
  const ended = newestFirst.filter(isOver).slice(0, ENDED_WORKERS_MAX);
  return [...ended.toReversed(), ...living.toReversed()];
}

/** The sessions that were handed over into this one, itself included, and where the first of them began. */
interface Line {
  readonly ids: ReadonlySet<SessionId>;
  readonly firstSeq: number;
}

async function lineOf(parts: FactsParts, session: SessionRecord): Promise<Line> {
  const ids = new Set([session.id]);
  if (session.previousId === null) return { ids, firstSeq: session.firstSeq };
  const rows = await readAgain(parts, 'session.list', {
    conversationId: session.conversationId,
    before: ABOVE_ALL_IDS,
    limit: SESSIONS_MAX,
  });
  const byId = new Map(rows.map((row) => [row.id, row]));
  let first = session;
  for (let next = byId.get(session.previousId); next !== undefined && !ids.has(next.id);) {
    ids.add(next.id);
    first = next;
    next = byId.get(next.previousId ?? next.id);
  }
  return { ids, firstSeq: first.firstSeq };
}

async function finishedTasks(
  parts: FactsParts,
  { conversation }: FactsAbout,
  { ids }: Line,
): Promise<SessionFacts['finished']> {
  const rows = await readAgain(parts, 'task.list', {
    state: '',
    enrollment: '',
    conversationId: conversation.id,
    before: ABOVE_ALL_IDS,
    limit: ENDED_LOOKED_AT,
  });
  return rows
    .filter(({ state, sessionId }) => hasEnded(state) && ids.has(sessionId))
    .slice(0, ENDED_MAX)
    .toReversed()
    .map(({ id, mandateText: request, state, endedAt: at }) => ({ id, request, state, at }));
}

/** What was said since `/new`; in the session before it, only what was said while it went on. Oldest first. */
async function newestSaid(
  parts: FactsParts,
  { conversation, session, task }: FactsAbout,
  { firstSeq }: Line,
): Promise<readonly MessageRecord[]> {
  const rows = await readAgain(parts, 'message.newestSaid', {
    conversationId: conversation.id,
    limit: WORDS_LOOKED_AT,
  });
  return rows
    .filter(({ claimedSeq }) => (claimedSeq ?? 0) >= firstSeq)
    .filter(
      ({ at, taskId }) => session.endedAt === null || at <= session.endedAt || taskId === task?.id,
    )
    .toReversed();
}

/**
 * Those of the seed, and those in the words behind it, which stand word for word before the facts: one that
 * lifts or changes an earlier one would be overruled there by what it changes.
 */
async function conditionsOf(
  parts: FactsParts,
  { seed, cutSeq }: SessionRecord,
  said: readonly MessageRecord[],
): Promise<readonly StandingCondition[]> {
  const known = readSeed(seed)?.conditions ?? [];
  const behind = said.filter(({ claimedSeq }) => (claimedSeq ?? 0) > cutSeq);
  return mergeConditions(known, await foundIn(parts, behind));
}

function taskFact(
  one: TaskRecord,
  task: TaskRecord | undefined,
): SessionFacts['openTasks'][number] {
  const { id, mandateText: request, state, waitKind: wait, checkpoint } = one;
  const { waitUntil: until, waitQuestion: question } = one;
  return { id, request, state, wait, until, question, checkpoint, isThis: id === task?.id };
}

function doneFact({
  taskId,
  tool,
  input,
  state,
  output,
  repeatable,
}: StepRecord): SessionFacts['doneCalls'][number] {
  const made = { taskId, tool: tool ?? '', args: input ?? '', outcome: state };
  return { ...made, result: output ?? '', isRepeatable: repeatable === 'yes' };
}

function uncertainFact({
  taskId,
  tool,
  input,
  startedAt: at,
}: StepRecord): SessionFacts['uncertain'][number] {
  return { taskId, tool: tool ?? '', args: input ?? '', at };
}

function workerFact({ id, taskId, job, state }: ExecutionRecord): SessionFacts['workers'][number] {
  return { id, taskId: taskId ?? '', job, state };
}
