import type { EventType } from '../kernel/event.ts';
import type { RefusalCode } from '../kernel/fault.ts';
import type { AnswerTexts } from './answer-texts.ts';
import type { WhyTexts } from './why-texts.ts';

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
  | 'new'
  | 'reset'
  | 'model'
  | 'model_name'
  | 'context'
  | 'usage'
  | 'pause_id'
  | 'extend_id'
  | 'resume_id'
  | 'approve_id'
  | 'deny_id'
  | 'clock_confirm'
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
