import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import { invariant } from '../kernel/invariant.ts';
import { isObject, parseJson, type Json, type JsonObject } from '../kernel/json.ts';
import { LIMITS } from '../kernel/limits.ts';
import {
  fails,
  piecesOf,
  says,
  type AnswerDefaults,
  type ModelAnswer,
  type Part,
} from './model-answer.ts';
import type { ReplyAnswer } from './model-answer.ts';
import { dialectOf, OPENAI, type Dialect } from './model-dialect.ts';
import type { StrictFormat } from './model-strict-wire.ts';
import { strictTokens, unpairedIn } from './model-strict.ts';

/** A request as it arrived. The server records it before it answers. */
export interface RecordedRequest {
  /** 1 for the first of this server. */
  readonly order: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as sent. */
  readonly text: string;
  /** The body parsed; `{}` when there was none. Throws `SyntaxError` when it is no JSON. */
  readonly body: JsonObject;
  /** What a strict provider counts of it, in tokens. */
  readonly tokens: number;
  /** The text of the last message in the body; empty when there is none. */
  readonly lastText: string;
  /** True once the client has left before the answer was complete. */
  readonly aborted: boolean;
  /** Resolves when the exchange is over, either way. */
  readonly over: Promise<'answered' | 'aborted'>;
}

/** An answer that is no reply. */
export type ModelFaultAnswer = Exclude<ModelAnswer, ReplyAnswer>;

export type Responder = (request: RecordedRequest) => ModelAnswer | Promise<ModelAnswer>;

export interface ModelServerOptions {
  /** Default 0: a free one. */
  readonly port?: number;
  /** What `GET /models` lists. */
  readonly models?: readonly string[];
  /** The model that replies name unless their answer says otherwise. */
  readonly model?: string;
  readonly usage?: { readonly input: number; readonly output: number };
  /**
   * Answers as a strict provider does: refuses with the vendor's own error what is larger than the window
   * and what holds half of a pair of call and result, and reports the usage that it counts.
   */
  readonly strict?: StrictOptions;
  /** Whether `requests` grows. A benchmark of many turns says `none`; default `all`. */
  readonly record?: 'all' | 'none';
}

/** A provider that takes no more than it says, and no request that is out of order. */
export interface StrictOptions {
  /** In tokens: four characters of a request's whole body are one. */
  readonly window: number;
  /** Answers the calls for a `summary`, in the place of queue and responder. The default sums up in few words. */
  readonly summary?: Responder;
}

/** A scripted model on loopback: for OpenAI's clients and for Anthropic's, as they ask. */
export interface ModelServer {
  /** The base URL for a configuration: `http://127.0.0.1:PORT/v1`. */
  readonly url: string;
  /** In the order of their arrival. */
  readonly requests: readonly RecordedRequest[];
  /** TCP connections accepted so far. */
  readonly connections: number;
  /** Adds answers; each is given once, in order, before the responder is asked. */
  enqueue(...answers: readonly ModelAnswer[]): void;
  /** Answers every request for which nothing is queued. The default says `ok`. */
  respondWith(responder: Responder): void;
  /** How `GET /models` goes wrong from here on; null lists them again. */
  listWith(fault: ModelFaultAnswer | null): void;
  /** From here on it is as strict as this; null takes anything. */
  holdTo(strict: StrictOptions | null): void;
  /** Resolves with the request of this order, also when it has arrived already. */
  arrived(order: number): Promise<RecordedRequest>;
  /** How many recorded requests carried exactly these messages. */
  timesSeen(messages: Json): number;
  /** Recorded requests whose messages came more than once, by group. */
  duplicates(): readonly (readonly RecordedRequest[])[];
  /** Ends every connection and resolves when the port is free; a second time does nothing. */
  close(): Promise<void>;
}

/**
 * Starts the server. A list of answers is the queue, a function is the responder.
 * Rejects when the port is taken.
 */
export async function startModelServer(
  script: readonly ModelAnswer[] | Responder = [],
  options: ModelServerOptions = {},
): Promise<ModelServer> {
  const state = new Exchange(script, options);
  const server = createServer((request, response) => void state.serve(request, response));
  server.on('connection', () => (state.connections += 1));
  // Longer than any client keeps one: it must never be the server that ends a kept connection.
  server.keepAliveTimeout = 600_000;
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}/v1`,
    requests: state.requests,
    get connections() {
      return state.connections;
    },
    enqueue: (...answers) => void state.queue.push(...answers),
    respondWith: (responder) => (state.responder = responder),
    listWith: (fault) => (state.listing = fault),
    holdTo: (strict) => (state.strict = strict),
    arrived: (order) => state.arrived(order),
    timesSeen: (messages) => state.groups().get(JSON.stringify(messages))?.length ?? 0,
    duplicates: () => [...state.groups().values()].filter((group) => group.length > 1),
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const OK = says('ok');
const SUMMED_UP = says(JSON.stringify({ summary: 'what was said so far' }));
const SSE = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
const JSON_TYPE = { 'content-type': 'application/json' };

class Exchange {
  readonly requests: RecordedRequest[] = [];
  readonly queue: ModelAnswer[];
  responder: Responder;
  listing: ModelFaultAnswer | null = null;
  strict: StrictOptions | null;
  connections = 0;
  #order = 0;
  readonly #waiting = new Map<number, (request: RecordedRequest) => void>();
  /** Replies that are the same each time, by dialect: a benchmark asks for thousands. */
  readonly #written = new WeakMap<ReplyAnswer, Map<Dialect, string>>();
  readonly #defaults: AnswerDefaults;
  readonly #models: readonly string[];
  readonly #record: boolean;

  constructor(script: readonly ModelAnswer[] | Responder, options: ModelServerOptions) {
    this.queue = typeof script === 'function' ? [] : [...script];
    this.responder = typeof script === 'function' ? script : () => OK;
    const model = options.model ?? 'scripted-1';
    this.#defaults = { model, usage: options.usage ?? { input: 10, output: 2 } };
    this.#models = options.models ?? [model];
    this.strict = options.strict ?? null;
    this.#record = options.record !== 'none';
  }

  async serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(message);
    if (text === undefined) return;
    const request = new Recorded((this.#order += 1), message, text);
    response.on('close', () => request.close(response.writableFinished));
    if (this.#record) this.requests.push(request);
    this.#waiting.get(request.order)?.(request);
    this.#waiting.delete(request.order);
    try {
      await this.#answer(request, response);
    } catch (error) {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(String(error));
    }
  }

  arrived(order: number): Promise<RecordedRequest> {
    const found = this.requests[order - 1];
    if (found !== undefined) return Promise.resolve(found);
    const { promise, resolve } = Promise.withResolvers<RecordedRequest>();
    this.#waiting.set(order, resolve);
    return promise;
  }

  groups(): ReadonlyMap<string, readonly RecordedRequest[]> {
    const chats = this.requests.filter((request) => dialectOf(request.path) !== undefined);
    return Map.groupBy(chats, (request) => JSON.stringify(request.body['messages'] ?? null));
  }

  async #answer(request: RecordedRequest, response: ServerResponse): Promise<void> {
    if (request.path.endsWith('/models')) return this.#list(request, response);
    const dialect = dialectOf(request.path);
    if (dialect === undefined) {
      response.writeHead(404, JSON_TYPE).end('{"error":{"message":"there is nothing here"}}');
      return;
    }
    const answer = await this.#chosen(request, dialect);
    if ('before' in answer) await answer.before;
    const asked = { dialect, text: request.text, to: response };
    if (answer.kind === 'reply') await this.#reply(answer, asked);
    else await this.#misbehave(answer, asked);
  }

  async #chosen(request: RecordedRequest, { strict }: Dialect): Promise<ModelAnswer> {
    if (this.strict === null) return this.queue.shift() ?? this.responder(request);
    const refused = refusalOf(request, strict, this.strict);
    if (refused !== undefined) return refused;
    const { summary = () => SUMMED_UP } = this.strict;
    const isSummary = strict.asksFor(request.body, 'summary');
    const answer = isSummary
      ? await summary(request)
      : (this.queue.shift() ?? (await this.responder(request)));
    return answer.kind === 'reply' ? counted(answer, request) : answer;
  }

  async #list({ text }: RecordedRequest, to: ServerResponse): Promise<void> {
    if (this.listing !== null) {
      if ('before' in this.listing) await this.listing.before;
      return this.#misbehave(this.listing, { dialect: OPENAI, text, to });
    }
    const data = this.#models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'test' }));
    to.writeHead(200, JSON_TYPE).end(JSON.stringify({ object: 'list', data }));
  }

  async #reply(answer: ReplyAnswer, asked: Asked): Promise<void> {
    const { dialect, text, to } = asked;
    if (answer.stream === 'no' || !text.includes('"stream":true')) {
      to.writeHead(200, JSON_TYPE).end(dialect.document(answer, this.#defaults));
      return;
    }
    to.writeHead(200, SSE);
    const known = this.#written.get(answer)?.get(dialect);
    const parts = known === undefined ? this.#parts(answer, asked) : [known];
    for (const part of parts) {
      if (typeof part === 'string') to.write(part);
      else await part;
    }
    if (answer.end === 'reset') await flushed(to).then(() => to.destroy());
    else to.end();
  }

  #parts(answer: ReplyAnswer, { dialect, text }: Asked): readonly Part[] {
    const { parts, plain } = dialect.parts(answer, this.#defaults, text);
    if (plain === undefined) return parts;
    const written = this.#written.get(answer) ?? new Map<Dialect, string>();
    this.#written.set(answer, written.set(dialect, plain));
    return parts;
  }

  async #misbehave(answer: ModelFaultAnswer, asked: Asked): Promise<void> {
    const { dialect, to } = asked;
    switch (answer.kind) {
      case 'status':
        to.writeHead(answer.status, { ...JSON_TYPE, ...answer.headers });
        to.end(answer.body ?? dialect.error(answer.status));
        return;
      case 'raw':
        to.writeHead(200, { 'content-type': answer.contentType }).flushHeaders();
        to.write(answer.body);
        await answer.afterBody;
        if (answer.end === 'reset') await flushed(to).then(() => to.destroy());
        else to.end();
        return;
      case 'reset':
        to.destroy();
        return;
      case 'stall':
        return;
      case 'endless': {
        const [start, again] = dialect.endless(answer.piece ?? 'and so on ', this.#defaults);
        to.writeHead(200, SSE).write(start);
        runOn(to, again);
      }
    }
  }
}

/** Who asked, in which words, and where the answer goes. */
interface Asked {
  readonly dialect: Dialect;
  readonly text: string;
  readonly to: ServerResponse;
}

class Recorded implements RecordedRequest {
  readonly order: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  aborted = false;
  readonly #over = Promise.withResolvers<'answered' | 'aborted'>();

  constructor(order: number, message: IncomingMessage, text: string) {
    this.order = order;
    this.method = message.method ?? '';
    this.path = (message.url ?? '').split('?')[0] ?? '';
    this.headers = message.headers;
    this.text = text;
  }

  get body(): JsonObject {
    if (this.text === '') return {};
    const parsed = parseJson(this.text, LIMITS.jsonDepthMax);
    if (parsed.ok && isObject(parsed.value)) return parsed.value;
    throw new SyntaxError(`the body of request ${this.order} is no JSON object`);
  }

  get tokens(): number {
    return strictTokens(this.text);
  }

  get lastText(): string {
    const messages = this.body['messages'];
    const last: Json = Array.isArray(messages) ? messages.at(-1) : null;
    return textIn(isObject(last) ? last['content'] : undefined);
  }

  get over(): Promise<'answered' | 'aborted'> {
    return this.#over.promise;
  }

  close(isAnswered: boolean): void {
    this.aborted = !isAnswered;
    this.#over.resolve(isAnswered ? 'answered' : 'aborted');
  }
}

/** Why a strict provider does not answer a request; undefined when it does. */
function refusalOf(
  { body, tokens }: RecordedRequest,
  format: StrictFormat,
  { window }: StrictOptions,
): ModelAnswer | undefined {
  const found = unpairedIn(format.pieces(body));
  if (found !== undefined) return fails(400, {}, format.unpaired(found));
  return tokens > window ? fails(400, {}, format.tooLong(tokens, window)) : undefined;
}

/** With the usage that the provider counts, unless the answer has its own. */
function counted(answer: ReplyAnswer, { tokens }: RecordedRequest): ReplyAnswer {
  if (answer.usage !== undefined) return answer;
  const said = [answer.text ?? '', ...(answer.calls ?? []).map(({ args }) => args)];
  const text = said.flatMap(piecesOf).join('');
  return { ...answer, usage: { input: tokens, output: strictTokens(text) } };
}

function portOf(server: Server): number {
  const address = server.address();
  invariant(typeof address === 'object' && address !== null, 'a listening server has a port');
  return address.port;
}

/** Undefined when the client left while it was sending. */
function bodyOf(message: IncomingMessage): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => void chunks.push(chunk));
  message.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  message.on('error', () => resolve(undefined));
  return promise;
}

/** Plain, or in blocks; what a tool said stands one deeper. */
function textIn(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.map((block) =>
    isObject(block) ? textIn(block['text'] ?? block['content']) : '',
  );
  return texts.join('');
}

function flushed(to: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  to.write('', () => resolve());
  return promise;
}

/** A buffer that is full is left to drain: the client decides how fast it goes. */
function runOn(to: ServerResponse, event: string): void {
  const block = event.repeat(64);
  const more = (): void => {
    if (to.destroyed) return;
    if (to.write(block)) setImmediate(more);
    else to.once('drain', more);
  };
  more();
}
