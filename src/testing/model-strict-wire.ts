import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { PairPiece, Unpaired } from './model-strict.ts';

/** How a strict provider of one format reads a request and refuses it. */
export interface StrictFormat {
  readonly pieces: (body: JsonObject) => readonly PairPiece[];
  /** Whether the request asks for an answer of the shape of this name. */
  readonly asksFor: (body: JsonObject, name: string) => boolean;
  /** The vendor's own body for a request that is too long; its status is 400. */
  readonly tooLong: (tokens: number, window: number) => string;
  /** The vendor's own body for half of a pair; its status is 400. */
  readonly unpaired: (found: Unpaired) => string;
}

/** What the library puts where a result is missing: a host that leaves a gap must not pass unseen. */
const MADE_UP = 'No result provided';

export const STRICT_OPENAI: StrictFormat = {
  pieces: (body) => messagesOf(body).map(openAiPiece),
  asksFor: (body, name) => {
    const format = fieldOf(body['response_format'], 'json_schema');
    return fieldOf(format, 'name') === name;
  },
  tooLong: (tokens, window) =>
    openAiError(
      `This model's maximum context length is ${window} tokens. However, your messages resulted in ` +
        `${tokens} tokens. Please reduce the length of the messages.`,
      { param: 'messages', code: 'context_length_exceeded' },
    ),
  unpaired: ({ what, ids, at }) =>
    openAiError(
      what === 'call'
        ? `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`
        : "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      { param: `messages.[${at}].role`, code: null },
    ),
};

export const STRICT_ANTHROPIC: StrictFormat = {
  pieces: (body) => messagesOf(body).flatMap(anthropicPieces),
  // The format has no name for a shape: one is told by what must be in it.
  asksFor: (body, name) => {
    const format = fieldOf(body['output_config'], 'format');
    const properties = fieldOf(fieldOf(format, 'schema'), 'properties');
    return fieldOf(properties, name) !== undefined;
  },
  tooLong: (tokens, window) =>
    anthropicRefusal(`prompt is too long: ${tokens} tokens > ${window} maximum`),
  unpaired: ({ what, ids, at }) =>
    anthropicRefusal(
      what === 'call'
        ? `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
        : `messages.${at}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${ids.join(', ')}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
    ),
};

function messagesOf({ messages }: JsonObject): readonly JsonObject[] {
  return Array.isArray(messages) ? messages.filter(isObject) : [];
}

function openAiPiece(message: JsonObject): PairPiece {
  if (message['role'] === 'tool') {
    return {
      kind: 'result',
      id: wordIn(message['tool_call_id']),
      isMade: isMadeUp(message['content']),
    };
  }
  const calls = message['tool_calls'];
  if (!Array.isArray(calls) || calls.length === 0) return { kind: 'words' };
  return { kind: 'calls', ids: calls.map((call) => wordIn(fieldOf(call, 'id'))) };
}

function anthropicPieces({ content }: JsonObject): readonly PairPiece[] {
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  const results: PairPiece[] = blocks
    .filter(({ type }) => type === 'tool_result')
    .map((block) => ({
      kind: 'result',
      id: wordIn(block['tool_use_id']),
      isMade: isMadeUp(block['content']),
    }));
  const ids = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => wordIn(id));
  const said: PairPiece = ids.length > 0 ? { kind: 'calls', ids } : { kind: 'words' };
  const isResultsAlone = results.length > 0 && results.length === blocks.length;
  return isResultsAlone ? results : [...results, said];
}

function isMadeUp(content: Json | undefined): boolean {
  if (Array.isArray(content)) return content.length === 1 && isMadeUp(fieldOf(content[0], 'text'));
  return content === MADE_UP;
}

function fieldOf(value: Json | undefined, name: string): Json | undefined {
  return value !== undefined && isObject(value) ? value[name] : undefined;
}

function wordIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function openAiError(
  message: string,
  more: { readonly param: string; readonly code: string | null },
): string {
  return JSON.stringify({ error: { message, type: 'invalid_request_error', ...more } });
}

function anthropicRefusal(message: string): string {
  return JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } });
}
