// M, V7, V8, V10 and V20 of maintenance, read off the rows: operations, fences, what is told of them, and the
// sessions that they shorten.
import { isFenced, isOpen } from '../../src/core/maintenance/decide.ts';
import { BLOCK_REASONS, type OperationRecord } from '../../src/core/maintenance/record.ts';
import { OPERATION_REASONS, waysOfOperation } from '../../src/core/maintenance/reasons.ts';
import type { OutboxRecord } from '../../src/core/outbox/record.ts';
import type { RunRecord } from '../../src/core/run/record.ts';
import type {
  ConversationRecord,
  EventRecord,
  SessionRecord,
} from '../../src/core/session/record.ts';
import type { StepRecord } from '../../src/core/turn/record.ts';
import { renderStoredNotice } from '../../src/text/render.ts';
import { dataOf, group, type Dump } from './dump.ts';
import { Problems } from './problems.ts';

const REASONS: ReadonlySet<string> = new Set(BLOCK_REASONS);

/** Whether a run was ended by the fence of its conversation, and by nothing else. */
export function isEndedByFence({ outcomeCode }: Pick<RunRecord, 'outcomeCode'>): boolean {
  return REASONS.has(outcomeCode ?? '');
}

/** What holds of maintenance in every state. */
export function judgeMaintenance(dump: Dump): readonly string[] {
  const problems = new Problems();
  const moved = dump.events.filter(({ type }) => type.startsWith('operation.'));
  const events = group(moved, (event) => String(dataOf(event)['operationId']));
  const told = group(dump.outbox, ({ subjectId }) => subjectId);
  for (const operation of dump.operations) {
    judgeShape(problems, operation);
    const of = { events: events.get(operation.id) ?? [], told: told.get(operation.id) ?? [] };
    judgeTold(problems, operation, of);
  }
  for (const conversation of dump.conversations) judgeFence(problems, conversation, dump);
  judgeTurns(problems, dump);
  judgeRuns(problems, dump);
  judgeSessions(problems, dump);
  return problems.found;
}

/** V20: what an operation waits for is named by its record. */
function judgeShape(problems: Problems, operation: OperationRecord): void {
  const { id, state, reason, attemptAt, hostId, nextAttemptAt, endedAt } = operation;
  const isTried = attemptAt !== null;
  const say = (what: string) => (): string => `V20 ${id} is ${state} and ${what}`;
  problems.unless(isTried === (hostId !== null), say(`its try is of ${hostId}`));
  problems.unless(!isTried || state === 'running', say('has a try that is out'));
  const isDue = nextAttemptAt !== null;
  const wantsDue = (state === 'running' && !isTried) || state === 'waiting';
  problems.unless(isDue === wantsDue, say(`is next tried at ${nextAttemptAt}`));
  const hasReason = reason !== null;
  // One that was given up keeps why it was blocked.
  const fits = state === 'dropped' || hasReason === (state === 'blocked');
  problems.unless(fits, say(`has the reason ${reason}`));
  problems.unless((endedAt !== null) === !isOpen(operation), say(`ended at ${endedAt}`));
}

/** V7: one open operation at most, and a fence that says what it is. */
function judgeFence(problems: Problems, conversation: ConversationRecord, dump: Dump): void {
  const { id, fence, operationId } = conversation;
  const own = dump.operations.filter((one) => one.conversationId === id);
  const open = own.filter(isOpen);
  problems.unless(open.length <= 1, () => `V7 ${id} has ${open.length} open operations`);
  const named = own.find((one) => one.id === operationId);
  const state = named?.state ?? 'none';
  const [first] = open;
  const fits = FENCES[fence].includes(state) && (first === undefined || first === named);
  problems.unless(fits, () => `V7 ${id} has the fence ${fence}, ${operationId} is ${state}`);
  const inUse = dump.sessions.find((one) => one.id === conversation.sessionId);
  problems.unless(inUse?.endedAt === null, () => `M-16 ${id} is on a session that has ended`);
}

const FENCES: Readonly<Record<ConversationRecord['fence'], readonly string[]>> = {
  none: ['none'],
  shut: ['running', 'waiting'],
  blocked: ['blocked'],
  passed: ['done'],
};

/** V7 by the order of events: behind a fence no turn begins. */
function judgeTurns(problems: Problems, dump: Dump): void {
  const fences = new Map<string, string>();
  for (const { type, conversationId, toState, turnId } of dump.events) {
    if (type === 'conversation.fence') fences.set(conversationId, toState ?? '');
    if (type !== 'turn.started' && type !== 'turn.continued') continue;
    const fence = fences.get(conversationId) ?? 'none';
    const isShut = fence === 'shut' || fence === 'blocked';
    problems.unless(!isShut, () => `V7 ${turnId} has begun behind a fence that is ${fence}`);
  }
}

interface OfOperation {
  readonly events: readonly EventRecord[];
  readonly told: readonly OutboxRecord[];
}

/** V8 and M-10: one notice for each entry into blocked; a wait is told once; the end only where anything was. */
function judgeTold(
  problems: Problems,
  { id }: OperationRecord,
  { events, told }: OfOperation,
): void {
  const moves = events.filter(({ type }) => type === 'operation.moved');
  for (const reason of BLOCK_REASONS) {
    const { notice } = OPERATION_REASONS[reason];
    const blocked = moves.filter((one) => one.toState === 'blocked' && one.reason === reason);
    const own = told.filter(({ code }) => code === notice);
    const say = (): string =>
      `V8 ${id} was blocked ${blocked.length} times as ${reason} and told ${own.length} times`;
    problems.unless(own.length === blocked.length, say);
    const isBlocked = own.every(({ level }) => level === 'blocked');
    problems.unless(isBlocked, () => `V8 ${id} was told ${notice} as ${own[0]?.level}`);
  }
  const of = (code: string): readonly OutboxRecord[] => told.filter((one) => one.code === code);
  const waiting = of('maintenance_waiting');
  // What had not left when its store was restored is nobody's any more (B-2).
  const live = waiting.filter(({ state }) => state !== 'stale' && state !== 'uncertain');
  // One that is reopened or admitted begins anew with what is told of it (M-7, M-19).
  const admitted = events.filter(({ type }) => type === 'operation.admitted').length;
  const entries = 1 + admitted + moves.filter(({ fromState }) => fromState === 'done').length;
  problems.unless(live.length <= entries, () => `M-10 ${id} was told to wait ${live.length} times`);
  const over = of('maintenance_over');
  const done = moves.filter(({ toState }) => toState === 'done').length;
  problems.unless(over.length <= done, () => `M-10 the end of ${id} was told ${over.length} times`);
  const before = told.filter(({ level, state }) => level !== 'info' && state !== 'stale');
  const hasCause = over.every(({ seq }) => before.some((one) => one.seq < seq));
  problems.unless(hasCause, () => `M-10 the end of ${id} was told to people who knew of nothing`);
  judgeKept(problems, id, { events, told: of('maintenance_kept') });
}

/** I-2: what is kept behind a block is told once in an epoch. */
function judgeKept(problems: Problems, id: string, { events, told }: OfOperation): void {
  const epochs = 1 + events.filter(({ type }) => type === 'operation.admitted').length;
  const isFew = told.length <= epochs;
  problems.unless(isFew, () => `I-2 ${id} told ${told.length} times that messages are kept`);
}

/** V10 and A-2: a block ends every open run of its conversation, and a lesser notice none. */
function judgeRuns(problems: Problems, { runs, tasks, conversations, outbox }: Dump): void {
  const blocked = new Set(
    conversations.filter(({ fence }) => fence === 'blocked').map(({ id }) => id as string),
  );
  const rooms = new Map(tasks.map((task) => [task.id as string, task.conversationId as string]));
  const entries = new Map(outbox.map((entry) => [entry.id as string, entry]));
  for (const run of runs) {
    const isOpenBehind = run.state === 'open' && blocked.has(rooms.get(run.taskId) ?? '');
    problems.unless(!isOpenBehind, () => `A-2 the run ${run.id} is open behind a block`);
    if (!isEndedByFence(run)) continue;
    const notice = entries.get(run.outcomeId ?? '');
    const isBlock = notice?.level === 'blocked' && notice.subjectId?.startsWith('mop_') === true;
    problems.unless(
      isBlock,
      () => `V10 the run ${run.id} ended on ${notice?.level} ${notice?.code}`,
    );
  }
}

/** M-16 and M-17: sessions are linked in both directions, and no cut parts a call from its result. */
function judgeSessions(problems: Problems, dump: Dump): void {
  const { sessions, steps, conversations } = dump;
  const byId = new Map(sessions.map((one) => [one.id as string, one]));
  const current = new Set(conversations.map(({ sessionId }) => sessionId as string));
  const rooms = new Map(dump.turns.map((turn) => [turn.id as string, turn.sessionId as string]));
  const ofTurn = [...group(steps, ({ turnId }) => turnId)];
  const turns = Map.groupBy(ofTurn, ([turnId]) => rooms.get(turnId) ?? '');
  for (const session of sessions) {
    const { id, cutSeq, seed } = session;
    const next = byId.get(session.nextId ?? '');
    judgeLinks(problems, session, { next, previous: byId.get(session.previousId ?? '') });
    // Linked before anything is on the next one: its rotation is to come.
    const rotates = dump.operations.some((one) => isOpen(one) && one.sessionId === id);
    const isOld = next !== undefined && current.has(id) && !rotates;
    problems.unless(!isOld, () => `M-16 ${id} is in use and archived`);
    problems.unless(cutSeq === 0 || seed !== null, () => `M-14 ${id} was cut and has no seed`);
    const own = (turns.get(id) ?? []).map(([, one]) => one);
    if (cutSeq > 0) judgeCut(problems, { id, cutSeq }, own);
  }
}

function judgeLinks(
  problems: Problems,
  { id, previousId, nextId }: SessionRecord,
  linked: {
    readonly next: SessionRecord | undefined;
    readonly previous: SessionRecord | undefined;
  },
): void {
  const isLinked = linked.next === undefined || linked.next.previousId === id;
  problems.unless(isLinked, () => `M-16 ${nextId} does not know that it goes on from ${id}`);
  const isBack = previousId === null || linked.previous?.nextId === id;
  problems.unless(isBack, () => `M-16 ${previousId} does not know that ${id} goes on from it`);
}

/** Steps of a turn: a model's and those of the calls that it asked for lie on one side of a cut. */
function judgeCut(
  problems: Problems,
  { id, cutSeq }: { readonly id: string; readonly cutSeq: number },
  turns: readonly (readonly StepRecord[])[],
): void {
  for (const steps of turns) {
    let isCut = false;
    for (const { kind, seq } of steps) {
      if (kind === 'model') isCut = seq <= cutSeq;
      else if (isCut && seq > cutSeq)
        problems.unless(false, () => `M-17 the cut of ${id} at ${cutSeq} parts a call from ${seq}`);
    }
  }
}

const READER = { locale: 'en', timeZone: 'UTC' } as const;

/** V8 at rest: the notice of a blocked operation quotes every command that leaves it. */
export function judgeMaintenanceWords(dump: Dump): readonly string[] {
  const problems = new Problems();
  for (const operation of dump.operations) {
    const { id, state, reason } = operation;
    if (state !== 'blocked' || reason === null) continue;
    const { notice: code } = OPERATION_REASONS[reason];
    const notice = dump.outbox.findLast((one) => one.subjectId === id && one.code === code);
    if (notice === undefined) continue;
    const text = renderStoredNotice(READER, code, notice.params, notice.at);
    // Its first way: the rest stands in `/why` and at the API.
    for (const { command } of waysOfOperation(operation).slice(0, 1))
      problems.unless(
        text.includes(command),
        () => `V8 the notice ${code} does not quote ${command}`,
      );
  }
  return [...problems.found, ...judgeKeptAtRest(dump)];
}

/** I-2 at rest: whoever wrote behind a block was told that it is kept, once. */
function judgeKeptAtRest(dump: Dump): readonly string[] {
  const problems = new Problems();
  for (const conversation of dump.conversations) {
    if (!isFenced(conversation)) continue;
    const { id, operationId } = conversation;
    const own = dump.events.filter((event) => event.conversationId === id);
    const blocked = own.findLast(
      ({ type, toState }) => type === 'conversation.fence' && toState === 'blocked',
    );
    if (blocked === undefined) continue;
    const late = dump.messages.some(
      ({ conversationId, kind, runId, seq, state }) =>
        conversationId === id &&
        kind === 'genuine' &&
        runId === null &&
        seq > blocked.seq &&
        state === 'unclaimed',
    );
    const told = dump.outbox.some(
      ({ subjectId, code, seq }) =>
        subjectId === operationId && code === 'maintenance_kept' && seq > blocked.seq,
    );
    problems.unless(!late || told, () => `I-2 nobody was told that messages of ${id} are kept`);
  }
  return problems.found;
}
