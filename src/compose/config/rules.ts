import { isLoopback } from '../../http/loopback.ts';
import { isInside } from '../folders.ts';
import type { ConfigName, ConfigValues } from './keys.ts';
import { allModels, modelsIn, type ModelSettings } from './models.ts';
import { NOT_GIVEN, type ConfigProblem } from './problem.ts';

type WhereOf = (name: ConfigName, path?: readonly PropertyKey[]) => string;

/** What is wrong between keys that are each fine alone. */
export function contradictions(values: ConfigValues, whereOf: WhereOf): ConfigProblem[] {
  const found = [
    aboutTls(values),
    ...aboutBind(values),
    ...aboutKeyNames(values),
    ...aboutFirstModel(values, whereOf),
    ...allModels(modelsIn(values)).flatMap(aboutModel),
    ...aboutAgents(values, whereOf),
    aboutPrice(values),
    aboutLease(values),
    aboutDelays(values),
  ];
  return found
    .filter((objection) => objection !== undefined)
    .map(({ key, what, allowed = '', path = [] }) => ({
      where: whereOf(key, path),
      key: [key, ...path.map(String)].join('.'),
      what,
      allowed,
    }));
}

interface Objection {
  readonly key: ConfigName;
  readonly what: string;
  readonly allowed?: string;
  readonly path?: readonly PropertyKey[];
}

function aboutTls(values: ConfigValues): Objection | undefined {
  const key = values['api.tls.keyFile'];
  const cert = values['api.tls.certFile'];
  if ((key === undefined) === (cert === undefined)) return undefined;
  const [given, other] =
    key === undefined
      ? (['api.tls.certFile', 'api.tls.keyFile'] as const)
      : (['api.tls.keyFile', 'api.tls.certFile'] as const);
  return { key: given, what: `needs ${other} as well`, allowed: 'both or neither' };
}

function aboutBind(values: ConfigValues): Objection[] {
  if (isLoopback(values['api.host'])) return [];
  const found: Objection[] = [];
  const isGuarded = values['api.tls.keyFile'] !== undefined || values['api.behindProxy'];
  const what = `${values['api.host']} is reached from other machines and needs`;
  if (!isGuarded) {
    const tls = 'api.tls, or api.behindProxy: true with a proxy that ends TLS';
    found.push({ key: 'api.host', what: `${what} ${tls}`, allowed: '127.0.0.1 without them' });
  }
  if (values['api.keys'].length === 0) {
    found.push({ key: 'api.host', what: `${what} api.keys`, allowed: '127.0.0.1 without them' });
  }
  return found;
}

/** The generated key, and the one that the terminal below `start` speaks with. */
const RESERVED_NAMES: readonly string[] = ['local', 'terminal'];

function aboutKeyNames(values: ConfigValues): Objection[] {
  const names = values['api.keys'].map((entry) => entry.name);
  return names.flatMap((name, at) => {
    const objection = { key: 'api.keys', path: [at, 'name'] } as const;
    if (RESERVED_NAMES.includes(name)) {
      return [{ ...objection, what: `${name} is the name of a key of the host itself` }];
    }
    const isFirst = names.indexOf(name) === at;
    return isFirst ? [] : [{ ...objection, what: `two keys are called ${name}` }];
  });
}

/** What belongs to a first model while none is named. */
function aboutFirstModel(values: ConfigValues, whereOf: WhereOf): Objection[] {
  if (values['model.provider'] !== undefined) return [];
  return MODEL_KEYS.filter((key) => whereOf(key) !== NOT_GIVEN)
    .slice(0, 1)
    .map((key) => ({ key, what: 'is given without model.provider' }));
}

function aboutModel(model: ModelSettings): Objection[] {
  const { provider, place } = model;
  const at = (name: string): Pick<Objection, 'key' | 'path'> =>
    place.key === 'model.provider'
      ? { key: place.key }
      : { key: place.key, path: [...place.path, name] };
  if (provider === undefined) {
    const what = 'a model without a provider is one of model.provider, which is not given';
    return [{ key: place.key, path: place.path, what, allowed: PROVIDERS.join(' | ') }];
  }
  if (!PROVIDERS.includes(provider)) {
    const what = LATER_PROVIDERS.includes(provider)
      ? `${provider} is not built yet in this version`
      : `${provider} is no provider that this version knows`;
    return [{ ...at('provider'), what, allowed: PROVIDERS.join(' | ') }];
  }
  const needed = NEEDED[provider] ?? [];
  return needed
    .filter(
      (name) => model[name] === undefined && !(name === 'apiKey' && model.baseURL !== undefined),
    )
    .map((name) => {
      const whole = place.key === 'model.provider' ? `model.${name}` : name;
      return { key: place.key, path: place.path, what: `${provider} needs ${whole} as well` };
    });
}

function aboutAgents(values: ConfigValues, whereOf: WhereOf): Objection[] {
  const { agents } = values;
  if (agents.length === 0) return [];
  const single = (['agent.name', 'agent.instructions'] as const)
    .filter((key) => whereOf(key) !== NOT_GIVEN)
    .map((key) => ({ key, what: 'is of the only agent, and agents names several' }));
  const names = agents.map(({ name }) => name);
  const twice = names.flatMap((name, at) =>
    names.indexOf(name) === at
      ? []
      : [{ key: 'agents' as const, path: [at, 'name'], what: `two agents are called ${name}` }],
  );
  return [...single, ...twice, ...aboutWorkspaces(values)];
}

/** Nothing crosses between agents (T-21), so no file of one lies within reach of another. */
function aboutWorkspaces(values: ConfigValues): Objection[] {
  const folders = values.agents.map(({ workspace }) => workspace ?? values.workspace);
  return folders.flatMap((folder, at) => {
    const other = folders
      .slice(0, at)
      .find((one) => isInside(one, folder) || isInside(folder, one));
    if (other === undefined) return [];
    const what = `the workspaces ${other} and ${folder} lie in one another`;
    return [{ key: 'agents', path: [at], what, allowed: 'a folder of its own for each agent' }];
  });
}

function aboutPrice(values: ConfigValues): Objection | undefined {
  const [input, output] = [values['model.price.input'], values['model.price.output']];
  if ((input === undefined) === (output === undefined)) return undefined;
  const key = input === undefined ? 'model.price.output' : 'model.price.input';
  return { key, what: 'a price has both parts', allowed: 'input and output, or neither' };
}

const PROVIDERS: readonly string[] = ['openai', 'anthropic', 'openai-compatible', 'rehearsal'];
const LATER_PROVIDERS: readonly string[] = ['google'];
/** What each of them cannot do without. */
const NEEDED: Readonly<Record<string, readonly ('baseURL' | 'name' | 'apiKey')[]>> = {
  openai: ['name', 'apiKey'],
  anthropic: ['name', 'apiKey'],
  'openai-compatible': ['baseURL', 'name'],
};
const MODEL_KEYS = ['model.name', 'model.baseURL', 'model.apiKey', 'model.fallbacks'] as const;

function aboutLease(values: ConfigValues): Objection | undefined {
  if (values['lease.renewSeconds'] < values['lease.seconds']) return undefined;
  return { key: 'lease.renewSeconds', what: 'is not less than lease.seconds' };
}

function aboutDelays(values: ConfigValues): Objection | undefined {
  const first = values['maintenance.firstDelaySeconds'];
  if (values['maintenance.maxDelaySeconds'] >= first) return undefined;
  return {
    key: 'maintenance.maxDelaySeconds',
    what: 'is less than maintenance.firstDelaySeconds',
    allowed: `a number from ${first}`,
  };
}
