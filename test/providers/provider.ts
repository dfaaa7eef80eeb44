// A scripted provider on loopback, and the real models that ask it: what it was asked is counted at its door.
import { anthropic } from '../../src/adapters/model/anthropic.ts';
import { keepAliveFetch, type ModelFetch } from '../../src/adapters/model/keep-alive-fetch.ts';
import { openAiCompatible } from '../../src/adapters/model/openai-compatible.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { SECOND, type Instant } from '../../src/kernel/time.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Model } from '../../src/ports/model.ts';
import { callsTool, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import {
  startModelServer,
  type ModelFaultAnswer,
  type ModelServer,
  type RecordedRequest,
} from '../../src/testing/model-server.ts';

export type Format = 'openai-compatible' | 'anthropic';
export const FORMATS: readonly Format[] = ['openai-compatible', 'anthropic'];

const BUILD = { 'openai-compatible': openAiCompatible, anthropic } as const;

/** A request that was made, whether or not anybody was there to hear it. */
export interface Sent {
  readonly at: Instant;
  readonly what: 'call' | 'probe';
  /** The model that was asked for; empty for a probe. */
  readonly model: string;
}

/** What a provider does wrong: an answer to each call, or nobody there at all. */
export type Wrong = ModelAnswer | ((request: RecordedRequest) => ModelAnswer) | 'nobody there';

/** Never comes. */
export const NEVER = new Promise<never>(() => {});

/** Pays once and says that it is done. */
export function paysOnce(request: RecordedRequest): ModelAnswer {
  return resultsIn(request) > 0
    ? says(`done, ${modelIn(request)}`)
    : callsTool('pay', { euros: 5 });
}

/** How many tool results a request tells of, in the words of either format. */
export function resultsIn({ text }: RecordedRequest): number {
  return text.match(/"role":"tool"|"type":"tool_result"/g)?.length ?? 0;
}

export function modelIn({ body }: RecordedRequest): string {
  const { model } = body;
  return typeof model === 'string' ? model : '';
}

export class Provider {
  readonly format: Format;
  readonly name: string;
  readonly sent: Sent[] = [];
  /** What it answers while all is well. */
  script: (request: RecordedRequest) => ModelAnswer = paysOnce;
  /** Calls and probes that have begun and not ended. */
  open = 0;
  /** Requests that it holds for ever. */
  held = 0;
  readonly #clock: Clock;
  #server: ModelServer;
  #isUp = true;
  /** Counted by servers that are closed. */
  #former = 0;
  #wrong: Wrong | null = null;

  private constructor(server: ModelServer, of: { format: Format; name: string; clock: Clock }) {
    this.format = of.format;
    this.name = of.name;
    this.#clock = of.clock;
    this.#server = this.#scripted(server);
  }

  static async open(format: Format, name: string, clock: Clock): Promise<Provider> {
    return new Provider(await startModelServer(), { format, name, clock });
  }

  /** Calls that arrived here. */
  get arrived(): number {
    return this.#former + (this.#isUp ? callsOf(this.#server) : 0);
  }

  /** A real model of this provider: all of the same key share one account. */
  model(name: string, key = 'sk-first'): Model {
    const { format, name: provider } = this;
    const model = BUILD[format]({
      provider,
      baseURL: this.#server.url,
      name,
      apiKey: key,
      contextWindow: 128_000,
      timeouts: { firstTokenMs: LIMITS.modelFirstTokenMs, callMs: LIMITS.modelCallMs },
      clock: this.#clock,
      fetch: this.#counted(keepAliveFetch()),
    });
    const held = async <T>(work: () => Promise<T>): Promise<T> => {
      this.open += 1;
      return work().finally(() => (this.open -= 1));
    };
    return {
      ...model,
      call: (request, live) => held(() => model.call(request, live)),
      probe: (signal) => held(() => model.probe(signal)),
    };
  }

  /** From here on each call goes wrong like this; the list of models only where nothing answers well. */
  async fail(wrong: Wrong, listing: ModelFaultAnswer | null = null): Promise<void> {
    this.#wrong = wrong;
    this.#server.listWith(listing);
    if (wrong === 'nobody there') await this.close();
  }

  /** All is well again. */
  async recover(): Promise<void> {
    this.#wrong = null;
    if (!this.#isUp) {
      const port = Number(new URL(this.#server.url).port);
      this.#server = this.#scripted(await startModelServer([], { port }));
      this.#isUp = true;
    }
    this.#server.listWith(null);
  }

  async close(): Promise<void> {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#former += callsOf(this.#server);
    await this.#server.close();
  }

  #scripted(server: ModelServer): ModelServer {
    server.respondWith((request) => this.#answer(request));
    return server;
  }

  #answer(request: RecordedRequest): ModelAnswer {
    const wrong = this.#wrong ?? this.script;
    const answer = typeof wrong === 'function' ? wrong(request) : wrong;
    if (answer === 'nobody there') return { kind: 'reset' };
    const isHeld = answer.kind === 'stall' || ('between' in answer && answer.between === NEVER);
    if (isHeld) {
      this.held += 1;
      void request.over.then(() => (this.held -= 1));
    }
    return answer;
  }

  #counted(fetch: ModelFetch): ModelFetch {
    return (url, init) => {
      const what = init.method === 'POST' ? 'call' : 'probe';
      const body = JSON.parse(init.body ?? '{}') as { readonly model?: string };
      this.sent.push({ at: this.#clock.now(), what, model: body.model ?? '' });
      return fetch(url, init);
    };
  }
}

function callsOf({ requests }: ModelServer): number {
  return requests.filter(({ method }) => method === 'POST').length;
}

/** When calls of a model were made, in seconds since then. */
export function callsTo(
  { sent }: Provider,
  { model, since }: { readonly model: string; readonly since: Instant },
): readonly number[] {
  return sent
    .filter((one) => one.what === 'call' && one.model === model && one.at >= since)
    .map(({ at }) => (at - since) / SECOND);
}
