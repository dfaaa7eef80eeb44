import type { LimiterRecord } from '../core/budget/record.ts';

/** What was used on one day, by model. */
export interface UsageRow {
  readonly day: string;
  readonly provider: string | null;
  readonly model: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Millionths of a US dollar, of the calls whose price is known. */
  readonly cost: number;
  readonly calls: number;
  /** Calls that used tokens and have no known price. */
  readonly unpriced: number;
}

/** What one task used in the asked time. */
export interface TaskUsageRow extends Omit<UsageRow, 'day' | 'provider' | 'model'> {
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
   * them. One row per provider and model; `day` is given back as it was asked.
   */
  'usage.ofRange': {
    readonly args: { readonly day: string; readonly from: string; readonly to: string };
    readonly rows: readonly UsageRow[];
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
