import { hash } from 'node:crypto';
import manifest from '../../../package.json' with { type: 'json' };
import { redactor } from '../../kernel/redact.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Model, ModelOutcome, ModelRequest } from '../../ports/model.ts';
import { answerIn, isRejectedShape, shapeInWords } from './answer.ts';
import { OneCall, type CallSetup } from './call.ts';
import type { RemoteModelOptions, WireFormat } from './format.ts';
import { keepAliveFetch, type ModelFetch } from './keep-alive-fetch.ts';
import { priceWord, ratesOf } from './price.ts';
import { FewATurn } from './few-a-turn.ts';
import { SaidBefore } from './said-before.ts';

type Live = Parameters<Model['call']>[1];

/** Enough to tell two keys apart, and nothing of either. */
const KEY_DIGEST_CHARS = 12;

/**
 * The model that a server behind this format is.
 *
 * A call is exactly one request; only the first call that asks for a shape which the server does not
 * know is two: the shape goes into the words then, from there on at once. The reply names the model
 * that the provider's answer named, `unreported` when it named none (T-9). Arguments of calls are the
 * model's own text, `{}` where it wrote nothing at all. A provider that reports no usage is counted by
 * four bytes a token, so that a budget still bounds it. Every failure is an outcome; no promise rejects.
 */
export function remoteModel(format: WireFormat, options: RemoteModelOptions): Model {
  const apiKey = options.apiKey?.trim() || undefined;
  const fetch = options.fetch ?? keepAliveFetch();
  const mask = redactor(apiKey === undefined ? [] : [apiKey]);
  const headers = { ...format.headers(apiKey), 'user-agent': `sekisho/${manifest.version}` };
  const saidBefore = format.isOneByOne ? new SaidBefore() : undefined;
  const begins = new FewATurn(options.clock);
  const setup: CallSetup = { ...options, format, fetch, mask, headers, saidBefore, begins };
  const shaped = new ShapedCalls(setup);
  return {
    provider: options.provider,
    name: options.name,
    price: priceWord(options.price),
    rates: ratesOf(options.price),
    account: accountOf(options, apiKey),
    contextWindow: options.contextWindow,
    // A library that cannot be loaded is the first call's fault to tell.
    prepare: () => format.load().then(ignored, ignored),
    probe: (signal) =>
      signOfLife({
        url: format.address(options.baseURL, 'models'),
        headers,
        fetch,
        clock: options.clock,
        signal,
      }),
    call: (request, live) =>
      request.answer === undefined
        ? new OneCall(setup, live).run(request)
        : shaped.call(request, live),
  };
}

/** Calls that ask for an answer of a shape: by the format's own field, or in words where it is not known. */
class ShapedCalls {
  readonly #setup: CallSetup;
  #isFieldKnown = true;

  constructor(setup: CallSetup) {
    this.#setup = setup;
  }

  async call(request: ModelRequest, live: Live): Promise<ModelOutcome> {
    const inWords = shapeInWords(request);
    if (!this.#isFieldKnown) return answered(await this.#ask(inWords, live));
    const first = await this.#ask(request, live);
    if (!isRejectedShape(first)) return answered(first);
    const second = await this.#ask(inWords, live);
    // A server that refuses both refuses something else.
    if (second.kind === 'reply') this.#isFieldKnown = false;
    return answered(second);
  }

  #ask(request: ModelRequest, live: Live): Promise<ModelOutcome> {
    return new OneCall(this.#setup, live).run(request);
  }
}

function answered(outcome: ModelOutcome): ModelOutcome {
  return outcome.kind === 'reply' ? { ...outcome, text: answerIn(outcome.text) } : outcome;
}

/** Whose limits the calls share: never the key itself, in nothing that can be read back. */
function accountOf(options: RemoteModelOptions, apiKey: string | undefined): string {
  const address = options.baseURL.replace(/\/+$/, '');
  const key =
    apiKey === undefined ? 'no key' : hash('sha256', apiKey, 'hex').slice(0, KEY_DIGEST_CHARS);
  return `${options.provider} ${address} ${key}`;
}

/** Any answer but "out of order" is life: a key that is refused, or a list that there is not, is told by a call. */
async function signOfLife(probe: {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly fetch: ModelFetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): Promise<'alive' | 'unreachable'> {
  const over = new AbortController();
  const end = (): void => over.abort();
  probe.signal.addEventListener('abort', end, { once: true });
  if (probe.signal.aborted) end();
  const asked = listed(probe, over.signal);
  const late = probe.clock
    .sleep(LIMITS.probeCallMs, over.signal)
    .then(() => 'unreachable' as const);
  try {
    return await Promise.race([asked, late]);
  } catch {
    return 'unreachable';
  } finally {
    probe.signal.removeEventListener('abort', end);
    end();
  }
}

async function listed(
  { url, headers, fetch }: Pick<Parameters<typeof signOfLife>[0], 'url' | 'headers' | 'fetch'>,
  signal: AbortSignal,
): Promise<'alive' | 'unreachable'> {
  const asking = { ...headers, accept: 'application/json' };
  const response = await fetch(url, { method: 'GET', headers: asking, signal, redirect: 'manual' });
  await response.body?.cancel();
  return response.status < 500 ? 'alive' : 'unreachable';
}

const ignored = (): void => undefined;
