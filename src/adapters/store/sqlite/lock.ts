// The lock of an exclusive store (G-8, R-14): a side file whose one row says who holds it. The row is
// committed first, then a transaction is held open for life. Others can read the row and cannot begin
// a transaction; the operating system ends both with the process, however it dies.
// Nothing else in the process may open these files: closing them would drop the lock.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Fault } from '../../../kernel/fault.ts';
import type { Instant } from '../../../kernel/time.ts';
import { faultOf } from './errors.ts';
import { makePrivateFile } from './files.ts';

export interface Holder {
  readonly pid: number;
  readonly startedAt: Instant;
}
export interface HostLock {
  release(): void;
}

const SETUP_WAIT_MS = 200;

/** The lock's file, beside the store's. */
function lockPath(storePath: string): string {
  return join(dirname(storePath), 'host.db');
}

/**
 * Takes the lock for `holder`. Throws the `Fault` `store_in_use`, which names the process that has it
 * and since when, or the store's fault when the file cannot be used.
 */
export function takeLock(storePath: string, holder: Holder): HostLock {
  const path = lockPath(storePath);
  makePrivateFile(path);
  const db = new DatabaseSync(path, { timeout: SETUP_WAIT_MS });
  try {
    db.exec('pragma journal_mode = wal');
    db.exec('begin immediate');
    db.exec(`create table if not exists host (
      place integer primary key check (place = 1), pid integer not null, started_at integer not null) strict`);
    db.prepare('insert or replace into host values (1, ?, ?)').run(holder.pid, holder.startedAt);
    db.exec('commit');
    // Whoever came between the two has the lock, and this host is refused.
    db.exec('begin immediate');
  } catch (error) {
    const fault = faultOf(error);
    const refused = fault.code === 'busy' ? inUse(storePath, readHolder(db)) : fault;
    db.close();
    throw refused;
  }
  return { release: () => db.close() };
}

/** Who holds the lock of a store now; undefined when nobody does. */
export function holderOf(storePath: string): Holder | undefined {
  if (!existsSync(lockPath(storePath))) return undefined;
  using db = new DatabaseSync(lockPath(storePath), { timeout: 0 });
  try {
    db.exec('begin immediate');
    db.exec('rollback');
    return undefined;
  } catch (error) {
    const fault = faultOf(error);
    if (fault.code === 'busy') return readHolder(db);
    throw fault;
  }
}

function readHolder(db: DatabaseSync): Holder | undefined {
  try {
    const row = db.prepare('select pid, started_at as startedAt from host').get();
    return row === undefined
      ? undefined
      : { pid: Number(row['pid']), startedAt: Number(row['startedAt']) };
  } catch {
    // Its holder has not written it yet.
    return undefined;
  }
}

function inUse(storePath: string, holder: Holder | undefined): Fault {
  const who =
    holder === undefined
      ? 'another process that is just starting'
      : `process ${holder.pid}, started ${new Date(holder.startedAt).toISOString()}`;
  return new Fault(
    'store_in_use',
    'stop',
    `The store ${storePath} is in use by ${who}. Stop that host, or choose another data folder.`,
  );
}
