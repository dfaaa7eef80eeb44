import { z } from 'zod';
import { buildTranscript, type TranscriptItem as Item } from '../core/turn/transcript.ts';
import type { ConversationRecord, SessionRecord } from '../core/session/record.ts';
import type { MessageRecord } from '../core/inbox/record.ts';
import type { StepRecord } from '../core/turn/record.ts';
import { isId, type ConversationId } from '../kernel/ids.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Store } from '../ports/store.ts';
import { PAGE_QUERY, type Page } from '../wire/shape.ts';
import { reply, type Call } from './call.ts';
import { demandConversation } from './conversation-of.ts';
import { askLimit, badCursor, mapPage } from './page.ts';
import { problem } from './problems.ts';
import { viewItem } from './view/conversation.ts';

export const TranscriptQuery = z.strictObject({
  session: z.string().optional().describe('one session of the conversation alone'),
  ...PAGE_QUERY,
});

/** The transcript of a conversation, or of one of its sessions, archived ones among them (M-16). */
export async function getTranscript(
  call: Call<z.infer<typeof TranscriptQuery>>,
): Promise<Response> {
  const { query } = call;
  const { store } = call.door.engine;
  const conversation = await demandConversation(call, call.id, 'read');
  const source = await sourceOf(store, conversation, query.session);
  const place =
    query.cursor === undefined
      ? { before: await newestPlace(source, conversation.seq), skip: 0 }
      : askPlace(query.cursor);
  const page = await readTranscript(source, { ...place, limit: askLimit(query) });
  return reply(200, await mapPage(page, viewItem));
}

/** Where the items of a transcript are read. */
interface Source {
  /** No item is at or before this place. */
  readonly floor: number;
  /** Whether the newest items may lie far before the conversation's end. */
  readonly isOver: boolean;
  /** Steps with `after` < seq ≤ `upTo`, oldest first. */
  readonly steps: (range: {
    readonly after: number;
    readonly upTo: number;
    readonly limit: number;
  }) => Promise<readonly StepRecord[]>;
  /** Claimed messages above `after`, oldest first. */
  readonly claimed: (range: {
    readonly after: number;
    readonly limit: number;
  }) => Promise<readonly MessageRecord[]>;
}

async function sourceOf(
  store: Store,
  { id: conversationId }: ConversationRecord,
  sessionId: string | undefined,
): Promise<Source> {
  if (sessionId === undefined) return wholeOf(store, conversationId);
  if (!isId('session', sessionId)) throw noSession();
  const session = await store.query('session.byId', { id: sessionId });
  if (session === undefined || session.conversationId !== conversationId) throw noSession();
  return partOf(store, session);
}

function noSession(): Error {
  return problem('bad_request', { detail: 'session is not one of this conversation.' });
}

function wholeOf(store: Store, conversationId: ConversationId): Source {
  return {
    floor: 0,
    isOver: false,
    steps: async ({ after, upTo, limit }) => {
      // Those that began earlier and ended in here come first: a turn's calls, at most.
      const most = limit + LIMITS.stepsPerTurnMax;
      const read = await store.query('step.after', { conversationId, after, limit: most });
      return read.filter(({ seq }) => seq > after && seq <= upTo);
    },
    claimed: (range) => store.query('message.claimedAfter', { conversationId, ...range }),
  };
}

function partOf(store: Store, { id: sessionId, ...session }: SessionRecord): Source {
  const { conversationId, firstSeq, endedAt } = session;
  const of = { conversationId, sessionId };
  return {
    floor: Math.max(0, firstSeq - 1),
    isOver: endedAt !== null,
    steps: (range) => store.query('step.ofSession', { ...of, ...range }),
    claimed: (range) => store.query('message.ofSession', { ...of, ...range }),
  };
}

interface TranscriptAsk {
  /** Items of steps and messages below this seq … */
  readonly before: number;
  /** … without the newest so many, which an earlier page had. */
  readonly skip: number;
  readonly limit: number;
}

function askPlace(cursor: string): Omit<TranscriptAsk, 'limit'> {
  const [, before, skip] = /^(\d{1,15})\.(\d{1,5})$/.exec(cursor) ?? [];
  if (before === undefined || skip === undefined) throw badCursor();
  return { before: Number(before), skip: Number(skip) };
}

/** Places of the order that one read looks through: more than a page, so that few pages read twice. */
const PLACES_READ = 800;

/**
 * Above which place nothing of the source lies: counted from where the conversation stands now, so that
 * what comes while pages are turned moves none of them. What is over is looked for by halves.
 */
async function newestPlace(
  { isOver, floor, steps, claimed }: Source,
  seq: number,
): Promise<number> {
  if (!isOver) return seq + 1;
  let [low, high] = [floor, seq];
  while (high - low > PLACES_READ) {
    const after = Math.floor((low + high) / 2);
    const [later] = await steps({ after, upTo: high, limit: 1 });
    if (later === undefined) high = after;
    else low = after;
  }
  const [message] = await claimed({ after: high, limit: 1 });
  return message === undefined ? high + 1 : seq + 1;
}

/** A page of the transcript, newest first; a call and its result are joined whatever lies between. */
async function readTranscript(
  source: Source,
  { before, skip, limit }: TranscriptAsk,
): Promise<Page<Item>> {
  const { steps, oldest } = await readSteps(source, before);
  const messages = await readClaimed(source, { from: oldest, before });
  const items = buildTranscript(messages, steps).toReversed().slice(skip);
  const taken = items.slice(0, limit);
  if (items.length > limit) return { items: taken, nextCursor: `${before}.${skip + limit}` };
  return { items: taken, nextCursor: oldest > 0 ? `${oldest}.0` : null };
}

/**
 * The steps of the places below `before`. A reply and its calls stay together, so it reads farther back
 * until it begins with a reply, or with the first of them all.
 */
async function readSteps(
  source: Source,
  before: number,
): Promise<{ readonly steps: readonly StepRecord[]; readonly oldest: number }> {
  for (let places = PLACES_READ; ; places *= 2) {
    const after = Math.max(source.floor, before - 1 - places);
    const found = await source.steps({ after, upTo: before - 1, limit: places });
    const isFirst = after === source.floor;
    const oldest = isFirst ? 0 : found.find(({ kind }) => kind === 'model')?.seq;
    if (oldest !== undefined) return { steps: found.filter(({ seq }) => seq >= oldest), oldest };
  }
}

async function readClaimed(
  source: Source,
  { from, before }: { readonly from: number; readonly before: number },
): Promise<readonly MessageRecord[]> {
  const messages: MessageRecord[] = [];
  let after = from - 1;
  for (;;) {
    const limit = LIMITS.listLimitMax;
    const rows = await source.claimed({ after, limit });
    messages.push(...rows.filter(({ claimedSeq }) => claimedSeq !== null && claimedSeq < before));
    const last = rows.at(-1)?.claimedSeq ?? before;
    // Several messages can share the place of one claim, so the next read starts at it again.
    if (rows.length < limit || last >= before || last - 1 === after) return unique(messages);
    after = last - 1;
  }
}

function unique(messages: readonly MessageRecord[]): readonly MessageRecord[] {
  return [...new Map(messages.map((message) => [message.id, message])).values()];
}
