import type { ExecutionRecord } from '../core/dispatch/record.ts';
import type { ExecutionId, HostId, TaskId } from '../kernel/ids.ts';

export interface DispatchReads {
  'execution.byId': {
    readonly args: { readonly id: ExecutionId };
    readonly rows: ExecutionRecord | undefined;
  };
  /** Newest first by id. Empty texts mean any. */
  'execution.list': {
    readonly args: {
      readonly state: string;
      readonly enrollment: string;
      readonly before: string;
      readonly limit: number;
    };
    readonly rows: readonly ExecutionRecord[];
  };
  /** Of one task, newest first; ended ones too. */
  'execution.ofTask': {
    readonly args: { readonly taskId: TaskId; readonly limit: number };
    readonly rows: readonly ExecutionRecord[];
  };
  /** `current` ones that say `running` and whose host is not `except` (partial index); by id. */
  'execution.runningElsewhere': {
    readonly args: { readonly except: HostId; readonly limit: number };
    readonly rows: readonly ExecutionRecord[];
  };
}

export type DispatchWrites =
  | { readonly write: 'execution.insert'; readonly row: ExecutionRecord }
  /** Writes enrollment, state, version, hostId, outcome, changedAt, endedAt. Guard: `version` is `row.version - 1`. */
  | { readonly write: 'execution.save'; readonly row: ExecutionRecord };
