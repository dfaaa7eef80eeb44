/** What became of the last attempt of an assessment. `limited`: a quota or a rate limit. */
export type FailureWord =
  | 'timeout'
  | 'unreached'
  | 'limited'
  | 'failed'
  | 'invalid'
  | 'reserved'
  | 'continue';
/** What an attempt came to, as its event tells it. */
export type OutcomeWord = FailureWord | 'end' | 'inconclusive';
/** What proves that a task of an import is ongoing, or an admin's resume. */
export type ProofWord = 'input' | 'worker' | 'resume';
export type RecoveryWord = 'none' | 'needed' | 'granted' | 'followed';
/** What a task was before the boundary held it. */
export type WasWord = 'active' | 'waiting' | 'paused' | 'blocked';

/** How a task has ended. */
export type EndWord = 'completed' | 'failed' | 'stopped' | 'cancelled' | 'expired';

/** Why one worker is not woken (B-9). */
export type WorkerWord = 'not_held' | 'no_task' | 'other_mandate' | 'task_held';

interface FailureFacts {
  /** The code, with the provider's words behind it where it said any; empty when nothing is known. */
  readonly detail: string;
  /** How long an attempt may take: `60 s`. */
  readonly time: string;
}

/** The sentences about interrupted work and about history; whatever they name is in words already. */
export interface RecoveryTexts {
  /** Clauses: `no answer in 60 s`. */
  readonly failures: Readonly<Record<FailureWord, (facts: FailureFacts) => string>>;
  /** Of a task whose assessment is due: how many attempts are used, and when the next one is. */
  readonly attempts: (facts: {
    readonly used: string;
    readonly attempts: string;
    /** With its preposition; null when it is due now. */
    readonly next: string | null;
  }) => string;
  /** The same while none is reserved. */
  readonly attemptsUsed: (facts: { readonly used: string; readonly attempts: string }) => string;
  readonly assessing: (facts: { readonly attempt: string; readonly attempts: string }) => string;
  /** What became of the last attempt, as a clause. */
  readonly last: (failure: string) => string;
  /** That nothing of the task goes on before its assessment. */
  readonly nothingBefore: string;
  /** Why no attempt is reserved for now. */
  readonly unreached: string;
  /** That safe mode holds a check, or what goes on by itself, back; when it ends by itself, with its preposition. */
  readonly safeModeChecks: (when: string) => string;
  readonly safeModeWaits: (when: string) => string;
  /** Why interrupted work is not woken by hand. */
  readonly checkDecides: string;
  /** What an assessment gave as its reason, in quotation marks. */
  readonly said: (said: string) => string;
  readonly orderAt: (when: string) => string;
  /** How a held task stood before; `wait` in words, empty where it is not known. */
  readonly was: Readonly<Record<WasWord, (wait: string) => string>>;
  /** What a held task had asked, in quotation marks. */
  readonly wasAsking: (question: string) => string;
  /** Who wakes a held task, and what then comes. */
  readonly wakes: string;
  readonly outcomes: Readonly<Record<OutcomeWord, (facts: FailureFacts) => string>>;
  readonly proofs: Readonly<Record<ProofWord, string>>;
  readonly states: Readonly<Record<RecoveryWord, string>>;
  /** What the boundary holds (B-10), in lines; counts, of which some are 0. */
  readonly summary: (facts: {
    readonly held: number;
    readonly workersHeld: number;
    readonly unsent: number;
  }) => string;
  /** One line of a restart report; `command` is in its backticks, or empty. */
  readonly reportLine: (facts: {
    readonly request: string;
    readonly cause: string;
    readonly command: string;
  }) => string;
  /** Of a call whose outcome is unknown: how it is kept from running, and how it runs once more. */
  readonly reportUncertain: (facts: {
    readonly request: string;
    readonly approve: string;
    readonly deny: string;
  }) => string;
  readonly reportMore: (count: string) => string;
  /** How a task stands and since when, as a clause about `this task`; `wait` as `waits` has it. */
  readonly stands: Readonly<
    Record<
      WasWord | EndWord | 'asking',
      (facts: { readonly since: string; readonly wait: string }) => string
    >
  >;
  /** The same without a reason on record. */
  readonly silent: (facts: { readonly since: string }) => string;
  /** Whole sentences about `this worker`. */
  readonly workers: Readonly<Record<WorkerWord, string>>;
}
