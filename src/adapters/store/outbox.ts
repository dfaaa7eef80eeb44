import { sql, type SelectQueryBuilder } from 'kysely';
import type { OutboxRecord } from '../../core/outbox/record.ts';
import type { OutboxReads, OutboxWrites } from '../../ports/outbox.ts';
import type { Db, ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection, type Tables } from './tables.ts';

const OUTBOX = selection('outbox');
// Word for word the condition of its partial index. Most entries are delivered and need none.
const NOT_DELIVERED = sql<boolean>`outbox.state <> 'delivered'`;

type ListArgs = OutboxReads['outbox.list']['args'];

/** The newest entries that fit; an empty state fits all. */
function list(db: Db, arg: ListArgs): SelectQueryBuilder<Tables, 'outbox', OutboxRecord> {
  return db
    .selectFrom('outbox')
    .select(OUTBOX)
    .where(sql`outbox.id`, '<', arg.before)
    .where(sql<boolean>`(${arg.state} = '' or outbox.state = ${arg.state})`)
    .orderBy('id', 'desc')
    .limit(arg.limit);
}

export const outboxReads = {
  'outbox.byId': {
    gives: 'one',
    build: (db, arg) => db.selectFrom('outbox').select(OUTBOX).where('id', '=', arg.id),
  },
  'outbox.byKey': {
    gives: 'one',
    build: (db, arg) => db.selectFrom('outbox').select(OUTBOX).where('key', '=', arg.key),
  },
  'outbox.list': {
    gives: 'many',
    build: list,
    cases: [
      {
        when: (args) => args.conversationId !== '',
        build: (db, arg) =>
          list(db, arg).where(sql<boolean>`outbox.conversation_id = ${arg.conversationId}`),
      },
      {
        when: (args) => args.state !== '' && args.state !== 'delivered',
        build: (db, arg) =>
          list(db, arg)
            .where(NOT_DELIVERED)
            .where(sql<boolean>`outbox.state = ${arg.state}`),
      },
    ],
  },
  'outbox.after': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('outbox')
        .select(OUTBOX)
        .where('conversation_id', '=', arg.conversationId)
        .where('seq', '>', arg.after)
        .orderBy('seq')
        .limit(arg.limit),
  },
} satisfies ReadDefinitions<OutboxReads>;

export const outboxWrites = {
  'outbox.insert': {
    build: (db, arg) => db.insertInto('outbox').values(columns('outbox', arg.row)),
  },
} satisfies WriteDefinitions<OutboxWrites>;
