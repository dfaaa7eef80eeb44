// Events that a set of seeds must reach: a simulation that never gets there proves nothing.

import { REASONS } from '../../src/core/notice/reasons.ts';
import type { TaskReason } from '../../src/core/task/moves.ts';
import type { TurnEnd } from '../../src/core/turn/record.ts';
import { UPKEEP_HAPPENED } from './sometimes-upkeep.ts';

/** Each with what has to have happened. */
const HAPPENED = {
  ...UPKEEP_HAPPENED,
  crash: 'a host died',
  crash_before_commit: 'a host died with a unit asked for and not begun',
  crash_after_commit: 'a host died after a commit of which it never learnt',
  crash_after_claim: 'a host died between a claim and the end of its first step',
  crash_in_recovery: 'a host died again before it had recovered the former one',
  crash_in_tool: 'a host died while a tool ran',
  clean_stop: 'a host was asked to stop and did',
  cut_by_drain: 'a clean stop cut a running turn',
  zombie_woke: 'a paused host woke up after another had taken over',
  zombie_refused: 'a host that was taken over tried to write and lost',
  takeover_shared: 'a turn was taken over on a shared store by lease',
  recovered_exclusive: 'a turn was taken over on an exclusive store',
  unknown_committed: 'the outcome of a commit stayed unknown, and it had happened',
  unknown_nothing: 'the outcome of a commit stayed unknown, and nothing had happened',
  store_busy: 'the store was busy',
  store_disconnected: 'the store was disconnected before a commit',
  store_slow: 'a commit took longer than a lease',
  store_io: 'the store failed for good and the host gave up',
  disk_full: 'the disk was full',
  disk_full_recovered: 'a commit succeeded after the disk had been full',
  lost_race: 'a unit lost its race',
  clock_forward: 'the wall clock jumped ahead',
  clock_back: 'the wall clock jumped back',
  ids_behind: 'a process gave a turn a lower id than one before it had given',
  duplicate_redelivery: 'a message came again after it had been acknowledged',
  same_id_other_body: 'a message came again with another body',
  reordered: 'a message overtook an earlier one on its way in',
  idempotent_run: 'a run was ordered again with the same key',
  idempotency_conflict: 'a key came again with another body',
  run_message_joined: 'a message joined the running turn of its run',
  run_message_refused: 'a message came after its run had ended',
  stop_during_tool: 'a task was stopped while its tool ran',
  stop_during_model: 'a task was stopped while the model was asked',
  stop_while_queued: 'a task was stopped before any turn took it up',
  stop_then_crash: 'a host died after a stop and before it had closed the turn',
  run_cancelled: 'a run was cancelled',
  command_answered: 'a command was answered',
  interrupted_uncertain: 'a turn was interrupted with a call whose outcome is unknown',
  interrupted_cut: 'a turn was interrupted with a step that is harmless to make anew',
  corrective_turn: 'a turn without an outcome was given one correction',
  several_calls: 'one reply asked for several calls',
  unknown_tool: 'the model named a tool that does not exist',
  tool_failed: 'a tool failed',
  tool_aborted: 'a running tool was ended',
  way_out: 'a held task was left by the command that its notice names',
  two_hosts: 'two hosts worked on one shared store',
  file_store: 'the store was a file',
  clock_leap: 'the wall clock jumped so far that it was not believed',
  clock_told: 'a person was told that the clock is not believed',
  clock_confirmed: 'an admin said that the clock is right',
  steered: 'a message joined a running turn of its own accord',
  interrupted_by_words: 'a message ended a running turn at its step',
  collected: 'messages that had waited were taken up together',
  kept: 'a message was kept for a task that words do not wake',
  joined_by_word: 'words of its person made a task go on that stood still',
  guest_waited: 'a message waited that had less authority than the running turn',
  classifier_answered: 'the classifier gave an answer',
  classifier_wrong: 'the classifier gave an answer that is none',
  classifier_late: 'the classifier took too long',
  approval_ran: 'an approved call ran',
  approval_changed: 'an approved call did not run, for its bytes had changed',
  approval_denied: 'a person denied an approval',
  approval_expired: 'an approval expired',
  approval_withdrawn: 'an approval was withdrawn with its task',
  approval_other: 'an approval that wants another person got one',
  approval_over_restart: 'an approval was answered at another host than the one that asked',
  answer_refused: 'somebody might not answer an approval',
  approval_closed: 'a second answer came to an approval that was closed',
  uncertain_asked: 'a person was asked about a call whose outcome is unknown',
  uncertain_denied: 'a person said that such a call must not run again',
  retried: 'a further call of a model step was reserved',
  tries_used_up: 'a model step used its tries up',
  fallback: 'a fallback model answered',
  quota_named: 'a provider named an instant far away',
  limiter_limited: 'an account was limited',
  limiter_down: 'an account was unreachable',
  limiter_refused: 'an account refused its key or balance',
  limiter_kept: 'a host began with an account that is not open',
  limiter_opened: 'an account was open again',
  woken_instant: 'a task went on at the instant that it had set',
  woken_quota: 'a task went on after a quota wait',
  woken_provider: 'a task went on after an outage',
  wait_interrupted: 'a wait became due while no host ran, or after an unclean stop',
  extended: 'an admin granted more',
  deadline_moved: 'an admin moved a deadline',
  resumed: 'a person let a task go on',
  fresh_session: 'a fresh session began',
  model_chosen: 'the model of a conversation was chosen',
  expired_running: 'a deadline ended a task whose turn ran',
  paused_running: 'a task was paused while its turn ran',
  receipt_repeated: 'an order came again under its receipt',
  receipt_used: 'a receipt was refused for another order',
  long_world: 'providers were gone for hours',
  waited_days: 'a question stayed unanswered for a week',
  assessment_reserved: 'an attempt of an assessment was reserved',
  assessment_continue: 'an assessment let its task go on',
  assessment_end: 'an assessment ended its task',
  assessment_inconclusive: 'an assessment came to nothing',
  assessment_failed: 'an assessment failed technically',
  assessment_invalid: 'the answer of an assessment was none',
  assessment_late: 'an assessment was given up before it answered',
  assessment_lost: 'a host died between the reservation of an attempt and its outcome',
  assessment_delayed: 'a provider named the instant of the next attempt',
  assessment_unreached: 'an assessment waited for a provider that could not be reached',
  unreached_told: 'a person was told that an assessment has waited long for its provider',
  assessment_missed: 'a person was told of an attempt that came to nothing',
  recovery_followed: 'a turn followed a continue',
  recovery_passed: 'a turn was completed after a continue, and the count began anew',
  recovery_void: 'a continue was void before a turn followed it',
  recovery_reset: 'an admin opened a new epoch of assessments',
  resumed_late: 'an order was carried out late by the word of a person',
  restored: 'a stopped store was restored',
  restored_in_turn: 'a store was restored with a turn that had no end',
  restored_worker: 'a restore brought a worker',
  boundary_crash: 'a host died while the boundary ran',
  boundary_kept: 'the boundary kept a task that a proof spoke for',
  input_set_aside: 'the boundary set a generated input aside',
  run_held: 'the boundary ended the run of a held task',
  enrolled: 'an admin woke a held task',
  enrol_refused: 'the resume of a held task was refused',
  held_stopped: 'a held task was stopped',
  worker_kept: 'the boundary kept a worker',
  worker_enrolled: 'an admin woke a held worker',
  worker_refused: 'the resume of a worker was refused',
  summary_told: 'a person was told how many tasks are held',
  report_told: 'a person was told what waits for a decision after a restart',
  parked_without_reason: 'an older version parked a task without a reason',
  doctor_repaired: 'the doctor gave a parked task its reason',
  storm_begun: 'too many unclean starts began safe mode',
  storm_calmed: 'safe mode ended after an hour of calm',
  safe_mode_ended: 'an admin ended safe mode',
} as const;

/** A base that does not fit stands before a conversation; only background work is blocked by it itself (M-20). */
export type StoodReason = Exclude<TaskReason, 'base_too_large'>;
type ReasonEvent = `stood_${StoodReason}`;
type EndEvent = `turn_${TurnEnd}`;

/** Every reason for which a task can stand still or end. */
const STOOD = Object.fromEntries(
  Object.keys(REASONS)
    .filter((reason) => reason !== 'base_too_large')
    .map((reason) => [`stood_${reason}`, `a task came to ${reason}`]),
) as Readonly<Record<ReasonEvent, string>>;

/** Every end of a turn. */
const ENDED: Readonly<Record<EndEvent, string>> = {
  turn_answered: 'a turn ended with an answer',
  turn_waited: 'a turn ended in a wait that its task set',
  turn_continued: 'a turn ended and its task went on by itself',
  turn_parked: 'a turn was parked',
  turn_yielded: 'a turn ended at a step because of a message',
  turn_blocked: 'a turn ended at a bound',
  turn_failed: 'a turn failed',
  turn_invalid: 'a turn ended without an outcome',
  turn_stopped: 'a turn was stopped',
  turn_interrupted: 'a turn was interrupted',
};

export const SOMETIMES: Readonly<Record<keyof typeof HAPPENED | ReasonEvent | EndEvent, string>> = {
  ...HAPPENED,
  ...STOOD,
  ...ENDED,
};

export type Sometime = keyof typeof SOMETIMES;

/** Counts in how many seeds each event happened. */
export class Sometimes {
  readonly counts = new Map<Sometime, number>();

  add(reached: Iterable<Sometime>): void {
    for (const name of reached) this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  /** The events that fewer than `floor` seeds reached. */
  below(floor: number): readonly Sometime[] {
    const names = Object.keys(SOMETIMES) as Sometime[];
    return names.filter((name) => (this.counts.get(name) ?? 0) < floor);
  }

  table(): string {
    const names = Object.keys(SOMETIMES) as Sometime[];
    return names
      .map(
        (name) => `${String(this.counts.get(name) ?? 0).padStart(7)}  ${name}: ${SOMETIMES[name]}`,
      )
      .join('\n');
  }
}
