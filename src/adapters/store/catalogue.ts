import type { ReadName, Reads, Write, WriteName } from '../../ports/store.ts';
import { approvalReads, approvalWrites } from './approval.ts';
import { auditReads, auditWrites } from './audit.ts';
import { boundaryReads, boundaryWrites } from './boundary.ts';
import { budgetReads, budgetWrites } from './budget.ts';
import { dispatchReads, dispatchWrites } from './dispatch.ts';
import { inboxReads, inboxWrites } from './inbox.ts';
import { leaseReads, leaseWrites } from './lease.ts';
import { maintenanceReads, maintenanceWrites } from './maintenance.ts';
import { outboxReads, outboxWrites } from './outbox.ts';
import { recoveryReads, recoveryWrites } from './recovery.ts';
import { runReads, runWrites } from './run.ts';
import { sessionReads, sessionWrites } from './session.ts';
import {
  builder,
  prepare,
  type DialectName,
  type Prepared,
  type PreparedRead,
  type ReadDefinitions,
  type WriteDefinitions,
} from './statement.ts';
import { taskReads, taskWrites } from './task.ts';
import { turnReads, turnWrites } from './turn.ts';

const READS = {
  ...sessionReads,
  ...inboxReads,
  ...taskReads,
  ...turnReads,
  ...outboxReads,
  ...runReads,
  ...leaseReads,
  ...approvalReads,
  ...budgetReads,
  ...auditReads,
  ...recoveryReads,
  ...boundaryReads,
  ...dispatchReads,
  ...maintenanceReads,
} satisfies ReadDefinitions<Reads>;

const WRITES = {
  ...sessionWrites,
  ...inboxWrites,
  ...taskWrites,
  ...turnWrites,
  ...outboxWrites,
  ...runWrites,
  ...leaseWrites,
  ...approvalWrites,
  ...budgetWrites,
  ...auditWrites,
  ...recoveryWrites,
  ...boundaryWrites,
  ...dispatchWrites,
  ...maintenanceWrites,
} satisfies WriteDefinitions<Write>;

/** Every read and every write of the store as SQL of one dialect. */
export interface Catalogue {
  readonly reads: Readonly<Record<ReadName, PreparedRead>>;
  readonly writes: Readonly<Record<WriteName, Prepared>>;
}

const kept = new Map<DialectName, Catalogue>();

/** The catalogue of a dialect, compiled at the first call and kept for the life of the process. */
export function catalogue(dialect: DialectName): Catalogue {
  const known = kept.get(dialect);
  if (known !== undefined) return known;
  const db = builder(dialect);
  const reads = Object.entries(READS).map(([name, definition]) => [
    name,
    { ...prepare(db, name, definition), gives: definition.gives },
  ]);
  const writes = Object.entries(WRITES).map(([name, definition]) => [
    name,
    prepare(db, name, definition),
  ]);
  const made = {
    reads: Object.fromEntries(reads) as Catalogue['reads'],
    writes: Object.fromEntries(writes) as Catalogue['writes'],
  };
  kept.set(dialect, made);
  return made;
}
