import type { AssistantMessage, Model as LibraryModel } from '@earendil-works/pi-ai';
import manifest from '../../../package.json' with { type: 'json' };
import { redactor } from '../../kernel/redact.ts';
import type { Millis } from '../../kernel/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Model, ModelOutcome, ModelRequest } from '../../ports/model.ts';
import {
  clean,
  foreignFault,
  internalFault,
  ownFault,
  type ModelFault,
  type OwnEnd,
} from './fault.ts';
import { keepAliveFetch, type ModelFetch } from './keep-alive-fetch.ts';
import { toContext } from './messages.ts';
import { isWhole, ReplyReader, usageOf, type Price } from './reply.ts';
import { openWire, type WireRecord } from './wire.ts';

export interface OpenAiCompatibleOptions {
  /** The configured name; it is also what a reply reports, since no server names its operator. */
  readonly provider: string;
  /** Up to and without `/chat/completions`. */
  readonly baseURL: string;
  readonly name: string;
  readonly apiKey?: string | undefined;
  /** In tokens. */
  readonly contextWindow: number;
  readonly timeouts: {
    /** From the request to the first text, thought or call. */
    readonly firstTokenMs: Millis;
    readonly callMs: Millis;
  };
  /** US dollars for a million tokens. Absent: the cost is not counted. */
  readonly price?: Price | undefined;
  readonly clock: Clock;
  /** Default: one over node:http that keeps its connections. */
  readonly fetch?: ModelFetch | undefined;
}

/**
 * A model behind `POST {baseURL}/chat/completions`, streamed, exactly one request per call.
 *
 * The reply names the model that the provider's answer named, `unreported` when it named none (T-9).
 * Arguments of calls are the model's own text, `{}` where it wrote nothing at all. A provider that
 * reports no usage is counted by four bytes a token, so that a budget still bounds it. Costs are
 * millionths of a US dollar. Every failure is an outcome; the promise never rejects.
 */
export function openAiCompatible(options: OpenAiCompatibleOptions): Model {
  const apiKey = options.apiKey?.trim();
  const setup: Setup = {
    ...options,
    apiKey,
    fetch: options.fetch ?? keepAliveFetch(),
    mask: redactor(apiKey === undefined ? [] : [apiKey]),
  };
  return {
    provider: options.provider,
    name: options.name,
    price: priceWord(options.price),
    contextWindow: options.contextWindow,
    // A library that cannot be loaded is the first call's fault to tell.
    prepare: () => loadLibrary().then(ignored, ignored),
    call: (request, live) => new OneCall(setup, live).run(request),
  };
}

const API = 'openai-completions';
/** Ours are shorter: the library's own must never be the one that fires. */
const LIBRARY_TIMEOUT_MS: Millis = 2_147_483_647;

/** Why a timer is ended. Without a reason each abort makes an error with its stack. */
const OVER = 'over';

type Setup = OpenAiCompatibleOptions & {
  readonly fetch: ModelFetch;
  readonly mask: (text: string) => string;
};
type Live = Parameters<Model['call']>[1];

class OneCall {
  readonly #setup: Setup;
  readonly #live: Live;
  readonly #reader: ReplyReader;
  /** Aborted when the call must not go on; what is complete by then is not affected. */
  readonly #ended = new AbortController();
  readonly #hasToken = new AbortController();
  #why: OwnEnd | null = null;

  constructor(setup: Setup, live: Live) {
    this.#setup = setup;
    this.#live = live;
    this.#reader = new ReplyReader(setup.provider, live, {
      onToken: () => this.#hasToken.abort(OVER),
      onLimit: (why) => this.#end(why),
    });
  }

  async run(request: ModelRequest): Promise<ModelOutcome> {
    const { signal } = this.#live;
    if (signal.aborted) return ownFault('aborted');
    const onAbort = (): void => this.#end('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
    const over = new AbortController();
    this.#watch(over.signal);
    try {
      const outcome = await Promise.race([this.#ask(request), this.#own()]);
      return outcome.kind === 'fault' ? this.#cleaned(outcome) : outcome;
    } catch (error) {
      return this.#cleaned(internalFault(error));
    } finally {
      over.abort(OVER);
      this.#hasToken.abort(OVER);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** The fault of a call that we end. It does not wait for the library to notice. */
  #own(): Promise<ModelFault> {
    const { promise, resolve } = Promise.withResolvers<ModelFault>();
    this.#ended.signal.addEventListener('abort', () => resolve(ownFault(this.#why ?? 'aborted')));
    return promise;
  }

  #end(why: OwnEnd): void {
    this.#why ??= why;
    this.#ended.abort();
  }

  #watch(over: AbortSignal): void {
    const { clock, timeouts } = this.#setup;
    const timeOut = (settled: AbortSignal) => (): void => {
      if (!settled.aborted) this.#end('timeout');
    };
    const hasToken = this.#hasToken.signal;
    void clock.sleep(timeouts.firstTokenMs, hasToken).then(timeOut(hasToken));
    void clock.sleep(timeouts.callMs, over).then(timeOut(over));
  }

  async #ask(request: ModelRequest): Promise<ModelOutcome> {
    const library = await loadLibrary();
    const { provider, name, apiKey, fetch, clock } = this.#setup;
    const signal = this.#ended.signal;
    const headers = headersOf(apiKey);
    const onTooLarge = (): void => this.#end('too_large');
    const wire = openWire({ fetch, headers, clock, signal, onTooLarge });
    const context = toContext(request, { api: API, provider, model: name });
    const events = library.stream(libraryModel(this.#setup), library.normalizeContext(context), {
      // The library insists on a key; the headers that are sent are the wire's.
      apiKey: 'unused',
      fetch: wire.fetch,
      signal,
      maxRetries: 0,
      timeoutMs: LIBRARY_TIMEOUT_MS,
      cacheRetention: 'short',
      onProviderStreamEvent: (data) => this.#reader.note(data),
    });
    for await (const event of events) {
      // The outcome is out already: nothing live may follow it.
      if (signal.aborted) return ownFault(this.#why ?? 'aborted');
      if (event.type === 'done') return this.#reply(event.message, wire.record);
      if (event.type === 'error') return this.#failed(event.error, wire.record);
      this.#reader.piece(event);
    }
    return internalFault('the library ended without an end');
  }

  #reply(message: AssistantMessage, record: WireRecord): ModelOutcome {
    return this.#reader.reply(message, this.#setup.price, record.requestBytes);
  }

  #failed(message: AssistantMessage, record: WireRecord): ModelOutcome {
    if (isWhole(message)) return this.#reply(message, record);
    const end = {
      message: message.errorMessage ?? '',
      finish: message.rawStopReason,
      hasBegun: this.#reader.hasBegun,
    };
    const fault = foreignFault(record, end, this.#setup.clock.now());
    return { ...fault, usage: usageOf(message, this.#setup.price) };
  }

  /** A connection behind a fault is in no known state: it is closed, not kept. */
  #cleaned(fault: ModelFault): ModelFault {
    this.#ended.abort();
    return { ...fault, message: clean(fault.message, this.#setup.mask) };
  }
}

const ignored = (): void => undefined;

type Library = typeof import('@earendil-works/pi-ai/api/openai-completions') &
  Pick<typeof import('@earendil-works/pi-ai/utils/transcript'), 'normalizeContext'>;

let loaded: Library | undefined;

/** After the start: the library takes as long to load as the host to start. */
async function loadLibrary(): Promise<Library> {
  if (loaded !== undefined) return loaded;
  // Its client would print what it cannot parse on the host's stderr; for us that is an outcome.
  process.env['OPENAI_LOG'] ??= 'off';
  const [api, transcript] = await Promise.all([
    import('@earendil-works/pi-ai/api/openai-completions'),
    import('@earendil-works/pi-ai/utils/transcript'),
  ]);
  loaded = { ...api, normalizeContext: transcript.normalizeContext };
  return loaded;
}

function libraryModel(setup: Setup): LibraryModel<typeof API> {
  return {
    id: setup.name,
    name: setup.name,
    api: API,
    provider: setup.provider,
    baseUrl: setup.baseURL,
    reasoning: false,
    input: ['text'],
    // Counted by us: the library knows no price of a model that was only named.
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: setup.contextWindow,
    maxTokens: setup.contextWindow,
    // Strict servers refuse a field that only OpenAI has.
    compat: { supportsStore: new URL(setup.baseURL).hostname === 'api.openai.com' },
  };
}

function headersOf(apiKey: string | undefined): Record<string, string> {
  return {
    accept: 'text/event-stream, application/json',
    'content-type': 'application/json',
    'user-agent': `sekisho/${manifest.version}`,
    ...(apiKey === undefined || apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
  };
}

function priceWord(price: Price | undefined): Model['price'] {
  if (price === undefined) return 'unpriced';
  return price.input === 0 && price.output === 0 ? 'free' : 'costs-money';
}
