import type { KeyIndex } from '../core/archive/judge.ts';
import type { Archived, ArchiveKind } from '../core/archive/record.ts';
import type { AuditRecord } from '../core/audit/record.ts';
import type { Instant } from '../kernel/time.ts';

/** One state of a whole store, whatever is written meanwhile. It holds up no writer; close it soon. */
export interface Snapshot {
  /** The number of the store's newest migration. */
  readonly schema: number;
  /** All records of a kind in the order of their keys, a few at a time. Rejects with a `StoreFault`. */
  records(kind: ArchiveKind): AsyncIterable<readonly Archived[]>;
  close(): Promise<void>;
}

/** Opens a snapshot. Rejects with the store's `Fault`. */
export type OpenSnapshot = () => Promise<Snapshot>;

/** One transaction that brings records into a store on which no host runs. */
export interface Filling {
  /** The store's instant. */
  readonly now: Instant;
  /** Gives the place in the list of the first record whose key the store has; then nothing can be kept. */
  insert(records: readonly Archived[]): Promise<number | undefined>;
  /** The newest entry of the log of admin actions, what was inserted included. */
  lastEntry(): Promise<AuditRecord | undefined>;
  /** Makes all of it durable. */
  keep(): Promise<void>;
  /** Ends without keeping what is not kept yet. */
  close(): Promise<void>;
}

/**
 * Begins to fill. Rejects with `store_in_use` while a host has the store, and keeps hosts from starting
 * on it until the end.
 */
export type OpenFilling = () => Promise<Filling>;

/** An index of its own, empty at first. */
export interface OpenIndex extends KeyIndex {
  close(): void;
}

/** SHA-256 of bytes that come in pieces. */
export interface RunningDigest {
  add(bytes: Uint8Array): void;
  /** Of what was added so far, as lower-case hex; more may be added after it. */
  hex(): string;
}
