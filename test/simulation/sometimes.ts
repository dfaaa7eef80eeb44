// Events that a set of seeds must reach: a simulation that never gets there proves nothing.

/** Each with what has to have happened. */
export const SOMETIMES = {
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
  no_outcome: 'a task was blocked after its correction came to nothing',
  model_refused: 'a task failed because the model refused',
  model_unavailable: 'a task failed because the model could not be reached',
  several_calls: 'one reply asked for several calls',
  unknown_tool: 'the model named a tool that does not exist',
  tool_failed: 'a tool failed',
  tool_aborted: 'a running tool was ended',
  way_out: 'a held task was left by the command that its notice names',
  two_hosts: 'two hosts worked on one shared store',
  file_store: 'the store was a file',
} as const;

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
