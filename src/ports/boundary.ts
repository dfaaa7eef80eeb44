import type { BoundaryRecord } from '../core/boundary/record.ts';
import type { MessageRecord } from '../core/inbox/record.ts';
import type { RunRecord } from '../core/run/record.ts';
import type { ConversationRecord } from '../core/session/record.ts';
import type { TaskRecord } from '../core/task/record.ts';
import type { TurnRecord } from '../core/turn/record.ts';
import type { ExecutionRecord } from '../core/dispatch/record.ts';
import type { BoundaryId } from '../kernel/ids.ts';
import type { Instant } from '../kernel/time.ts';

type Batch = { readonly limit: number };

/**
 * The batch is the first `limit` unmarked open tasks by id (partial index); every read of it sees the
 * same ones, so that the unit's own reads and its decision fit together.
 */
export interface BoundaryReads {
  /** The one without an end, else one that was not told, else the newest by id. */
  'boundary.last': {
    readonly args: Readonly<Record<string, never>>;
    readonly rows: BoundaryRecord | undefined;
  };
  'boundary.tasks': { readonly args: Batch; readonly rows: readonly TaskRecord[] };
  /** The conversations of the batch; locked on a shared store. */
  'boundary.conversations': { readonly args: Batch; readonly rows: readonly ConversationRecord[] };
  /** Messages of the batch's tasks that are not done. */
  'boundary.messages': { readonly args: Batch; readonly rows: readonly MessageRecord[] };
  /** Turns without an end of the batch's tasks. */
  'boundary.turns': { readonly args: Batch; readonly rows: readonly TurnRecord[] };
  /** Open runs of the batch's tasks. */
  'boundary.runs': { readonly args: Batch; readonly rows: readonly RunRecord[] };
  /** Executions without an end that name a task of the batch, marked or not. */
  'boundary.workers': { readonly args: Batch; readonly rows: readonly ExecutionRecord[] };
  /** Unmarked executions without an end, by id. */
  'boundary.unowned': { readonly args: Batch; readonly rows: readonly ExecutionRecord[] };
  /** The tasks that those of `boundary.unowned` name. */
  'boundary.owners': { readonly args: Batch; readonly rows: readonly TaskRecord[] };
}

export type BoundaryWrites =
  | { readonly write: 'boundary.insert'; readonly row: BoundaryRecord }
  /** Adds to its counts. Guard: it has no end. */
  | {
      readonly write: 'boundary.add';
      readonly id: BoundaryId;
      readonly held: number;
      readonly kept: number;
      readonly workersHeld: number;
    }
  /** Guard: it has no end. */
  | { readonly write: 'boundary.end'; readonly id: BoundaryId; readonly endedAt: Instant }
  /** Guard: it was not told. */
  | { readonly write: 'boundary.told'; readonly id: BoundaryId; readonly toldAt: Instant };
