import {
  answerReserve,
  charsFor,
  countTokens,
  freeChars,
  heldWindow,
  mostChars,
  requestRoom,
} from '../../core/maintenance/size.ts';
import type { ConversationId } from '../../kernel/ids.ts';
import type { Model, ModelTool } from '../../ports/model.ts';
import type { EngineParts } from '../engine.ts';
import { agentOf, chainOf } from '../session/agent.ts';
import { sayShortened } from '../session/shortened.ts';
import { lastReported, readHistory, scaleOf, sizeOfTurns } from './history.ts';
import { TASK_TOOLS } from './task-tools.ts';

/** What fills a window, in tokens as the provider counted last (T-20). */
export interface ContextParts {
  readonly window: number;
  /** Kept free for the answer. */
  readonly reserve: number;
  readonly instructions: number;
  readonly tools: number;
  /** What stands for the summarised part of the session, and what the host says of its records; 0 without one. */
  readonly seed: number;
  readonly facts: number;
  readonly kept: { readonly turns: number; readonly tokens: number };
  /** More stands in the session than a request holds: it is maintained before the next turn goes on. */
  readonly isOver: boolean;
}

/** Characters that a request to this model may have, as characters stand for tokens. */
export function charsOfWindow({ contextWindow }: Pick<Model, 'contextWindow'>): number {
  return charsFor(requestRoom(contextWindow));
}

/** What a request offers the model. */
export interface OfferedTools {
  readonly tools: readonly ModelTool[];
  /** That they take in a request. */
  readonly chars: number;
}

const OFFERED = new WeakMap<readonly ModelTool[], OfferedTools>();

/** An agent's tools and those of its task; the same for each turn, and measured once for a list. */
export function offeredTools(own: readonly ModelTool[]): OfferedTools {
  const known = OFFERED.get(own);
  if (known !== undefined) return known;
  const tools = [...own, ...TASK_TOOLS];
  const offered = { tools, chars: charsOfTools(tools) };
  OFFERED.set(own, offered);
  return offered;
}

function charsOfTools(tools: readonly ModelTool[]): number {
  return tools.reduce(
    (sum, { name, description, parameters }) =>
      sum + name.length + description.length + JSON.stringify(parameters).length,
    0,
  );
}

/** What would fill the window of the conversation's next request, by part. */
export async function measureContext(
  parts: EngineParts,
  conversationId: ConversationId,
): Promise<ContextParts | undefined> {
  const conversation = await parts.store.query('conversation.byId', { id: conversationId });
  if (conversation === undefined) return undefined;
  const agent = agentOf(parts, conversation.agent);
  const [model] = chainOf(parts, conversation);
  const instructions = (await agent.instructions()).length;
  const { chars: tools } = offeredTools(agent.tools.list);
  const before = conversation.seq + 1;
  const { sessionId } = conversation;
  const most = mostChars(model.contextWindow);
  const history = await readHistory(parts, { conversationId, sessionId, before }, most);
  const { seed, turns, isOver } = history;
  const scale = scaleOf(history, instructions + tools);
  const free = freeChars(heldWindow(model.contextWindow, seed), instructions + tools, scale);
  const session = await parts.store.query('session.byId', { id: sessionId });
  const shortened =
    seed === null || session === undefined
      ? { seedChars: 0, factsChars: 0 }
      : await sayShortened(parts, { conversation, task: undefined, session, seed, free });
  const kept = sizeOfTurns(turns);
  const all = instructions + tools + shortened.seedChars + shortened.factsChars + kept;
  const reported = lastReported(history, all);
  const tokens = (chars: number): number => countTokens(chars, reported);
  return {
    window: model.contextWindow,
    reserve: answerReserve(model.contextWindow),
    instructions: tokens(instructions),
    tools: tokens(tools),
    seed: tokens(shortened.seedChars),
    facts: tokens(shortened.factsChars),
    kept: { turns: turns.length, tokens: tokens(kept) },
    isOver,
  };
}
