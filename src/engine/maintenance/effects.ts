import type { OperationRecord, SessionSeed } from '../../core/maintenance/record.ts';
import { writeSeed } from '../../core/maintenance/summary.ts';
import type { ConversationRecord, SessionRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { SessionId } from '../../kernel/ids.ts';
import type { Ledger } from '../session/ledger.ts';
import { newSession } from '../session/open.ts';

/** What the effect of a step is decided on, read in the unit that records it. */
export interface EffectRows {
  readonly conversation: ConversationRecord;
  readonly operation: OperationRecord;
  readonly session: SessionRecord;
  /** Open tasks of the conversation. */
  readonly tasks: readonly TaskRecord[];
}

/** Writes what a step does to the sessions, in the commit of its outcome; gives what the operation keeps of it. */
export type Effect = (ledger: Ledger, rows: EffectRows) => Partial<OperationRecord>;

/** The older part of a session has its seed; what is behind the cut stays as it is (M-16, M-17). */
export function compactSession(of: {
  readonly seed: SessionSeed;
  readonly cutSeq: number;
}): Effect {
  return (ledger, { session }) => {
    const { id, compactions: before } = session;
    const { cutSeq } = of;
    const compactions = before + 1;
    ledger.takeToken();
    const data = { sessionId: id, cutSeq, compactions };
    const { seq: sinceSeq } = ledger.event('session.compacted', { data });
    const seed = writeSeed({ ...of.seed, sinceSeq });
    ledger.add({ write: 'session.seed', id, seed, cutSeq, compactions });
    return {};
  };
}

/** The session that follows exists and is linked both ways, before anything is on it (M-16). */
export const linkSessions: Effect = (ledger, { operation, session }) => {
  // An operation that was reopened or admitted has made it already.
  if (session.nextId !== null) return { nextSessionId: session.nextId };
  const { id: previousId, conversationId } = session;
  const id = operation.nextSessionId ?? ledger.at.ids.next('session');
  const data = { sessionId: previousId, nextId: id };
  const { seq: firstSeq } = ledger.event('session.archived', { data });
  const row = newSession({ id, conversationId, firstSeq }, ledger.at.now, previousId);
  ledger.add(
    { write: 'session.insert', row },
    { write: 'session.link', id: previousId, nextId: id },
  );
  return { nextSessionId: id };
};

/** New tasks begin in the session that follows, and those of the archived one go on in it. */
export const rotateSession: Effect = (ledger, { conversation, operation, session, tasks }) => {
  const next = operation.nextSessionId;
  if (next === null) return {};
  ledger.takeToken();
  ledger.event('session.started', { data: { sessionId: next, previousId: session.id } });
  // One that `/new` has left behind is not the conversation's any more.
  if (conversation.sessionId === session.id)
    ledger.add({ write: 'conversation.session', id: conversation.id, sessionId: next });
  if (session.endedAt === null)
    ledger.add({ write: 'session.end', id: session.id, endedAt: ledger.at.now });
  for (const task of tasks) {
    // History is changed by its own resume alone (V9).
    const isOf = task.sessionId === session.id && task.enrollment === 'current';
    if (isOf) takeOver(ledger, task, next);
  }
  return {};
};

/** Lets a task go on in another session. */
export function takeOver(ledger: Ledger, task: TaskRecord, sessionId: SessionId): TaskRecord {
  const row = { ...task, sessionId, version: task.version + 1 };
  ledger.add({ write: 'task.save', row });
  return row;
}

/** The session that follows begins with what stands for the archived one (M-14). */
export function seedSession(said: SessionSeed): Effect {
  return (ledger, { operation }) => {
    const id = operation.nextSessionId;
    if (id === null) return {};
    ledger.takeToken();
    const { seq: sinceSeq } = ledger.event('session.seeded', { data: { sessionId: id } });
    const seed = writeSeed({ ...said, sinceSeq });
    ledger.add({ write: 'session.seed', id, seed, cutSeq: 0, compactions: 0 });
    return {};
  };
}
