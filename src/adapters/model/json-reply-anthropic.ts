import { isObject, parseJson, type Json, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';

/**
 * The server-sent events that say the same as a message in one JSON document, for servers that do not
 * stream. An error object becomes an error event. Undefined when the text is neither.
 */
export function anthropicStreamFromJson(text: string): string | undefined {
  const parsed = parseJson(text, LIMITS.jsonDepthMax);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { content, stop_reason: reason = 'end_turn', usage = {}, ...head } = parsed.value;
  if (isObject(head['error'])) return event('error', { error: head['error'] });
  if (!Array.isArray(content)) return undefined;
  const blocks = content.filter((block) => isObject(block));
  return [
    event('message_start', { message: { ...head, content: [], usage } }),
    ...blocks.map(blockEvents),
    event('message_delta', { delta: { stop_reason: reason }, usage }),
    event('message_stop', {}),
  ].join('');
}

function event(type: string, data: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

/** In a stream a block begins empty, and what is in it follows in pieces. */
function blockEvents(block: JsonObject, index: number): string {
  const [empty, delta] = partsOf(block);
  return [
    event('content_block_start', { index, content_block: empty }),
    ...(delta === undefined ? [] : [event('content_block_delta', { index, delta })]),
    event('content_block_stop', { index }),
  ].join('');
}

function partsOf(block: JsonObject): readonly [empty: JsonObject, delta?: JsonObject] {
  const { type, text = '', thinking = '', input = {} } = block;
  if (type === 'text')
    return [
      { ...block, text: '' },
      { type: 'text_delta', text },
    ];
  if (type === 'thinking') {
    return [
      { ...block, thinking: '' },
      { type: 'thinking_delta', thinking },
    ];
  }
  if (type !== 'tool_use') return [block];
  return [
    { ...block, input: {} },
    { type: 'input_json_delta', partial_json: textOf(input) },
  ];
}

function textOf(input: Json): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}
