// What sessions, operations and the fences of their conversations say of one another.
import { fenceOf, isOpen } from '../maintenance/decide.ts';
import type { OperationRecord } from '../maintenance/record.ts';
import type { SessionRecord } from '../session/record.ts';
import { readObject } from '../../kernel/json.ts';
import type { Facts, Look } from './relations.ts';

/** What of a session does not fit those that stood before it, as one sentence. */
export function sessionProblem(session: SessionRecord, look: Look): string | undefined {
  const { id, conversationId, endedAt, seed } = session;
  const conversation = look.record('conversation', conversationId);
  if (conversation === undefined) return undefined;
  const { sessionId, seq } = conversation;
  if (endedAt !== null && sessionId === id)
    return 'The session has ended and its conversation is in it.';
  if (Number(readObject(seed)['sinceSeq'] ?? 0) > seq)
    return `The sinceSeq in the seed of the session lies beyond the ${seq} of its conversation.`;
  return isBehind(session, look)
    ? undefined
    : 'The session does not begin behind the one that it goes on from.';
}

/** Whether whoever follows its links comes to an end. */
function isBehind({ previousId, nextId, firstSeq }: SessionRecord, look: Look): boolean {
  const begin = (id: string | null): number | undefined =>
    id === null ? undefined : look.record('session', id)?.firstSeq;
  return (begin(previousId) ?? 0) < firstSeq && firstSeq < (begin(nextId) ?? Infinity);
}

/**
 * What of an operation does not fit those that stood before it, as one sentence. An open one is that which
 * its conversation names, with the fence of its state: there is no second one, and none without its fence (M-8).
 */
export function operationProblem(operation: OperationRecord, look: Look): string | undefined {
  const { id, state, conversationId } = operation;
  const conversation = look.record('conversation', conversationId);
  if (conversation === undefined) return undefined;
  const isNamed = conversation.operationId === id;
  if (isOpen(operation) && !isNamed)
    return 'The operation is not over and its conversation does not name it.';
  if (isNamed && conversation.fence !== fenceOf(state))
    return `The operation is ${state} and the fence of its conversation is ${conversation.fence}.`;
  return (
    (isNamed ? namedProblem(operation, conversation) : undefined) ?? followProblem(operation, look)
  );
}

/** What of the operation that a fence speaks of does not fit its conversation. */
function namedProblem(
  { state, work }: OperationRecord,
  { turnId, seq }: Facts<'conversation'>,
): string | undefined {
  if (state !== 'done' && turnId !== null)
    return 'The operation is not over and its conversation has a turn.';
  const { cutSeq } = readObject(work);
  return typeof cutSeq === 'number' && cutSeq > seq
    ? `The cutSeq in the work of the operation lies beyond the ${seq} of its conversation.`
    : undefined;
}

/** The session that follows goes on from that of the operation, and has not ended before anything is in it. */
function followProblem(operation: OperationRecord, look: Look): string | undefined {
  const { sessionId, nextSessionId } = operation;
  const next = nextSessionId === null ? undefined : look.record('session', nextSessionId);
  if (next === undefined) return undefined;
  if (next.previousId !== sessionId)
    return 'The session that follows does not say that it goes on from the session of the operation.';
  return next.endedAt !== null && isOpen(operation)
    ? 'The session that follows has ended and the operation is not over.'
    : undefined;
}
