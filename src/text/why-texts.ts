import type { CallWord, Standing, WaitWord } from './catalogue.ts';

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
  readonly assessmentsLeft: string;
  readonly assessments: string;
  /** Of all epochs. */
  readonly assessmentsMade: string;
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

/** What a turn does now: clauses without an end, for `why` as for the lists. */
export interface DoingTexts {
  readonly tool: (facts: { readonly tool: string; readonly since: string }) => string;
  /** `when` with its preposition; `calls` of a step are more than one once a call has failed. */
  readonly model: (facts: CallsFacts & { readonly when: string }) => string;
  /** `next` with its preposition, to the second. */
  readonly retry: (facts: CallsFacts & { readonly code: string; readonly next: string }) => string;
  /** Behind `model`: the account failed for some call, this one or another. */
  readonly pause: (facts: { readonly code: string; readonly next: string }) => string;
  /** When the last step was done, with its preposition; null before the first. */
  readonly between: (when: string | null) => string;
  /** Of a turn whose host lives no more; when it began, with its preposition. */
  readonly cut: (when: string) => string;
}

interface CallsFacts {
  readonly calls: string;
  readonly callsMax: string;
}

/** The sentences of `why`. */
export interface WhyTexts {
  readonly standing: Readonly<Record<Standing, (facts: StandingFacts) => string>>;
  readonly behind: string;
  readonly detail: (code: string) => string;
  readonly again: string;
  readonly held: string;
  readonly step: (ordinal: string, doing: string) => string;
  readonly doing: DoingTexts;
  readonly question: (question: string) => string;
  /** What happens when the wait is over and nothing came; `when` with its preposition. */
  readonly until: Readonly<Record<WaitWord, (when: string) => string>>;
  /** What an approval is asked for: the tool in its marks, the whole call on one line. */
  readonly approval: (facts: {
    readonly tool: string;
    readonly shown: string;
    readonly id: string;
  }) => string;
  /** Of a call whose outcome is unknown. */
  readonly approvalAgain: WhyTexts['approval'];
  /** Of a call that was approved and runs when the task goes on. */
  readonly approvalKept: WhyTexts['approval'];
  readonly exhausted: (limit: string) => string;
  /** What the task noted of its own progress, in quotation marks. */
  readonly checkpoint: (note: string) => string;
  readonly reply: (id: string) => string;
  /** Of a task that asked a question: words alone answer it. */
  readonly answerIt: string;
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
