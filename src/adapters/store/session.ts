import { sql } from 'kysely';
import type { SessionReads, SessionWrites } from '../../ports/session.ts';
import type { ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection } from './tables.ts';

const CONVERSATION = selection('conversation');
const EVENT = selection('event');

export const sessionReads = {
  'conversation.byId': {
    gives: 'one',
    build: (db, arg) => db.selectFrom('conversation').select(CONVERSATION).where('id', '=', arg.id),
  },
  'conversation.byAddress': {
    gives: 'one',
    build: (db, arg) =>
      db
        .selectFrom('conversation')
        .select(CONVERSATION)
        .where('channel', '=', arg.channel)
        .where('address', '=', arg.address),
  },
  'conversation.newestRead': {
    gives: 'one',
    build: (db) =>
      db
        .selectFrom('conversation')
        .select(CONVERSATION)
        .where(sql<boolean>`conversation.channel <> 'api'`)
        .orderBy('id', 'desc')
        .limit(sql.lit(1)),
  },
  'session.byId': {
    gives: 'one',
    build: (db, arg) =>
      db.selectFrom('session').select(selection('session')).where('id', '=', arg.id),
  },
  'conversation.list': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('conversation')
        .select(CONVERSATION)
        .where(sql`id`, '<', arg.before)
        .orderBy('id', 'desc')
        .limit(arg.limit),
  },
  'event.after': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('event')
        .select(EVENT)
        .where('conversation_id', '=', arg.conversationId)
        .where('seq', '>', arg.after)
        .orderBy('seq')
        .limit(arg.limit),
  },
  'event.ofTask': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('event')
        .select(EVENT)
        .where('conversation_id', '=', arg.conversationId)
        .where('task_id', '=', arg.taskId)
        .orderBy('seq')
        .limit(arg.limit),
  },
  // Ids have no index, which would cost a page at every step. Who asks stopped reading a moment ago:
  // looking through the conversation from its end finds the id soon.
  'event.seqOf': {
    gives: 'one',
    build: (db, arg) =>
      db
        .selectFrom(
          db
            .selectFrom('event')
            .select('seq')
            .where('conversation_id', '=', arg.conversationId)
            .where(sql`id`, '=', arg.id)
            .orderBy('seq', 'desc')
            .limit(sql.lit(1))
            .as('found'),
        )
        .select('found.seq as seq')
        .unionAll(
          db
            .selectFrom(
              db
                .selectFrom('turn')
                .innerJoin('step', 'step.turn_id', 'turn.id')
                .select(
                  sql<number>`case when step.id = ${arg.id} then step.seq else step.finished_seq end`.as(
                    'seq',
                  ),
                )
                .where('turn.conversation_id', '=', arg.conversationId)
                .where(sql<boolean>`(step.id = ${arg.id} or step.finished_id = ${arg.id})`)
                .orderBy('turn.first_seq', 'desc')
                .orderBy('turn.id', 'desc')
                .orderBy('step.seq', 'desc')
                .limit(sql.lit(1))
                .as('found'),
            )
            .select('found.seq as seq'),
        )
        .limit(sql.lit(1)),
  },
} satisfies ReadDefinitions<SessionReads>;

export const sessionWrites = {
  'conversation.insert': {
    build: (db, arg) => db.insertInto('conversation').values(columns('conversation', arg.row)),
  },
  'conversation.advance': {
    build: (db, arg) =>
      db
        .updateTable('conversation')
        .set({ seq: arg.seq, token: arg.token, turn_id: arg.turnId as never })
        .where('id', '=', arg.id)
        .where('seq', '=', arg.expectedSeq),
  },
  'conversation.session': {
    build: (db, arg) =>
      db.updateTable('conversation').set({ session_id: arg.sessionId }).where('id', '=', arg.id),
  },
  'conversation.model': {
    build: (db, arg) =>
      db.updateTable('conversation').set({ model: arg.model }).where('id', '=', arg.id),
  },
  'session.insert': {
    build: (db, arg) => db.insertInto('session').values(columns('session', arg.row)),
  },
  'session.end': {
    build: (db, arg) =>
      db
        .updateTable('session')
        .set({ ended_at: arg.endedAt })
        .where('id', '=', arg.id)
        .where('ended_at', 'is', null),
  },
  'event.insert': {
    build: (db, arg) => db.insertInto('event').values(columns('event', arg.row)),
  },
} satisfies WriteDefinitions<SessionWrites>;
