import type { ConversationRecord } from '../../core/session/record.ts';
import type { Model } from '../../ports/model.ts';
import type { Agent, EngineParts } from '../engine.ts';

/** The agent of a record; the default one where the configuration no longer has it (T-21). */
export function agentOf({ agents }: Pick<EngineParts, 'agents'>, name: string): Agent {
  return agents.find((agent) => agent.name === name) ?? agents[0];
}

/** The model that `/model` may choose by this name; undefined when none or more than one has it. */
export function modelNamed(
  { models }: Pick<EngineParts, 'models'>,
  name: string,
): Model | undefined {
  const exact = models.find((model) => `${model.provider}/${model.name}` === name);
  const named = models.filter((model) => model.name === name);
  return exact ?? (named.length === 1 ? named[0] : undefined);
}

/** The models that a conversation's turns ask, in order: the chosen or the agent's own, then the fallbacks. */
export function chainOf(
  parts: Pick<EngineParts, 'agents' | 'models'>,
  { agent, model }: Pick<ConversationRecord, 'agent' | 'model'>,
): readonly [Model, ...Model[]] {
  const { model: own, fallbacks } = agentOf(parts, agent);
  const first = (model === null ? undefined : modelNamed(parts, model)) ?? own;
  return [first, ...fallbacks.filter((fallback) => fallback !== first)];
}
