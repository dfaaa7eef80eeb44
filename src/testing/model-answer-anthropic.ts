import {
  isCut,
  piecesOf,
  type AnswerDefaults,
  type Part,
  type ReplyAnswer,
} from './model-answer.ts';

/** A scripted reply as Anthropic's messages have it: events, or one document. */

/** The server-sent events of a reply, up to and with `message_stop` unless it is cut. */
export function anthropicParts(answer: ReplyAnswer, defaults: AnswerDefaults): readonly Part[] {
  const usage = usageOf(answer, defaults);
  const events = blocksOf(answer).flatMap(blockEvents);
  const first = events.findIndex((one) => one.includes('content_block_delta')) + 1;
  const parts: Part[] = [startEvent(answer, defaults), ...events.slice(0, first)];
  if (answer.between !== undefined) parts.push(answer.between);
  parts.push(...events.slice(first));
  if (isCut(answer)) return parts;
  const reason = reasonOf(answer);
  if (reason !== null) {
    const delta = { stop_reason: reason, stop_sequence: null };
    parts.push(event('message_delta', { delta, usage: { output_tokens: usage.output_tokens } }));
  }
  parts.push(event('message_stop', {}));
  if (answer.afterDone !== undefined) parts.push(answer.afterDone);
  return parts;
}

/** The same reply as one JSON document. */
export function anthropicDocument(answer: ReplyAnswer, defaults: AnswerDefaults): string {
  return JSON.stringify({
    ...messageOf(answer, defaults),
    content: blocksOf(answer).map(({ whole }) => whole),
    stop_reason: reasonOf(answer),
    usage: usageOf(answer, defaults),
  });
}

/** The beginning of an endless stream, and the event that it repeats. */
export function anthropicEndlessEvent(
  piece: string,
  defaults: AnswerDefaults,
): readonly [start: string, again: string] {
  const answer: ReplyAnswer = { kind: 'reply' };
  const content_block = { type: 'text', text: '' };
  const start = event('content_block_start', { index: 0, content_block });
  const delta = { type: 'text_delta', text: piece };
  return [startEvent(answer, defaults) + start, event('content_block_delta', { index: 0, delta })];
}

/** The body of an error of this status. */
export function anthropicError(status: number): string {
  const type = ERROR_TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  return JSON.stringify({ type: 'error', error: { type, message: `scripted ${status}` } });
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};
/** What a script says in OpenAI's words. */
const REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

interface Block {
  readonly whole: object;
  readonly empty: object;
  readonly deltas: readonly object[];
}

function blocksOf(answer: ReplyAnswer): readonly Block[] {
  const { thinking, text, calls = [] } = answer;
  const thoughts = thinking === undefined ? [] : [thoughtBlock(thinking)];
  const texts = text === undefined ? [] : [textBlock(piecesOf(text))];
  return [...thoughts, ...texts, ...calls.map(callBlock)];
}

function thoughtBlock(thinking: string): Block {
  return {
    whole: { type: 'thinking', thinking, signature: 'signed' },
    empty: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature: 'signed' },
    ],
  };
}

function textBlock(pieces: readonly string[]): Block {
  return {
    whole: { type: 'text', text: pieces.join('') },
    empty: { type: 'text', text: '' },
    deltas: pieces.map((text) => ({ type: 'text_delta', text })),
  };
}

function callBlock(call: NonNullable<ReplyAnswer['calls']>[number], index: number): Block {
  const pieces = piecesOf(call.args);
  const head = { type: 'tool_use', id: call.id ?? `call_${index + 1}`, name: call.name };
  return {
    whole: { ...head, input: inputOf(pieces.join('')) },
    empty: { ...head, input: {} },
    deltas: pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  };
}

function inputOf(args: string): unknown {
  try {
    return JSON.parse(args);
  } catch {
    return args;
  }
}

function blockEvents(block: Block, index: number): string[] {
  return [
    event('content_block_start', { index, content_block: block.empty }),
    ...block.deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ];
}

function startEvent(answer: ReplyAnswer, defaults: AnswerDefaults): string {
  const usage = { ...usageOf(answer, defaults), output_tokens: 0 };
  const message = { ...messageOf(answer, defaults), content: [], stop_reason: null, usage };
  return event('message_start', { message });
}

function messageOf(answer: ReplyAnswer, defaults: AnswerDefaults): object {
  const model = answer.model === undefined ? defaults.model : answer.model;
  const named = model === null ? {} : { model };
  return { id: 'msg_scripted', type: 'message', role: 'assistant', ...named, stop_sequence: null };
}

function usageOf(
  answer: ReplyAnswer,
  defaults: AnswerDefaults,
): { readonly input_tokens: number; readonly output_tokens: number } {
  const usage = answer.usage === undefined ? defaults.usage : answer.usage;
  return { input_tokens: usage?.input ?? 0, output_tokens: usage?.output ?? 0 };
}

function reasonOf(answer: ReplyAnswer): string | null {
  const { finish, calls = [] } = answer;
  if (finish === undefined) return calls.length > 0 ? 'tool_use' : 'end_turn';
  return finish === null ? null : (REASONS[finish] ?? finish);
}

function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
