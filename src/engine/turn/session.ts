import type { MessageRecord } from '../../core/inbox/record.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { ModelMessage, ModelRequest } from '../../ports/model.ts';
import type { EngineParts } from '../engine.ts';
import { readAgain } from '../settle.ts';
import type { Claim } from './claim.ts';
import {
  messagesOf,
  newestTurns,
  spokenTurn,
  spokenTurns,
  type Histories,
  type SpokenTurn,
} from './history.ts';

/** The session as the store has it, and what this turn has saved since: what a request is made of. */
export class Session {
  readonly #parts: EngineParts;
  readonly #turn: TurnRecord;
  readonly #system: string;
  #earlier: readonly SpokenTurn[] = [];
  #earlierMessages: readonly ModelMessage[] = [];
  #messages: readonly MessageRecord[] = [];
  readonly #steps: StepRecord[] = [];

  private constructor(parts: EngineParts, turn: TurnRecord, system: string) {
    this.#parts = parts;
    this.#turn = turn;
    this.#system = system;
  }

  /** The newest part of the transcript, bounded in steps and in characters, and the turn's own inputs. */
  static async load(parts: EngineParts, claim: Claim, histories: Histories): Promise<Session> {
    const { turn, inputs } = claim;
    const session = new Session(parts, turn, await parts.instructions());
    const charsMax = session.#charsMax();
    const earlier = histories.take(turn) ?? (await readEarlier(parts, turn));
    session.#earlier = newestTurns(earlier, charsMax);
    session.#earlierMessages = messagesOf(session.#earlier, charsMax);
    if (inputs === undefined) await session.joined();
    else session.#messages = inputs;
    return session;
  }

  saved(step: StepRecord): void {
    this.#steps.push(step);
  }

  get steps(): readonly StepRecord[] {
    return this.#steps;
  }

  /** The inputs of this turn: those of its claim and what it claimed at its end (T-11). */
  async joined(): Promise<void> {
    const { conversationId, id: turnId } = this.#turn;
    this.#messages = await readAgain(this.#parts, 'message.ofTurn', { conversationId, turnId });
  }

  /** The turns up to this one, once it has ended. */
  turns(): readonly SpokenTurn[] {
    return [...this.#earlier, spokenTurn(this.#messages, this.#steps)];
  }

  request(): ModelRequest {
    const own = spokenTurn(this.#messages, this.#steps);
    const messages = [...this.#earlierMessages, ...own.messages];
    return { system: this.#system, messages, tools: this.#parts.tools.list };
  }

  #charsMax(): number {
    return Math.floor(this.#parts.model.contextWindow * LIMITS.charsPerToken * LIMITS.historyShare);
  }
}

async function readEarlier(parts: EngineParts, turn: TurnRecord): Promise<readonly SpokenTurn[]> {
  const { conversationId, firstSeq } = turn;
  const newest = await readAgain(parts, 'step.before', {
    conversationId,
    before: firstSeq,
    limit: LIMITS.historyStepsMax,
  });
  const oldest = newest.length < LIMITS.historyStepsMax ? 0 : (newest.at(-1)?.seq ?? 0);
  const messages = await readAgain(parts, 'message.claimedAfter', {
    conversationId,
    after: Math.max(0, oldest - 1),
    limit: LIMITS.historyStepsMax * 2,
  });
  const earlier = messages.filter((message) => message.turnId !== turn.id);
  return spokenTurns(earlier, newest);
}
