import { isObject, parseJson, type Json, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';

/**
 * The server-sent events that say the same as a reply in one JSON document, for servers that do not
 * stream. An error object becomes an error event. Undefined when the text is neither.
 */
export function streamFromJson(text: string): string | undefined {
  const parsed = parseJson(text, LIMITS.jsonDepthMax);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { choices, ...head } = parsed.value;
  if (isObject(head['error'])) return event({ error: head['error'] });
  const first: Json = Array.isArray(choices) ? choices[0] : null;
  const message = isObject(first) ? first['message'] : undefined;
  if (!isObject(first) || !isObject(message)) return undefined;
  const delta = { ...message, ...callsOf(message) };
  const choice = { index: 0, delta, finish_reason: first['finish_reason'] ?? 'stop' };
  return `${event({ ...head, choices: [choice] })}data: [DONE]\n\n`;
}

function event(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** In a stream each call carries its place, and its arguments are text. */
function callsOf(message: JsonObject): JsonObject {
  const calls: Json | undefined = message['tool_calls'];
  if (!Array.isArray(calls)) return {};
  const placed = calls
    .filter((call) => isObject(call))
    .map((call, index) => ({ ...call, index, ...functionOf(call) }));
  return { tool_calls: placed };
}

function functionOf(call: JsonObject): JsonObject {
  const called = call['function'];
  if (!isObject(called)) return {};
  const args = called['arguments'] ?? '';
  return {
    function: { ...called, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  };
}
