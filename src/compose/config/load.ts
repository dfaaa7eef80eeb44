import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { checkGiven, initialValues } from './check.ts';
import type { Given } from './file.ts';
import { CONFIG_NAMES, rowOf, type ConfigName, type ConfigValues } from './keys.ts';
import { misplaced } from './places.ts';
import { ConfigBroken, NOT_GIVEN, type ConfigProblem } from './problem.ts';
import { contradictions } from './rules.ts';
import { readSecrets, type ConfigSecrets } from './secrets.ts';

/** The name that is looked for when no file is named. */
const CONFIG_FILE = 'sekisho.yaml';

const NO_SECRETS: ConfigSecrets = { modelKeys: new Map(), apiKeys: [] };

/** What a configuration is made of; the later of file, environment and flags wins (G-1). */
export interface ConfigSources {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By key, as typed on the command line. */
  readonly flags?: Partial<Record<ConfigName, string>>;
  /** A file that must exist; without one `sekisho.yaml` in `cwd` is read when it is there. */
  readonly file?: string;
  /**
   * `host`, as it is without it: the folders and files that a host needs are looked at and each secret
   * is read. `records`: for what only speaks with a host or reads its records, which needs neither.
   */
  readonly use?: 'host' | 'records';
}

export interface Config {
  readonly values: ConfigValues;
  /** Where each value that is no default was said: `sekisho.yaml:3`, `SEKISHO_PORT`, `--port`. */
  readonly origins: ReadonlyMap<ConfigName, string>;
  /** The file that was read, as it was named. */
  readonly file: string | undefined;
  readonly secrets: ConfigSecrets;
}

/** Reads and checks a configuration. Throws `ConfigBroken` with every problem at once. */
export async function loadConfig(sources: ConfigSources): Promise<Config> {
  const problems: ConfigProblem[] = [];
  const file = await findFile(sources);
  const folder = file === undefined ? sources.cwd : dirname(resolve(sources.cwd, file.name));
  const merged = new Merged(folder, problems);
  merged.add(await readGiven(file, problems), folder);
  merged.add([...fromEnvironment(sources.env), ...fromFlags(sources)], sources.cwd);

  const values = merged.values();
  const whereOf = merged.whereOf.bind(merged);
  const isForHost = sources.use !== 'records';
  const secrets = isForHost
    ? await readSecrets(values, { env: sources.env, folder, whereOf, problems })
    : NO_SECRETS;
  problems.push(...contradictions(values, whereOf));
  if (isForHost) problems.push(...misplaced(values, { folder, whereOf }));
  if (problems.length > 0) throw new ConfigBroken(problems);
  return { values, origins: merged.origins(), file: file?.name, secrets };
}

/** The defaults, and over them what each layer gives. */
class Merged {
  readonly #values = new Map<ConfigName, unknown>();
  readonly #given = new Map<ConfigName, Given>();
  readonly #problems: ConfigProblem[];

  constructor(folder: string, problems: ConfigProblem[]) {
    this.#problems = problems;
    for (const [name, value] of initialValues()) this.#set(name, value, folder);
  }

  /** Takes what is right and notes what is wrong; a relative path is relative to `folder`. */
  add(layer: readonly Given[], folder: string): void {
    for (const given of layer) {
      this.#given.set(given.name, given);
      const checked = checkGiven(given);
      if (checked.kind === 'problems') this.#problems.push(...checked.problems);
      else this.#set(given.name, checked.value, folder);
    }
  }

  values(): ConfigValues {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table's schemas made each one
    return Object.fromEntries(this.#values) as unknown as ConfigValues;
  }

  whereOf(name: ConfigName, path: readonly PropertyKey[] = []): string {
    return this.#given.get(name)?.whereOf(path) ?? NOT_GIVEN;
  }

  origins(): ReadonlyMap<ConfigName, string> {
    return new Map([...this.#given].map(([name, given]) => [name, given.where]));
  }

  #set(name: ConfigName, value: unknown, folder: string): void {
    const { reads, pathFields = [] } = rowOf(name);
    const isPath = reads === 'path' && typeof value === 'string';
    const placed =
      Array.isArray(value) && pathFields.length > 0
        ? value.map((entry: unknown) => withPaths(entry, pathFields, folder))
        : value;
    this.#values.set(name, isPath ? resolve(folder, value) : placed);
  }
}

/** An entry of a list with these of its fields as paths from `folder`. */
function withPaths(entry: unknown, fields: readonly string[], folder: string): unknown {
  if (typeof entry !== 'object' || entry === null) return entry;
  const pairs = Object.entries(entry).map(([name, value]) => {
    const isPath = fields.includes(name) && typeof value === 'string';
    return [name, isPath ? resolve(folder, value) : value];
  });
  return Object.fromEntries(pairs);
}

interface NamedText {
  readonly name: string;
  readonly text: string;
}

async function findFile(sources: ConfigSources): Promise<NamedText | undefined> {
  const name = sources.file ?? CONFIG_FILE;
  try {
    return { name, text: await readFile(resolve(sources.cwd, name), 'utf8') };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    if (sources.file === undefined && code === 'ENOENT') return undefined;
    const what = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw new ConfigBroken([{ where: name, key: '', what, allowed: '' }]);
  }
}

async function readGiven(
  file: NamedText | undefined,
  problems: ConfigProblem[],
): Promise<readonly Given[]> {
  if (file === undefined) return [];
  const { readConfigText } = await import('./file.ts');
  const reading = readConfigText(file.name, file.text);
  problems.push(...reading.problems);
  return reading.given;
}

function fromEnvironment(env: ConfigSources['env']): Given[] {
  return CONFIG_NAMES.flatMap((name) => {
    const variable = rowOf(name).env;
    const text = variable === undefined ? undefined : env[variable];
    return text === undefined || text === '' ? [] : [givenText(name, text, variable ?? '')];
  });
}

function fromFlags(sources: ConfigSources): Given[] {
  return CONFIG_NAMES.flatMap((name) => {
    const text = sources.flags?.[name];
    return text === undefined ? [] : [givenText(name, text, `--${name.split('.').at(-1)}`)];
  });
}

function givenText(name: ConfigName, text: string, where: string): Given {
  const isNumber = rowOf(name).reads === 'number' && /^\d+$/.test(text);
  return { name, value: isNumber ? Number(text) : text, where, whereOf: () => where };
}
