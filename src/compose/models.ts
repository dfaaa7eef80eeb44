import { anthropic, ANTHROPIC_URL } from '../adapters/model/anthropic.ts';
import { knownModel } from '../adapters/model/catalogue.ts';
import { discoverModel, OPENAI_URL } from '../adapters/model/discover.ts';
import { openAiCompatible } from '../adapters/model/openai-compatible.ts';
import { rehearsalModel } from '../adapters/model/rehearsal.ts';
import { invariant } from '../kernel/invariant.ts';
import { LIMITS } from '../kernel/limits.ts';
import { SECOND } from '../kernel/time.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Model } from '../ports/model.ts';
import type { Config } from './config/load.ts';
import { modelsIn, placeName, type ModelSettings } from './config/models.ts';

export interface ModelParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
  /** Put around each model. */
  readonly mask: (model: Model) => Model;
}

/** The models of a host, each with what asks it. */
export interface HostModels {
  readonly first: Model;
  readonly fallbacks: readonly Model[];
  readonly assessment: Model;
  readonly classifier: Model;
  readonly summary: Model;
  /** Of each of `agents`, in order. */
  readonly ofAgents: readonly { readonly model: Model; readonly fallbacks: readonly Model[] }[];
  /** What `/model` may choose: each once, the first one first. */
  readonly all: readonly [Model, ...Model[]];
}

/**
 * The configured models; without a first one the first that is found, and the log says why that one.
 * What is configured twice is one model.
 */
export async function composeModels(config: Config, parts: ModelParts): Promise<HostModels> {
  const configured = modelsIn(config.values);
  const shelf = new Shelf(config, parts);
  const first = await (configured.first === undefined ? shelf.found() : shelf.of(configured.first));
  const fallbacks = await shelf.all(configured.fallbacks);
  const { assessment, classifier, summary } = configured;
  const ofAgents = [];
  for (const own of configured.ofAgents) {
    ofAgents.push({
      model: own.model === undefined ? first : await shelf.of(own.model),
      fallbacks: own.fallbacks === undefined ? fallbacks : await shelf.all(own.fallbacks),
    });
  }
  return {
    first,
    fallbacks,
    assessment: assessment === undefined ? first : await shelf.of(assessment),
    classifier: classifier === undefined ? first : await shelf.of(classifier),
    summary: summary === undefined ? first : await shelf.of(summary),
    ofAgents,
    all: shelf.choice(first),
  };
}

/** Models as they are made, each kept under all that it is made of. */
class Shelf {
  readonly #config: Config;
  readonly #parts: ModelParts;
  readonly #made = new Map<string, Model>();

  constructor(config: Config, parts: ModelParts) {
    this.#config = config;
    this.#parts = parts;
  }

  async found(): Promise<Model> {
    const { env, clock, log, mask } = this.#parts;
    const { model, why, skipped } = await discoverModel(env, { clock });
    const name = `${model.provider}/${model.name}`;
    log.info('no model is configured, chose one', { model: name, why });
    for (const reason of skipped) log.warn(reason);
    const masked = mask(model);
    this.#made.set('', masked);
    return masked;
  }

  async of(settings: ModelSettings): Promise<Model> {
    const { place: _place, keyPlace: _keyPlace, ...rest } = settings;
    const key = JSON.stringify(rest);
    const made = this.#made.get(key) ?? this.#parts.mask(await this.#make(settings));
    this.#made.set(key, made);
    return made;
  }

  async all(settings: readonly ModelSettings[]): Promise<readonly Model[]> {
    const models: Model[] = [];
    for (const one of settings) models.push(await this.of(one));
    return models;
  }

  /** The same model behind the same account is one to choose, whatever else is set. */
  choice(first: Model): readonly [Model, ...Model[]] {
    const chosen = new Map<string, Model>();
    for (const model of [first, ...this.#made.values()]) {
      const key = JSON.stringify([model.account, model.name]);
      if (!chosen.has(key)) chosen.set(key, model);
    }
    const [, ...others] = chosen.values();
    return [first, ...others];
  }

  async #make(settings: ModelSettings): Promise<Model> {
    const { provider, name, contextWindow, keyPlace } = settings;
    if (provider === 'rehearsal') return rehearsalModel();
    const baseURL = settings.baseURL ?? ADDRESSES[provider ?? ''];
    invariant(
      provider !== undefined && baseURL !== undefined && name !== undefined,
      'the configuration was checked',
    );
    const known = await knownModel({ provider, baseURL, name });
    const build = provider === 'anthropic' ? anthropic : openAiCompatible;
    return build({
      provider,
      baseURL,
      name,
      apiKey: this.#config.secrets.modelKeys.get(placeName(keyPlace)),
      contextWindow,
      outputTokensMax: known?.outputTokensMax,
      timeouts: { firstTokenMs: settings.timeoutSeconds * SECOND, callMs: LIMITS.modelCallMs },
      price: settings.price ?? known?.price,
      clock: this.#parts.clock,
    });
  }
}

const ADDRESSES: Readonly<Record<string, string>> = {
  openai: OPENAI_URL,
  anthropic: ANTHROPIC_URL,
};
