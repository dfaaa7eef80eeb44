/** What a scripted model server answers, and how that looks on the wire of OpenAI's clients. */

/** A call in a scripted reply. `args` is sent as it stands, so it may be malformed; a list is sent in pieces. */
export interface AnsweredCall {
  readonly name: string;
  readonly args: string | readonly string[];
  /** Default: `call_1`, `call_2` … within the reply. */
  readonly id?: string;
}

/** A reply. Without gates it is sent at once; a gate is a promise that the test resolves. */
export interface ReplyAnswer {
  readonly kind: 'reply';
  /** A list is sent in as many pieces. */
  readonly text?: string | readonly string[];
  readonly thinking?: string;
  readonly calls?: readonly AnsweredCall[];
  /** The model that the answer names, whichever one was asked for; null names none. */
  readonly model?: string | null;
  /** Tokens. Null reports none. */
  readonly usage?: { readonly input: number; readonly output: number } | null;
  /** `finish_reason`, in OpenAI's words whoever asks; default `stop`, or `tool_calls` with calls; null ends the stream without one. */
  readonly finish?: string | null;
  /** `cut`: the stream ends before its finish. `reset`: the socket is destroyed there. */
  readonly end?: 'done' | 'cut' | 'reset';
  /** `no`: one JSON document, although a stream was asked for. */
  readonly stream?: 'as-asked' | 'no';
  /** Holds back everything, the headers too. */
  readonly before?: Promise<unknown>;
  /** Holds back what comes after the first piece. */
  readonly between?: Promise<unknown>;
  /** Holds back the end of the body, after `[DONE]`. */
  readonly afterDone?: Promise<unknown>;
}

export type ModelAnswer =
  | ReplyAnswer
  /** An HTTP status with headers; without `body` an error object that names the status. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
      readonly before?: Promise<unknown>;
    }
  /** Status 200 with whatever bytes and type. */
  | {
      readonly kind: 'raw';
      readonly contentType: string;
      readonly body: string;
      /** Holds back the end of the body. */
      readonly afterBody?: Promise<unknown>;
      /** `reset`: the socket is destroyed after the body, or after the headers of an empty one. */
      readonly end?: 'done' | 'reset';
    }
  /** The socket is destroyed without an answer. */
  | { readonly kind: 'reset'; readonly before?: Promise<unknown> }
  /** Nothing is ever answered. */
  | { readonly kind: 'stall' }
  /** A stream that goes on until the client leaves. */
  | { readonly kind: 'endless'; readonly piece?: string };

/** What a reply leaves open is filled from here. */
export interface AnswerDefaults {
  readonly model: string;
  readonly usage: { readonly input: number; readonly output: number };
}

/** A reply of text. */
export function says(
  text: string | readonly string[],
  more: Omit<ReplyAnswer, 'kind' | 'text'> = {},
): ReplyAnswer {
  return { kind: 'reply', text, ...more };
}

/** A reply that calls one tool; arguments that are no text are written as JSON, in two pieces. */
export function callsTool(
  name: string,
  args: string | Readonly<Record<string, unknown>>,
  more: Omit<ReplyAnswer, 'kind'> = {},
): ReplyAnswer {
  const raw = typeof args === 'string' ? args : JSON.stringify(args);
  const half = Math.ceil(raw.length / 2);
  const pieces = [raw.slice(0, half), raw.slice(half)];
  return { kind: 'reply', calls: [{ name, args: pieces }], ...more };
}

/** An HTTP error with its headers. */
export function fails(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): ModelAnswer {
  return { kind: 'status', status, headers, ...(body === undefined ? {} : { body }) };
}

/** One write of a streamed reply, or the wait before the next. */
export type Part = string | Promise<unknown>;

/** The server-sent events of a reply, up to and with `[DONE]` unless it is cut. */
export function streamParts(
  answer: ReplyAnswer,
  defaults: AnswerDefaults,
  withUsage: boolean,
): readonly Part[] {
  const event = eventWriter(answer, defaults);
  const pieces = deltasOf(answer).map((delta) => event({ choices: [choice(delta, null)] }));
  const [first, ...rest] = pieces;
  const parts: Part[] = [event({ choices: [choice({ role: 'assistant', content: '' }, null)] })];
  if (first !== undefined) parts.push(first);
  if (answer.between !== undefined) parts.push(answer.between);
  parts.push(...rest);
  if (isCut(answer)) return parts;
  const finish = finishOf(answer);
  if (finish !== null) parts.push(event({ choices: [choice({}, finish)] }));
  const usage = usageOf(answer, defaults);
  if (withUsage && usage !== null) parts.push(event({ choices: [], usage }));
  parts.push('data: [DONE]\n\n');
  if (answer.afterDone !== undefined) parts.push(answer.afterDone);
  return parts;
}

/** The same reply as one JSON document. */
export function jsonDocument(answer: ReplyAnswer, defaults: AnswerDefaults): string {
  const calls = (answer.calls ?? []).map((call, index) => ({
    id: idOf(call, index),
    type: 'function',
    function: { name: call.name, arguments: piecesOf(call.args).join('') },
  }));
  const text = piecesOf(answer.text ?? []).join('');
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(answer.thinking === undefined ? {} : { reasoning_content: answer.thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return JSON.stringify({
    id: REPLY_ID,
    object: 'chat.completion',
    created: CREATED,
    ...modelOf(answer, defaults),
    choices: [{ index: 0, message, finish_reason: finishOf(answer) }],
    usage: usageOf(answer, defaults) ?? undefined,
  });
}

/** The endless stream's repeated event. */
export function endlessEvent(piece: string, defaults: AnswerDefaults): string {
  const event = eventWriter({ kind: 'reply' }, defaults);
  return event({ choices: [choice({ content: piece }, null)] });
}

/** True when the reply ends before its finish. */
export function isCut(answer: ReplyAnswer): boolean {
  return answer.end === 'cut' || answer.end === 'reset';
}

const REPLY_ID = 'chatcmpl-scripted';
const CREATED = 1_700_000_000;

type Delta = Readonly<Record<string, unknown>>;

function eventWriter(answer: ReplyAnswer, defaults: AnswerDefaults): (rest: object) => string {
  const head = {
    id: REPLY_ID,
    object: 'chat.completion.chunk',
    created: CREATED,
    ...modelOf(answer, defaults),
  };
  return (rest) => `data: ${JSON.stringify({ ...head, ...rest })}\n\n`;
}

function choice(delta: Delta, finish: string | null): object {
  return { index: 0, delta, finish_reason: finish };
}

function deltasOf(answer: ReplyAnswer): Delta[] {
  const thinking = answer.thinking === undefined ? [] : [{ reasoning_content: answer.thinking }];
  const text = piecesOf(answer.text ?? []).map((content) => ({ content }));
  return [...thinking, ...text, ...(answer.calls ?? []).flatMap(callDeltas)];
}

function callDeltas(call: AnsweredCall, index: number): Delta[] {
  const head = { index, id: idOf(call, index), type: 'function' };
  const opened = { ...head, function: { name: call.name, arguments: '' } };
  const pieces = piecesOf(call.args).map((piece) => ({ index, function: { arguments: piece } }));
  return [opened, ...pieces].map((part) => ({ tool_calls: [part] }));
}

function idOf(call: AnsweredCall, index: number): string {
  return call.id ?? `call_${index + 1}`;
}

/** The pieces that a text is sent in. */
export function piecesOf(text: string | readonly string[]): readonly string[] {
  return typeof text === 'string' ? [text] : text;
}

function finishOf(answer: ReplyAnswer): string | null {
  if (answer.finish !== undefined) return answer.finish;
  return (answer.calls ?? []).length > 0 ? 'tool_calls' : 'stop';
}

function modelOf(answer: ReplyAnswer, defaults: AnswerDefaults): object {
  const model = answer.model === undefined ? defaults.model : answer.model;
  return model === null ? {} : { model };
}

function usageOf(answer: ReplyAnswer, defaults: AnswerDefaults): object | null {
  const usage = answer.usage === undefined ? defaults.usage : answer.usage;
  if (usage === null) return null;
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
  };
}
