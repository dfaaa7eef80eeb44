/** What a price says of a model: nothing to pay, known, or not known. */
export type PriceWord = 'free' | 'costs-money' | 'unpriced';

/** What fills the window of a request, by part (T-20). */
export type ContextPart =
  | 'instructions'
  | 'tools'
  | 'summary'
  | 'facts'
  | 'history'
  | 'reserve'
  | 'free';

/** `unreached`: down, and nobody was found where it should answer. */
export type LimiterWord = 'open' | 'limited' | 'down' | 'unreached' | 'refused';

/** What one day, one model or one task used; numbers as the reader writes them. */
export interface UsageFacts {
  readonly tokens: string;
  readonly cost: string;
  /** Calls of models. */
  readonly calls: string;
}

/** Names of the work: `request` is in its quotation marks, `tool` in its backticks. */
interface CallFacts {
  readonly tool: string;
  readonly request: string;
}

/** `when` the assessment is due, with its preposition, or null for at once; `deadline` null for none. */
export interface ReopenedFacts {
  /** When safe mode, which keeps the check from beginning, ends by itself, with its preposition; else null. */
  readonly safeMode: string | null;
  readonly request: string;
  readonly when: string | null;
  readonly deadline: string | null;
}

/** The lines of the answers to commands. Everything that is put in is in words already. */
export interface AnswerTexts {
  readonly helpHead: string;
  readonly helpFoot: string;
  readonly usage: (usage: string) => string;
  readonly noTasks: string;
  readonly noHeldTasks: string;
  /** For an admin, who sees those of all conversations. */
  readonly noneHeld: string;
  /** Under a page of held tasks: how many follow, and the command that lists them. */
  readonly heldMore: (count: string, next: string) => string;
  /** Of a page behind the last; `count` are held. */
  readonly heldNoPage: (count: string) => string;
  /** Under the held tasks: who wakes one, how and where (B-8). */
  readonly heldWake: string;
  readonly noTaskYet: string;
  readonly held: (count: string) => string;
  readonly more: (count: string) => string;
  readonly moreThan: (count: string) => string;
  readonly taskLine: (facts: {
    readonly request: string;
    readonly id: string;
    readonly state: string;
    readonly since: string;
  }) => string;
  /** The line of a task that a turn has: what is done now, as `why` says it. */
  readonly doingLine: (facts: {
    readonly request: string;
    readonly id: string;
    readonly doing: string;
  }) => string;
  readonly waitingFor: (wait: string) => string;
  readonly queued: string;
  readonly running: string;
  readonly commands: string;
  readonly noCommands: string;
  readonly commandLine: (facts: {
    readonly command: string;
    readonly who: string;
    readonly effect: string;
  }) => string;
  readonly host: (state: string, when: string | null) => string;
  readonly hostReason: (reason: string) => string;
  readonly modelConfigured: (name: string) => string;
  readonly modelAnswered: (name: string, when: string) => string;
  readonly modelSilent: string;
  readonly open: (counts: string) => string;
  readonly openNone: string;
  readonly openAtLeast: (counts: string) => string;
  readonly openCount: (count: string, state: string) => string;
  readonly here: (facts: {
    readonly request: string;
    readonly id: string;
    readonly doing: string;
  }) => string;
  /** The answer to `/stop all`; `requests` is a list in words. */
  readonly stoppedAll: (requests: string) => string;
  readonly droppedMessages: (count: string) => string;
  readonly hereNothing: string;
  /** An account that is not open, in `/status`: `name` is of its models, `until` is an instant with its preposition, or null. */
  readonly limiter: (facts: {
    readonly name: string;
    readonly state: string;
    readonly until: string | null;
  }) => string;
  readonly limiterStates: Readonly<Record<LimiterWord, string>>;
  /** In `/status`: that safe mode is on, and until when. */
  readonly safeMode: (facts: { readonly since: string; readonly until: string }) => string;
  /** Tasks that wait for their assessment, and those of them that are assessed now. */
  readonly interrupted: (facts: {
    readonly count: string;
    readonly now: string | null;
    /** While safe mode keeps their checks from beginning: until when. */
    readonly until?: string | null;
  }) => string;
  /** Before what a person is to decide, a line each. */
  readonly decisions: string;
  readonly heldEverywhere: (count: string) => string;
  /** How a held task stood before, in its list: `was` is a state in words. */
  /** Its end is the line's own. */
  readonly heldSince: (was: string | null) => string;
  /** That the clock is not believed, in `/status`; `drift` as `sayDrift` writes it. */
  readonly clockDistrusted: (facts: { readonly drift: string; readonly when: string }) => string;
  /** That the store's log cannot begin anew; `size` with its unit. */
  readonly storeLogLarge: (size: string) => string;
  readonly storeDiskFull: () => string;

  /** The answer to `/new`: `retained` holds what remains, a line each, or is empty. */
  readonly newSession: (facts: { readonly retained: string }) => string;
  /** An open approval among what remains; `when` it expires, with its preposition. */
  readonly retainedApproval: (
    facts: CallFacts & { readonly id: string; readonly when: string },
  ) => string;
  /** Messages that `/new` set aside; said behind `newSession`. */
  readonly setAside: (count: string) => string;

  readonly modelInUse: (facts: { readonly name: string; readonly price: string }) => string;
  /** `price` of `modelInUse` and of a choice. */
  readonly prices: Readonly<Record<PriceWord, string>>;
  /** `price` when the rates are known: money for a million tokens. */
  readonly rates: (facts: { readonly input: string; readonly output: string }) => string;
  /** One choice of `modelChoices`. */
  readonly modelChoice: (facts: { readonly name: string; readonly price: string }) => string;
  /** `list` holds a choice a line. */
  readonly modelChoices: (list: string) => string;
  readonly modelSet: (name: string) => string;

  readonly contextHead: (facts: {
    readonly used: string;
    readonly window: string;
    readonly name: string;
  }) => string;
  readonly contextParts: Readonly<Record<ContextPart, string>>;
  readonly contextLine: (part: string, tokens: string) => string;
  /** That it is more than a request holds. */
  readonly contextOver: string;
  /** Of what was said, how many turns stand word for word. */
  readonly contextTurns: (part: string, turns: string) => string;

  readonly usageDay: (facts: UsageFacts & { readonly day: string }) => string;
  readonly usageModel: (facts: UsageFacts & { readonly name: string }) => string;
  readonly usageTask: (
    facts: UsageFacts & { readonly request: string; readonly id: string },
  ) => string;
  readonly usageTasks: string;
  /** Before what the reader's own tasks of a conversation used. */
  readonly usageOwn: string;
  readonly usageOwnTask: (
    facts: Omit<UsageFacts, 'calls'> & { readonly request: string; readonly id: string },
  ) => string;
  readonly usageNone: (day: string) => string;
  readonly usageUnpriced: (count: string) => string;

  readonly approved: (facts: CallFacts) => string;
  /** Of a task that stands still for another reason: the call is kept and runs with its next turn. */
  readonly approvedForLater: (facts: CallFacts) => string;
  /** Of a task that was interrupted: its assessment decides whether the call runs. */
  readonly approvedForInterrupted: (facts: CallFacts & { readonly stop: string }) => string;
  readonly denied: (facts: CallFacts) => string;
  /** Of a call whose outcome is unknown. */
  readonly deniedAgain: (facts: CallFacts) => string;
  readonly resumed: (request: string) => string;
  /** Of a held task: it is assessed first (B-8). */
  readonly enrolled: (facts: ReopenedFacts) => string;
  /** The same with no attempt left in its epoch; `reset` is the command that opens another. */
  readonly enrolledSpent: (facts: ReopenedFacts & { readonly reset: string }) => string;
  /** Of a resume that an assessment comes before, and of a reset. */
  readonly reassessed: (facts: ReopenedFacts) => string;
  readonly budgetReset: (facts: ReopenedFacts) => string;
  readonly resumedLate: (request: string) => string;
  readonly paused: (request: string) => string;
  /** `left` is what `why` says is left. */
  readonly extended: (facts: { readonly request: string; readonly left: string }) => string;
  readonly clockConfirmed: string;
  readonly safeModeEnded: string;
  /** Before the first outcome of an order whose receipt came again. */
  readonly repeatedOrder: string;
}
