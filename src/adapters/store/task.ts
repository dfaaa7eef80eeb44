import { sql, type SelectQueryBuilder } from 'kysely';
import type { TaskRecord } from '../../core/task/record.ts';
import type { TaskReads, TaskWrites } from '../../ports/task.ts';
import type { Db, ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection, type Tables } from './tables.ts';

const TASK = selection('task');
const OPEN = sql<boolean>`task.ended_at is null`;
// Word for word the condition of its partial index. Most tasks end completed and need none.
const ENDED_OTHERWISE = sql<boolean>`task.state in ('failed', 'stopped', 'cancelled', 'expired')`;
const NOT_CURRENT = sql<boolean>`task.enrollment <> 'current'`;
const DUE = sql<boolean>`task.due_at is not null`;
// Says nothing, but makes SQLite look through the index of open tasks and not through all ids.
const BY_OPEN_INDEX = sql<boolean>`task.conversation_id > ''`;

type ListArgs = TaskReads['task.list']['args'];

/** The newest tasks that fit; an empty filter fits all. */
function list(db: Db, arg: ListArgs): SelectQueryBuilder<Tables, 'task', TaskRecord> {
  return newest(db, arg).select(TASK);
}

function newest(db: Db, arg: ListArgs): SelectQueryBuilder<Tables, 'task', object> {
  return db
    .selectFrom('task')
    .where(sql`task.id`, '<', arg.before)
    .where(sql<boolean>`(${arg.state} = '' or task.state = ${arg.state})`)
    .where(sql<boolean>`(${arg.enrollment} = '' or task.enrollment = ${arg.enrollment})`)
    .orderBy('task.id', 'desc')
    .limit(arg.limit);
}

/** Those of the open ones: put in order by their ids alone, which costs a fifth of whole rows. */
function openList(db: Db, arg: ListArgs): SelectQueryBuilder<Tables, 'task', TaskRecord> {
  const ids = newest(db, arg).select('task.id').where(OPEN).where(BY_OPEN_INDEX);
  return db.selectFrom('task').select(TASK).where('task.id', 'in', ids).orderBy('task.id', 'desc');
}

export const taskReads = {
  'task.byId': {
    gives: 'one',
    build: (db, arg) => db.selectFrom('task').select(TASK).where('id', '=', arg.id),
  },
  'task.list': {
    gives: 'many',
    build: list,
    cases: [
      {
        when: (args) => args.conversationId !== '',
        build: (db, arg) =>
          list(db, arg).where(sql<boolean>`task.conversation_id = ${arg.conversationId}`),
      },
      {
        when: (args) => args.enrollment !== '' && args.enrollment !== 'current',
        build: (db, arg) =>
          list(db, arg)
            .where(NOT_CURRENT)
            .where(sql<boolean>`task.enrollment = ${arg.enrollment}`),
      },
      {
        when: (args) => OPEN_STATES.includes(args.state),
        build: openList,
      },
      {
        when: (args) => args.state !== '' && args.state !== 'completed',
        build: (db, arg) =>
          list(db, arg)
            .where(ENDED_OTHERWISE)
            .where(sql<boolean>`task.state = ${arg.state}`),
      },
    ],
  },
  'task.openOf': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('task')
        .select(TASK)
        .where('conversation_id', '=', arg.conversationId)
        .where(OPEN)
        // However much is held, it takes no place of ongoing work.
        .orderBy(sql`case when task.enrollment = 'held-legacy' then 1 else 0 end`)
        .orderBy('id', 'desc')
        .limit(arg.limit),
  },
  'task.open': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('task')
        .select(TASK)
        .where(OPEN)
        .where(BY_OPEN_INDEX)
        .orderBy('id', 'desc')
        .limit(arg.limit),
  },
  'task.due': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('task')
        .select(TASK)
        .where(DUE)
        .where('due_at', '<=', arg.now)
        .orderBy('due_at')
        .orderBy('id')
        .limit(arg.limit),
  },
  'task.nextDue': {
    gives: 'one',
    build: (db) =>
      db
        .selectFrom('task')
        .select(sql<number>`task.due_at`.as('at'))
        .where(DUE)
        .orderBy('due_at')
        .limit(sql.lit(1)),
  },
  'task.waitingFor': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('task')
        .select(TASK)
        .where('state', '=', sql.lit('waiting'))
        .where('wait_kind', '=', arg.kind)
        .where('wait_id', '=', arg.id)
        .orderBy('changed_at')
        .orderBy('id')
        .limit(arg.limit),
  },
  // Four characters at the end, or all but them, are the same: a slip of the hand in either half.
  'task.nearest': {
    gives: 'many',
    build: (db, arg) => {
      const from = sql<string>`upper(cast(${arg.from} as text))`;
      return db
        .selectFrom('task')
        .select('task.id as id')
        .where(
          sql<boolean>`(length(${from}) >= 4
              and substr(upper(task.id), length(task.id) - 3) = substr(${from}, length(${from}) - 3))
            or (length(${from}) > 12
              and substr(upper(task.id), 1, length(${from}) - 4) = substr(${from}, 1, length(${from}) - 4))`,
        )
        .orderBy('id', 'desc')
        .limit(arg.limit);
    },
  },
} satisfies ReadDefinitions<TaskReads>;

const OPEN_STATES: readonly string[] = ['active', 'waiting', 'paused', 'blocked'];

/** What may change while a task stays open: not its mandate (T-5); its session when its own grew too large. */
const SAVED_OPEN = [
  'sessionId',
  'enrollment',
  'state',
  'reason',
  'version',
  'waitKind',
  'waitId',
  'waitUntil',
  'waitQuestion',
  'deadline',
  'dueAt',
  'checkpoint',
  'turnsLimit',
  'turnsUsed',
  'tokensLimit',
  'tokensUsed',
  'costLimit',
  'costUsed',
  'continuationsLimit',
  'continuationsUsed',
  'correctionsUsed',
  'quotaWaits',
  'recoveryEpoch',
  'recoveryAttempts',
  'recoveryLifetimeAttempts',
  'recoveryNextAt',
  'orderAt',
  'recoveryState',
  'recoveryOutcome',
  'recoveryGrantedAt',
  'changedAt',
  'outcomeData',
] as const satisfies readonly (keyof TaskRecord)[];

export const taskWrites = {
  'task.insert': {
    build: (db, arg) => db.insertInto('task').values(columns('task', arg.row)),
  },
  'task.save': {
    build: (db, arg) =>
      db
        .updateTable('task')
        .set(columns('task', arg.row, [...SAVED_OPEN, 'endedAt']))
        .where('id', '=', arg.row.id)
        .where(sql`version + 1`, '=', arg.row.version),
    cases: [
      {
        // Setting `ended_at` would rewrite the page of the open tasks at every step. An ended task
        // cannot be saved as an open one (T-3).
        when: (call) => call.row.endedAt === null,
        build: (db, arg) =>
          db
            .updateTable('task')
            .set(columns('task', arg.row, SAVED_OPEN))
            .where('id', '=', arg.row.id)
            .where(sql`version + 1`, '=', arg.row.version)
            .where(OPEN),
      },
    ],
  },
} satisfies WriteDefinitions<TaskWrites>;
