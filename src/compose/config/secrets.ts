import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SECRET_CHARS_MIN } from '../../kernel/redact.ts';
import type { ConfigName, ConfigValues } from './keys.ts';
import { allModels, modelsIn, placeName } from './models.ts';
import type { ConfigProblem } from './problem.ts';
import { type ApiKeyConfig, type SecretSource } from './values.ts';

export interface ConfiguredKey {
  readonly name: string;
  readonly scopes: ApiKeyConfig['scopes'];
  readonly secret: string;
}

/** The values behind the sources. They live here alone and never in what is shown. */
export interface ConfigSecrets {
  /** By the place of the key: `model.apiKey`, `model.fallbacks.0.apiKey`. */
  readonly modelKeys: ReadonlyMap<string, string>;
  readonly apiKeys: readonly ConfiguredKey[];
}

export interface SecretPlaces {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What a relative path is relative to. */
  readonly folder: string;
  readonly whereOf: (name: ConfigName, path?: readonly PropertyKey[]) => string;
  /** What could not be read is added here. */
  readonly problems: ConfigProblem[];
}

/** Reads each secret from its variable or file. */
export async function readSecrets(
  values: ConfigValues,
  places: SecretPlaces,
): Promise<ConfigSecrets> {
  const modelKeys = await readModelKeys(values, places);
  const apiKeys: ConfiguredKey[] = [];
  for (const [at, entry] of values['api.keys'].entries()) {
    const place: Place = ['api.keys', [at, 'secret']];
    const secret = await readSecret(entry.secret, places, place);
    if (secret === undefined) continue;
    // It could be guessed, and could not be masked wherever it would stand.
    if (secret.length < SECRET_CHARS_MIN) {
      problem(places, place, `the key is shorter than ${SECRET_CHARS_MIN} characters`);
    }
    apiKeys.push({ name: entry.name, scopes: entry.scopes, secret });
  }
  return { modelKeys, apiKeys };
}

/** Each key once, however many models use it. */
async function readModelKeys(
  values: ConfigValues,
  places: SecretPlaces,
): Promise<ReadonlyMap<string, string>> {
  const sources = new Map<string, { readonly source: SecretSource; readonly place: Place }>();
  // The key of a first model without its provider is wrong twice, and both are told.
  const alone = values['model.apiKey'];
  if (alone !== undefined)
    sources.set('model.apiKey', { source: alone, place: ['model.apiKey', []] });
  for (const { apiKey, keyPlace } of allModels(modelsIn(values))) {
    const place: Place = [keyPlace.key, keyPlace.path];
    if (apiKey !== undefined) sources.set(placeName(keyPlace), { source: apiKey, place });
  }
  const keys = new Map<string, string>();
  for (const [name, { source, place }] of sources) {
    const key = await readSecret(source, places, place);
    if (key !== undefined) keys.set(name, key);
  }
  return keys;
}

type Place = readonly [name: ConfigName, path: readonly PropertyKey[]];

async function readSecret(
  source: SecretSource,
  places: SecretPlaces,
  place: Place,
): Promise<string | undefined> {
  if ('env' in source) {
    const value = places.env[source.env];
    if (value !== undefined && value !== '') return value;
    problem(places, place, `the environment variable ${source.env} is not set`);
    return undefined;
  }
  try {
    const value = (await readFile(resolve(places.folder, source.file), 'utf8')).trim();
    if (value !== '') return value;
    problem(places, place, `the file ${source.file} is empty`);
  } catch {
    problem(places, place, `the file ${source.file} cannot be read`);
  }
  return undefined;
}

function problem(places: SecretPlaces, [name, path]: Place, what: string): void {
  const key = [name, ...path.map(String)].join('.');
  places.problems.push({ where: places.whereOf(name, path), key, what, allowed: '' });
}
