import type { Finding } from '../engine.ts';

type Level = Finding['level'];

/** What `data` of a finding may hold: what its sentence needs, in units that the name says. */
export type FindingField =
  /** Words of records: a request, what a store or a provider said, a path, `provider/name`. */
  | 'request'
  | 'description'
  | 'detail'
  | 'path'
  | 'folder'
  | 'model'
  /** Ids. */
  | 'taskId'
  | 'hostId'
  | 'operationId'
  | 'conversationId'
  /** Codes that have words of their own. */
  | 'reason'
  | 'check'
  | 'what'
  | 'kind'
  | 'mode'
  | 'wanted'
  /** The command of the notice that nobody was told. */
  | 'command'
  /** Instants, in milliseconds. */
  | 'since'
  | 'until'
  | 'endedAt'
  /** Counts. */
  | 'entries'
  | 'seq'
  | 'pid'
  | 'held'
  | 'workersHeld'
  | 'turns'
  | 'workers'
  | 'open'
  | 'more'
  | 'files'
  /** Lengths of time and sizes. */
  | 'driftMs'
  | 'tookMs'
  | 'bytes'
  | 'freeBytes'
  | 'storeBytes'
  | 'logBytes'
  | 'logsBytes'
  /** Lists of texts. */
  | 'models'
  | 'uses'
  | 'tasks'
  /** Versions: of the product, of Node, of the zone data. */
  | 'version'
  | 'node'
  | 'tz'
  /** `principalName` of who ended a storm, or null. */
  | 'endedBy'
  | 'lastHash';

interface FindingEntry {
  readonly level: Level;
  /** What it is about: whose id or name `subjectId` holds; null of the installation. */
  readonly about:
    | 'task'
    | 'operation'
    | 'conversation'
    | 'turn'
    | 'worker'
    | 'model'
    | 'account'
    | 'file'
    | 'storm'
    | 'boundary'
    | null;
  readonly data: readonly FindingField[];
}

/**
 * Everything that `doctor` may find (G-3), in the order in which it tells it. Its sentence and its
 * command are in `text/`.
 */
export const FINDINGS = {
  /** A check that could not be made; `check` is a `CheckName`. */
  check_failed: { level: 'problem', about: null, data: ['check', 'detail'] },

  /** A host holds the records (`pid`, since then) and does not answer. */
  host_unresponsive: { level: 'problem', about: null, data: ['pid', 'since'] },

  store_whole: { level: 'ok', about: null, data: ['description', 'tookMs'] },
  /** Of a store on a server, which looks after its own files. */
  store_answers: { level: 'ok', about: null, data: ['description', 'tookMs'] },
  /** `detail`: the first words of the store's own check. `more`: how many further lines it said. */
  store_damaged: { level: 'problem', about: null, data: ['description', 'detail', 'more'] },
  /** The records could not be opened or read. */
  store_unreachable: { level: 'problem', about: null, data: ['description', 'detail'] },
  store_log_large: { level: 'warning', about: null, data: ['bytes', 'since'] },

  /** `lastHash` names the end of the chain: whoever keeps it sees when entries are cut off. */
  audit_whole: { level: 'ok', about: null, data: ['entries', 'lastHash'] },
  /** `seq`: the first entry that is wrong. `what`: `missing` (removed), `altered`, `displaced` (reordered). */
  audit_broken: { level: 'problem', about: null, data: ['seq', 'what'] },

  /** No open task stands still without a reason. `open`: how many are open. */
  tasks_sound: { level: 'ok', about: null, data: ['open'] },
  /** Parked without a reason: `sekisho doctor --repair`. `since`: its last change. */
  task_silent: { level: 'problem', about: 'task', data: ['request', 'taskId', 'since'] },
  /** Further ones that are not named. */
  tasks_silent_more: { level: 'problem', about: null, data: ['more'] },
  /** `tasks`: the ids of the newest few. List: `sekisho tasks --enrollment held-legacy`; wake: `resume ID`. */
  tasks_held: { level: 'warning', about: null, data: ['held', 'tasks'] },
  /** Blocked, and its notice reached nobody. */
  notice_untold: {
    level: 'problem',
    about: 'task',
    data: ['request', 'taskId', 'reason', 'command'],
  },

  /** Blocked since its last change: an admin opens it with `command`, or gives it up with `/new` (M-7, M-21). */
  operation_blocked: {
    level: 'problem',
    about: 'operation',
    data: ['operationId', 'conversationId', 'reason', 'since', 'command'],
  },
  /** It has been waiting for its next try for more than ten minutes; `until`: that try. */
  operation_waiting: {
    level: 'warning',
    about: 'operation',
    data: ['operationId', 'conversationId', 'since', 'until'],
  },
  /** No turn begins, and no operation is open that would end that (M-8): `sekisho doctor --repair`. */
  fence_unowned: { level: 'problem', about: 'conversation', data: ['conversationId'] },
  /** An operation is open and its conversation is not held back (M-8): `sekisho doctor --repair`. */
  fence_missing: { level: 'problem', about: 'conversation', data: ['conversationId'] },
  /** Further ones of these that are not named. */
  operations_more: { level: 'warning', about: null, data: ['more'] },

  /** On a stopped host: turns and workers without an end, which the next start takes up. */
  work_cut: { level: 'warning', about: null, data: ['turns', 'workers'] },
  /** It says that it runs, and no living host has it. `kind`: `turn` or `worker`; `taskId` may be null. */
  work_unowned: { level: 'problem', about: null, data: ['kind', 'taskId', 'hostId', 'since'] },

  /** `until`: when it ends by itself. `/safe-mode off`. */
  safe_mode_on: { level: 'problem', about: 'storm', data: ['since', 'until'] },
  /** A storm that is over and younger than a week. */
  storm_over: { level: 'warning', about: 'storm', data: ['since', 'endedAt', 'endedBy'] },

  /** The next start finishes it. */
  boundary_unfinished: { level: 'warning', about: 'boundary', data: ['since'] },
  /** Its summary could be told to nobody (B-10). */
  boundary_untold: { level: 'warning', about: 'boundary', data: ['held', 'workersHeld', 'since'] },

  clock_believed: { level: 'ok', about: null, data: [] },
  /** `until`: when it is believed as it stands; null when that is not known. */
  clock_distrusted: { level: 'problem', about: null, data: ['driftMs', 'until'] },

  disk_roomy: { level: 'ok', about: null, data: ['folder', 'freeBytes'] },
  disk_low: { level: 'warning', about: null, data: ['folder', 'freeBytes'] },
  disk_full: { level: 'problem', about: null, data: ['folder', 'freeBytes'] },

  files_private: { level: 'ok', about: null, data: ['folder', 'files'] },
  /** `mode` and `wanted` in octal, as `0644`: `sekisho doctor --repair` mends it. */
  file_open: { level: 'problem', about: 'file', data: ['path', 'mode', 'wanted'] },
  files_open_more: { level: 'problem', about: null, data: ['more'] },

  /** `uses`: which of `turns`, `classifier`, `assessment`, `summary` ask it. */
  model_alive: { level: 'ok', about: 'model', data: ['model', 'uses', 'tookMs'] },
  model_unreachable: { level: 'problem', about: 'model', data: ['model', 'uses'] },
  /** On a stopped host: the configured models could not be made. */
  models_unknown: { level: 'warning', about: null, data: ['detail'] },
  /** `detail`: the provider's own code, or null. */
  account_limited: {
    level: 'warning',
    about: 'account',
    data: ['models', 'until', 'detail', 'since'],
  },
  account_down: {
    level: 'problem',
    about: 'account',
    data: ['models', 'until', 'detail', 'since'],
  },
  account_refused: {
    level: 'problem',
    about: 'account',
    data: ['models', 'until', 'detail', 'since'],
  },

  /** `logBytes`: the log of an embedded store. `logsBytes`: what the host wrote about itself. */
  sizes: { level: 'ok', about: null, data: ['storeBytes', 'logBytes', 'logsBytes'] },
  versions: { level: 'ok', about: null, data: ['version', 'node', 'tz'] },
} as const satisfies Record<string, FindingEntry>;

export type FindingCode = keyof typeof FINDINGS;

/** What is looked at, each on its own: one that fails hides no other. */
export const CHECKS = [
  'host',
  'store',
  'audit',
  'tasks',
  'notices',
  'upkeep',
  'work',
  'storm',
  'boundary',
  'clock',
  'premises',
  'models',
  'accounts',
] as const;
export type CheckName = (typeof CHECKS)[number];

/** One finding with the level of its code. */
export function finding(
  code: FindingCode,
  data: Finding['data'],
  subjectId: string | null = null,
): Finding {
  return { level: FINDINGS[code].level, code, subjectId, data };
}
