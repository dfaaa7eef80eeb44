/** What `doctor` may say; a test holds the codes against its table. */
export type FindingWord =
  | 'check_failed'
  | 'host_unresponsive'
  | 'store_whole'
  | 'store_answers'
  | 'store_damaged'
  | 'store_unreachable'
  | 'store_log_large'
  | 'audit_whole'
  | 'audit_missing'
  | 'audit_displaced'
  | 'audit_altered'
  | 'tasks_sound'
  | 'task_silent'
  | 'tasks_silent_more'
  | 'tasks_held'
  | 'notice_untold'
  | 'operation_blocked'
  | 'operation_waiting'
  | 'fence_unowned'
  | 'fence_missing'
  | 'operations_more'
  | 'work_cut'
  | 'turn_unowned'
  | 'worker_unowned'
  | 'safe_mode_on'
  | 'storm_over'
  | 'boundary_unfinished'
  | 'boundary_untold'
  | 'clock_believed'
  | 'clock_distrusted'
  | 'disk_roomy'
  | 'disk_low'
  | 'disk_full'
  | 'files_private'
  | 'file_open'
  | 'files_open_more'
  | 'model_alive'
  | 'model_unreachable'
  | 'models_unknown'
  | 'account_limited'
  | 'account_down'
  | 'account_refused'
  | 'sizes'
  | 'versions';

/** Everything in words already; what a finding does not hold is empty. */
export interface FindingFacts {
  readonly request: string;
  /** Somebody else's words: of a store, a system, a provider. */
  readonly detail: string;
  readonly description: string;
  /** A path, in backticks. */
  readonly path: string;
  readonly mode: string;
  readonly wanted: string;
  /** One model or several, in backticks. */
  readonly models: string;
  readonly taskId: string;
  readonly hostId: string;
  readonly operationId: string;
  readonly conversationId: string;
  readonly check: string;
  /** Why a task stands still or an operation is blocked, as a clause. */
  readonly cause: string;
  /** `since 14:02`; `began` is the same instant as in `at 14:02`. */
  readonly since: string;
  readonly began: string;
  /** With their prepositions. */
  readonly until: string | null;
  readonly endedAt: string;
  /** The one count of the sentence, and the second of those that have two. */
  readonly count: number;
  readonly others: number;
  /** `71 MB`. */
  readonly size: string;
  readonly logSize: string;
  readonly logsSize: string;
  readonly drift: string;
  readonly version: string;
  readonly node: string;
  readonly tz: string;
  readonly hash: string;
}

/** Each finding as one or two sentences. */
export interface FindingTexts {
  readonly since: (instant: string) => string;
  readonly says: Readonly<Record<FindingWord, (facts: FindingFacts) => string>>;
}
