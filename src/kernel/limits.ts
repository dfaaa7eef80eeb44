import { DAY, HOUR, MINUTE, SECOND } from './time.ts';

/** Every bound with its unit, in one place (design principle 16). */
export const LIMITS = {
  /** A host's row is alive for this long after its renewal (surface: limits of time). */
  leaseMs: 15 * SECOND,
  leaseRenewMs: 5 * SECOND,
  /** Safety poll of the due index: hints may be lost, the poll is the truth. */
  tickMsExclusive: 30 * SECOND,
  tickMsShared: 5 * SECOND,
  /** How often a lost race is decided again before it is a fault. */
  lostRacesMax: 20,
  /** What an embedded store keeps of its log between two uses of it, and from where on it tells a person. */
  storeLogKeptBytes: 16_000_000,
  storeLogAlarmBytes: 64_000_000,
  /** Pauses of a step that cannot be saved because the disk is full. */
  diskFullPauseMs: SECOND,
  diskFullPauseMaxMs: 2 * SECOND,
  /** Steps of one turn (T-19). */
  stepsPerTurnMax: 100,
  /** Corrective turns in a row (T-8). */
  correctiveTurnsMax: 1,
  /** The same call with the same result in a row that ends a turn (T-19). */
  sameCallMax: 3,
  /** Tries of a model call after its first (T-18), and the pauses before them, doubling. */
  modelRetriesMax: 5,
  modelRetryFirstMs: SECOND,
  modelRetryMaxMs: 60 * SECOND,
  /** A named instant farther away than this parks the turn; a nearer one is waited for (T-12). */
  quotaParkMs: 60 * SECOND,
  /** Quota waits of a task in a row (T-12). */
  quotaWaitsMax: 10,
  /**
   * A key, account or balance that was refused is not asked again for this long (T-12): shorter than a
   * person takes to mend it, long enough to spare the provider a burst.
   */
  refusedCoolMs: 5 * SECOND,
  /** Pauses between two probes of a provider that is down, doubling. */
  probeFirstMs: 5 * SECOND,
  probeMaxMs: 5 * MINUTE,
  probeCallMs: 10 * SECOND,
  /** The classifier's call (T-2), the tasks that it is shown, and what it is shown of each. */
  classifierMs: 3 * SECOND,
  classifierTasksMax: 12,
  classifierTextChars: 2_000,
  /** How long a question waits for its answer (T-6), at most the task's deadline. */
  answerWaitMs: 7 * DAY,
  /** How far away a task may set the instant at which it goes on. */
  waitInstantMaxMs: 366 * DAY,
  /** How long an approval stays open where the configuration does not say (E-4). */
  approvalMs: 24 * HOUR,
  /** What is kept of a note, of a question and of a checkpoint. */
  noteCharsMax: 4_000,
  /** Assessments of one epoch, the pause from one reservation to the next, and the longest call. */
  recoveryAttempts: 3,
  recoverySpacingMs: 60 * SECOND,
  recoveryCallMs: 60 * SECOND,
  /** The longest that an attempt waits for an instant that the provider named. */
  recoveryRetryMaxMs: DAY,
  /** Assessments that run at once on one host. */
  recoveryAtOnce: 2,
  /** A `continue` that no turn has followed for this long is void. */
  recoveryGrantMs: 10 * MINUTE,
  /** How long a provider is unreachable before a person is told that an assessment waits for it. */
  recoveryUnreachedMs: 10 * MINUTE,
  /** What is kept of an assessment's reason, and what it is shown of one text. */
  recoveryReasonChars: 500,
  recoveryTextChars: 4_000,
  /** Uncertain effects, effects, workers and messages that an assessment is shown, each. */
  recoveryShownMax: 20,
  /** Workers of one task that are looked through, the newest: ended ones stand among them (D-12). */
  workersOfTaskMax: 100,
  /** Unclean starts within the window that begin safe mode, and the calm that ends it. */
  stormStarts: 3,
  stormWindowMs: 10 * MINUTE,
  stormCalmMs: HOUR,
  /** An order with its own time is carried out this late at most (T-15). */
  orderGraceMs: 15 * MINUTE,
  /** Unmarked records that one unit of the boundary judges. */
  boundaryBatch: 200,
  /** Due records that one look brings in. */
  dueMax: 64,
  /** Messages that one look at a task takes up; the rest is there at the next. */
  inputsPerLookMax: 20,
  /** The most that one order grants, and a deadline or duration that is not a slip. */
  grantMax: { turns: 10_000, tokens: 1_000_000_000, costUsd: 100_000, continuations: 10_000 },
  durationMaxMs: 3_650 * DAY,
  /** Days that one answer about usage may hold. */
  usageDaysMax: 92,
  /** A wall clock this far from the uptime clock is not trusted (design principle 8), for this long. */
  clockDriftMs: HOUR,
  clockDistrustMs: 10 * MINUTE,
  /** Tasks, waits and approvals that one answer names; the rest is counted (W-2). */
  namedMax: 12,
  /** Share of the window that is kept for the answer. */
  answerReserveShare: 0.1,
  messageCharsMax: 100_000,
  /** Tasks and messages that one `/stop all` ends. */
  stopAllMax: 200,
  mandateQuoteChars: 60,
  /** What is kept of a provider's own words in a notice. */
  providerWordsMax: 300,
  /** A model call without a first token, and a whole one (surface: limits of time). */
  modelFirstTokenMs: 120 * SECOND,
  modelCallMs: 10 * MINUTE,
  modelReplyBytesMax: 2_000_000,
  modelCallsPerReplyMax: 32,
  toolCommandMs: 120 * SECOND,
  toolCommandMsMax: 10 * MINUTE,
  toolOutputBytesMax: 30_000,
  toolFileBytesMax: 10_000_000,
  toolKillGraceMs: 2 * SECOND,
  /** One fetch with its redirects, and what is read of its answer once unpacked. */
  fetchMs: 30 * SECOND,
  fetchBytesMax: 5_000_000,
  fetchRedirectsMax: 5,
  fetchUrlCharsMax: 2_000,
  /** A running tool has ended this long after a stop (W-1). */
  stopToolsMs: 10 * SECOND,
  drainGraceMs: 60 * SECOND,
  shutdownMs: 75 * SECOND,
  /** From a store's input/output error to the exit of the process. */
  storeFailedExitMs: 10 * SECOND,
  /** How long a host whose store failed still answers, with 503 and the reason. */
  storeFailedShownMs: 3 * SECOND,
  idempotencyKeptMs: 24 * HOUR,
  taskDeadlineMs: 7 * DAY,
  turnsPerTask: 50,
  tokensPerTask: 2_000_000,
  costPerTaskMicroUsd: 20_000_000,
  continuationsPerTask: 20,
  concurrentConversations: 8,
  httpBodyBytes: 1_048_576,
  httpHeaderBytes: 16_384,
  httpHeadersMs: 10 * SECOND,
  httpRequestMs: 60 * SECOND,
  httpWaitSecondsMax: 300,
  httpStreamsPerKey: 64,
  httpRequestsPerSecondPerKey: 20_000,
  /** Wrong keys of a minute before further ones are slowed. */
  authFailuresPerMinute: { perAddress: 10, overall: 100 },
  httpKeepAliveCommentMs: 15 * SECOND,
  jsonDepthMax: 64,
  /** One line of an export: a record with the longest output of a step, each character escaped. */
  archiveLineBytes: 32_000_000,
  /** How long whoever reads an export over HTTP may take nothing of it. */
  exportStallMs: 60 * SECOND,
  listLimitDefault: 50,
  listLimitMax: 200,
  /** Steps of earlier turns that are read at once. */
  historyStepsMax: 200,
  /** Claimed inputs of a session that are read at once. */
  claimedPageMessages: 400,
  /** Steps of a session that stand in requests word for word; from there on it is maintained. */
  sessionStepsMax: 1_000,
  /** Those of them that stay so: the steps of one turn always do, and few turns bring the next maintenance on. */
  sessionStepsKept: 100,
  /** Compactions of one session; what outgrows the window after them is handed over to a next one. */
  compactionsPerSession: 3,
  /** Share of the window in use that starts maintenance, where the configuration does not say (M-13). */
  maintenanceStartAt: 0.8,
  /** Pauses before the next try of a failed step, doubling from the first to the longest (M-3). */
  maintenanceFirstDelayMs: SECOND,
  maintenanceMaxDelayMs: 60 * SECOND,
  /** Maintenance operations that are carried out at once on one host. */
  maintenanceAtOnce: 2,
  /** How long a notice that an operation waits is held back: most are over sooner (M-10). */
  maintenanceNoticeMs: 5 * SECOND,
  /** One call of the summary model. */
  summaryCallMs: 2 * MINUTE,
  /** The longest summary, whatever the window; and what it may take of a window's free part. */
  summaryCharsMax: 12_000,
  summaryShare: 0.2,
  /** What is kept word for word of a window's free part, and what the host's own facts may take of it. */
  tailShare: 0.2,
  factsShare: 0.15,
  /** What a summary is shown of one text: the rest stands in the transcript. */
  summaryTextChars: 4_000,
  /** Steps that are read at once for a summary. */
  summaryPageSteps: 50,
  /** Standing conditions that are kept of a session, and what is kept of one. */
  conditionsMax: 40,
  conditionChars: 400,
  /** Characters of histories that a host keeps between two turns of a conversation. */
  historyKeptChars: 16_000_000,
  /** How characters stand for tokens where nobody has counted them. */
  charsPerToken: 3,
} as const;
