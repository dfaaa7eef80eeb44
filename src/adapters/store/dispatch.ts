import { sql, type SelectQueryBuilder } from 'kysely';
import type { ExecutionRecord } from '../../core/dispatch/record.ts';
import type { DispatchReads, DispatchWrites } from '../../ports/dispatch.ts';
import type { Db, ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection, type Tables } from './tables.ts';

const EXECUTION = selection('execution');
// Word for word what the partial indexes say: only then are they used.
const RUNNING = sql<boolean>`execution.enrollment = 'current' and execution.state = 'running'`;
const NOT_CURRENT = sql<boolean>`execution.enrollment <> 'current'`;
const NOT_COMPLETED = sql<boolean>`execution.state <> 'completed'`;

type ListArgs = DispatchReads['execution.list']['args'];

/** The newest executions that fit; an empty filter fits all. */
function list(db: Db, arg: ListArgs): SelectQueryBuilder<Tables, 'execution', ExecutionRecord> {
  return db
    .selectFrom('execution')
    .select(EXECUTION)
    .where(sql`execution.id`, '<', arg.before)
    .where(sql<boolean>`(${arg.state} = '' or execution.state = ${arg.state})`)
    .where(sql<boolean>`(${arg.enrollment} = '' or execution.enrollment = ${arg.enrollment})`)
    .orderBy('id', 'desc')
    .limit(arg.limit);
}

export const dispatchReads = {
  'execution.byId': {
    gives: 'one',
    build: (db, arg) => db.selectFrom('execution').select(EXECUTION).where('id', '=', arg.id),
  },
  'execution.list': {
    gives: 'many',
    build: list,
    cases: [
      {
        when: (args) => args.enrollment !== '' && args.enrollment !== 'current',
        build: (db, arg) =>
          list(db, arg)
            .where(NOT_CURRENT)
            .where(sql<boolean>`execution.enrollment = ${arg.enrollment}`),
      },
      {
        when: (args) => args.state !== '' && args.state !== 'completed',
        build: (db, arg) =>
          list(db, arg)
            .where(NOT_COMPLETED)
            .where(sql<boolean>`execution.state = ${arg.state}`),
      },
    ],
  },
  'execution.ofTask': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('execution')
        .select(EXECUTION)
        .where('task_id', '=', arg.taskId)
        .orderBy('id', 'desc')
        .limit(arg.limit),
  },
  'execution.runningElsewhere': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('execution')
        .select(EXECUTION)
        .where(RUNNING)
        .where(sql<boolean>`coalesce(execution.host_id, '') <> ${arg.except}`)
        .orderBy('id')
        .limit(arg.limit),
  },
} satisfies ReadDefinitions<DispatchReads>;

export const dispatchWrites = {
  'execution.insert': {
    build: (db, arg) => db.insertInto('execution').values(columns('execution', arg.row)),
  },
  'execution.save': {
    build: (db, arg) =>
      db
        .updateTable('execution')
        .set(
          columns('execution', arg.row, [
            'enrollment',
            'state',
            'version',
            'hostId',
            'outcome',
            'changedAt',
            'endedAt',
          ]),
        )
        .where('id', '=', arg.row.id)
        .where(sql`version + 1`, '=', arg.row.version),
  },
} satisfies WriteDefinitions<DispatchWrites>;
