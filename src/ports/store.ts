import type { Fault } from '../kernel/fault.ts';
import type { Instant } from '../kernel/time.ts';
import type { ApprovalReads, ApprovalWrites } from './approval.ts';
import type { AuditReads, AuditWrites } from './audit.ts';
import type { BoundaryReads, BoundaryWrites } from './boundary.ts';
import type { BudgetReads, BudgetWrites } from './budget.ts';
import type { DispatchReads, DispatchWrites } from './dispatch.ts';
import type { Ids } from './ids.ts';
import type { InboxReads, InboxWrites } from './inbox.ts';
import type { LeaseReads, LeaseWrites } from './lease.ts';
import type { MaintenanceReads, MaintenanceWrites } from './maintenance.ts';
import type { OutboxReads, OutboxWrites } from './outbox.ts';
import type { RecoveryReads, RecoveryWrites } from './recovery.ts';
import type { RunReads, RunWrites } from './run.ts';
import type { SessionReads, SessionWrites } from './session.ts';
import type { TaskReads, TaskWrites } from './task.ts';
import type { TurnReads, TurnWrites } from './turn.ts';

/** Every named read: its arguments and its rows. A read by key gives one row or undefined, a list gives rows. */
export interface Reads
  extends
    SessionReads,
    InboxReads,
    TaskReads,
    TurnReads,
    OutboxReads,
    RunReads,
    LeaseReads,
    ApprovalReads,
    BudgetReads,
    AuditReads,
    RecoveryReads,
    BoundaryReads,
    DispatchReads,
    MaintenanceReads {}

export type ReadName = keyof Reads;
export type ReadCall = {
  readonly [N in ReadName]: Read<N>;
}[ReadName];

/** Every named write. A write whose guard matches no row makes its whole unit `lost`. */
export type Write =
  | SessionWrites
  | InboxWrites
  | TaskWrites
  | TurnWrites
  | OutboxWrites
  | RunWrites
  | LeaseWrites
  | ApprovalWrites
  | BudgetWrites
  | AuditWrites
  | RecoveryWrites
  | BoundaryWrites
  | DispatchWrites
  | MaintenanceWrites;
export type WriteName = Write['write'];

/** One named read of a unit. */
export type Read<N extends ReadName> = {
  readonly read: N;
  readonly args: Reads[N]['args'];
  /** Where several hosts share the store, no other such unit goes on with these rows before this one has ended. */
  readonly alone?: true;
};
/** A unit's reads by the names under which its decision finds their rows; the conversation's comes first. */
export type UnitReads = Readonly<Record<string, ReadCall>>;
export type Rows<R extends UnitReads> = {
  readonly [K in keyof R]: Reads[NonNullable<R[K]>['read']]['rows'];
};

/** What a decision is given: the store's instant of this transaction, and ids. Both fresh when it is decided again. */
export interface At {
  readonly now: Instant;
  readonly ids: Ids;
}

export interface Decision<V> {
  readonly verdict: V;
  readonly writes: readonly Write[];
}

/**
 * A unit of work is data (design principle 1): named reads, a pure decision, guarded writes.
 * `decide` may be called more than once and must recognise its own earlier effect, since a commit
 * whose outcome stayed unknown is decided again.
 */
export interface Unit<R extends UnitReads, V> {
  /** `room.verb`, for logs and traces. */
  readonly name: string;
  readonly reads: R;
  decide(rows: Rows<R>, at: At): Decision<V>;
}

/** `lost`: a guard matched no row, nothing was written: load and decide again. */
export type Committed<V> =
  | { readonly kind: 'done'; readonly verdict: V; readonly now: Instant }
  | { readonly kind: 'lost' };

/** How stores differ, by trait and never by name. */
export interface StoreTraits {
  /** True: an operating-system lock proves that no other host lives. False: leases are waited out. */
  readonly exclusive: boolean;
  /** For status and `doctor`: what the store says of itself. */
  readonly description: string;
}

/**
 * Codes of a `StoreFault`.
 * `busy`, `disconnected`: nothing was written, decide again. `unknown`: the commit may have happened.
 * `disk_full`: nothing was written, space may come back. `io`, `read_only`, `corrupt`: the store can no
 * longer be trusted, the host stops (G-6). `closed`: the store was closed. `bug`: the SQL or the decision threw.
 */
export type StoreFaultCode =
  | 'busy'
  | 'disconnected'
  | 'unknown'
  | 'disk_full'
  | 'io'
  | 'read_only'
  | 'corrupt'
  | 'closed'
  | 'bug';

export interface StoreFault extends Fault {
  readonly code: StoreFaultCode;
}

/**
 * What a person should look at. `log_large`: the log of an embedded store cannot be begun anew because
 * somebody reads an older state of it, and nothing is refused; `bytes` is its size. `disk_full`: a commit
 * found no room, and none has been saved since.
 */
export type StoreAlarm =
  | { readonly code: 'log_large'; readonly bytes: number; readonly since: Instant }
  | { readonly code: 'disk_full'; readonly since: Instant };

/**
 * What a store says of itself when it is asked to look. `whole`: it read all that it keeps; `answers`: its
 * server looks after that. `damage`: what is wrong, in the store's own words; empty when nothing is.
 */
export interface StoreCheck {
  readonly depth: 'whole' | 'answers';
  readonly damage: readonly string[];
}

export interface Store {
  readonly traits: StoreTraits;
  /** Null, or absent where there can be none, while all is well. */
  readonly alarm?: StoreAlarm | null;
  /**
   * Commits one unit and resolves after its fsync. Units that are ready in one turn of the event loop share it.
   * Rejects with a `StoreFault`; a decision that throws rejects its own unit only.
   */
  commit<R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>>;
  /** One read outside a unit: candidates, lists, streams. Sees committed rows only. */
  query<N extends ReadName>(read: N, args: Reads[N]['args']): Promise<Reads[N]['rows']>;
  /** Reads the records through, beside the work, for `doctor`. Rejects with a `StoreFault`. */
  check?(): Promise<StoreCheck>;
  close(): Promise<void>;
}
