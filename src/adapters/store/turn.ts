import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely';
import type { StepRecord } from '../../core/turn/record.ts';
import type { ConversationId, SessionId } from '../../kernel/ids.ts';
import type { TurnReads, TurnWrites } from '../../ports/turn.ts';
import type { Db, ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection, type Tables } from './tables.ts';
import { USED } from './usage.ts';

// Steps are found by their turn, and the turns by their conversation. Turns begin in the order of their
// ids, so those that run at once have the keys of their steps side by side and share pages; by their
// conversation each would cost a page of its own in every commit. A conversation has one turn at a time
// and a turn ends after its steps (V3): by turn and then by number is by number.
const TURN = selection('turn');
const STEP = selection('step');
const OPEN = sql<boolean>`turn.ended_at is null`;

/** The steps of a conversation, by way of its turns. */
function ofConversation(
  db: Db,
  arg: { readonly conversationId: ConversationId },
): SelectQueryBuilder<Tables, 'turn' | 'step', object> {
  return db
    .selectFrom('turn')
    .innerJoin('step', 'step.turn_id', 'turn.id')
    .where('turn.conversation_id', '=', arg.conversationId);
}

/**
 * Where the turns of a session begin that may have a step above `after`: turns before the session and those
 * before its cut are not looked through.
 */
export function beganBy(arg: {
  readonly conversationId: ConversationId;
  readonly sessionId: SessionId;
  readonly after: number;
}): RawBuilder<number> {
  return sql<number>`coalesce((select max(bound.seq) from (
    select session.first_seq as seq from session where session.id = ${arg.sessionId}
    union all
    select max(begun.first_seq) as seq from turn as begun
      where begun.conversation_id = ${arg.conversationId} and begun.first_seq <= ${arg.after}
  ) as bound), 0)`;
}

export const turnReads = {
  'turn.byId': {
    gives: 'one',
    build: (db, arg) => db.selectFrom('turn').select(TURN).where('id', '=', arg.id),
  },
  'turn.newest': {
    gives: 'one',
    build: (db) =>
      db
        .selectFrom('turn')
        .select(TURN)
        .where(sql<boolean>`turn.id > ''`)
        .orderBy('id', 'desc')
        .limit(sql.lit(1)),
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
  // What is open elsewhere is much after a crash or an import: only what is given is read whole.
  'turn.openElsewhere': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom(
          db
            .selectFrom('turn as open')
            .leftJoin('host', 'host.id', 'open.host_id')
            .select(['open.id as id', 'open.started_at as at'])
            .where('open.ended_at', 'is', null)
            .where('open.host_id', '<>', arg.except)
            .where(
              sql<boolean>`(host.id is null or host.stopped_at is not null or host.alive_until <= ${arg.deadBefore})`,
            )
            .orderBy('open.started_at')
            .orderBy('open.id')
            .limit(arg.limit)
            .as('found'),
        )
        .innerJoin('turn', 'turn.id', 'found.id')
        .select(TURN)
        .orderBy('found.at')
        .orderBy('found.id'),
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
        .where('turn_id', '=', arg.turnId)
        .where('conversation_id', '=', arg.conversationId)
        .orderBy('seq', 'desc')
        .limit(sql.lit(1)),
  },
  'step.open': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('step')
        .select(STEP)
        .where(
          'turn_id',
          '=',
          db
            .selectFrom('turn')
            .select('turn.id')
            .where('turn.conversation_id', '=', arg.conversationId)
            .orderBy('turn.first_seq', 'desc')
            .orderBy('turn.id', 'desc')
            .limit(sql.lit(1)),
        )
        .where('state', '=', sql.lit('started'))
        .orderBy('seq'),
  },
  'step.after': {
    gives: 'many',
    build: (db, arg) =>
      ofConversation(db, arg)
        .select(STEP)
        .where(sql<boolean>`(step.seq > ${arg.after} or step.finished_seq > ${arg.after})`)
        .where(
          'turn.first_seq',
          '>=',
          sql<number>`coalesce((select max(first_seq) from turn
            where turn.conversation_id = ${arg.conversationId} and first_seq <= ${arg.after}), 0)`,
        )
        .orderBy('turn.first_seq')
        .orderBy('turn.id')
        .orderBy('step.seq')
        .limit(arg.limit),
  },
  'step.before': {
    gives: 'many',
    build: (db, arg) =>
      ofConversation(db, arg)
        .select(STEP)
        .where('turn.session_id', '=', arg.sessionId)
        .where('turn.first_seq', '>=', beganBy(arg))
        .where('turn.first_seq', '<', arg.before)
        .where('step.seq', '>', arg.after)
        .where('step.seq', '<', arg.before)
        .orderBy('turn.first_seq', 'desc')
        .orderBy('turn.id', 'desc')
        .orderBy('step.seq', 'desc')
        .limit(arg.limit),
  },
  'step.ofTask': {
    gives: 'many',
    build: (db, arg) =>
      ofConversation(db, arg)
        .select(STEP)
        .where('turn.task_id', '=', arg.taskId as StepRecord['taskId'])
        .orderBy('turn.first_seq')
        .orderBy('turn.id')
        .orderBy('step.seq')
        .limit(arg.limit),
  },
  // A task has no turn before its first event: what its conversation did earlier is not looked through.
  'step.callsOf': {
    gives: 'many',
    build: (db, arg) =>
      ofConversation(db, arg)
        .select(STEP)
        .where('turn.task_id', '=', arg.taskId as StepRecord['taskId'])
        .where(
          'turn.first_seq',
          '>=',
          sql<number>`coalesce((select min(seq) from event where task_id = ${arg.taskId}), 0)`,
        )
        .where('turn.first_seq', '<=', arg.upTo)
        .where('step.kind', '=', sql.lit('tool'))
        .where('step.seq', '<=', arg.upTo)
        .where(sql<boolean>`(${arg.state} = '' or step.state = ${arg.state})`)
        .where(sql<boolean>`(${arg.repeatable} = '' or step.repeatable = ${arg.repeatable})`)
        .orderBy('turn.first_seq', 'desc')
        .orderBy('turn.id', 'desc')
        .orderBy('step.seq', 'desc')
        .limit(arg.limit),
  },
  'step.usageOf': {
    gives: 'one',
    build: (db, arg) =>
      ofConversation(db, arg)
        .select([...USED])
        .where('turn.task_id', '=', arg.taskId as StepRecord['taskId']),
  },
} satisfies ReadDefinitions<TurnReads>;

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
  'step.retry': {
    build: (db, arg) =>
      db
        .updateTable('step')
        .set({ tries: arg.tries })
        .where('turn_id', '=', arg.turnId)
        .where('seq', '=', arg.seq)
        .where('state', '=', sql.lit('started'))
        .where(sql`tries + 1`, '=', arg.tries),
  },
  'step.finish': {
    build: (db, arg) =>
      db
        .updateTable('step')
        .set(columns('step', arg.row, OUTCOME))
        .where('turn_id', '=', arg.row.turnId)
        .where('seq', '=', arg.row.seq)
        .where('state', '=', sql.lit('started')),
  },
} satisfies WriteDefinitions<TurnWrites>;
