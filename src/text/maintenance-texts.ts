/**
 * Why a step of a maintenance operation failed. What a model provider answered is told in the words of the
 * assessments; `other` is the code of somebody else's runtime.
 */
export type FaultWord =
  | 'disk_io'
  | 'disk_full'
  | 'disk_readonly'
  | 'disk_denied'
  | 'summary_empty'
  | 'summary_long'
  | 'summary_unusable'
  | 'other_session'
  | 'interrupted'
  | 'too_long'
  | 'other';
export type StepWord = 'compact' | 'summarise' | 'archive-link' | 'rotate' | 'seed';
export type OperationWord = 'running' | 'waiting' | 'blocked' | 'done' | 'dropped';
export type BlockWord = 'exhausted' | 'uncertain' | 'base_too_large';
/** What began it: the reported usage, the number of steps, a request that did not fit, a provider that said so. */
export type OccasionWord = 'usage' | 'steps' | 'full' | 'too_long';
export type FenceWord = 'none' | 'shut' | 'blocked' | 'passed';

/** What has to be in every request, in tokens as the reader writes them. */
export interface SizeFacts {
  readonly window: string;
  readonly reserve: string;
  readonly instructions: string;
  readonly tools: string;
  readonly seed: string;
  readonly message: string;
}

interface OperationFacts {
  /** Exactly as they are typed. */
  readonly id: string;
  readonly conversation: string;
  /** When it began, with its preposition. */
  readonly began: string;
  /** Since when it stands as it does, and the same with its preposition. */
  readonly since: string;
  readonly when: string;
}

/** The sentences about the upkeep of a session; whatever they name is in words already. */
export interface MaintenanceTexts {
  /** Clauses: `disk: input/output error`. */
  readonly faults: Readonly<Record<FaultWord, (facts: { readonly detail: string }) => string>>;
  /** `seven times`, for how often it failed. */
  readonly times: (failures: number) => string;
  /** Noun phrases: `shortening the session`. */
  readonly steps: Readonly<Record<StepWord, string>>;
  /** Of an operation, behind `it`: `is running`. */
  readonly states: Readonly<Record<OperationWord, string>>;
  /** Why it is blocked, as a clause that may stand alone. */
  readonly reasons: Readonly<Record<BlockWord, string>>;
  readonly occasions: Readonly<Record<OccasionWord, string>>;
  readonly fences: Readonly<Record<FenceWord, string>>;

  /** How an operation stands, for `why`. */
  readonly standing: Readonly<Record<OperationWord, (facts: OperationFacts) => string>>;
  readonly compacts: (session: string) => string;
  /** `next` is the session that follows, once its id is given. */
  readonly handsOver: (facts: { readonly session: string; readonly next: string | null }) => string;
  readonly step: (step: string) => string;
  readonly trying: (since: string) => string;
  readonly because: (reason: string) => string;
  readonly sizes: (facts: SizeFacts) => string;
  readonly failures: (facts: {
    readonly failures: string;
    readonly max: string;
    readonly lifetime: string;
    readonly attempts: string;
  }) => string;
  /** What the last failure was, as a clause. */
  readonly last: (fault: string) => string;
  /** When it is tried again, with its preposition; null when that is due. */
  readonly next: (when: string | null) => string;
  readonly quota: string;
  /** What is kept meanwhile; `count` of messages that wait, or null when there are none. */
  readonly kept: (count: string | null) => string;
  readonly used: (facts: { readonly tokens: string; readonly cost: string }) => string;
  /** In the place of commands, of one that goes on by itself. */
  readonly noCommand: string;

  /** Events: what an operation moved to. */
  readonly failed: (facts: {
    readonly fault: string;
    readonly failures: string;
    readonly max: string;
  }) => string;
  readonly waits: string;
  readonly goesOn: (step: string) => string;
  readonly blocked: (reason: string) => string;
  readonly done: string;
  readonly dropped: string;
  /** Of a session that goes on from the one before. */
  readonly nextSession: string;

  /** The answer to `/admit`. */
  readonly admitted: (step: string) => string;
  readonly admittedHandover: string;
  /** Behind the answer to a `/new` that gave an operation up (M-21). */
  readonly givenUp: string;
  /** In `/status`: how the fence of this conversation stands. */
  readonly here: Readonly<
    Record<'shut' | 'blocked', (facts: { readonly reason: string; readonly why: string }) => string>
  >;
  /** In `/status`: conversations of the installation; counts of which at least one is not 0. */
  readonly everywhere: (facts: {
    readonly running: string;
    readonly waiting: string;
    readonly blocked: string;
  }) => string;
  /** A paused conversation among what is to be decided; `command` is in its backticks. */
  readonly decision: (facts: {
    readonly conversation: string;
    readonly reason: string;
    readonly command: string;
  }) => string;
  /** In `why` of a task of that conversation; the command is in its backticks. */
  readonly fenced: Readonly<Record<'shut' | 'blocked', (why: string) => string>>;
}

/** The lines of `/session`; instants carry their preposition. */
export interface SessionTexts {
  readonly line: (facts: {
    readonly id: string;
    readonly began: string;
    /** Null while it is in use. */
    readonly ended: string | null;
    readonly links: string;
  }) => string;
  readonly previous: (id: string) => string;
  readonly next: (id: string) => string;
  readonly more: string;
  readonly compactions: (count: string) => string;
  /** What the model wrote, in quotation marks. */
  readonly summary: (text: string) => string;
  readonly noSummary: string;
  readonly conditions: string;
  readonly last: string;
  readonly nothingSaid: string;
  readonly said: (who: string, text: string) => string;
  /** Who answered: the agent itself. */
  readonly agent: string;
}
