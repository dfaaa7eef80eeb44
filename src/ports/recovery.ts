import type { HostRecord } from '../core/lease/record.ts';
import type { ReportRecord, StormRecord } from '../core/recovery/record.ts';
import type { TaskRecord } from '../core/task/record.ts';
import type { StormId } from '../kernel/ids.ts';
import type { Instant } from '../kernel/time.ts';

export interface RecoveryReads {
  /**
   * `current` tasks that wait for their assessment and whose next attempt is due at `now`, or that have
   * `attempts` reserved already; those with the newest genuine message first, by its claim or its
   * waiting. None whose deadline has passed: its end is the deadline's. Partial index.
   */
  'task.assessable': {
    readonly args: { readonly now: Instant; readonly attempts: number; readonly limit: number };
    readonly rows: readonly TaskRecord[];
  };
  /** The earliest `recoveryNextAt` of those that wait for their assessment; 0 for one without. */
  'task.nextAssessment': {
    readonly args: Readonly<Record<string, never>>;
    readonly rows: { readonly at: Instant } | undefined;
  };
  /** Open `current` tasks whose `recoveryState` is `granted` (partial index). */
  'task.granted': {
    readonly args: { readonly limit: number };
    readonly rows: readonly TaskRecord[];
  };
  /** Open `current` tasks that stand still (blocked, or waiting for nothing) without a reason. */
  'task.silent': {
    readonly args: { readonly limit: number };
    readonly rows: readonly TaskRecord[];
  };
  /**
   * How many `current` tasks wait for their assessment or for the provider of it, and how many open ones the
   * boundary holds.
   */
  'recovery.standing': {
    readonly args: Readonly<Record<string, never>>;
    readonly rows: { readonly interrupted: number; readonly held: number } | undefined;
  };
  /**
   * For the restart report: `current` tasks that are blocked, or have expired, since after `since`;
   * newest first.
   */
  'report.tasks': {
    readonly args: { readonly since: Instant; readonly limit: number };
    readonly rows: readonly TaskRecord[];
  };
  /** The newest that was told until `now`: a clock may have been set back since. */
  'report.last': {
    readonly args: { readonly now: Instant };
    readonly rows: ReportRecord | undefined;
  };
  /** The open one, else the newest by id. */
  'storm.last': {
    readonly args: Readonly<Record<string, never>>;
    readonly rows: StormRecord | undefined;
  };
  /** Hosts whose end was found unclean after `since`, newest first: `stoppedAt` is the start that found it. */
  'host.lostSince': {
    readonly args: { readonly since: Instant; readonly limit: number };
    readonly rows: readonly HostRecord[];
  };
}

export type RecoveryWrites =
  | { readonly write: 'report.insert'; readonly row: ReportRecord }
  | { readonly write: 'storm.insert'; readonly row: StormRecord }
  /** Guard: the storm is open. */
  | { readonly write: 'storm.seen'; readonly id: StormId; readonly lastAt: Instant }
  /** Guard: the storm is open. */
  | {
      readonly write: 'storm.end';
      readonly id: StormId;
      readonly endedAt: Instant;
      readonly endedBy: string;
    };
