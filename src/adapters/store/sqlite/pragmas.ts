import type { DatabaseSync } from 'node:sqlite';
import { Fault } from '../../../kernel/fault.ts';
import { LIMITS } from '../../../kernel/limits.ts';

/** 3.51.3 is the first version without the WAL-reset corruption. */
const SQLITE_LEAST = '3.51.3';

/** Whether dotted `version` is `least` or later; parts that are missing count as 0. */
export function isAtLeast(version: string, least: string): boolean {
  const parts = (text: string): number[] => text.split('.').map(Number);
  const wanted = parts(least);
  const had = parts(version);
  for (let place = 0; place < Math.max(wanted.length, had.length); place += 1) {
    const difference = (had[place] ?? 0) - (wanted[place] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** Throws the `Fault` `sqlite_too_old` for a SQLite that may corrupt the store. */
export function assertVersion(db: DatabaseSync): void {
  const version = String(single(db, 'select sqlite_version() as value'));
  if (isAtLeast(version, SQLITE_LEAST)) return;
  throw new Fault(
    'sqlite_too_old',
    'stop',
    `SQLite ${version} may corrupt a store; ${SQLITE_LEAST} or later is needed. Use a newer Node.`,
  );
}

/**
 * Sets what makes a commit durable. `page_size` only takes effect while the file is new: a commit writes each
 * page that it touches, and a turn writes 95 kB in pages of 1024 bytes where those of 2048 make it 146 kB, for
 * the same CPU time. The log is copied into the file at every 8000 pages (8 MB, in an older file 16 MB); one
 * that grew behind a reader is cut once it begins anew.
 */
export function setPragmas(db: DatabaseSync): void {
  db.exec(`
    pragma page_size = 1024;
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma foreign_keys = on;
    pragma wal_autocheckpoint = 8000;
    pragma journal_size_limit = ${LIMITS.storeLogKeptBytes};
    pragma cache_size = -16000;
    pragma temp_store = memory;`);
}

/**
 * Reads back what makes a commit durable, since SQLite ignores a pragma that it cannot follow.
 * Throws the `Fault` `store_unsafe` that names the first one that does not hold.
 */
export function assertDurable(db: DatabaseSync, place: 'file' | 'memory'): void {
  const wanted: readonly [pragma: string, value: string | number][] = [
    ['journal_mode', place === 'file' ? 'wal' : 'memory'],
    ['synchronous', 2],
    ['foreign_keys', 1],
  ];
  for (const [pragma, value] of wanted) {
    const found = single(db, `pragma ${pragma}`);
    if (found === value) continue;
    throw new Fault(
      'store_unsafe',
      'stop',
      `The store would not be durable: ${pragma} is ${String(found)} and must be ${value}.`,
    );
  }
}

/** The only column of the only row. */
function single(db: DatabaseSync, sql: string): unknown {
  return Object.values(db.prepare(sql).get() ?? {})[0];
}
