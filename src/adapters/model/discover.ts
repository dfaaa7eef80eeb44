import { isObject, parseJson } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Millis } from '../../kernel/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Model } from '../../ports/model.ts';
import { anthropic, ANTHROPIC_URL } from './anthropic.ts';
import { knownModel } from './catalogue.ts';
import { keepAliveFetch, type ModelFetch } from './keep-alive-fetch.ts';
import { openAiCompatible } from './openai-compatible.ts';
import { rehearsalModel } from './rehearsal.ts';
import { readText } from './wire.ts';

export interface DiscoveredModel {
  readonly model: Model;
  /** Why this one, as a sentence for the log. */
  readonly why: string;
  /** What was found and passed over, each with its reason. */
  readonly skipped: readonly string[];
}

/**
 * The model to use where none is configured (surface: "Without a configuration"): the first key in
 * `env` that can be used, then a local server, else the rehearsal. It asks only this machine, waits
 * for it 300 ms at most, and never rejects.
 */
export async function discoverModel(
  env: Readonly<Record<string, string | undefined>>,
  parts: { readonly clock: Clock; readonly fetch?: ModelFetch | undefined },
): Promise<DiscoveredModel> {
  const fetch = parts.fetch ?? keepAliveFetch();
  const { clock } = parts;
  for (const { variable, company, build, ...model } of HOSTED) {
    const apiKey = keyIn(env, variable);
    if (apiKey === undefined) continue;
    const { price, contextWindow, outputTokensMax } = (await knownModel(model)) ?? UNKNOWN;
    const rest = { price, contextWindow, outputTokensMax, timeouts: TIMEOUTS, clock, fetch };
    const why = `${variable} is set, so it is ${model.name} of ${company}`;
    return { model: build({ ...model, ...rest, apiKey }), why, skipped: [] };
  }
  const skipped = ['GEMINI_API_KEY']
    .filter((name) => keyIn(env, name) !== undefined)
    .map((name) => `${name} is set, but its provider is not supported yet`);
  const name = await firstLocalModel({ clock, fetch });
  if (name !== undefined) {
    const why = `${LOCAL_URL} answers, and ${name} is the first of its models`;
    return { model: local(name, { clock, fetch }), why, skipped };
  }
  const why = `there is no usable key and nothing answers at ${LOCAL_URL}`;
  return { model: rehearsalModel(), why, skipped };
}

interface Parts {
  readonly clock: Clock;
  readonly fetch: ModelFetch;
}

const LOCAL_URL = 'http://127.0.0.1:11434/v1';
const LOCAL_ANSWER_MS: Millis = 300;
const LOCAL_LIST_BYTES_MAX = 1_000_000;
/** Local servers cut a longer request without a word, and do not say how long one may be. */
const LOCAL_CONTEXT_TOKENS = 8_192;
export const OPENAI_URL = 'https://api.openai.com/v1';
const UNKNOWN = { price: undefined, contextWindow: 128_000, outputTokensMax: undefined };
/** Cheap ones, because nobody chose them, that call tools. */
const HOSTED = [
  {
    variable: 'OPENAI_API_KEY',
    company: 'OpenAI',
    provider: 'openai',
    baseURL: OPENAI_URL,
    name: 'gpt-5-mini',
    build: openAiCompatible,
  },
  {
    variable: 'ANTHROPIC_API_KEY',
    company: 'Anthropic',
    provider: 'anthropic',
    baseURL: ANTHROPIC_URL,
    name: 'claude-haiku-4-5',
    build: anthropic,
  },
] as const;
const TIMEOUTS = { firstTokenMs: LIMITS.modelFirstTokenMs, callMs: LIMITS.modelCallMs };

function keyIn(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): string | undefined {
  const key = env[name]?.trim();
  return key === '' ? undefined : key;
}

function local(name: string, parts: Parts): Model {
  return openAiCompatible({
    provider: 'openai-compatible',
    baseURL: LOCAL_URL,
    name,
    contextWindow: LOCAL_CONTEXT_TOKENS,
    timeouts: TIMEOUTS,
    price: { input: 0, output: 0 },
    ...parts,
  });
}

async function firstLocalModel({ clock, fetch }: Parts): Promise<string | undefined> {
  const over = new AbortController();
  const late = clock.sleep(LOCAL_ANSWER_MS, over.signal).then(() => undefined);
  try {
    return await Promise.race([late, listedFirst(fetch, over.signal)]);
  } catch {
    // Nobody there is the usual case, and so is somebody else who speaks another protocol.
    return undefined;
  } finally {
    over.abort();
  }
}

async function listedFirst(fetch: ModelFetch, signal: AbortSignal): Promise<string | undefined> {
  const response = await fetch(`${LOCAL_URL}/models`, {
    method: 'GET',
    headers: { accept: 'application/json' },
    signal,
    redirect: 'manual',
  });
  if (response.status !== 200) return undefined;
  const { text } = await readText(response.body, LOCAL_LIST_BYTES_MAX);
  const parsed = parseJson(text, LIMITS.jsonDepthMax);
  const data = parsed.ok && isObject(parsed.value) ? parsed.value['data'] : undefined;
  const first = Array.isArray(data) ? data[0] : undefined;
  const id = isObject(first) ? first['id'] : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}
