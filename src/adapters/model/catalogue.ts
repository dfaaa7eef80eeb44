import type { Price } from './price.ts';

/** What the library knows of a model that was only named. */
export interface KnownModel {
  readonly price: Price;
  /** In tokens. */
  readonly contextWindow: number;
  readonly outputTokensMax: number;
}

interface Entry {
  readonly cost: Price;
  readonly contextWindow: number;
  readonly maxTokens: number;
}
type Catalogue = Readonly<Record<string, Entry>>;

/** Each is a file of its own: only the one that is asked for is read. */
const CATALOGUES: Readonly<Record<string, () => Promise<Catalogue>>> = {
  anthropic: async () =>
    (await import('@earendil-works/pi-ai/providers/anthropic.models')).ANTHROPIC_MODELS,
  openai: async () => (await import('@earendil-works/pi-ai/providers/openai.models')).OPENAI_MODELS,
  'openrouter.ai': async () =>
    (await import('@earendil-works/pi-ai/providers/openrouter.models')).OPENROUTER_MODELS,
  'api.groq.com': async () =>
    (await import('@earendil-works/pi-ai/providers/groq.models')).GROQ_MODELS,
  'api.deepseek.com': async () =>
    (await import('@earendil-works/pi-ai/providers/deepseek.models')).DEEPSEEK_MODELS,
  'api.mistral.ai': async () =>
    (await import('@earendil-works/pi-ai/providers/mistral.models')).MISTRAL_MODELS,
  'api.x.ai': async () => (await import('@earendil-works/pi-ai/providers/xai.models')).XAI_MODELS,
  'api.together.ai': async () =>
    (await import('@earendil-works/pi-ai/providers/together.models')).TOGETHER_MODELS,
  'api.cerebras.ai': async () =>
    (await import('@earendil-works/pi-ai/providers/cerebras.models')).CEREBRAS_MODELS,
  'api.fireworks.ai': async () =>
    (await import('@earendil-works/pi-ai/providers/fireworks.models')).FIREWORKS_MODELS,
  'api.moonshot.ai': async () =>
    (await import('@earendil-works/pi-ai/providers/moonshotai.models')).MOONSHOTAI_MODELS,
};

/** The names under which one server is reached. */
const ALIASES: Readonly<Record<string, string>> = {
  'api.openai.com': 'openai',
  'api.anthropic.com': 'anthropic',
  'api.together.xyz': 'api.together.ai',
};

/**
 * Looks a model up in the library's catalogue, which lies on this machine: by its provider, or by the
 * address where an `openai-compatible` one is that is known. Undefined when it is not there.
 */
export async function knownModel(model: {
  readonly provider: string;
  readonly baseURL: string;
  readonly name: string;
}): Promise<KnownModel | undefined> {
  const host = new URL(model.baseURL).hostname;
  const whose = model.provider === 'openai-compatible' ? (ALIASES[host] ?? host) : model.provider;
  const load = Object.hasOwn(CATALOGUES, whose) ? CATALOGUES[whose] : undefined;
  const catalogue = await load?.();
  if (catalogue === undefined || !Object.hasOwn(catalogue, model.name)) return undefined;
  const entry = catalogue[model.name];
  if (entry === undefined) return undefined;
  const { cost: price, contextWindow, maxTokens } = entry;
  return { price, contextWindow, outputTokensMax: maxTokens };
}
