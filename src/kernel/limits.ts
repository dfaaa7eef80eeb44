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
  /** Pauses of a step that cannot be saved because the disk is full. */
  diskFullPauseMs: SECOND,
  diskFullPauseMaxMs: 30 * SECOND,
  /** Steps of one turn (T-19). */
  stepsPerTurnMax: 100,
  /** Corrective turns in a row (T-8). */
  correctiveTurnsMax: 1,
  /** The same call with the same result in a row that ends a turn (T-19). */
  sameCallMax: 3,
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
  httpKeepAliveCommentMs: 15 * SECOND,
  jsonDepthMax: 64,
  listLimitDefault: 50,
  listLimitMax: 200,
  /** Steps of earlier turns that are read for a request. */
  historyStepsMax: 200,
  /** Characters of histories that a host keeps between two turns of a conversation. */
  historyKeptChars: 16_000_000,
  /** Share of the context window that earlier turns may fill, and how characters stand for tokens. */
  historyShare: 0.6,
  charsPerToken: 3,
} as const;
