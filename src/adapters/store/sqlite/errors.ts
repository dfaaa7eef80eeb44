import type { StoreFault, StoreFaultCode } from '../../../ports/store.ts';
import { storeFault } from '../fault.ts';

/** Primary result codes of SQLite that are not a fault of our SQL. */
const CODES: ReadonlyMap<number, StoreFaultCode> = new Map([
  [5, 'busy'], // SQLITE_BUSY
  [6, 'busy'], // SQLITE_LOCKED
  [7, 'io'], // SQLITE_NOMEM
  [8, 'read_only'], // SQLITE_READONLY
  [10, 'io'], // SQLITE_IOERR
  [11, 'corrupt'], // SQLITE_CORRUPT
  [13, 'disk_full'], // SQLITE_FULL
  [14, 'io'], // SQLITE_CANTOPEN
  [15, 'busy'], // SQLITE_PROTOCOL
  [26, 'corrupt'], // SQLITE_NOTADB
]);
const UNIQUE = new Set([1555, 2067, 2579]); // SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE, _ROWID

/** SQLite's extended result code of an error that `node:sqlite` threw; undefined for any other. */
function resultCode(error: unknown): number | undefined {
  const isOurs = error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
  return isOurs && 'errcode' in error ? Number(error.errcode) : undefined;
}

/** A key that exists already: somebody else was first. */
export function isTaken(error: unknown): boolean {
  const code = resultCode(error);
  return code !== undefined && UNIQUE.has(code);
}

/** What the file or the machine did to us; undefined for a fault of the SQL or of a decision. */
export function storageFault(error: unknown): StoreFault | undefined {
  const code = resultCode(error);
  const named = code === undefined ? undefined : CODES.get(code & 0xff);
  return named === undefined ? undefined : storeFault(named, sentence(named, error), error);
}

/** The fault for any error. */
export function faultOf(error: unknown): StoreFault {
  return storageFault(error) ?? storeFault('bug', sentence('bug', error), error);
}

function sentence(code: StoreFaultCode, error: unknown): string {
  const what = error instanceof Error ? error.message : String(error);
  return `The SQLite store failed (${code}): ${what}`;
}
