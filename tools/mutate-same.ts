// Mutants that were looked at and that no quick test can tell from the code, each with its reason.
// They count as survivors all the same; a survivor that is not listed is one to look at.

/** In this line this piece may be written that way and nothing anybody sees is another. */
type Same = readonly [line: string, code: string, becomes: string, why: string];

const TEXT = '"Stryker was here!"';
const LIST = '["Stryker was here"]';
const TYPED = 'the comparison after it says the same of null; the types want it';
const NAMELESS = 'any text that is no name here is as good as none';

export const SAME: Readonly<Record<string, readonly Same[]>> = {
  'src/core/approval/decide.ts': [['now !== null && approval', 'now !== null', 'true', TYPED]],
  'src/core/task/orders.ts': [
    ['nearest === undefined', 'nearest === undefined', 'false', 'a task that is open has a way'],
  ],
  'src/core/turn/transcript.ts': [["turnId ?? ''", "''", TEXT, NAMELESS]],
  'src/core/turn/decide.ts': [
    ['first === undefined', 'first === undefined', 'false', 'then the row is too short as well'],
  ],
  'src/core/recovery/decide.ts': [
    ['recoveryGrantedAt === null', 'recoveryGrantedAt === null', 'false', 'its age is too great'],
  ],
  'src/core/recovery/storm.ts': [['at !== null', 'at !== null', 'true', TYPED]],
  'src/core/boundary/enrol.ts': [
    ['way === undefined', 'way === undefined', 'false', 'a task that is open has a way'],
    ['was === undefined', 'was === undefined', 'false', 'JSON leaves it out'],
  ],
  'src/core/budget/extend.ts': [
    ['grant.deadline !== undefined', 'task.deadline !== null', 'true', 'a granted one is there'],
  ],
  'src/core/budget/limiter.ts': [
    ["row.state === 'open' ||", "row.state === 'open'", 'false', 'an open one has no instant'],
    ["row.state === 'open' ||", "'open'", '""', 'an open one has no instant'],
    ['isQuota = named', 'named !== null', 'true', TYPED],
    ['if (named === null', 'named === null', 'false', TYPED],
    ["row.isNamed === 'yes' && untilOf", "row.isNamed === 'yes'", 'true', 'our own are not far'],
    ['return probeUntil', 'probeUntil !== null', 'true', TYPED],
  ],
  'src/core/budget/spend.ts': [
    ['continuations: () => false', '() => false', '() => undefined', 'neither is true'],
  ],
  'src/core/notice/reasons.ts': [["reason ?? ''", "''", TEXT, NAMELESS]],
  'src/core/maintenance/summary.ts': [
    ['value === undefined ||', 'value === undefined', 'false', 'it is no object either'],
  ],
  'src/core/maintenance/exchange.ts': [
    ["turnId ?? ''", "''", TEXT, NAMELESS],
    ['HOST_CHANNELS.approval &&', 'seq !== undefined', 'true', 'no place is as good as none'],
  ],
  'src/core/lease/clock-guard.ts': [
    ['lastCommit === null', 'lastCommit === null', 'false', TYPED],
    ["trust(seen, 'trusted').guard", "'trusted'", '""', 'only the guard of it is used'],
  ],
  'src/adapters/store/outbox.ts': [
    ["gives: 'one'", "'one'", '""', 'noticed by the contract of the stores, on PostgreSQL'],
  ],
  'src/adapters/store/approval.ts': [
    ["gives: 'one'", "'one'", '""', 'noticed by the contract of the stores, on PostgreSQL'],
    ["'decidedBy'", "'approval'", '""', 'the fields are given; the name is for the types'],
  ],
  'src/engine/approval/answer.ts': [
    ['task === undefined', 'approval === undefined', 'false', 'without it no task is read'],
  ],
  'src/adapters/tools/workspace-path.ts': [
    ['} catch {', '{', '{}', 'undefined is not there either'],
    ['if (!CAN_PIN)', '!CAN_PIN', 'false', 'of systems without /proc'],
    ['process.getuid', 'process.getuid?.()', 'process.getuid()', 'of Windows'],
    ['here.dev', 'here.dev === there.dev', 'true', 'takes two file systems with one number'],
  ],
  'src/http/address.ts': [
    ['[head = []', '[]', LIST, 'a split text has a first part'],
    ['(tail ?? [])', '[]', LIST, 'what stands behind the eighth group is not read'],
  ],
  'src/http/approvals.ts': [
    ["row.state !== 'open'", "row.state !== 'open'", 'false', 'it only spares a read'],
  ],
  'src/http/auth.ts': [
    ['.exec(origin', '[]', LIST, 'it has no host either'],
    ['host === undefined', 'host === undefined', 'false', 'no host is known by no name'],
    ['localAddress', "''", TEXT, NAMELESS],
    ['httpHeaderBytes', "''", TEXT, NAMELESS],
    ['remoteAddress', "''", TEXT, NAMELESS],
    ['forwarded =', "''", TEXT, NAMELESS],
    ['bearer', "''", TEXT, NAMELESS],
  ],
  'src/http/keys.ts': [
    ['#configured', '[]', LIST, 'it is replaced before it is read'],
    ['this.#keyFile === undefined', 'this.#keyFile === undefined', 'false', 'no file stays none'],
    ["this.#keyFile ?? ''", "''", TEXT, NAMELESS],
    ['} catch {', '{', '{}', 'any stamp of its own does'],
    ["'absent'", "'absent'", '""', 'any stamp of its own does'],
    ['flush: true', 'true', 'false', 'takes a machine that loses its power'],
  ],
};
