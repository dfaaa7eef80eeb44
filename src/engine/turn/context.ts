import { LIMITS } from '../../kernel/limits.ts';
import type { ConversationId } from '../../kernel/ids.ts';
import type { Model, ModelTool } from '../../ports/model.ts';
import type { EngineParts } from '../engine.ts';
import { agentOf, chainOf } from '../session/agent.ts';
import { newestTurns, readHistory } from './history.ts';
import { TASK_TOOLS } from './task-tools.ts';

/** What fills a window, in tokens as characters stand for them (T-20). */
export interface ContextParts {
  readonly window: number;
  /** Kept free for the answer. */
  readonly reserve: number;
  readonly instructions: number;
  readonly tools: number;
  readonly kept: { readonly turns: number; readonly tokens: number };
  /** Older turns that the next request leaves out; those that are too old to be read are not counted. */
  readonly leftOut: { readonly turns: number };
}

/** Characters that a request to this model may have. */
export function charsOfWindow({ contextWindow }: Pick<Model, 'contextWindow'>): number {
  const free = contextWindow * (1 - LIMITS.answerReserveShare);
  return Math.floor(free * LIMITS.charsPerToken);
}

export function tokensOf(chars: number): number {
  return Math.ceil(chars / LIMITS.charsPerToken);
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
  const { turns } = await readHistory(parts, { conversationId, sessionId, before });
  const free = charsOfWindow(model) - instructions - tools;
  const kept = newestTurns(turns, free);
  return {
    window: model.contextWindow,
    reserve: Math.ceil(model.contextWindow * LIMITS.answerReserveShare),
    instructions: tokensOf(instructions),
    tools: tokensOf(tools),
    kept: {
      turns: kept.length,
      tokens: tokensOf(kept.reduce((sum, { chars }) => sum + chars, 0)),
    },
    leftOut: { turns: turns.length - kept.length },
  };
}
