// What an installation is after an import: records of another time that carry no mark.
import type { ExecutionRecord } from '../../src/core/dispatch/record.ts';
import type { MessageRecord } from '../../src/core/inbox/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { ConversationId, TaskId } from '../../src/kernel/ids.ts';
import { DAY, HOUR } from '../../src/kernel/time.ts';
import type { Store, Write } from '../../src/ports/store.ts';
import {
  conversationRow,
  eventRow,
  executionRow,
  hostRow,
  idOf,
  messageRow,
  runRow,
  sessionRow,
  stepRow,
  taskRow,
  turnRow,
} from '../../src/testing/store-rows.ts';
import { mustPut } from '../../src/testing/store-calls.ts';

/** The instant at which a `HandClock` begins. */
export const BEGIN = 1_800_000_000_000;
const LONG_AGO = BEGIN - 8 * DAY;
/** The host that ran on the machine from which it came. */
export const FORMER = idOf('host', 99);
const FIRST_CONVERSATION = 100;
const CONVERSATIONS = 20;
const SEQ = 50;
/** The one list of workers that 43 tasks name, none of which is bound to any of them. */
const SAME_LIST = '{"workers":["w-1","w-2","w-3","w-4","w-5","w-6"]}';

/** Task n of an import: it belongs to no ongoing work by itself. */
export function oldTask(n: number, given: Partial<TaskRecord> = {}): TaskRecord {
  return taskRow({
    id: idOf('task', n),
    conversationId: placeOf(n),
    sessionId: idOf('session', FIRST_CONVERSATION + (n % CONVERSATIONS)),
    enrollment: 'unmarked',
    mandatePrincipal: 'key:anna',
    mandateAuthority: 'own',
    mandateOrigin: 'api',
    mandateText: `Old request ${n}`,
    mandateAt: LONG_AGO,
    mandateHash: hashOf(n),
    deadline: null,
    checkpoint: `half of ${n}`,
    turnsUsed: 3,
    tokensUsed: 1_000 + n,
    recoveryEpoch: 1,
    createdAt: LONG_AGO,
    changedAt: LONG_AGO + HOUR,
    version: 4,
    ...given,
  });
}

export function hashOf(n: number): string {
  return n.toString(16).padStart(64, '0');
}

/** The conversation of task n: the first is one that a person reads. */
export function placeOf(n: number): ConversationId {
  return idOf('conversation', FIRST_CONVERSATION + (n % CONVERSATIONS));
}

/** A message of task n; each task has few. */
export function oldMessage(n: number, given: Partial<MessageRecord> = {}): MessageRecord {
  const id = idOf('message', n);
  return messageRow({
    id,
    conversationId: placeOf(n),
    seq: n + SEQ,
    channel: 'api',
    externalId: id,
    principal: 'key:anna',
    authority: 'own',
    text: `Old request ${n}`,
    taskId: idOf('task', n),
    at: LONG_AGO,
    ...given,
  });
}

export function oldWorker(n: number, given: Partial<ExecutionRecord> = {}): ExecutionRecord {
  return executionRow({
    id: idOf('execution', n),
    taskId: idOf('task', n),
    mandateHash: hashOf(n),
    conversationId: placeOf(n),
    enrollment: 'unmarked',
    state: 'running',
    hostId: FORMER,
    createdAt: LONG_AGO,
    changedAt: LONG_AGO,
    ...given,
  });
}

/** A worker of which nobody knows whose it is. */
export function strayWorker(n: number): ExecutionRecord {
  return oldWorker(n, { taskId: null, mandateHash: null, conversationId: null });
}

/** The conversations of an import, with nothing in them. */
export function oldPlaces(): readonly Write[] {
  const numbers = Array.from({ length: CONVERSATIONS }, (_, index) => FIRST_CONVERSATION + index);
  return numbers.flatMap((n): readonly Write[] => {
    const [id, sessionId] = [idOf('conversation', n), idOf('session', n)];
    const channel = n === FIRST_CONVERSATION ? 'terminal' : 'api';
    const row = { id, sessionId, channel, address: `old${n}`, seq: 1_000, createdAt: LONG_AGO };
    return [
      { write: 'conversation.insert', row: conversationRow(row) },
      { write: 'session.insert', row: sessionRow({ id: sessionId, conversationId: id }) },
    ];
  });
}

/** How the 125 that were not active stood, again and again. */
const STOOD: readonly Partial<TaskRecord>[] = [
  { state: 'waiting', reason: 'awaits_instant', waitKind: 'instant', waitUntil: BEGIN - 7 * DAY },
  { state: 'waiting', reason: 'awaits_answer', waitKind: 'answer', waitUntil: BEGIN - DAY },
  { state: 'waiting', reason: 'awaits_quota', waitKind: 'quota', waitUntil: BEGIN - 7 * DAY },
  { state: 'waiting', reason: 'awaits_provider', waitKind: 'provider', waitId: 'elsewhere' },
  { state: 'waiting', reason: 'interrupted', waitKind: 'assessment', recoveryState: 'needed' },
  { state: 'waiting', reason: null, waitKind: null, waitUntil: BEGIN - 7 * DAY },
  { state: 'paused', reason: 'paused' },
  { state: 'blocked', reason: 'no_outcome' },
  { state: 'blocked', reason: null },
  {
    state: 'waiting',
    reason: 'interrupted',
    waitKind: 'assessment',
    recoveryState: 'needed',
    recoveryAttempts: 3,
    recoveryOutcome: 'failed',
  },
];
const ACTIVE = 72;
const GRANTED = 46;
const SAME_LISTED = 43;
/** Unfinished tasks that nothing proves. */
export const UNPROVEN = 197;
export const STRAYS = 6;

function unproven(n: number): readonly Write[] {
  const isActive = n < ACTIVE;
  const stood = isActive ? activeOf(n) : STOOD[n % STOOD.length];
  const task = oldTask(n, { ...stood, ...(n % 7 === 0 ? { deadline: BEGIN - DAY } : {}) });
  const writes: Write[] = [{ write: 'task.insert', row: { ...task, dueAt: dueOf(task) } }];
  // What was said to it was claimed, and its turn has its end.
  const turnId = idOf('turn', n);
  const claimed = { state: 'claimed', turnId, claimedSeq: n + SEQ } as const;
  const of = { conversationId: task.conversationId, taskId: task.id, turnId };
  const ended = { state: 'ended', end: 'interrupted', endedAt: LONG_AGO + HOUR } as const;
  writes.push(
    { write: 'message.insert', row: oldMessage(n, claimed) },
    { write: 'turn.insert', row: turnRow({ id: turnId, ...of, ...ended, hostId: FORMER }) },
    { write: 'step.insert', row: stepRow({ ...of, seq: 2_000 + n, state: 'uncertain' }) },
    { write: 'event.insert', row: eventRow({ ...of, seq: 4_000 + n, type: 'turn.started' }) },
  );
  if (isActive && n < GRANTED) writes.push({ write: 'message.insert', row: goOn(n) });
  if (n % 10 === 3) {
    const run = { id: idOf('run', n), conversationId: task.conversationId, taskId: task.id };
    writes.push({ write: 'run.insert', row: runRow(run) });
  }
  return writes;
}

function dueOf({ waitUntil, deadline, state }: TaskRecord): number | null {
  return state === 'active' ? null : (waitUntil ?? deadline);
}

/** The input that a permission to continue had made, and nobody has claimed. */
function goOn(n: number): MessageRecord {
  const id = idOf('message', 10_000 + n);
  const made = { kind: 'generated', channel: 'recovery', principal: 'host:gone' } as const;
  return oldMessage(n, { id, ...made, externalId: `${idOf('task', n)}:4`, seq: 3_000 + n });
}

function activeOf(n: number): Partial<TaskRecord> {
  if (n >= GRANTED) return {};
  const granted = { recoveryState: 'granted', recoveryGrantedAt: BEGIN - HOUR } as const;
  return { ...granted, ...(n < SAME_LISTED ? { outcomeData: SAME_LIST } : {}) };
}

/** Which of them go on, and by what; `MISBOUND` has a worker of another mandate. */
export const BY_INPUT = idOf('task', 301);
export const BY_READY = idOf('task', 302);
export const BY_RUNNING = idOf('task', 303);
export const MISBOUND = idOf('task', 304);
export const PROVEN: readonly TaskId[] = [BY_INPUT, BY_READY, BY_RUNNING];

function proven(): readonly Write[] {
  return [
    { write: 'task.insert', row: oldTask(301) },
    { write: 'message.insert', row: oldMessage(301) },
    { write: 'task.insert', row: oldTask(302) },
    { write: 'execution.insert', row: oldWorker(302, { state: 'ready', hostId: null }) },
    { write: 'task.insert', row: oldTask(303) },
    { write: 'execution.insert', row: oldWorker(303) },
    { write: 'task.insert', row: oldTask(304) },
    { write: 'execution.insert', row: oldWorker(304, { mandateHash: hashOf(1) }) },
  ];
}

/**
 * The import: 197 unfinished tasks older than a day, 72 of them active, 46 with a saved permission to
 * continue, 43 of those resting on one list of workers without task ids; 6 such workers. Besides them three
 * tasks that an input, a ready and a running worker prove, and one whose worker has another mandate.
 */
export async function importHistory(store: Store): Promise<void> {
  const former = hostRow({ id: FORMER, startedAt: LONG_AGO, stoppedAt: LONG_AGO + HOUR });
  await mustPut(
    store,
    { write: 'host.insert', row: { ...former, end: 'clean' } },
    ...oldPlaces(),
    ...Array.from({ length: UNPROVEN }, (_, n) => unproven(n)).flat(),
    ...Array.from({ length: STRAYS }, (_, n): Write => ({
      write: 'execution.insert',
      row: strayWorker(400 + n),
    })),
    ...proven(),
  );
}
