import { wakes } from '../../core/inbox/join.ts';
import type { IdempotencyRecord } from '../../core/inbox/record.ts';
import { isFenced } from '../../core/maintenance/decide.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import { grantOf, mayOrder, moveTask, openTask, type TaskBounds } from '../../core/task/decide.ts';
import { hasEnded } from '../../core/task/moves.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { ConversationId, MessageId, RunId, SessionId, TaskId } from '../../kernel/ids.ts';
import { readObject } from '../../kernel/json.ts';
import { principalName } from '../../kernel/principal.ts';
import type { At, Read, Unit, Write } from '../../ports/store.ts';
import type { Accepted, AcceptedRun, EngineParts, RunIntake, RunMessageIntake } from '../engine.ts';
import {
  accepted,
  addIdempotency,
  addMessage,
  baseReads,
  judgeKey,
  judgeRepeat,
  refusal,
  scopeOf,
  type BaseReads,
  type Draft,
} from '../inbox/draft.ts';
import { tellKept } from '../inbox/keep.ts';
import { blockedNotice } from '../maintenance/settle-operation.ts';
import { queueNotice, tellRuns } from '../outbox/queue.ts';
import { Ledger } from '../session/ledger.ts';
import { failRun } from './end.ts';
import { newConversation } from '../session/open.ts';
import { settle } from '../settle.ts';
import { boundsOf, mandateOf } from '../task/mandate.ts';
import { addMoved } from '../task/move.ts';

/** Commits a run: its message, its own task and the run in one unit (T-1). */
export async function acceptRun(
  parts: EngineParts,
  intake: RunIntake,
): Promise<AcceptedRun | Refusal> {
  const place = await placeOf(parts, intake);
  if (place.kind === 'refused') return place;
  const { principal, input, metadata, callbackUrl } = intake;
  const messageId = parts.ids.next('message');
  const run: RunDraft = {
    draft: {
      messageId,
      conversationId: place.conversationId,
      kind: 'genuine',
      channel: place.channel,
      externalId: messageId,
      principal,
      text: input,
      bodyHash: parts.digest(input),
      replyTo: null,
      idempotency: scopeOf(principal, intake.idempotency),
    },
    runId: parts.ids.next('run'),
    taskId: parts.ids.next('task'),
    opens: place.opens,
    agent: parts.agents[0].name,
    bounds: boundsOf(parts),
    metadata: metadata ?? null,
    callbackUrl: callbackUrl ?? null,
  };
  const verdict = await settle(parts, () => runUnit(run));
  return verdict.kind === 'earlier' ? earlierRun(parts, verdict.runId as RunId) : verdict;
}

interface Place {
  readonly kind: 'place';
  readonly conversationId: ConversationId;
  readonly channel: string;
  readonly opens: SessionId | null;
}

/** The conversation that the run names, or one that it opens. */
async function placeOf(parts: EngineParts, intake: RunIntake): Promise<Place | Refusal> {
  const { conversationId } = intake;
  if (conversationId === undefined) {
    const opens = parts.ids.next('session');
    return { kind: 'place', conversationId: parts.ids.next('conversation'), channel: 'api', opens };
  }
  const found = await parts.store.query('conversation.byId', { id: conversationId });
  if (found === undefined) return refuse('not_found', { id: conversationId });
  return { kind: 'place', conversationId, channel: found.channel, opens: null };
}

interface RunDraft {
  readonly draft: Draft;
  readonly runId: RunId;
  readonly taskId: TaskId;
  /** The session of a conversation that this run opens. */
  readonly opens: SessionId | null;
  readonly agent: string;
  readonly bounds: TaskBounds;
  readonly metadata: string | null;
  readonly callbackUrl: string | null;
}

type RunVerdict = AcceptedRun | Refusal | { readonly kind: 'earlier'; readonly runId: string };

type RunReads = BaseReads & {
  /** Of a conversation that is there: a run behind its blocked fence ends at once. */
  readonly operation?: Read<'operation.newestOf'>;
};

function runUnit(run: RunDraft): Unit<RunReads, RunVerdict> {
  const { draft } = run;
  const { conversationId } = draft;
  return {
    name: 'run.accept',
    reads: {
      ...baseReads(draft),
      ...(run.opens === null
        ? { operation: { read: 'operation.newestOf', args: { conversationId } } }
        : {}),
    },
    decide: ({ conversation, known, used, operation }, at) => {
      if (known !== undefined) return { verdict: acceptedRun(run), writes: [] };
      const clash = judgeKey(draft, used, at.now);
      if (clash === 'conflict') return refusal('idempotency_conflict');
      if (clash === 'same' && used !== undefined) {
        return { verdict: { kind: 'earlier', runId: used.subjectId }, writes: [] };
      }
      const place = placed(run, conversation, at);
      if (place === undefined) return refusal('not_found', { id: draft.conversationId });
      const writes = runWrites(run, { ...place, used, operation }, at);
      return { verdict: acceptedRun(run), writes };
    },
  };
}

interface Placed {
  readonly conversation: ConversationRecord;
  /** What opens the conversation; nothing for one that is there. */
  readonly writes: readonly Write[];
}

function placed(run: RunDraft, known: ConversationRecord | undefined, at: At): Placed | undefined {
  if (known !== undefined) return { conversation: known, writes: [] };
  if (run.opens === null) return undefined;
  const { conversationId: id, channel, principal } = run.draft;
  const fresh = { id, sessionId: run.opens, agent: run.agent, channel, address: id };
  return newConversation({ ...fresh, by: principalName(principal) }, at);
}

function runWrites(
  run: RunDraft,
  rows: Placed & {
    readonly used: IdempotencyRecord | undefined;
    readonly operation: OperationRecord | undefined;
  },
  at: At,
): readonly Write[] {
  const { draft, runId, taskId } = run;
  const { sessionId, agent } = rows.conversation;
  const by = principalName(draft.principal);
  const ledger = new Ledger(rows.conversation, at, by);
  addMessage(ledger, draft, run);
  const task = openTask(
    { id: taskId, conversationId: draft.conversationId, sessionId, agent },
    mandateOf(draft.text, {
      principal: by,
      authority: draft.principal.isAdmin ? 'admin' : 'own',
      origin: draft.channel,
      at: at.now,
      hash: draft.bodyHash,
    }),
    run.bounds,
    at.now,
  );
  ledger.add({ write: 'task.insert', row: task });
  ledger.event('task.created', { taskId, runId, to: task.state, data: grantOf(task) });
  const row = runRow(run, by, at);
  ledger.add({ write: 'run.insert', row });
  ledger.event('run.queued', { taskId, runId });
  if (isFenced(rows.conversation)) tellBehindFence(ledger, row, rows.operation);
  addIdempotency(ledger, draft, { used: rows.used, subjectId: runId });
  return [...rows.writes, ...ledger.close()];
}

/**
 * What a run behind a fence is told at once, had it been there before: that its conversation waits, or that it
 * is blocked, which ends it.
 */
function tellBehindFence(
  ledger: Ledger,
  run: RunRecord,
  operation: OperationRecord | undefined,
): void {
  if (operation === undefined) return;
  const { state, noticeId, noticeAt, reason } = operation;
  if (state !== 'blocked') {
    // One that has not left yet tells its runs when it does.
    if (noticeId !== null && noticeAt === null) tellRuns(ledger, noticeId, [run]);
    return;
  }
  const own = { key: `run:${run.id}`, runId: run.id };
  // What blocked it is told already, unless an import has brought it.
  const outcomeId = noticeId ?? queueNotice(ledger, { ...blockedNotice(operation), ...own });
  failRun(ledger, run, reason ?? 'exhausted', outcomeId);
}

function runRow(run: RunDraft, principal: string, at: At): RunRecord {
  const { runId: id, taskId, metadata, callbackUrl } = run;
  return {
    id,
    conversationId: run.draft.conversationId,
    taskId,
    principal,
    state: 'open',
    outcomeCode: null,
    outcomeId: null,
    metadata,
    callbackUrl,
    createdAt: at.now,
    endedAt: null,
  };
}

/**
 * A further message of a run joins the run's task (T-2), from its own principal or an admin (T-11); one
 * to an ended run is refused.
 */
export async function acceptRunMessage(
  parts: EngineParts,
  intake: RunMessageIntake,
): Promise<Accepted | Refusal> {
  const run = await parts.store.query('run.byId', { id: intake.runId });
  if (run === undefined) return refuse('not_found', { id: intake.runId });
  const messageId = parts.ids.next('message');
  const conversation = await parts.store.query('conversation.byId', { id: run.conversationId });
  const draft: Draft = {
    messageId,
    conversationId: run.conversationId,
    kind: 'genuine',
    channel: conversation?.channel ?? 'api',
    externalId: messageId,
    principal: intake.principal,
    text: intake.text,
    bodyHash: parts.digest(intake.text),
    replyTo: null,
    idempotency: scopeOf(intake.principal, intake.idempotency),
  };
  return settle(parts, () => runMessageUnit(draft, run));
}

type RunMessageReads = BaseReads & {
  readonly run: Read<'run.byId'>;
  readonly task: Read<'task.byId'>;
};

function runMessageUnit(
  draft: Draft,
  { id, taskId }: RunRecord,
): Unit<RunMessageReads, Accepted | Refusal> {
  return {
    name: 'run.message',
    reads: {
      ...baseReads(draft),
      run: { read: 'run.byId', args: { id } },
      task: { read: 'task.byId', args: { id: taskId } },
    },
    decide: ({ conversation, known, used, run, task }, at) => {
      const repeat = judgeRepeat(draft, { known, used, now: at.now });
      if (repeat !== undefined) return { verdict: repeat, writes: [] };
      if (conversation === undefined || task === undefined) return refusal('not_found', { id });
      if (!mayOrder(task, draft.principal)) return refusal('forbidden', { id });
      if (run?.state !== 'open' || hasEnded(task.state)) return refusal('run_ended', { id });
      const ledger = new Ledger(conversation, at, principalName(draft.principal));
      addMessage(ledger, draft, { runId: id, taskId });
      if (wakes(task)) wakeTask(ledger, task, { runId: id, messageId: draft.messageId });
      else tellKept(ledger, task, { messageId: draft.messageId, runId: id });
      addIdempotency(ledger, draft, { used, subjectId: draft.messageId });
      return { verdict: accepted(draft), writes: ledger.close() };
    },
  };
}

// A message of a run is bound as it arrives, and no turn takes what is bound to a task that waits.
function wakeTask(
  ledger: Ledger,
  task: TaskRecord,
  { runId, messageId }: { readonly runId: RunId; readonly messageId: MessageId },
): void {
  if (task.state === 'active') return;
  const moved = moveTask(task, { to: 'active', reason: null, now: ledger.at.now });
  addMoved(ledger, task, moved, { runId, data: { messageId } });
}

async function earlierRun(parts: EngineParts, runId: RunId): Promise<AcceptedRun | Refusal> {
  const run = await parts.store.query('run.byId', { id: runId });
  if (run === undefined) return refuse('not_found', { id: runId });
  const { conversationId, taskId } = run;
  // What is recorded of a run's task begins with the message that the run was accepted with.
  const [first] = await parts.store.query('event.ofTask', { conversationId, taskId, limit: 1 });
  const messageId = readObject(first?.data ?? null)['messageId'] as MessageId;
  return { kind: 'accepted', conversationId, messageId, runId, taskId, repeated: true };
}

function acceptedRun(run: RunDraft): AcceptedRun {
  return { ...accepted(run.draft), runId: run.runId, taskId: run.taskId };
}
