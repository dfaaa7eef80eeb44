import { isLoopback } from '../../http/loopback.ts';
import type { ConfigName, ConfigValues } from './keys.ts';
import type { ConfigProblem } from './problem.ts';

/** What is wrong between keys that are each fine alone. */
export function contradictions(
  values: ConfigValues,
  whereOf: (name: ConfigName, path?: readonly PropertyKey[]) => string,
): ConfigProblem[] {
  const found = [
    aboutTls(values),
    ...aboutBind(values),
    ...aboutKeyNames(values),
    ...aboutModel(values),
    aboutPrice(values),
    aboutLease(values),
  ];
  return found
    .filter((objection) => objection !== undefined)
    .map(({ key, what, allowed = '', path = [] }) => ({
      where: whereOf(key, path),
      key,
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

function aboutModel(values: ConfigValues): Objection[] {
  const provider = values['model.provider'];
  const found: Objection[] = [];
  if (provider !== undefined && !PROVIDERS.includes(provider)) {
    const what = LATER_PROVIDERS.includes(provider)
      ? `${provider} is not built yet in this version`
      : `${provider} is no provider that this version knows`;
    return [{ key: 'model.provider', what, allowed: PROVIDERS.join(' | ') }];
  }
  const needs = (key: ConfigName): void => {
    if (values[key] === undefined) {
      found.push({ key: 'model.provider', what: `${provider} needs ${key} as well` });
    }
  };
  if (provider === 'openai-compatible') needs('model.baseURL');
  if (provider !== undefined && provider !== 'rehearsal') needs('model.name');
  if (provider === 'openai') needs('model.apiKey');
  if (provider === undefined && MODEL_KEYS.some((key) => values[key] !== undefined)) {
    found.push({ key: 'model.name', what: 'is given without model.provider' });
  }
  return found;
}

function aboutPrice(values: ConfigValues): Objection | undefined {
  const [input, output] = [values['model.price.input'], values['model.price.output']];
  if ((input === undefined) === (output === undefined)) return undefined;
  const key = input === undefined ? 'model.price.output' : 'model.price.input';
  return { key, what: 'a price has both parts', allowed: 'input and output, or neither' };
}

const PROVIDERS: readonly string[] = ['openai', 'openai-compatible', 'rehearsal'];
const LATER_PROVIDERS: readonly string[] = ['anthropic', 'google'];
const MODEL_KEYS = ['model.name', 'model.baseURL', 'model.apiKey'] as const;

function aboutLease(values: ConfigValues): Objection | undefined {
  if (values['lease.renewSeconds'] < values['lease.seconds']) return undefined;
  return { key: 'lease.renewSeconds', what: 'is not less than lease.seconds' };
}
