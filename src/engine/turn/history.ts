import { readSeed } from '../../core/maintenance/summary.ts';
import type { SessionSeed } from '../../core/maintenance/record.ts';
import type { Reported } from '../../core/maintenance/size.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import { buildTranscript, charsIn, type TranscriptItem } from '../../core/turn/transcript.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import type { ConversationId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { ModelMessage } from '../../ports/model.ts';
import type { EngineParts } from '../engine.ts';
import { readAgain } from '../settle.ts';
import { readClaimed } from './claimed.ts';

/** What one turn said, and of how many steps it is made. */
export interface SpokenTurn {
  /** Its items as a request carries them. */
  readonly messages: readonly ModelMessage[];
  /** The place of its first step: the order of turns. */
  readonly first: number;
  readonly steps: number;
  /** More than its texts have. */
  readonly chars: number;
  /** What its last answered model call took as the provider reported it, and the characters from its reply on. */
  readonly reported: { readonly tokens: number; readonly charsBehind: number } | null;
}

/** What a kept conversation takes beside its turns. */
const KEPT_CHARS = 1_000;

/** What one turn said, from its inputs and steps. */
export function spokenTurn(
  messages: readonly MessageRecord[],
  steps: readonly StepRecord[],
): SpokenTurn {
  const items = buildTranscript(messages, steps);
  const chars = charsIn(items);
  const first = Math.min(...steps.map(({ seq }) => seq));
  const reported = reportedIn(items, steps);
  return { messages: items.map(toMessage), first, steps: steps.length, chars, reported };
}

function reportedIn(
  items: readonly TranscriptItem[],
  steps: readonly StepRecord[],
): SpokenTurn['reported'] {
  const last = steps.findLast(({ kind, state }) => kind === 'model' && state === 'finished');
  if (last === undefined || last.inputTokens === null) return null;
  return {
    tokens: last.inputTokens,
    charsBehind: charsIn(items.filter(({ seq }) => seq >= last.seq)),
  };
}

function toMessage(item: TranscriptItem): ModelMessage {
  if (item.role === 'user') return { role: 'user', text: item.text };
  if (item.role === 'assistant') return { role: 'assistant', text: item.text, calls: item.calls };
  const { callId, name, text, isError } = item;
  return { role: 'tool', callId, name, text, isError };
}

/** The turns of these inputs and steps, oldest first. */
function spokenTurns(
  messages: readonly MessageRecord[],
  steps: readonly StepRecord[],
): readonly SpokenTurn[] {
  const inputs = Map.groupBy(messages, ({ turnId }) => turnId);
  const turns = [...Map.groupBy(steps, ({ turnId }) => turnId)].map(([turnId, own]) =>
    spokenTurn(inputs.get(turnId) ?? [], own),
  );
  return turns.toSorted((a, b) => a.first - b.first);
}

type Place = Pick<TurnRecord, 'conversationId' | 'sessionId'> & { readonly before: number };
type HistoryParts = Pick<EngineParts, 'store' | 'clock' | 'log'>;

/** What a session holds for a request before a place of its conversation. */
export interface History {
  /** What stands for everything that was summarised; null while nothing was. */
  readonly seed: SessionSeed | null;
  /** The turns after it, word for word, oldest first. */
  readonly turns: readonly SpokenTurn[];
  /** More stands there than any request holds, and not all of it was read: the session is maintained first. */
  readonly isOver: boolean;
  /** How the provider counted the last request; null where nothing says so. */
  readonly reported: Reported | null;
}

/** Full pages of nothing but turns without a word that are read over: a provider's outage of weeks. */
const PAGES_MAX = 50;

/**
 * The turns of one session before a place in its conversation, back to what its seed stands for. A turn is in
 * it whole, and never half a call and its result. Turns that only found a provider still away said nothing:
 * however many they are, they hide no other. It stops where no request of `charsMax` could hold more.
 */
export async function readHistory(
  parts: HistoryParts,
  place: Place,
  charsMax: number,
): Promise<History> {
  const session = await readAgain(parts, 'session.byId', { id: place.sessionId });
  const after = session?.cutSeq ?? 0;
  const read = { seed: readSeed(session?.seed ?? null), reported: null };
  let turns: readonly SpokenTurn[] = [];
  let { before } = place;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await readPage(parts, { ...place, before, after });
    turns = [...page.turns.filter(saysSomething), ...turns];
    if (page.before === null) return { ...read, turns, isOver: false };
    if (stepsOf(turns) > LIMITS.sessionStepsMax || sizeOfTurns(turns) > charsMax) break;
    before = page.before;
  }
  return { ...read, turns, isOver: true };
}

/**
 * How the provider counted the last request of a session that had `chars` characters up to now; what it said of
 * one before the session was shortened was kept with the seed. Null where nothing says so.
 */
export function lastReported({ seed, turns }: History, chars: number): Reported | null {
  let behind = 0;
  for (const turn of turns.toReversed()) {
    if (turn.first <= (seed?.sinceSeq ?? 0)) break;
    const { reported } = turn;
    if (reported !== null)
      return { tokens: reported.tokens, chars: chars - behind - reported.charsBehind };
    // One that was ended before a call was answered says nothing of it.
    behind += turn.chars;
  }
  return seed?.reported ?? null;
}

/**
 * How the provider counts in a session, beside what the host itself restates in it: that takes its share of what
 * a request has by this. `base`: characters of instructions and tools.
 */
export function scaleOf(history: History, base: number): Reported | null {
  const summary = history.seed?.summary.length ?? 0;
  return history.reported ?? lastReported(history, base + summary + sizeOfTurns(history.turns));
}

/** Characters of turns. */
export function sizeOfTurns(turns: readonly SpokenTurn[]): number {
  return turns.reduce((sum, { chars }) => sum + chars, 0);
}

/** Steps of turns. */
export function stepsOf(turns: readonly SpokenTurn[]): number {
  return turns.reduce((sum, { steps }) => sum + steps, 0);
}

/** Whether a request would differ without this turn. */
export function saysSomething({ messages }: SpokenTurn): boolean {
  return messages.length > 0;
}

interface Page {
  readonly turns: readonly SpokenTurn[];
  /** Where older turns are read from; null when there are none. */
  readonly before: number | null;
}

async function readPage(
  parts: HistoryParts,
  place: Place & { readonly after: number },
): Promise<Page> {
  const limit = LIMITS.historyStepsMax;
  const { conversationId, sessionId, before, after } = place;
  const of = { conversationId, sessionId };
  const newest = await readAgain(parts, 'step.before', { ...of, before, after, limit });
  const oldest = newest.length < limit ? undefined : newest.at(-1);
  const from = Math.max(after, (oldest?.seq ?? 0) - 1);
  const messages = await readClaimed(parts, { ...of, after: from, upTo: before - 1 });
  if (oldest === undefined) return { turns: spokenTurns(messages, newest), before: null };
  // The oldest of as many steps as were read may be a part of its turn.
  const whole = newest.filter(({ turnId }) => turnId !== oldest.turnId);
  return { turns: spokenTurns(messages, whole), before: whole.at(-1)?.seq ?? null };
}

type Ended = Pick<TurnRecord, 'conversationId' | 'token' | 'sessionId'>;

interface Kept extends History {
  readonly token: number;
  readonly sessionId: string;
  readonly chars: number;
}

/**
 * What conversations said up to the turn that ended here last, so that the next turn need not read and
 * rebuild it. The token proves that it is whole: every claim, stop, recovery and maintenance takes the next
 * one, wherever it happens. At most `LIMITS.historyKeptChars` are kept, the longest unused go first.
 */
export class Histories {
  readonly #kept = new Map<ConversationId, Kept>();
  #chars = 0;

  /** The turns before this one, or undefined when only the store knows them. */
  take({ conversationId, token, sessionId }: Ended): History | undefined {
    const kept = this.#kept.get(conversationId);
    if (kept === undefined) return undefined;
    this.#drop(conversationId, kept);
    return kept.token === token - 1 && kept.sessionId === sessionId ? kept : undefined;
  }

  /** Keeps the turns up to this one, itself included; what no request holds is not worth a place. */
  keep({ conversationId, token, sessionId }: Ended, history: History): void {
    const before = this.#kept.get(conversationId);
    if (before !== undefined) this.#drop(conversationId, before);
    if (history.isOver) return;
    const { seed, turns, isOver, reported } = history;
    const chars = KEPT_CHARS + sizeOfTurns(turns) + (seed?.summary.length ?? 0);
    this.#kept.set(conversationId, { token, sessionId, seed, turns, isOver, reported, chars });
    this.#chars += chars;
    for (const [oldest, kept] of this.#kept) {
      if (this.#chars <= LIMITS.historyKeptChars) return;
      this.#drop(oldest, kept);
    }
  }

  #drop(conversationId: ConversationId, kept: Kept): void {
    this.#kept.delete(conversationId);
    this.#chars -= kept.chars;
  }
}
