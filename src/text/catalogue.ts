import type { EventType } from '../kernel/event.ts';
import type { RefusalCode } from '../kernel/fault.ts';

export type Locale = 'en' | 'de';

/** The one sign in front of a notice, by its level. */
export const SIGNS = { info: '▸', waiting: '…', blocked: '■', escalation: '!' } as const;
export type SignLevel = keyof typeof SIGNS;

/** Every notice and its level. A test holds the levels against the table of reasons. */
export const NOTICES = {
  interrupted: 'waiting',
  stopped: 'info',
  cancelled: 'info',
  no_outcome: 'blocked',
  no_progress: 'blocked',
  model_refused: 'info',
  model_unavailable: 'info',
} as const satisfies Record<string, SignLevel>;
export type NoticeCode = keyof typeof NOTICES;

/** What a notice may say. `request` is in its quotation marks, `tools` a list in words, or null. */
export interface NoticeFacts {
  readonly request: string;
  readonly id: string;
  /** Calls: of an interruption those whose outcome is unknown, of a stop those being ended; or null. */
  readonly tools: string | null;
  /** The provider's or transport's own code; null when it gave none. */
  readonly detail: string | null;
}

/** What a refusal may name; each is absent when the refuser had nothing to say about it. */
export interface RefusalFacts {
  readonly id?: string | undefined;
  readonly nearest?: string | undefined;
  readonly word?: string | undefined;
  /** A task's state in words. */
  readonly state?: string | undefined;
}

export type StateWord =
  | 'active'
  | 'waiting'
  | 'paused'
  | 'blocked'
  | 'completed'
  | 'failed'
  | 'stopped'
  | 'cancelled'
  | 'expired';
/** How a task stands: its state, where `active` says whether a turn has it. */
export type Standing = Exclude<StateWord, 'active'> | 'queued' | 'running' | 'stopping';
export type WaitWord =
  | 'instant'
  | 'worker'
  | 'answer'
  | 'approval'
  | 'quota'
  | 'provider'
  | 'assessment';
export type CauseWord =
  | 'interrupted'
  | 'no_outcome'
  | 'no_progress'
  | 'stopped_by_person'
  | 'cancelled_by_caller'
  | 'model_refused'
  | 'model_unavailable'
  | 'answered';
export type WhoWord = 'task_principal_or_admin' | 'admin';
export type EffectWord = 'stop';
export type TurnEndWord = 'answered' | 'failed' | 'invalid' | 'stopped' | 'interrupted';
export type HostWord = 'starting' | 'ready' | 'draining' | 'failed' | 'stopped';
export type CallWord = 'finished' | 'failed' | 'cut' | 'uncertain';
export type HelpWord =
  | 'stop'
  | 'stop_all'
  | 'stop_id'
  | 'tasks'
  | 'tasks_held'
  | 'why'
  | 'status'
  | 'help';

/** An event as its sentence needs it; everything is in words already. */
export interface EventFacts {
  readonly by: string;
  readonly from: string;
  readonly to: string;
  /** A whole sentence, or empty. */
  readonly cause: string;
  readonly end: string;
  readonly provider: string;
  readonly model: string;
  /** The code of the notice, or of the run's outcome. */
  readonly code: string;
}

/** Numbers as the reader writes them. */
export interface BudgetFacts {
  readonly turnsLeft: string;
  readonly turns: string;
  readonly tokensLeft: string;
  readonly tokens: string;
  readonly costLeft: string;
  readonly cost: string;
  readonly continuationsLeft: string;
  readonly continuations: string;
  readonly correctionsLeft: string;
  readonly corrections: string;
  readonly assessments: string;
  readonly deadline: string | null;
}

export interface StandingFacts {
  readonly request: string;
  readonly id: string;
  /** Since this instant, without a preposition. */
  readonly since: string;
  /** The same instant, as in `at 14:02`. */
  readonly when: string;
  /** What it waits for, in words; empty unless it waits. */
  readonly wait: string;
}

/** The sentences of `why`. */
export interface WhyTexts {
  readonly standing: Readonly<Record<Standing, (facts: StandingFacts) => string>>;
  readonly behind: string;
  readonly detail: (code: string) => string;
  readonly again: string;
  readonly held: string;
  readonly step: (facts: { readonly ordinal: string; readonly tool: string | null }) => string;
  readonly question: (question: string) => string;
  readonly until: (when: string) => string;
  readonly uncertain: (tools: string) => string;
  readonly left: (facts: BudgetFacts) => string;
  readonly used: (facts: {
    readonly turns: string;
    readonly tokens: string;
    readonly cost: string;
  }) => string;
  /** What a call came to; `tool` and `code` are in their marks already. */
  readonly calls: Readonly<Record<CallWord, (tool: string, code: string) => string>>;
  readonly earlier: (count: string) => string;
  readonly later: string;
  /** An event's sentence behind its time. */
  readonly event: (time: string, sentence: string) => string;
}

/** The lines of the answers to commands. */
export interface AnswerTexts {
  readonly helpHead: string;
  readonly helpFoot: string;
  readonly usage: (usage: string) => string;
  readonly noTasks: string;
  readonly noHeldTasks: string;
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
  readonly here: (request: string, id: string) => string;
  readonly droppedMessages: (count: string) => string;
  readonly hereNothing: string;
}

/** Everything the host says to people, in one language. A missing code does not compile. */
export interface Catalogue {
  /** The tag for numbers, times and lists. */
  readonly tag: string;
  /** An instant with its preposition: a time of today, or a day and a time. */
  readonly atTime: (time: string) => string;
  readonly onDay: (day: string) => string;
  readonly quotes: readonly [open: string, close: string];
  readonly notices: Readonly<Record<NoticeCode, (facts: NoticeFacts) => string>>;
  /** For a code that a newer version wrote. */
  readonly unknownNotice: (code: string, facts: NoticeFacts) => string;
  readonly refusals: Readonly<Record<RefusalCode, (facts: RefusalFacts) => string>>;
  readonly states: Readonly<Record<StateWord, string>>;
  readonly waits: Readonly<Record<WaitWord, string>>;
  readonly causes: Readonly<Record<CauseWord, string>>;
  readonly who: Readonly<Record<WhoWord, string>>;
  readonly effects: Readonly<Record<EffectWord, string>>;
  readonly principals: Readonly<Record<'host' | 'model' | 'other', (name: string) => string>>;
  readonly turnEnds: Readonly<Record<TurnEndWord, string>>;
  readonly hostStates: Readonly<Record<HostWord, string>>;
  readonly events: Readonly<Record<EventType, (facts: EventFacts) => string>>;
  readonly help: Readonly<Record<HelpWord, string>>;
  readonly why: WhyTexts;
  readonly answers: AnswerTexts;
  /** A call of the model among other calls. */
  readonly modelCall: string;
  readonly andMore: (count: string) => string;
}
