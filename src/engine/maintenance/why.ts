import { isFenced } from '../../core/maintenance/decide.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { EventRecord } from '../../core/session/record.ts';
import type { OperationId } from '../../kernel/ids.ts';
import { readObject } from '../../kernel/json.ts';
import type { Instant } from '../../kernel/time.ts';
import { catalogueOf } from '../../text/reader.ts';
import { saySecond } from '../../text/when.ts';
import type { EngineParts } from '../engine.ts';
import { sayEvent } from '../task/event-sentence.ts';
import type { Telling } from '../task/standing-sentence.ts';
import type { Audience, Explanation } from '../task/why.ts';
import { sayOperationWays } from './operation-ways.ts';
import { sayOperation } from './standing-sentence.ts';

/** What `why` shows; more would not be read on a phone. */
const CHAIN_SENTENCES = 16;
/** Places of a conversation that are read at once, and how often, from the newest back to where it began. */
const PAGE_PLACES = 1_000;
const PAGES_MAX = 20;
/** Messages that are counted among what waits. */
const KEPT_COUNTED = 200;

/**
 * Explains a maintenance operation from the store alone (W-3, W-6): its state and since when, its step, its
 * failures and its next try, what is kept meanwhile; what led there, newest first; and the commands that
 * change it. Undefined when no operation has this id; who may see it is for the caller to judge.
 */
export async function explainOperation(
  parts: EngineParts,
  id: OperationId,
  audience: Audience,
): Promise<Explanation | undefined> {
  const { store, options, clock } = parts;
  const operation = await store.query('operation.byId', { id });
  if (operation === undefined) return undefined;
  const { conversationId } = operation;
  const words = catalogueOf(audience.locale);
  const reader = { ...audience, hostTimeZone: options.timeZone };
  const telling = { words, reader, now: clock.now() };
  const conversation = await store.query('conversation.byId', { id: conversationId });
  const isHeld = conversation?.operationId === id && isFenced(conversation);
  const unbound = isHeld
    ? await store.query('message.unbound', { conversationId, limit: KEPT_COUNTED })
    : [];
  const events = await readEvents(parts, operation, conversation?.seq ?? 0);
  const found = { operation, events, isHeld, kept: unbound.length };
  return {
    sentence: sayOperation(telling, found, audience.isBrief === true),
    chain: sayChain(telling, events),
    commands: sayOperationWays(words, operation),
  };
}

/** What happened to an operation, oldest first: its events, those of its sessions and of its notices. */
async function readEvents(
  { store }: EngineParts,
  operation: OperationRecord,
  seq: number,
): Promise<readonly EventRecord[]> {
  const { conversationId } = operation;
  let events: readonly EventRecord[] = [];
  // Turns and their events lie behind it, not before: an open one is found on the first page.
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const after = Math.max(0, seq - page * PAGE_PLACES);
    const rows = await store.query('event.after', { conversationId, after, limit: PAGE_PLACES });
    const upTo = seq - (page - 1) * PAGE_PLACES;
    const own = rows.filter((event) => event.seq <= upTo && isOf(operation, event));
    events = [...own, ...events];
    const hasBegun = own.some(({ type }) => type === 'operation.started');
    if (hasBegun || after === 0) return events;
  }
  return events;
}

function isOf(operation: OperationRecord, { type, data, at }: EventRecord): boolean {
  const { operationId, sessionId, code } = readObject(data);
  if (operationId !== undefined) return operationId === operation.id;
  if (!isMeanwhile(operation, at)) return false;
  if (type.startsWith('session.'))
    return sessionId === operation.sessionId || sessionId === operation.nextSessionId;
  return NOTICE_EVENTS.has(type) && typeof code === 'string' && code.startsWith('maintenance_');
}

const NOTICE_EVENTS: ReadonlySet<string> = new Set(['notice.prepared', 'notice.queued']);

function isMeanwhile({ createdAt, endedAt }: OperationRecord, at: Instant): boolean {
  return at >= createdAt && (endedAt === null || at <= endedAt);
}

function sayChain(
  { words, reader, now }: Telling,
  events: readonly EventRecord[],
): readonly string[] {
  const shown = events
    .slice(-CHAIN_SENTENCES)
    .toReversed()
    .map((event) => {
      const time = saySecond(reader, words.tag, event.at, now);
      return words.why.event(time, sayEvent(words, event));
    });
  const earlier = events.length - shown.length;
  return [...shown, ...(earlier === 0 ? [] : [words.why.earlier(String(earlier))])];
}
