import { InvariantBroken } from '../../../kernel/invariant.ts';
import type { StoreFault, StoreFaultCode } from '../../../ports/store.ts';
import { storeFault } from '../fault.ts';

/** SQLSTATEs, or their classes, that are not a fault of our SQL. */
const CODES: readonly (readonly [start: string, code: StoreFaultCode])[] = [
  ['40001', 'busy'], // serialization_failure
  ['40P01', 'busy'], // deadlock_detected
  ['55P03', 'busy'], // lock_not_available
  ['57014', 'busy'], // query_canceled: a statement's time was up
  ['53100', 'disk_full'],
  ['53', 'disconnected'], // no connection or no memory to be had
  // read_only_sql_transaction: a standby. Nothing is wrong with the store, and another connection may reach
  // the server that writes.
  ['25006', 'disconnected'],
  ['25P03', 'disconnected'], // idle_in_transaction_session_timeout: this host stood still
  ['57P', 'disconnected'], // the server shuts down or starts
  ['08', 'disconnected'],
  ['58', 'io'],
  ['XX001', 'corrupt'],
  ['XX002', 'corrupt'],
];
const SQLSTATE = /^[0-9A-Z]{5}$/;

function stateOf(error: unknown): string | undefined {
  const isCoded = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return isCoded && 'severity' in error && SQLSTATE.test(String(error.code))
    ? String(error.code)
    : undefined;
}

/** A key that exists already: somebody else was first. */
export function isTaken(error: unknown): boolean {
  return stateOf(error) === '23505';
}

/**
 * The fault for what was thrown. What neither the server sent nor our own code broke is a lost
 * connection; `wasCommitSent` tells whether its loss leaves the commit unknown.
 */
export function faultOf(error: unknown, wasCommitSent: boolean): StoreFault {
  const code = codeOf(error);
  const told = code === 'disconnected' && wasCommitSent ? 'unknown' : code;
  const what = error instanceof Error ? error.message : String(error);
  return storeFault(told, `The PostgreSQL store failed (${told}): ${what}`, error);
}

function codeOf(error: unknown): StoreFaultCode {
  if (error instanceof TypeError || error instanceof InvariantBroken) return 'bug';
  const state = stateOf(error);
  if (state === undefined) return 'disconnected';
  return CODES.find(([start]) => state.startsWith(start))?.[1] ?? 'bug';
}
