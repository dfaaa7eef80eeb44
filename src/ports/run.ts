import type { RunRecord } from '../core/run/record.ts';
import type { OutboxId, RunId, TaskId } from '../kernel/ids.ts';
import type { Instant } from '../kernel/time.ts';

export interface RunReads {
  'run.byId': { readonly args: { readonly id: RunId }; readonly rows: RunRecord | undefined };
  'run.ofTask': {
    readonly args: { readonly taskId: TaskId };
    readonly rows: RunRecord | undefined;
  };
  /** Newest first by id. */
  'run.list': {
    readonly args: { readonly before: string; readonly limit: number };
    readonly rows: readonly RunRecord[];
  };
}

export type RunWrites =
  | { readonly write: 'run.insert'; readonly row: RunRecord }
  /** Guard: the run is open (V18). */
  | {
      readonly write: 'run.end';
      readonly id: RunId;
      readonly state: 'completed' | 'failed' | 'cancelled';
      readonly outcomeCode: string | null;
      readonly outcomeId: OutboxId | null;
      readonly endedAt: Instant;
    };
