import { open, type FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { createSystemClock } from '../adapters/clock/system.ts';
import { runningSha256 } from '../adapters/digest/running.ts';
import { sha256 } from '../adapters/digest/sha256.ts';
import { createIds, secureRandom } from '../adapters/ids/ids.ts';
import type { Imported } from '../engine/archive/import.ts';
import type { ImportRefusal } from '../engine/archive/check.ts';
import type { Exporter } from '../http/export.ts';
import { redactor } from '../kernel/redact.ts';
import type { Principal } from '../kernel/principal.ts';
import type { OpenFilling, OpenIndex, OpenSnapshot } from '../ports/archive.ts';
import type { Config } from './config/load.ts';
import { readSecrets } from './config/secrets.ts';
import { openDataFolder } from './folders.ts';
import { readGeneratedKey } from './key-file.ts';
import { knownSecrets } from './secrecy.ts';
import { storeFileOf } from './store.ts';

/** Read when an export begins: keys are changed while a host runs. */
type Secrets = () => readonly string[] | Promise<readonly string[]>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Exports of a configured store, with these secrets masked. They read beside the host, if one runs. */
export function exporterOf(config: Config, secrets: Secrets): Exporter {
  const clock = createSystemClock();
  return async () => {
    // Few ask for it, and a start does not wait for it.
    const { openExport } = await import('../engine/archive/export.ts');
    return openExport({
      snapshot: await snapshotsOf(config),
      digest: sha256,
      running: runningSha256,
      mask: redactor(await secrets()),
      product: manifest.version,
      exportedAt: new Date(clock.now()).toISOString(),
    });
  };
}

/** Snapshots of a configured store. */
export async function snapshotsOf({ values: { store, data } }: Config): Promise<OpenSnapshot> {
  if (store === 'sqlite') {
    const { sqliteSnapshots } = await import('../adapters/store/archive-sqlite.ts');
    return sqliteSnapshots(storeFileOf(data));
  }
  const { postgresSnapshots } = await import('../adapters/store/archive-postgres.ts');
  return postgresSnapshots(store);
}

/**
 * Every secret of a configuration that was read without them. One that this shell cannot read is
 * left out: its host knows it, and masks what it takes in.
 */
export async function readableSecrets(
  config: Config,
  env: Environment,
): Promise<readonly string[]> {
  const secrets = await readSecrets(config.values, {
    env,
    folder: dirname(resolve(config.file ?? 'sekisho.yaml')),
    whereOf: () => '',
    problems: [],
  });
  const generated = readGeneratedKey(config.values.data);
  return knownSecrets({ ...config, secrets }, env, generated);
}

/** Whoever has the shell of the machine has its records. */
const PRINCIPAL: Principal = { kind: 'admin', id: 'terminal', isAdmin: true };

/**
 * Imports a file into the configured store, on which no host may run. Rejects with the store's `Fault`,
 * `store_in_use` among them; nothing was stored then, as after a refusal.
 */
export async function importFile(
  config: Config,
  path: string,
  onProgress: (records: number) => void,
): Promise<Imported | ImportRefusal> {
  const file = await openFile(path);
  if (!('createReadStream' in file)) return file;
  try {
    const { importExport } = await import('../engine/archive/import.ts');
    return await importExport({
      bytes: () => file.createReadStream({ start: 0, autoClose: false }),
      digest: sha256,
      running: runningSha256,
      index: await keyIndex(),
      filling: await fillingsOf(config),
      principal: PRINCIPAL,
      channel: 'terminal',
      onProgress,
    });
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle | ImportRefusal> {
  const none = (problem: string): ImportRefusal => {
    return { kind: 'refused', code: 'no_export', line: 0, problem };
  };
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    return none(`${path} ${why}.`);
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  // It is read twice.
  return none(`${path} is no file.`);
}

async function keyIndex(): Promise<() => OpenIndex> {
  const { openKeyIndex } = await import('../adapters/store/archive-index.ts');
  return openKeyIndex;
}

async function fillingsOf({ values: { store, data } }: Config): Promise<OpenFilling> {
  const clock = createSystemClock();
  const ids = createIds({ now: () => clock.now(), random: secureRandom });
  if (store === 'sqlite') {
    const { sqliteFillings } = await import('../adapters/store/archive-sqlite.ts');
    const fillings = sqliteFillings({ path: storeFileOf(data), clock, ids });
    return () => {
      openDataFolder(data);
      return fillings();
    };
  }
  const { postgresFillings } = await import('../adapters/store/archive-postgres.ts');
  return postgresFillings({ url: store, ids });
}
