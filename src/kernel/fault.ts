/** What whoever catches a fault can do about it. */
export type Remedy = 'retry' | 'stop' | 'ask';

/** A surprise from outside, with a stable code and its remedy. Expected ends are values, never faults. */
export class Fault extends Error {
  override readonly name: string = 'Fault';
  readonly code: string;
  readonly remedy: Remedy;
  constructor(code: string, remedy: Remedy, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.remedy = remedy;
  }
}

/**
 * Refusal codes, the same in CLI, API and notices. The text of each is in `text/`;
 * docs/reasons.md is printed from this table.
 */
export const REFUSALS = {
  not_found: 'nothing has this id',
  ambiguous_id: 'the id fits more than one',
  forbidden: 'the principal may not do this',
  version_conflict: 'the record changed since it was read',
  receipt_used: 'this receipt was used for something else',
  run_ended: 'the run has ended and takes no further message',
  task_ended: 'the task has ended and keeps its end',
  nothing_to_stop: 'nothing of this conversation is running or open',
  not_allowed_now: 'the state does not allow this move',
  approval_closed: 'the approval was answered, has expired or was withdrawn',
  approver_other: 'another person than the one who asked must answer this approval',
  not_budget_blocked: 'the task is not blocked by a used-up recovery budget',
  deadline_passed: 'the deadline of the task has passed',
  budget_exhausted: 'a budget of the task is used up',
  conversation_busy: 'a turn runs in the conversation of the task',
  not_here: 'a held task is woken in its own conversation, at the terminal or through the API',
  not_a_task: 'the id is of something else',
  no_safe_mode: 'safe mode is not on',
  not_blocked: 'the operation is not blocked',
  handover_only: 'an uncertain compact is reopened as a handover alone',
  no_handover: 'only an uncertain compact is reopened as a handover',
  fenced: 'maintenance of this conversation is not finished, and only an admin may give it up',
  still_exhausted: 'what was granted is less than what is used up',
  unknown_model: 'no configured model has this name',
  clock_trusted: 'the clock is trusted and needs no confirmation',
  idempotency_conflict: 'the same idempotency key came with another body',
  unknown_command: 'no command has this name',
  draining: 'the host is shutting down',
  store_failed: 'the store failed and nothing more is acknowledged',
  disk_full: 'the disk of the store is full',
} as const;
export type RefusalCode = keyof typeof REFUSALS;

/** An expected "no": nothing was changed. `detail` holds the parameters of its text. */
export interface Refusal {
  readonly kind: 'refused';
  readonly code: RefusalCode;
  readonly detail: Readonly<Record<string, string>>;
}

export function refuse(code: RefusalCode, detail: Readonly<Record<string, string>> = {}): Refusal {
  return { kind: 'refused', code, detail };
}
