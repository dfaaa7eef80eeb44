import type { Cause } from '../../core/maintenance/opening.ts';
import type { Reported } from '../../core/maintenance/size.ts';
import {
  countTokens,
  freeChars,
  heldWindow,
  judgeFill,
  mayMaintain,
  mostChars,
  requestRoom,
} from '../../core/maintenance/size.ts';
import { HOST_CHANNELS, type MessageRecord } from '../../core/inbox/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import type {
  Model,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelUsage,
} from '../../ports/model.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { restated } from '../../text/model.ts';
import type { EngineParts } from '../engine.ts';
import { readAgain } from '../settle.ts';
import { agentOf, chainOf } from '../session/agent.ts';
import { sayOpen, sayShortened, type Shortened } from '../session/shortened.ts';
import type { Claim } from './claim.ts';
import { offeredTools } from './context.ts';
import {
  lastReported,
  readHistory,
  saysSomething,
  scaleOf,
  sizeOfTurns,
  spokenTurn,
  stepsOf,
  type Histories,
  type History,
  type SpokenTurn,
} from './history.ts';

/** `full`: what the next request would hold does not fit the window with the reserve (M-13). */
export type Request =
  | { readonly kind: 'request'; readonly request: ModelRequest }
  | { readonly kind: 'full'; readonly filled: Filled };

/** Why a session is to be maintained once its turn has ended, and against which window (M-13). */
export interface Filled {
  readonly cause: Cause;
  readonly window: number;
}

/** What a request holds whatever is left out of it, in tokens. */
export interface Sizes {
  /** Instructions and tools. */
  readonly base: number;
  /** The turn's own inputs, calls and results. */
  readonly message: number;
}

/** The session as the store has it, and what this turn has saved since: what a request is made of. */
export class Session {
  /** The models of this turn, in the order in which they are asked. */
  readonly chain: readonly [Model, ...Model[]];
  readonly #parts: EngineParts;
  readonly #turn: TurnRecord;
  readonly #task: TaskRecord;
  readonly #system: string;
  readonly #tools: readonly ModelTool[];
  /** Characters of the instructions and the tools. */
  readonly #base: number;
  #history: History = { seed: null, turns: [], isOver: false, reported: null };
  /** What stands for the older part of the session; null where nothing was summarised. */
  #shortened: Shortened | null = null;
  #earlierChars = 0;
  /** What the turns before this one said. */
  #earlier: readonly ModelMessage[] = [];
  #messages: readonly MessageRecord[] = [];
  #reported: Reported | null = null;
  /** What the last answered call took, as the provider reported it. */
  #used = 0;
  readonly #steps: StepRecord[] = [];
  /** What this turn has said, until a step or an input is added: a request and its reply count the same. */
  #own: SpokenTurn | null = null;
  #carried: readonly StepRecord[] = [];

  private constructor(parts: EngineParts, claim: Claim, system: string) {
    const { turn, task, conversation } = claim;
    this.#parts = parts;
    this.#turn = turn;
    this.#task = task;
    this.#system = system;
    this.chain = chainOf(parts, conversation);
    const { tools, chars } = offeredTools(agentOf(parts, task.agent).tools.list);
    this.#tools = tools;
    this.#base = system.length + chars;
  }

  /** The task's session back to what its seed stands for, and the turn's own inputs. */
  static async load(parts: EngineParts, claim: Claim, histories: Histories): Promise<Session> {
    const { turn, task, inputs } = claim;
    const system = await agentOf(parts, task.agent).instructions();
    const session = new Session(parts, claim, system);
    const { conversationId, sessionId, firstSeq: before } = turn;
    const place = { conversationId, sessionId, before };
    const charsMax = mostChars(session.chain[0].contextWindow);
    session.#history = histories.take(turn) ?? (await readHistory(parts, place, charsMax));
    session.#earlierChars = sizeOfTurns(session.#history.turns);
    session.#earlier = session.#history.turns.flatMap(({ messages }) => messages);
    if (inputs === undefined) await session.joined();
    else session.#messages = inputs;
    await session.#shorten(claim);
    session.#reported =
      session.#history.reported ?? lastReported(session.#history, session.#charsBefore());
    await session.#carry();
    return session;
  }

  /** What stands for what the session no longer shows, and the words that are still to be answered (M-14). */
  async #shorten({ conversation, task, turn }: Claim): Promise<void> {
    const { seed } = this.#history;
    const isSaid = this.#messages.some(({ kind }) => kind === 'genuine');
    if (seed === null && isSaid) return;
    const session = await readAgain(this.#parts, 'session.byId', { id: turn.sessionId });
    if (session === undefined) return;
    const [{ contextWindow }] = this.chain;
    const scale = scaleOf(this.#history, this.#base);
    const free = freeChars(heldWindow(contextWindow, seed), this.#base, scale);
    const about = { conversation, task, session, free };
    this.#shortened =
      seed === null
        ? await sayOpen(this.#parts, about)
        : await sayShortened(this.#parts, { ...about, seed });
  }

  /** A turn that goes on after maintenance goes on with the calls of the one that was ended for it (T-19). */
  async #carry(): Promise<void> {
    if (!this.#messages.some(({ channel }) => channel === HOST_CHANNELS.maintenance)) return;
    const { conversationId, taskId, firstSeq: upTo } = this.#turn;
    const asked = { conversationId, taskId, upTo, limit: LIMITS.sameCallMax - 1 };
    const finished = { ...asked, state: 'finished', repeatable: '' } as const;
    this.#carried = (await readAgain(this.#parts, 'step.callsOf', finished)).toReversed();
  }

  #charsBefore(): number {
    return this.#base + (this.#shortened?.chars ?? 0) + this.#earlierChars;
  }

  saved(step: StepRecord): void {
    this.#steps.push(step);
    this.#own = null;
  }

  get steps(): readonly StepRecord[] {
    return this.#steps;
  }

  /** The tool calls up to now, oldest first, as far as they say whether the turn gets anywhere (T-19). */
  get calls(): readonly StepRecord[] {
    return [...this.#carried, ...this.#steps.filter(({ kind }) => kind === 'tool')];
  }

  /** The inputs of this turn: those of its claim and what it has claimed since (T-11). */
  async joined(): Promise<void> {
    const { conversationId, id: turnId } = this.#turn;
    this.#messages = await readAgain(this.#parts, 'message.ofTurn', { conversationId, turnId });
    this.#own = null;
  }

  /** What a call took, as the provider reported it: the next request is counted by it (M-19). */
  answered({ inputTokens, outputTokens }: ModelUsage): void {
    if (inputTokens <= 0) return;
    this.#reported = { tokens: inputTokens, chars: this.#chars() };
    this.#used = inputTokens + outputTokens;
  }

  #spoken(): SpokenTurn {
    this.#own ??= spokenTurn(this.#messages, this.#steps);
    return this.#own;
  }

  /** Characters of what a request would hold now. */
  #chars(): number {
    const restatedChars = this.#opening()?.text.length ?? 0;
    return this.#charsBefore() + this.#spoken().chars + restatedChars;
  }

  /** The turns up to this one, once it has ended. */
  history(): History {
    const turns = [...this.#history.turns, this.#spoken()].filter(saysSomething);
    return { ...this.#history, turns, reported: this.#reported };
  }

  /** The provider says that the request is too long: its own count goes before ours (M-13). */
  tooLong(): Filled {
    const [{ contextWindow }] = this.chain;
    return { cause: 'too_long', window: Math.min(contextWindow, this.#counted()) };
  }

  sizes(): Sizes {
    return {
      base: countTokens(this.#base, this.#reported),
      message: countTokens(this.#spoken().chars, this.#reported),
    };
  }

  /** Tokens that a request would have now, as far as they are counted. */
  #counted(): number {
    return countTokens(this.#chars(), this.#reported);
  }

  /** Why the session is to be maintained now that the turn ends; null while it is not (M-13). */
  filled(): Filled | null {
    const [{ contextWindow: window }] = this.chain;
    if (!mayMaintain(this.#task)) return null;
    const base = countTokens(this.#base + (this.#shortened?.chars ?? 0), this.#reported);
    const steps = stepsOf(this.#history.turns) + this.#steps.length;
    const used = Math.max(this.#used, this.#counted());
    const cause = judgeFill({ window, base, used, steps }, this.#parts.options.maintenance.startAt);
    return cause === undefined ? null : { cause, window };
  }

  /**
   * The next request, whole: what was summarised as its seed, the turns since word for word, what the host
   * knows for certain, and the turn's own items. One that does not fit the first model's window is not sent.
   */
  request(): Request {
    const [{ contextWindow: window }] = this.chain;
    if (this.#history.isOver || this.#counted() > requestRoom(window))
      return { kind: 'full', filled: { cause: 'full', window } };
    const { seed = [], facts = [] } = this.#shortened ?? {};
    const opening = this.#opening();
    const messages = [
      ...(opening === undefined ? [] : [opening]),
      ...seed,
      ...this.#earlier,
      ...facts,
      ...this.#spoken().messages,
    ];
    return { kind: 'request', request: { system: this.#system, messages, tools: this.#tools } };
  }

  /** A request begins with a person's words: where there are none, the host restates what was asked. */
  #opening(): ModelMessage | undefined {
    const { seed = [], facts = [] } = this.#shortened ?? {};
    const first = [seed, this.#earlier, facts, this.#spoken().messages].find(holdsSome)?.[0];
    if (first?.role === 'user') return undefined;
    return { role: 'user', text: restated(this.#task.mandateText) };
  }
}

function holdsSome(messages: readonly ModelMessage[]): boolean {
  return messages.length > 0;
}
