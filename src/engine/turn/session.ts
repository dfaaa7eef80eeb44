import type { MessageRecord } from '../../core/inbox/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import type { Model, ModelMessage, ModelRequest, ModelTool } from '../../ports/model.ts';
import { LEFT_OUT_NOTE, restated } from '../../text/model.ts';
import type { EngineParts } from '../engine.ts';
import { readAgain } from '../settle.ts';
import { agentOf, chainOf } from '../session/agent.ts';
import type { Claim } from './claim.ts';
import { charsOfWindow, offeredTools, tokensOf } from './context.ts';
import {
  newestTurns,
  readHistory,
  readOwnTurns,
  saysSomething,
  spokenTurn,
  turnsFor,
  type Histories,
  type History,
} from './history.ts';

/** `too_large`: what cannot be left out does not fit the window; sizes in tokens. */
export type Request =
  | { readonly kind: 'request'; readonly request: ModelRequest }
  | {
      readonly kind: 'too_large';
      readonly window: number;
      /** Instructions and tools. */
      readonly base: number;
      /** The turn's own inputs, calls and results. */
      readonly message: number;
    };

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
  #history: History = { turns: [], isWhole: true };
  #earlier: readonly ModelMessage[] = [];
  #earlierChars = 0;
  #messages: readonly MessageRecord[] = [];
  readonly #steps: StepRecord[] = [];

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

  /** The newest part of the task's session, bounded in steps, and the turn's own inputs. */
  static async load(parts: EngineParts, claim: Claim, histories: Histories): Promise<Session> {
    const { turn, task, inputs } = claim;
    const system = await agentOf(parts, task.agent).instructions();
    const session = new Session(parts, claim, system);
    const { conversationId, sessionId, firstSeq: before } = turn;
    const place = { conversationId, sessionId, before };
    const history = histories.take(turn) ?? (await readHistory(parts, place));
    session.#remember(await withOwn(parts, { turn, task }, history));
    if (inputs === undefined) await session.joined();
    else session.#messages = inputs;
    return session;
  }

  #remember(history: History): void {
    this.#history = history;
    this.#earlier = history.turns.flatMap(({ messages }) => messages);
    this.#earlierChars = history.turns.reduce((sum, { chars }) => sum + chars, 0);
  }

  saved(step: StepRecord): void {
    this.#steps.push(step);
  }

  get steps(): readonly StepRecord[] {
    return this.#steps;
  }

  /** The inputs of this turn: those of its claim and what it has claimed since (T-11). */
  async joined(): Promise<void> {
    const { conversationId, id: turnId } = this.#turn;
    this.#messages = await readAgain(this.#parts, 'message.ofTurn', { conversationId, turnId });
  }

  /** The turns up to this one, once it has ended. */
  history(): History {
    const own = spokenTurn(this.#messages, this.#steps);
    const all = [...this.#history.turns, own].filter(saysSomething);
    const turns = newestTurns(all, charsOfWindow(this.chain[0]));
    return { turns, isWhole: this.#history.isWhole && turns.length === all.length };
  }

  /**
   * The request as it fits the first model's window: the oldest whole turns are left out, and it says so.
   * What the turn itself holds is never left out.
   */
  request(): Request {
    const [model] = this.chain;
    const own = spokenTurn(this.#messages, this.#steps);
    const free = charsOfWindow(model) - this.#base - own.chars;
    if (free < 0) {
      const [window, message] = [model.contextWindow, tokensOf(own.chars)];
      return { kind: 'too_large', window, base: tokensOf(this.#base), message };
    }
    const fits = this.#earlierChars <= free - RESERVED_CHARS;
    const earlier = fits ? this.#earlier : this.#fitted(free - RESERVED_CHARS);
    const isCut = !fits || !this.#history.isWhole;
    const system = isCut ? `${this.#system}\n\n${LEFT_OUT_NOTE}` : this.#system;
    const messages = this.#opened([...earlier, ...own.messages], isCut);
    return { kind: 'request', request: { system, messages, tools: this.#tools } };
  }

  #fitted(free: number): readonly ModelMessage[] {
    const { id } = this.#task;
    return turnsFor(id, this.#history.turns, free).flatMap(({ messages }) => messages);
  }

  /**
   * A request begins with a person's words: where they were left out, the host restates what was asked,
   * and so it does where older turns are left out and this one was begun by the host itself.
   */
  #opened(messages: readonly ModelMessage[], isCut: boolean): readonly ModelMessage[] {
    const isSaid = !isCut || this.#messages.some(({ kind }) => kind === 'genuine');
    if (messages[0]?.role === 'user' && isSaid) return messages;
    return [{ role: 'user', text: restated(this.#task.mandateText) }, ...messages];
  }
}

/** For the words that the host itself adds. */
const RESERVED_CHARS = 1_000;

/** Puts before a history that is not whole what its task said and did in turns that lie further back (E-1). */
async function withOwn(
  parts: EngineParts,
  { turn, task }: Pick<Claim, 'turn' | 'task'>,
  history: History,
): Promise<History> {
  if (history.isWhole || task.turnsUsed <= 1) return history;
  const oldest = history.turns[0]?.first ?? turn.firstSeq;
  const own = await readOwnTurns(parts, turn, oldest);
  return { ...history, turns: [...own, ...history.turns] };
}
