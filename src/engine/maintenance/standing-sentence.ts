import { MAX_RECOVERY_FAILURES, type OperationRecord } from '../../core/maintenance/record.ts';
import { isOpen } from '../../core/maintenance/decide.ts';
import type { EventRecord } from '../../core/session/record.ts';
import { readObject, type JsonObject } from '../../kernel/json.ts';
import {
  blockReason,
  readSizes,
  sayFault,
  sayStep,
  sizeFacts,
} from '../../text/maintenance-facts.ts';
import { sayCount, sayMoney } from '../../text/number.ts';
import { sayInstant, saySecond, sayWhen, sayWhenSecond } from '../../text/when.ts';
import type { Telling } from '../task/standing-sentence.ts';

/** What is told of an operation, as its records have it. */
export interface FoundOperation {
  readonly operation: OperationRecord;
  /** Its own, oldest first. */
  readonly events: readonly EventRecord[];
  /** Whether its fence holds the conversation back. */
  readonly isHeld: boolean;
  /** Messages that wait behind it. */
  readonly kept: number;
}

/** How an operation stands: since when, its step, why, its failures, what comes next and what is kept. */
export function sayOperation(telling: Telling, found: FoundOperation, isBrief: boolean): string {
  const { operation } = found;
  const fault = readObject(operation.fault);
  const sentences = [
    sayState(telling, found),
    isBrief ? '' : sayKind(telling, operation),
    ...sayNow(telling, operation),
    ...sayBlock(telling, operation, fault),
    sayFailures(telling, operation),
    sayLast(telling, fault),
    sayNext(telling, operation),
    sayKept(telling, found),
    isBrief ? '' : sayUsed(telling, operation),
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function sayState({ words, reader, now }: Telling, { operation, events }: FoundOperation): string {
  const { id, conversationId: conversation, state, createdAt, endedAt, changedAt } = operation;
  const came = events.findLast(
    ({ fromState, toState }) => toState === state && fromState !== state,
  );
  const at = endedAt ?? came?.at ?? changedAt;
  return words.maintenance.standing[state]({
    id,
    conversation,
    began: sayWhen(reader, words, createdAt, now),
    since: sayInstant(reader, words.tag, at, now),
    when: sayWhen(reader, words, at, now),
  });
}

function sayKind({ words }: Telling, { kind, sessionId, nextSessionId }: OperationRecord): string {
  const { compacts, handsOver } = words.maintenance;
  return kind === 'compact'
    ? compacts(sessionId)
    : handsOver({ session: sessionId, next: nextSessionId });
}

/** Its step, and whether that is being tried. */
function sayNow({ words, reader, now }: Telling, operation: OperationRecord): readonly string[] {
  if (!isOpen(operation)) return [];
  const { maintenance } = words;
  const { step, attemptAt } = operation;
  return [
    maintenance.step(sayStep(maintenance, step)),
    attemptAt === null ? '' : maintenance.trying(saySecond(reader, words.tag, attemptAt, now)),
  ];
}

function sayBlock(
  { words }: Telling,
  { state, reason }: OperationRecord,
  fault: JsonObject,
): readonly string[] {
  if (state !== 'blocked' || reason === null) return [];
  const { maintenance } = words;
  const because = maintenance.because(blockReason(maintenance, reason));
  const isTooLarge = reason === 'base_too_large';
  return [because, isTooLarge ? maintenance.sizes(sizeFacts(words, sizesIn(fault))) : ''];
}

function sizesIn(fault: JsonObject): Parameters<typeof sizeFacts>[1] {
  const none = { window: undefined, reserve: undefined, instructions: undefined };
  return { ...none, tools: undefined, seed: undefined, message: undefined, ...readSizes(fault) };
}

function sayFailures({ words }: Telling, operation: OperationRecord): string {
  const count = (value: number): string => sayCount(words, value);
  const { failures, lifetimeFailures, attempts } = operation;
  return words.maintenance.failures({
    failures: count(failures),
    max: count(MAX_RECOVERY_FAILURES),
    lifetime: count(lifetimeFailures),
    attempts: count(attempts),
  });
}

function sayLast({ words }: Telling, { code, said }: JsonObject): string {
  if (typeof code !== 'string' || code === '') return '';
  const fault = { code, said: typeof said === 'string' ? said : '' };
  return words.maintenance.last(sayFault(words, fault));
}

function sayNext({ words, reader, now }: Telling, operation: OperationRecord): string {
  const { nextAttemptAt: at, attemptAt, quotaWaits } = operation;
  if (at === null || attemptAt !== null) return '';
  const { maintenance } = words;
  const when = at > now ? sayWhenSecond(reader, words, at, now) : null;
  const next = maintenance.next(when);
  return quotaWaits === 0 ? next : `${maintenance.quota} ${next}`;
}

function sayKept({ words }: Telling, { isHeld, kept }: FoundOperation): string {
  if (!isHeld) return '';
  return words.maintenance.kept(kept === 0 ? null : sayCount(words, kept));
}

function sayUsed({ words }: Telling, operation: OperationRecord): string {
  const { inputTokens, outputTokens, cost } = operation;
  const tokens = inputTokens + outputTokens;
  if (tokens === 0) return '';
  const used = { tokens: sayCount(words, tokens), cost: sayMoney(words, cost) };
  return words.maintenance.used(used);
}
