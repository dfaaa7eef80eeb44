import type { ConversationId } from '../../kernel/ids.ts';
import type { Model } from '../../ports/model.ts';
import type { Catalogue } from '../../text/catalogue.ts';
import { sayRate } from '../../text/number.ts';
import { catalogueOf } from '../../text/reader.ts';
import type { EngineParts } from '../engine.ts';
import { chainOf } from '../session/agent.ts';

/** Which model the conversation uses, what it costs, and what can be chosen instead (T-20). */
export async function sayModels(
  parts: EngineParts,
  conversationId: ConversationId,
): Promise<string> {
  const words = catalogueOf(parts.options.locale);
  const conversation = await parts.store.query('conversation.byId', { id: conversationId });
  const [inUse] = chainOf(parts, conversation ?? { agent: '', model: null });
  const choices = parts.models.map((model) => words.answers.modelChoice(factsOf(words, model)));
  const used = words.answers.modelInUse(factsOf(words, inUse));
  return choices.length === 0 ? used : `${used}\n${words.answers.modelChoices(choices.join('\n'))}`;
}

function factsOf(
  words: Catalogue,
  model: Model,
): { readonly name: string; readonly price: string } {
  return { name: `${model.provider}/${model.name}`, price: priceOf(words, model) };
}

function priceOf(words: Catalogue, { price, rates }: Model): string {
  if (rates === null || price === 'free') return words.answers.prices[price];
  const { input, output } = rates;
  return words.answers.rates({ input: sayRate(words, input), output: sayRate(words, output) });
}
