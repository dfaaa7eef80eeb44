import type { FindingTexts } from '../finding-texts.ts';

/** `1 turn`, `2 turns`. */
function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

const saying = (detail: string): string => (detail === '' ? '' : ` (${detail})`);

/** What `doctor` says of an installation. */
export const EN_FINDINGS: FindingTexts = {
  since: (instant) => `since ${instant}`,
  says: {
    check_failed: ({ check, detail }) =>
      `The check “${check}” could not be made${saying(detail)}. What it looks at is not known.`,
    host_unresponsive: ({ count, since }) =>
      `A host (process ${count}) has these records ${since} and does not answer. ` +
      'If it is not just starting, end it and start it again.',
    store_whole: ({ description }) =>
      `The records are whole: they were read through (${description}).`,
    store_answers: ({ description }) => `The store answers (${description}).`,
    store_damaged: ({ detail, count }) =>
      `The records are damaged: “${detail}”${count === 0 ? '' : ` and ${count} more`}. Stop the host, ` +
      'keep a copy of the state directory, and go back to your last good copy.',
    store_unreachable: ({ description, detail }) =>
      `The records cannot be read (${description})${saying(detail)}. If they are damaged, keep a copy of the ` +
      'state directory and go back to your last good copy.',
    store_log_large: ({ size, since }) =>
      `Somebody holds the records open to read ${since}: their log has grown to ${size}. ` +
      'End the program that reads them.',
    audit_whole: ({ count, hash }) =>
      count === 0
        ? 'The log of admin actions is empty.'
        : `The log of admin actions is whole: ${counted(count, 'entry', 'entries')}, the last with the ` +
          `hash ${hash}.`,
    audit_missing: ({ count }) =>
      `The log of admin actions was tampered with: entry ${count} is missing.`,
    audit_displaced: ({ count }) =>
      `The log of admin actions was tampered with: what stands as entry ${count} did not follow the ` +
      'entry before it; entries were reordered or replaced.',
    audit_altered: ({ count }) =>
      `The log of admin actions was tampered with: entry ${count} was altered. Compare it with a copy that ` +
      'you trust; nothing mends it, and the host goes on.',
    tasks_sound: ({ count }) =>
      count === 0
        ? 'No task is open.'
        : count === 1
          ? '1 task is open, and it is on record why it stands where it stands.'
          : `${count} tasks are open, and of each it is on record why it stands where it stands.`,
    task_silent: ({ request, taskId, since }) =>
      `${request} (${taskId}) stands still ${since}, and no reason is on record.`,
    tasks_silent_more: () => 'Further tasks stand still without a reason on record.',
    tasks_held: ({ count }) =>
      `${counted(count, 'older task is', 'older tasks are')} held: kept as they were, and not run by ` +
      'themselves. To wake exactly one: `/task-resume ID`.',
    notice_untold: ({ request, taskId, cause }) =>
      `${request} (${taskId}) is blocked${cause === '' ? '' : `: ${cause}`} Nobody could be told.`,
    operation_blocked: ({ conversationId, operationId, cause, since }) =>
      `The conversation ${conversationId} has been paused ${since}${cause === '' ? '' : `: ${cause}`} ` +
      `(${operationId}). Its messages are kept until an admin lets it go on.`,
    operation_waiting: ({ conversationId, operationId, since, until }) =>
      `Making room in the conversation ${conversationId} (${operationId}) has been waiting ${since} for its ` +
      `next try${until === null ? '' : `, ${until}`}; its messages are kept.`,
    fence_unowned: ({ conversationId }) =>
      `No turn begins in the conversation ${conversationId}, and nothing is left that would end that. ` +
      'A repair lets it go on.',
    fence_missing: ({ conversationId }) =>
      `Room is being made in the conversation ${conversationId}, and turns begin in it all the same. ` +
      'A repair holds them back.',
    operations_more: () => 'Further conversations are paused or wait for room.',
    work_cut: ({ count, others }) =>
      `Cut in the middle, when their host ended: ${counted(count, 'turn', 'turns')} and ` +
      `${counted(others, 'worker', 'workers')}. The next start has them checked before anything of them ` +
      'goes on.',
    turn_unowned: ({ taskId, hostId, since }) =>
      `A turn of ${taskId} says that it runs ${since}, and its host (${hostId}) does not live.`,
    worker_unowned: ({ taskId, since }) =>
      `A worker${taskId === '' ? '' : ` of ${taskId}`} says that it runs ${since}, and no living host ` +
      'has it.',
    safe_mode_on: ({ since, until }) =>
      `Safe mode is on ${since}, for the host ended without warning too often: nothing begins by itself. ` +
      `Safe mode ends by itself ${until ?? 'after an hour'}, unless the host ends without warning again before.`,
    storm_over: ({ began, endedAt }) =>
      `The host ended without warning too often ${began}; safe mode was over ${endedAt}.`,
    boundary_unfinished: ({ since }) =>
      `Imported records were being told apart ${since}, and that was not finished. The next start ` +
      'finishes it before anything of them goes on.',
    boundary_untold: ({ count, others }) =>
      `Nobody could be told of what is held: ${counted(count, 'older task', 'older tasks')}` +
      `${others === 0 ? '' : ` and ${counted(others, 'worker', 'workers')}`}.`,
    clock_believed: () => 'The clock is believed.',
    clock_distrusted: ({ drift, until }) =>
      `The clock of this machine stands ${drift} where it should: nothing expires and nothing wakes ` +
      `until it is right${until === null ? '' : `, at the latest ${until}`}.`,
    disk_roomy: ({ path, size }) => `The disk of ${path} has room: ${size} are free.`,
    disk_low: ({ path, size }) =>
      `The disk of ${path} is nearly full: ${size} are free. Make room.`,
    disk_full: ({ path, size }) =>
      `The disk of ${path} is full: ${size} are free. New work is refused once nothing can be saved. ` +
      'Make room.',
    files_private: ({ path, count }) =>
      `The state directory ${path} is closed to others (${counted(count, 'path', 'paths')}).`,
    file_open: ({ path, mode, wanted }) =>
      `${path} is open to others: its mode is ${mode} and should be ${wanted}.`,
    files_open_more: ({ count }) =>
      `${counted(count, 'further path is', 'further paths are')} open to others.`,
    model_alive: ({ models }) => `${models} can be reached.`,
    model_unreachable: ({ models }) =>
      `${models} cannot be reached. What needs it waits; look at its server, its address and your network.`,
    models_unknown: ({ detail }) =>
      `Which models answer could not be looked at from here${saying(detail)}.`,
    account_limited: ({ models, until }) =>
      `${models} may not be asked for now: the provider set a limit` +
      `${until === null ? '' : `, which ends ${until}`}.`,
    account_down: ({ models, since, detail }) =>
      `${models} did not answer ${since}${saying(detail)}. The host looks again by itself.`,
    account_refused: ({ models, since, detail }) =>
      `The provider of ${models} refuses this account ${since}${saying(detail)}. Look at its key, its ` +
      'balance and its rights.',
    sizes: ({ size, logSize, logsSize }) =>
      `Sizes: records ${size}, their log ${logSize}, what the host wrote about itself ${logsSize}.`,
    versions: ({ version, node, tz }) =>
      `Versions: sekisho ${version}, Node ${node}, time zones ${tz}.`,
  },
};
