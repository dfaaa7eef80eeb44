import type { AssistantMessage } from '@earendil-works/pi-ai';
import type { Millis } from '../../kernel/time.ts';
import type { Model, ModelFault, ModelOutcome, ModelRequest } from '../../ports/model.ts';
import { clean, foreignFault, internalFault, ownFault, type OwnEnd } from './fault.ts';
import type { RemoteModelOptions, WireFormat } from './format.ts';
import type { ModelFetch } from './keep-alive-fetch.ts';
import type { FewATurn } from './few-a-turn.ts';
import { toContext, withPlainIds } from './messages.ts';
import { isWhole, ReplyReader, usageOf } from './reply.ts';
import type { Restated, SaidBefore } from './said-before.ts';
import { openWire, type WireRecord } from './wire.ts';

/** What the calls of one model have in common. */
export type CallSetup = RemoteModelOptions & {
  readonly format: WireFormat;
  readonly fetch: ModelFetch;
  /** All the headers of a request but the body's. */
  readonly headers: Record<string, string>;
  readonly mask: (text: string) => string;
  readonly saidBefore: SaidBefore | undefined;
  readonly begins: FewATurn;
};

type Live = Parameters<Model['call']>[1];

/** Ours are shorter: the library's own must never be the one that fires. */
const LIBRARY_TIMEOUT_MS: Millis = 2_147_483_647;

/** Why a timer is ended. Without a reason each abort makes an error with its stack. */
const OVER = 'over';

/** One request and what comes of it. Good for one `run`. */
export class OneCall {
  readonly #setup: CallSetup;
  readonly #live: Live;
  readonly #reader: ReplyReader;
  /** Aborted when the call must not go on; what is complete by then is not affected. */
  readonly #ended = new AbortController();
  readonly #hasToken = new AbortController();
  #why: OwnEnd | null = null;

  constructor(setup: CallSetup, live: Live) {
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
    await this.#setup.begins.next();
    if (this.#ended.signal.aborted) return ownFault(this.#why ?? 'aborted');
    // Some servers are told of tools that past calls name where a request offers none.
    const said = request.tools.length === 0 ? undefined : this.#setup.saidBefore;
    const restated = said?.open(request.messages);
    const outcome = await this.#askWith(request, restated);
    return restated?.isRefused === true ? this.#askWith(request, undefined) : outcome;
  }

  /** `restated`: what of the request need not be made again. Its refusal comes before a request goes out. */
  async #askWith(request: ModelRequest, restated: Restated | undefined): Promise<ModelOutcome> {
    const { format, name, provider } = this.#setup;
    const ask = await format.load();
    const signal = this.#ended.signal;
    const wire = openWire({
      ...this.#setup,
      url: format.address(this.#setup.baseURL, 'call'),
      streamFromJson: format.streamFromJson,
      lastEvent: format.lastEvent,
      signal,
      onTooLarge: () => this.#end('too_large'),
    });
    const made = restated?.fresh ?? request.messages;
    const messages = format.callIds === 'plain' ? withPlainIds(made) : made;
    const context = toContext({ ...request, messages }, { api: format.api, provider, model: name });
    const events = ask(this.#setup, context, {
      // The library insists on a key; the headers that are sent are the wire's.
      apiKey: 'unused',
      fetch: restated === undefined ? wire.fetch : bodyOf(restated, wire.fetch),
      signal,
      maxRetries: 0,
      timeoutMs: LIBRARY_TIMEOUT_MS,
      cacheRetention: 'short',
      onPayload: (payload) => this.#shaped(restated?.payload(payload) ?? payload, request),
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

  #shaped(payload: unknown, { answer }: ModelRequest): unknown {
    if (answer === undefined || typeof payload !== 'object') return payload;
    return { ...payload, ...this.#setup.format.answerFields(answer) };
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

function bodyOf(restated: Restated, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (url, init) => {
    const given = init?.body;
    const body = typeof given === 'string' ? restated.body(given) : given;
    return fetch(url, body === undefined ? init : { ...init, body });
  };
}
