import type { EventType } from '../kernel/event.ts';
import type { RefusalCode } from '../kernel/fault.ts';
import type { AnswerTexts } from './answer-texts.ts';
import type { MaintenanceTexts, SessionTexts, SizeFacts } from './maintenance-texts.ts';
import type { RecoveryTexts } from './recovery-texts.ts';
import type { WhyTexts } from './why-texts.ts';

export type Locale = 'en' | 'de';

/** The one sign in front of a notice, by its level. */
export const SIGNS = { info: '▸', waiting: '…', blocked: '■', escalation: '!' } as const;
export type SignLevel = keyof typeof SIGNS;

/** Every notice and its level. A test holds the levels against the table of reasons. */
export const NOTICES = {
  /** Of versions that told a task's entry into its assessment. */
  interrupted: 'waiting',
  awaits_instant: 'waiting',
  awaits_approval: 'waiting',
  awaits_quota: 'waiting',
  awaits_provider: 'waiting',
  goes_on: 'info',
  paused: 'info',
  wait_elapsed: 'blocked',
  no_outcome: 'blocked',
  no_progress: 'blocked',
  quota: 'blocked',
  budget_exhausted: 'blocked',
  base_too_large: 'blocked',
  recovery_assessment_failed: 'blocked',
  recovery_no_progress: 'blocked',
  recovery_inconclusive: 'blocked',
  order_late: 'blocked',
  ended_by_assessment: 'info',
  assessment_unreached: 'waiting',
  assessment_missed: 'info',
  assessment_continues: 'info',
  held_legacy: 'info',
  restart_report: 'info',
  safe_mode: 'escalation',
  safe_mode_over: 'info',
  stopped: 'info',
  cancelled: 'info',
  deadline_passed: 'info',
  model_refused: 'info',
  /** Of the first version, which ended a task where this one waits for the provider. */
  model_unavailable: 'info',
  uncertain_effect: 'escalation',
  kept: 'info',
  kept_for_interrupted: 'info',
  maintenance_waiting: 'waiting',
  maintenance_exhausted: 'blocked',
  maintenance_uncertain: 'blocked',
  maintenance_too_large: 'blocked',
  maintenance_over: 'info',
  maintenance_kept: 'info',
  clock_distrusted: 'escalation',
  clock_trusted: 'info',
} as const satisfies Record<string, SignLevel>;
export type NoticeCode = keyof typeof NOTICES;

/**
 * What a notice may say, in words already: `request` is in its quotation marks, names and commands are
 * in their backticks. What the parameters do not hold is empty, or null where the sentence says so.
 */
export interface NoticeFacts {
  readonly request: string;
  readonly id: string;
  /** Calls: of an interruption those whose outcome is unknown, of a stop those being ended; or null. */
  readonly tools: string | null;
  /** The provider's or transport's own code, or which bound was reached; null when there is none. */
  readonly detail: string | null;
  /** The model that was asked, with its provider and in backticks; null when it is not known. */
  readonly model: string | null;
  /** What helps against the detail, as a sentence with a space behind it; empty when nothing sure is known. */
  readonly help: string;
  /** Of an interruption without a turn: which wait the host did not see through; else null. */
  readonly absent: AbsenceWord | null;
  /** When it ends by itself, with its preposition; null when nothing ends it. */
  readonly when: string | null;
  readonly tool: string;
  /** Everything that would run, on lines of their own; empty when nothing was kept of it. */
  readonly shown: string;
  /** Whether somebody other than the one who asked has to answer (E-6). */
  readonly isOther: boolean;
  /** Whether the task was interrupted, so that its assessment decides whether it goes on. */
  readonly isInterrupted: boolean;
  /** What became of the last attempt of the assessment, as a clause. */
  readonly failure: string;
  /** What the assessment gave as its reason, in quotation marks; null when it gave none. */
  readonly said: string | null;
  /** As a notice writes it in brackets: `Fri 18:00`; null where the task has none. */
  readonly deadline: string | null;
  /** Which attempt of how many. */
  readonly attempt: string;
  readonly attempts: string;
  /** When the next attempt is due, with its preposition; null when that is not known. */
  readonly next: string | null;
  /** The time that an order carries itself, with its preposition; null when it is not known. */
  readonly at: string | null;
  /** The summary of the boundary (B-10), one line or more; empty when nothing is held. */
  readonly summary: string;
  /** What a restart report tells, a line each; empty without any. */
  readonly lines: string;
  /** Starts that found an unclean end. */
  readonly starts: string;
  /** What was waited for, in words; null when it is not known. */
  readonly wait: string | null;
  /** The budget that is used up, in words. */
  readonly limit: string;
  /** Tokens. */
  readonly window: string;
  readonly base: string;
  readonly message: string;
  readonly drift: string;
  /** What a step of maintenance failed with last, as a clause; null when it is not known. */
  readonly fault: string | null;
  /** Whether every failure was that one. */
  readonly isSame: boolean;
  /** How often it failed: `seven times`. */
  readonly times: string;
  /** Which step is uncertain, as a noun phrase. */
  readonly step: string;
  /** Whether an uncertain operation goes on as a handover alone. */
  readonly isReconciled: boolean;
  readonly sizes: SizeFacts;
  /** What ends the request that holds words which take most of the window, as it is typed; null where none does. */
  readonly ends: string | null;
  /** `next` without its preposition. */
  readonly nextTime: string | null;
  /** Why a conversation is paused, as a clause; empty when it is not known. */
  readonly paused: string;
  /** Why the task stands where it stands, as a sentence; empty when it is not known. */
  readonly cause: string;
  /** The commands of this task, exactly as they are typed. */
  readonly stop: string;
  readonly pause: string;
  readonly resume: string;
  readonly late: string;
  readonly reset: string;
  readonly extend: string;
  readonly approve: string;
  readonly deny: string;
  /** Of the task, or of the operation where it is about one. */
  readonly why: string;
  readonly admit: string;
  readonly handover: string;
}

/** What a refusal may name; each is absent when the refuser had nothing to say about it. */
export interface RefusalFacts {
  readonly id?: string | undefined;
  /** The task of what is refused, where `id` is of something else. */
  readonly taskId?: string | undefined;
  readonly nearest?: string | undefined;
  readonly word?: string | undefined;
  /** The state of a task, an approval or an operation, in words. */
  readonly state?: string | undefined;
  /** The nearest command that does what was wanted, exactly as it is typed. */
  readonly way?: string | undefined;
  /** Who may do it, in words. */
  readonly who?: string | undefined;
  /** Whether a reply of its person is a way out too. */
  readonly isReply?: boolean;
  /** Whether it asked its person something: any message answers it. */
  readonly isAsking?: boolean;
  readonly hasEnded?: boolean;
  /** How the task stands and since when, as a clause: `it is waiting for you since 14:02`. */
  readonly standing?: string | undefined;
  /** What stands against it, as a sentence; of an order about a worker. */
  readonly cause?: string | undefined;
  /** The budget that is used up, in words. */
  readonly limit?: string | undefined;
  /** When something was over, with its preposition. */
  readonly when?: string | undefined;
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
/** How a task stands: its state, where `active` says whether a turn has it; `cut`: one whose host lives no more. */
export type Standing = Exclude<StateWord, 'active'> | 'queued' | 'running' | 'cut' | 'stopping';
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
  | 'awaits_instant'
  | 'awaits_answer'
  | 'awaits_approval'
  | 'awaits_quota'
  | 'awaits_provider'
  | 'paused'
  | 'wait_elapsed'
  | 'no_outcome'
  | 'no_progress'
  | 'quota'
  | 'budget_exhausted'
  | 'base_too_large'
  | 'recovery_assessment_failed'
  | 'recovery_no_progress'
  | 'recovery_inconclusive'
  | 'order_late'
  | 'held_legacy'
  | 'ended_by_assessment'
  | 'stopped_by_person'
  | 'cancelled_by_caller'
  | 'deadline_passed'
  | 'model_refused'
  | 'model_unavailable'
  | 'answered';
/**
 * `due`: its instant came while no host ran. `wait`: the host stopped without warning while it waited.
 * `void`: it may go on, but no turn followed in time.
 */
export type AbsenceWord = 'due' | 'wait' | 'void';
/** What a person can mend where a provider refuses (T-12). */
export type MendWord = 'key' | 'balance' | 'rights' | 'name';
/** `other_admin`: of an approval that the one who asked may not answer (E-6). */
export type WhoWord = 'task_principal_or_admin' | 'admin' | 'other_admin' | 'person';
/** `again`: of a call whose outcome is unknown. */
export type EffectWord =
  | 'stop'
  | 'pause'
  | 'resume'
  | 'late'
  | 'enrol'
  | 'reopen'
  | 'extend'
  | 'approve'
  | 'approve_again'
  | 'deny'
  | 'deny_again'
  | 'fresh'
  | 'admit'
  | 'handover'
  | 'drop'
  | 'safe_mode_off';
export type TurnEndWord =
  | 'answered'
  | 'waited'
  | 'continued'
  | 'parked'
  | 'yielded'
  | 'blocked'
  | 'failed'
  | 'invalid'
  | 'stopped'
  | 'interrupted';
export type ApprovalWord = 'open' | 'approved' | 'denied' | 'expired';
/** What a budget counts (T-7); `budget` where a record does not say which. */
export type LimitWord = 'turns' | 'tokens' | 'costUsd' | 'continuations' | 'budget';
export type HostWord = 'starting' | 'ready' | 'draining' | 'failed' | 'stopped';
export type CallWord = 'asked' | 'finished' | 'failed' | 'cut' | 'uncertain';
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
  | 'pause'
  | 'extend'
  | 'task_resume'
  | 'task_resume_late'
  | 'budget_reset'
  | 'approve'
  | 'deny'
  | 'admit'
  | 'admit_handover'
  | 'session'
  | 'session_id'
  | 'clock_confirm'
  | 'safe_mode_off'
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
  /** The code of the notice, of the run's outcome, or of what a model call failed with. */
  readonly code: string;
  /** In backticks. */
  readonly tool: string;
  readonly approvalId: string;
  /** How an approval was decided, in words. */
  readonly decision: string;
  /** What a task noted for itself, in quotation marks. */
  readonly note: string;
  /** Which attempt of an assessment, and of how many. */
  readonly attempt: string;
  readonly attempts: string;
  /** What an attempt, recovery or maintenance came to, or what proved a task, as a whole sentence. */
  readonly outcome: string;
  /** How a held task stood before, as a whole sentence; empty when it is not known. */
  readonly was: string;
  /** Of an operation, as a noun phrase. */
  readonly step: string;
}

/** The lines of what would run. */
export interface ShownTexts {
  readonly folder: (path: string) => string;
  readonly environment: (names: string) => string;
  readonly file: (path: string) => string;
  readonly missingFile: (path: string) => string;
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
  /** In the place of the cause `interrupted` where no turn ran. */
  readonly absences: Readonly<Record<AbsenceWord, string>>;
  readonly mends: Readonly<Record<MendWord, string>>;
  readonly approvals: Readonly<Record<ApprovalWord, string>>;
  readonly limits: Readonly<Record<LimitWord, string>>;
  readonly shown: ShownTexts;
  /** How far the clock is off; the length of time is in words. */
  readonly drift: Readonly<Record<'ahead' | 'behind', (time: string) => string>>;
  readonly who: Readonly<Record<WhoWord, string>>;
  readonly effects: Readonly<Record<EffectWord, string>>;
  readonly principals: Readonly<Record<'host' | 'model' | 'other', (name: string) => string>>;
  readonly turnEnds: Readonly<Record<TurnEndWord, string>>;
  readonly hostStates: Readonly<Record<HostWord, string>>;
  readonly events: Readonly<Record<EventType, (facts: EventFacts) => string>>;
  readonly help: Readonly<Record<HelpWord, string>>;
  readonly why: WhyTexts;
  readonly recovery: RecoveryTexts;
  readonly maintenance: MaintenanceTexts;
  readonly sessions: SessionTexts;
  readonly answers: AnswerTexts;
  /** A call of the model among other calls. */
  readonly modelCall: string;
  /** A call whose tool is not known. */
  readonly someCall: string;
  readonly andMore: (count: string) => string;
}
