import { sql, type RawBuilder } from 'kysely';
import type { BoundaryReads, BoundaryWrites } from '../../ports/boundary.ts';
import type { ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection } from './tables.ts';

const TASK = selection('task');
const EXECUTION = selection('execution');
// Word for word what the partial indexes say: only then are they used.
const UNMARKED = sql<boolean>`enrollment = 'unmarked' and ended_at is null`;

type Batch = { readonly limit: number };

/** A field of the batch: the first unmarked open tasks by id. */
function batch(field: 'id' | 'conversation_id', { limit }: Batch): RawBuilder<string> {
  return sql<string>`(select batch.${sql.ref(field)} from (select task.id, task.conversation_id
    from task where ${UNMARKED} order by task.id limit ${limit}) as batch)`;
}

/** The first unmarked executions without an end by id. */
function unowned({ limit }: Batch): RawBuilder<string> {
  return sql<string>`(select batch.task_id from (select execution.id, execution.task_id
    from execution where ${UNMARKED} order by execution.id limit ${limit}) as batch
    where batch.task_id is not null)`;
}

export const boundaryReads = {
  'boundary.last': {
    gives: 'one',
    build: (db) =>
      db
        .selectFrom('boundary')
        .select(selection('boundary'))
        .where(sql<boolean>`boundary.id > ''`)
        // Few rows, and under a clock that was set back an open one may have the lower id.
        .orderBy(sql`case when boundary.ended_at is null then 0 else 1 end`)
        .orderBy(sql`case when boundary.told_at is null then 0 else 1 end`)
        .orderBy('id', 'desc')
        .limit(sql.lit(1)),
  },
  'boundary.tasks': {
    gives: 'many',
    build: (db, arg) =>
      db.selectFrom('task').select(TASK).where(UNMARKED).orderBy('id').limit(arg.limit),
  },
  'boundary.conversations': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('conversation')
        .select(selection('conversation'))
        .where(sql<boolean>`conversation.id in ${batch('conversation_id', arg)}`)
        .orderBy('id'),
  },
  // By their conversations, each looked through once, and not by each task of one anew. What is held
  // already is not passed.
  'boundary.messages': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('message')
        .select(selection('message'))
        .where(sql<boolean>`message.state <> 'done' and message.state in ('unclaimed', 'claimed')`)
        .where(sql<boolean>`message.conversation_id in ${batch('conversation_id', arg)}`)
        .where(sql<boolean>`message.task_id in ${batch('id', arg)}`)
        .orderBy('conversation_id')
        .orderBy('seq'),
  },
  'boundary.turns': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('turn')
        .select(selection('turn'))
        .where(
          sql<boolean>`turn.id in (select found.id from turn as found where found.ended_at is null
            and found.host_id > '' and found.task_id in ${batch('id', arg)})`,
        )
        .orderBy('id'),
  },
  'boundary.runs': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('run')
        .select(selection('run'))
        .where(sql<boolean>`run.task_id in ${batch('id', arg)}`)
        .where('state', '=', sql.lit('open'))
        .orderBy('id'),
  },
  'boundary.workers': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('execution')
        .select(EXECUTION)
        .where(sql<boolean>`execution.task_id is not null`)
        .where(sql<boolean>`execution.task_id in ${batch('id', arg)}`)
        .where('ended_at', 'is', null)
        .orderBy('id'),
  },
  'boundary.unowned': {
    gives: 'many',
    build: (db, arg) =>
      db.selectFrom('execution').select(EXECUTION).where(UNMARKED).orderBy('id').limit(arg.limit),
  },
  'boundary.owners': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('task')
        .select(TASK)
        .where(sql<boolean>`task.id in ${unowned(arg)}`)
        .orderBy('id'),
  },
} satisfies ReadDefinitions<BoundaryReads>;

export const boundaryWrites = {
  'boundary.insert': {
    build: (db, arg) => db.insertInto('boundary').values(columns('boundary', arg.row)),
  },
  'boundary.add': {
    build: (db, arg) =>
      db
        .updateTable('boundary')
        .set({
          held: sql`held + ${arg.held}`,
          kept: sql`kept + ${arg.kept}`,
          workers_held: sql`workers_held + ${arg.workersHeld}`,
        })
        .where('id', '=', arg.id)
        .where('ended_at', 'is', null),
  },
  'boundary.end': {
    build: (db, arg) =>
      db
        .updateTable('boundary')
        .set({ ended_at: arg.endedAt })
        .where('id', '=', arg.id)
        .where('ended_at', 'is', null),
  },
  'boundary.told': {
    build: (db, arg) =>
      db
        .updateTable('boundary')
        .set({ told_at: arg.toldAt })
        .where('id', '=', arg.id)
        .where('told_at', 'is', null),
  },
} satisfies WriteDefinitions<BoundaryWrites>;
