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

export interface ModelChoice {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The configured model; without one the first that is found, and the log says why that one. */
export async function chooseModel(
  config: Config,
  { env, clock, log }: ModelChoice,
): Promise<Model> {
  const provider = config.values['model.provider'];
  if (provider === 'rehearsal') return rehearsalModel();
  if (provider !== undefined) return configuredModel(config, { provider, clock });
  const { model, why, skipped } = await discoverModel(env, { clock });
  log.info('no model is configured, chose one', { model: `${model.provider}/${model.name}`, why });
  for (const reason of skipped) log.warn(reason);
  return model;
}

function configuredModel(
  { values, secrets }: Config,
  { provider, clock }: { readonly provider: string; readonly clock: Clock },
): Model {
  const baseURL = values['model.baseURL'] ?? (provider === 'openai' ? OPENAI_URL : undefined);
  const name = values['model.name'];
  invariant(baseURL !== undefined && name !== undefined, 'the configuration was checked');
  return openAiCompatible({
    provider,
    baseURL,
    name,
    apiKey: secrets.modelKey,
    contextWindow: values['model.contextWindow'],
    timeouts: {
      firstTokenMs: values['model.timeoutSeconds'] * SECOND,
      callMs: LIMITS.modelCallMs,
    },
    price: priceOf(values),
    clock,
  });
}

function priceOf(values: Config['values']): { input: number; output: number } | undefined {
  const [input, output] = [values['model.price.input'], values['model.price.output']];
  return input === undefined || output === undefined ? undefined : { input, output };
}
