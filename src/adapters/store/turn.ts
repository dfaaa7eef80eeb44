import { sql, type RawBuilder } from 'kysely';
import type { StepRecord } from '../../core/turn/record.ts';
import type { TurnReads, TurnWrites } from '../../ports/turn.ts';
import type { ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection } from './tables.ts';

// A conversation has one turn at a time and a turn ends after its steps (V3), so the steps of a turn
// stand between its first number and the next turn's. That is why steps need no index of their own:
// each would cost a page in every commit of a step.
const TURN = selection('turn');
const STEP = selection('step');
const OPEN = sql<boolean>`turn.ended_at is null`;

export const turnReads = {
  'turn.byId': {
    gives: 'one',
    build: (db, arg) => db.selectFrom('turn').select(TURN).where('id', '=', arg.id),
  },
  'turn.ofConversation': {
    gives: 'one',
    build: (db, arg) =>
      db
        .selectFrom('turn')
        .innerJoin('conversation', 'conversation.turn_id', 'turn.id')
        .select(TURN)
        .where('conversation.id', '=', arg.conversationId),
  },
  'turn.openElsewhere': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('turn')
        .leftJoin('host', 'host.id', 'turn.host_id')
        .select(TURN)
        .where(OPEN)
        .where('turn.host_id', '<>', arg.except)
        .where(
          sql<boolean>`(host.id is null or host.stopped_at is not null or host.alive_until <= ${arg.deadBefore})`,
        )
        .orderBy('turn.started_at')
        .orderBy('turn.id')
        .limit(arg.limit),
  },
  'turn.openOf': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('turn')
        .select(TURN)
        .where(OPEN)
        .where('host_id', '=', arg.hostId)
        .orderBy('started_at')
        .orderBy('id')
        .limit(arg.limit),
  },
  'step.lastOf': {
    gives: 'one',
    build: (db, arg) =>
      db
        .selectFrom('step')
        .select(STEP)
        .where('conversation_id', '=', arg.conversationId)
        .where('turn_id', '=', arg.turnId)
        .where(
          'seq',
          '>',
          sql<number>`coalesce((select first_seq from turn where turn.id = ${arg.turnId}), 0)`,
        )
        .orderBy('seq', 'desc')
        .limit(sql.lit(1)),
  },
  'step.open': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('step')
        .select(STEP)
        .where('conversation_id', '=', arg.conversationId)
        .where('state', '=', sql.lit('started'))
        .where(
          'seq',
          '>',
          sql<number>`coalesce((select max(first_seq) from turn
            where turn.conversation_id = ${arg.conversationId}), 0)`,
        )
        .orderBy('seq'),
  },
  'step.after': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('step')
        .select(STEP)
        .where('conversation_id', '=', arg.conversationId)
        .where(sql<boolean>`(seq > ${arg.after} or finished_seq > ${arg.after})`)
        .where(
          'seq',
          '>',
          sql<number>`coalesce((select max(first_seq) from turn
            where turn.conversation_id = ${arg.conversationId} and first_seq <= ${arg.after}), 0)`,
        )
        .orderBy('seq')
        .limit(arg.limit),
  },
  'step.before': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('step')
        .select(STEP)
        .where('conversation_id', '=', arg.conversationId)
        .where('seq', '<', arg.before)
        .orderBy('seq', 'desc')
        .limit(arg.limit),
  },
  'step.ofTask': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('step')
        .select(STEP)
        .where('conversation_id', '=', arg.conversationId)
        .where('task_id', '=', arg.taskId as StepRecord['taskId'])
        .where('seq', '>', firstOf(arg))
        .orderBy('seq')
        .limit(arg.limit),
  },
  'step.usageOf': {
    gives: 'one',
    build: (db, arg) =>
      db
        .selectFrom('step')
        .select([
          total('input_tokens').as('inputTokens'),
          total('output_tokens').as('outputTokens'),
          total('cost').as('cost'),
          sql<number>`cast(count(case when input_tokens is not null and cost is null then 1 end) as bigint)`.as(
            'unpriced',
          ),
        ])
        .where('conversation_id', '=', arg.conversationId)
        .where('task_id', '=', arg.taskId as StepRecord['taskId'])
        .where('seq', '>', firstOf(arg)),
  },
} satisfies ReadDefinitions<TurnReads>;

/** PostgreSQL sums whole numbers as decimals, which come as texts. */
function total(column: 'input_tokens' | 'output_tokens' | 'cost'): RawBuilder<number> {
  return sql<number>`cast(coalesce(sum(${sql.ref(column)}), 0) as bigint)`;
}

/** Where a task's first turn began: its steps have no index of their own. */
function firstOf(arg: {
  readonly conversationId: string;
  readonly taskId: string;
}): RawBuilder<number> {
  return sql<number>`coalesce((select min(first_seq) from turn
    where turn.conversation_id = ${arg.conversationId} and turn.task_id = ${arg.taskId}), 0)`;
}

/** What the end of a step adds to its start. */
const OUTCOME = [
  'state',
  'finishedId',
  'finishedSeq',
  'finishedAt',
  'errorCode',
  'provider',
  'model',
  'inputTokens',
  'outputTokens',
  'cost',
  'output',
] as const satisfies readonly (keyof StepRecord)[];

export const turnWrites = {
  'turn.insert': {
    build: (db, arg) => db.insertInto('turn').values(columns('turn', arg.row)),
  },
  'turn.stopping': {
    build: (db, arg) =>
      db
        .updateTable('turn')
        .set({ state: sql.lit('stopping') })
        .where('id', '=', arg.id)
        .where('state', '=', sql.lit('running')),
  },
  'turn.end': {
    build: (db, arg) =>
      db
        .updateTable('turn')
        .set({ state: sql.lit('ended'), end: arg.end, ended_at: arg.endedAt })
        .where('id', '=', arg.id)
        .where(OPEN),
  },
  'step.insert': {
    build: (db, arg) => db.insertInto('step').values(columns('step', arg.row)),
  },
  'step.finish': {
    build: (db, arg) =>
      db
        .updateTable('step')
        .set(columns('step', arg.row, OUTCOME))
        .where('conversation_id', '=', arg.row.conversationId)
        .where('seq', '=', arg.row.seq)
        .where('state', '=', sql.lit('started')),
  },
} satisfies WriteDefinitions<TurnWrites>;
