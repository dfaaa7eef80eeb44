import type { ConversationId } from '../../kernel/ids.ts';
import type { ContextPart } from '../../text/answer-texts.ts';
import type { Catalogue } from '../../text/catalogue.ts';
import { sayCount } from '../../text/number.ts';
import { catalogueOf } from '../../text/reader.ts';
import { renderRefusal } from '../../text/render.ts';
import type { EngineParts } from '../engine.ts';
import { chainOf } from '../session/agent.ts';
import { measureContext } from '../turn/context.ts';

/** What fills the window of the conversation's next request, by part, in estimated tokens (T-20). */
export async function sayContext(
  parts: EngineParts,
  conversationId: ConversationId,
): Promise<string> {
  const measured = await measureContext(parts, conversationId);
  const conversation = await parts.store.query('conversation.byId', { id: conversationId });
  if (measured === undefined || conversation === undefined)
    return renderRefusal(parts.options, 'not_found', { id: conversationId });
  const words = catalogueOf(parts.options.locale);
  const [{ provider, name }] = chainOf(parts, conversation);
  const { window, reserve, instructions, tools, seed, facts, kept, isOver } = measured;
  const used = instructions + tools + seed + facts + kept.tokens;
  const filled: readonly (readonly [ContextPart, number])[] = [
    ['instructions', instructions],
    ['tools', tools],
    ['summary', seed],
    ['facts', facts],
    ['history', kept.tokens],
    ['reserve', reserve],
    ['free', Math.max(0, window - used - reserve)],
  ];
  const count = (tokens: number): string => sayCount(words, tokens);
  return [
    words.answers.contextHead({
      used: count(used),
      window: count(window),
      name: `${provider}/${name}`,
    }),
    ...filled
      .filter(([part, tokens]) => tokens > 0 || !OF_LONG_ONES.has(part))
      .map(([part, tokens]) =>
        words.answers.contextLine(sayPart(words, part, kept), count(tokens)),
      ),
    ...(isOver || used + reserve > window ? [words.answers.contextOver] : []),
  ].join('\n');
}

/** What only a session has that was maintained. */
const OF_LONG_ONES: ReadonlySet<ContextPart> = new Set(['summary', 'facts']);

function sayPart(
  words: Catalogue,
  part: ContextPart,
  { turns }: { readonly turns: number },
): string {
  const said = words.answers.contextParts[part];
  return part === 'history' ? words.answers.contextTurns(said, sayCount(words, turns)) : said;
}
