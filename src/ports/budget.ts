import type { LimiterRecord } from '../core/budget/record.ts';
import type { StepUsage } from './turn.ts';

/** What some model calls used, and how many they were. */
export interface Used extends StepUsage {
  readonly calls: number;
}

/** What one model used in the asked time; null where the provider never reported it. */
export interface UsageRow extends Used {
  readonly provider: string | null;
  readonly model: string | null;
}

/** What one task used in the asked time. */
export interface TaskUsageRow extends Used {
  readonly taskId: string;
  readonly conversationId: string;
  readonly mandateText: string;
}

export interface BudgetReads {
  'limiter.byAccount': {
    readonly args: { readonly account: string };
    readonly rows: LimiterRecord | undefined;
  };
  'limiter.list': {
    readonly args: { readonly limit: number };
    readonly rows: readonly LimiterRecord[];
  };
  /**
   * Model calls of turns with an id in [from, to): turn ids sort by their start, so a day is a range of
   * them. One row per provider and model.
   */
  'usage.ofRange': {
    readonly args: { readonly from: string; readonly to: string };
    readonly rows: readonly UsageRow[];
  };
  /** What the summaries of maintenance operations with an id in [from, to) used; a call is a try. */
  'usage.ofMaintenance': {
    readonly args: { readonly from: string; readonly to: string };
    readonly rows: Omit<Used, 'unpriced'> | undefined;
  };
  /** The tasks that used most tokens in turns with an id in [from, to). */
  'usage.byTask': {
    readonly args: { readonly from: string; readonly to: string; readonly limit: number };
    readonly rows: readonly TaskUsageRow[];
  };
}

export type BudgetWrites =
  | { readonly write: 'limiter.insert'; readonly row: LimiterRecord }
  /** Guard: `version` is `row.version - 1`. */
  | { readonly write: 'limiter.save'; readonly row: LimiterRecord };
