import type { MessageRecord } from '../../core/inbox/record.ts';
import { buildTranscript, sizeOf, type TranscriptItem } from '../../core/turn/transcript.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import type { ConversationId, TaskId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { ModelMessage } from '../../ports/model.ts';
import type { EngineParts } from '../engine.ts';
import { readAgain } from '../settle.ts';

/** What one turn said, and of how many steps it is made. */
export interface SpokenTurn {
  /** Its items as a request carries them. */
  readonly messages: readonly ModelMessage[];
  /** Whose turn it was; null where it has no step. */
  readonly taskId: TaskId | null;
  /** The place of its first step: the order of turns. */
  readonly first: number;
  readonly steps: number;
  /** More than its texts have. */
  readonly chars: number;
}

/** What an item takes beside its text. */
const ITEM_CHARS = 200;

/** What a kept conversation takes beside its turns. */
const KEPT_CHARS = 1_000;

/** What one turn said, from its inputs and steps. */
export function spokenTurn(
  messages: readonly MessageRecord[],
  steps: readonly StepRecord[],
): SpokenTurn {
  const items = buildTranscript(messages, steps);
  const chars = items.reduce((sum, item) => sum + sizeOf(item) + ITEM_CHARS, 0);
  const first = Math.min(...steps.map(({ seq }) => seq));
  const taskId = steps[0]?.taskId ?? null;
  return { messages: items.map(toMessage), taskId, first, steps: steps.length, chars };
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

/**
 * The newest whole turns within `charsMax` characters and fewer than `LIMITS.historyStepsMax` steps (one
 * of as many steps as were read may be a part). A turn is in it whole or not at all: never half a call
 * and its result, and nothing that is stored is lost by it.
 */
export function newestTurns(turns: readonly SpokenTurn[], charsMax: number): readonly SpokenTurn[] {
  let start = turns.length;
  let steps = 0;
  let chars = 0;
  for (const [index, turn] of [...turns.entries()].toReversed()) {
    steps += turn.steps;
    chars += turn.chars;
    if (steps >= LIMITS.historyStepsMax || chars > charsMax) break;
    start = index;
  }
  return turns.slice(start);
}

/**
 * The same, but what a task itself has said and done goes before whatever else was said, as far as it fits:
 * without it finished calls would be made again (E-1).
 */
export function turnsFor(
  taskId: TaskId,
  turns: readonly SpokenTurn[],
  charsMax: number,
): readonly SpokenTurn[] {
  const own = newestTurns(
    turns.filter((turn) => turn.taskId === taskId),
    charsMax,
  );
  const taken = own.reduce((sum, { chars }) => sum + chars, 0);
  const others = newestTurns(
    turns.filter((turn) => turn.taskId !== taskId),
    charsMax - taken,
  );
  return [...own, ...others].toSorted((a, b) => a.first - b.first);
}

/** The turns of a task that began before this place, however many steps of others lie between; oldest first. */
export async function readOwnTurns(
  parts: HistoryParts,
  { conversationId, taskId }: Pick<TurnRecord, 'conversationId' | 'taskId'>,
  before: number,
): Promise<readonly SpokenTurn[]> {
  const asked = { conversationId, taskId, limit: OWN_STEPS_MAX };
  const steps = (await readAgain(parts, 'step.ofTask', asked)).filter(({ seq }) => seq < before);
  const newest = steps.slice(-LIMITS.historyStepsMax);
  // The oldest of as many steps as are taken may be a part of its turn.
  const isPart = (step: StepRecord): boolean =>
    newest.length < steps.length && step.turnId === newest[0]?.turnId;
  const turns: SpokenTurn[] = [];
  for (const [turnId, own] of Map.groupBy(
    newest.filter((step) => !isPart(step)),
    (step) => step.turnId,
  )) {
    const inputs = await readAgain(parts, 'message.ofTurn', { conversationId, turnId });
    turns.push(spokenTurn(inputs, own));
  }
  return turns.filter(saysSomething);
}

// Steps of one task that are looked through.
const OWN_STEPS_MAX = 5_000;

type Place = Pick<TurnRecord, 'conversationId' | 'sessionId'> & { readonly before: number };
type HistoryParts = Pick<EngineParts, 'store' | 'clock' | 'log'>;

/** Full pages of nothing but turns without a word that are read over: a provider's outage of weeks. */
const PAGES_MAX = 50;

/**
 * The turns of one session before a place in its conversation, as far as they are read for a request.
 * Turns that only found a provider still away said nothing: however many they are, they hide no other.
 */
export async function readHistory(parts: HistoryParts, place: Place): Promise<History> {
  let turns: readonly SpokenTurn[] = [];
  let { before } = place;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await readPage(parts, { ...place, before });
    const spoken = page.turns.filter(saysSomething);
    const all = [...spoken, ...turns];
    turns = newestTurns(all, Number.POSITIVE_INFINITY);
    const isCut = turns.length < all.length;
    if (page.before === null) return { turns, isWhole: !isCut };
    if (isCut || spoken.length === page.turns.length) break;
    before = page.before;
  }
  return { turns, isWhole: false };
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

async function readPage(parts: HistoryParts, place: Place): Promise<Page> {
  const limit = LIMITS.historyStepsMax;
  const { conversationId, sessionId, before } = place;
  const of = { conversationId, sessionId };
  const newest = await readAgain(parts, 'step.before', { ...of, before, limit });
  const oldest = newest.length < limit ? undefined : newest.at(-1);
  const after = Math.max(0, (oldest?.seq ?? 0) - 1);
  const messages = await readAgain(parts, 'message.ofSession', { ...of, after, limit: limit * 2 });
  if (oldest === undefined) return { turns: spokenTurns(messages, newest), before: null };
  // The oldest of as many steps as were read may be a part of its turn.
  const whole = newest.filter(({ turnId }) => turnId !== oldest.turnId);
  return { turns: spokenTurns(messages, whole), before: whole.at(-1)?.seq ?? null };
}

type Ended = Pick<TurnRecord, 'conversationId' | 'token' | 'sessionId'>;

/** The turns of one session, and whether older ones are left out of them. */
export interface History {
  readonly turns: readonly SpokenTurn[];
  readonly isWhole: boolean;
}

interface Kept extends History {
  readonly token: number;
  readonly sessionId: string;
  readonly chars: number;
}

/**
 * What conversations said up to the turn that ended here last, so that the next turn need not read and
 * rebuild it. The token proves that it is whole: every claim, stop and recovery takes the next one,
 * wherever it happens. At most `LIMITS.historyKeptChars` are kept, the longest unused go first.
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

  /** Keeps the turns up to this one, itself included. */
  keep({ conversationId, token, sessionId }: Ended, { turns, isWhole }: History): void {
    const before = this.#kept.get(conversationId);
    if (before !== undefined) this.#drop(conversationId, before);
    // A turn too large for the window leaves none, and a place all the same.
    const chars = turns.reduce((sum, turn) => sum + turn.chars, KEPT_CHARS);
    this.#kept.set(conversationId, { token, sessionId, turns, isWhole, chars });
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
