import { sql } from 'kysely';
import type { RunReads, RunWrites } from '../../ports/run.ts';
import type { ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection } from './tables.ts';

const RUN = selection('run');

export const runReads = {
  'run.byId': {
    gives: 'one',
    build: (db, arg) => db.selectFrom('run').select(RUN).where('id', '=', arg.id),
  },
  'run.ofTask': {
    gives: 'one',
    build: (db, arg) =>
      db
        .selectFrom('run')
        .select(RUN)
        .where('task_id', '=', arg.taskId)
        .orderBy('id', 'desc')
        .limit(sql.lit(1)),
  },
  'run.list': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('run')
        .select(RUN)
        .where(sql`id`, '<', arg.before)
        .orderBy('id', 'desc')
        .limit(arg.limit),
  },
} satisfies ReadDefinitions<RunReads>;

export const runWrites = {
  'run.insert': {
    build: (db, arg) => db.insertInto('run').values(columns('run', arg.row)),
  },
  'run.end': {
    build: (db, arg) =>
      db
        .updateTable('run')
        .set({
          state: arg.state,
          outcome_code: arg.outcomeCode,
          outcome_id: arg.outcomeId,
          ended_at: arg.endedAt,
        })
        .where('id', '=', arg.id)
        .where('state', '=', sql.lit('open')),
  },
} satisfies WriteDefinitions<RunWrites>;
