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

/** True for an address that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
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

function aboutKeyNames(values: ConfigValues): Objection[] {
  const names = values['api.keys'].map((entry) => entry.name);
  return names.flatMap((name, at) =>
    names.indexOf(name) === at
      ? []
      : [{ key: 'api.keys', what: `two keys are called ${name}`, path: [at, 'name'] } as const],
  );
}

function aboutModel(values: ConfigValues): Objection[] {
  const provider = values['model.provider'];
  const found: Objection[] = [];
  const needs = (key: ConfigName): void => {
    if (values[key] === undefined) {
      found.push({ key: 'model.provider', what: `${provider} needs ${key} as well` });
    }
  };
  if (provider === 'openai-compatible') needs('model.baseURL');
  if (provider !== undefined && provider !== 'rehearsal') needs('model.name');
  if (provider === undefined && MODEL_KEYS.some((key) => values[key] !== undefined)) {
    found.push({ key: 'model.name', what: 'is given without model.provider' });
  }
  const [input, output] = [values['model.price.input'], values['model.price.output']];
  if ((input === undefined) !== (output === undefined)) {
    const key = input === undefined ? 'model.price.output' : 'model.price.input';
    found.push({ key, what: 'a price has both parts', allowed: 'input and output, or neither' });
  }
  return found;
}

const MODEL_KEYS = ['model.name', 'model.baseURL', 'model.apiKey'] as const;

function aboutLease(values: ConfigValues): Objection | undefined {
  if (values['lease.renewSeconds'] < values['lease.seconds']) return undefined;
  return { key: 'lease.renewSeconds', what: 'is not less than lease.seconds' };
}
