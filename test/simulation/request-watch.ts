// What each request of a turn has to hold, judged when it reaches its provider: whole pairs of calls and
// results, the host's own facts where a session was shortened, and nothing that was refused as too long.
import { findConditions } from '../../src/core/maintenance/conditions.ts';
import type { SessionRecord } from '../../src/core/session/record.ts';
import type { TurnRecord } from '../../src/core/turn/record.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { Model, ModelMessage, ModelRequest } from '../../src/ports/model.ts';
import { hashText } from '../../src/testing/sim-random.ts';
import type { Look } from './look.ts';
import type { Sometime } from './sometimes.ts';

export interface RequestWatchParts {
  readonly look: Look;
  /** Which turn of a conversation the host claimed last. */
  readonly ownTurn: (host: string, conversationId: string) => string | undefined;
  readonly problem: (text: string) => void;
  readonly reached: (name: Sometime) => void;
}

export interface SeenRequest {
  readonly host: string;
  readonly model: Pick<Model, 'name' | 'contextWindow'>;
  readonly request: ModelRequest;
}

/** Whether a request says something. */
type Has = (what: string) => boolean;

export class RequestWatch {
  readonly #parts: RequestWatchParts;
  /** By turn: what its provider found too long last, as far as the turn has heard. */
  readonly #heard = new Map<string, number>();
  readonly #known = new Set<number>();
  /** The request that was seen last. */
  #asked = { turnId: '', digest: 0 };

  constructor(parts: RequestWatchParts) {
    this.#parts = parts;
  }

  see({ host, model, request }: SeenRequest): void {
    const { problem } = this.#parts;
    judgePairs(request.messages, problem);
    const turn = this.#turnOf(host, request);
    this.#judgeRepeat(turn, { host, model, request });
    const session = this.#parts.look.upkeep.session(turn?.sessionId ?? '');
    // One that slept while others took its turn over knows nothing of what they did since.
    const isCurrent = turn?.state === 'running';
    if (isCurrent && session?.seed != null) this.#judgeFacts(request, turn, session);
  }

  #judgeRepeat(turn: TurnRecord | undefined, { model, request }: SeenRequest): void {
    const room = turn === undefined ? '' : this.#roomOf(turn);
    const digest = digestOf(request, `${room} ${model.name} ${model.contextWindow}`);
    this.#asked = { turnId: turn?.id ?? '', digest };
    if (this.#known.has(digest) || this.#heard.get(this.#asked.turnId) === digest)
      this.#parts.problem(`M-13 ${model.name} is sent again what was too long for its provider`);
  }

  /** The provider has said that it is too long: no such request comes again (M-13). */
  refused(): void {
    const { turnId, digest } = this.#asked;
    this.#heard.set(turnId, digest);
  }

  /** It was saved: from here on no other turn sends it either, whichever host has it. */
  recorded(turnId: string): void {
    const digest = this.#heard.get(turnId);
    if (digest !== undefined) this.#known.add(digest);
  }

  /** In a session that somebody has begun, and after an admission, the same may be said anew (M-7, M-21). */
  #roomOf({ sessionId, conversationId }: TurnRecord): string {
    return `${sessionId} ${this.#parts.look.upkeep.epochsOf(conversationId)}`;
  }

  /** M-14 and M-17: what must not be left to a summary is said by the host itself. */
  #judgeFacts(request: ModelRequest, turn: TurnRecord, session: SessionRecord): void {
    const { problem, reached } = this.#parts;
    reached('asked_shortened');
    const text = request.messages.map((message) => message.text).join('\n');
    const has = (what: string): boolean => text.includes(what) || text.includes(escaped(what));
    const { summary = '' } = JSON.parse(session.seed ?? '{}') as { readonly summary?: string };
    if (!has(summary)) problem(`M-14 a request of ${turn.id} lacks its seed`);
    this.#judgeTasks(turn, has);
    this.#judgeConditions(turn, session, has);
  }

  /** Tasks and approvals that were there when the turn began; of other tasks the rest is counted. */
  #judgeTasks({ id: turnId, conversationId, taskId, startedAt }: TurnRecord, has: Has): void {
    const { look, problem } = this.#parts;
    const isFull = has('left out for room');
    const open = look.upkeep.tasksOf(conversationId).slice(-LIMITS.namedMax);
    for (const { id, createdAt } of open) {
      if (createdAt > startedAt || has(id)) continue;
      if (id === taskId || !isFull) problem(`M-17 a request of ${turnId} lacks the open ${id}`);
    }
    for (const { id, at } of look.upkeep.approvalsOf(conversationId))
      if (at <= startedAt && !has(id)) problem(`M-17 a request of ${turnId} lacks the open ${id}`);
  }

  /** What a person has forbidden before the cut, in this session or in one that it goes on from. */
  #judgeConditions(turn: TurnRecord, session: SessionRecord, has: Has): void {
    const { look, problem, reached } = this.#parts;
    const rooms = this.#chainOf(session);
    for (const message of look.upkeep.said(turn.conversationId)) {
      if (!message.text.includes(CONDITION)) continue;
      const room = look.upkeep.turn(message.turnId ?? '')?.sessionId;
      const isShown = room === session.id && Number(message.claimedSeq) > session.cutSeq;
      if (room === undefined || !rooms.has(room) || isShown) continue;
      reached('condition_kept');
      const lost = findConditions(message.text).filter((words) => !has(words));
      for (const words of lost)
        problem(`M-17 a request of ${turn.id} lacks the condition "${words}"`);
    }
  }

  #chainOf(session: SessionRecord): ReadonlySet<string> {
    const rooms = new Set<string>();
    for (let one: SessionRecord | undefined = session; one !== undefined;) {
      rooms.add(one.id);
      one = this.#parts.look.upkeep.session(one.previousId ?? '');
    }
    return rooms;
  }

  #turnOf(host: string, request: ModelRequest): TurnRecord | undefined {
    const { look, ownTurn } = this.#parts;
    for (const { role, text } of request.messages) {
      if (role !== 'user') continue;
      const [marker] = text.match(/#\d+#/) ?? [];
      const conversationId = marker && look.conversationOf(marker);
      const turnId = conversationId && ownTurn(host, conversationId);
      if (turnId) return look.upkeep.turn(turnId);
    }
    return undefined;
  }
}

/** How a person of the simulation sets a standing condition. */
export const CONDITION = 'Never delete anything before I say so';

function digestOf({ messages, system }: ModelRequest, room: string): number {
  return hashText(JSON.stringify([room, system, messages]));
}

/** As the text stands within JSON. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** M-17: each call has its result right behind it, and each result its call. */
function judgePairs(messages: readonly ModelMessage[], problem: (text: string) => void): void {
  let due: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      const place = due.indexOf(message.callId);
      if (place < 0) problem(`M-17 a result of ${message.callId} has no call before it`);
      else due.splice(place, 1);
      continue;
    }
    if (due.length > 0) problem(`M-17 the calls ${due.join(' ')} have no result behind them`);
    due = message.role === 'assistant' ? message.calls.map(({ id }) => id) : [];
  }
  if (due.length > 0) problem(`M-17 the calls ${due.join(' ')} have no result behind them`);
  if (messages[0]?.role !== 'user') problem('M-14 a request does not begin with words of a person');
}
