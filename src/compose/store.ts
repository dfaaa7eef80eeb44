import { join } from 'node:path';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { Config } from './config/load.ts';

export interface StoreParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log?: Log;
}

/** The records of an embedded store. */
export function storeFileOf(data: string): string {
  return join(data, 'sekisho.db');
}

/** Opens the configured store and brings its schema up to date. Throws the adapter's `Fault`. */
export async function openStore(config: Config, parts: StoreParts): Promise<Store> {
  const { store, data } = config.values;
  if (store === 'sqlite') {
    const { openSqlite } = await import('../adapters/store/sqlite/open.ts');
    return openSqlite({ path: storeFileOf(data), ...parts });
  }
  const { openPostgres } = await import('../adapters/store/postgres/open.ts');
  return openPostgres({ url: store, ...parts });
}

/** Opens the configured store to read, whether a host runs on it or not. Throws the adapter's `Fault`. */
export async function openStoreToRead(config: Config, parts: StoreParts): Promise<Store> {
  const { store, data } = config.values;
  if (store !== 'sqlite') return openStore(config, parts);
  const { openSqliteReadOnly } = await import('../adapters/store/sqlite/open.ts');
  return openSqliteReadOnly(storeFileOf(data));
}
