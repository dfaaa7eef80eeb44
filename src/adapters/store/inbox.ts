import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { ConversationId } from '../../kernel/ids.ts';
import type { InboxReads, InboxWrites } from '../../ports/inbox.ts';
import { unfenced } from './fence.ts';
import type { Db, ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection, type Tables } from './tables.ts';

type Claimable = 'message' | 'earlier';

const MESSAGE = selection('message');
// Word for word what the partial indexes say: only then are they used.
const OPEN = sql<boolean>`message.state <> 'done'`;
const NO_COMMAND = sql<boolean>`message.kind <> 'command'`;

/** An unclaimed input of no task yet or of an active one (T-10). */
function claimable(message: Claimable): RawBuilder<boolean> {
  const m = sql.table(message);
  return sql<boolean>`(${m}.state = 'unclaimed' and ${m}.state <> 'done' and ${m}.kind <> 'command'
    and (${m}.task_id is null or exists (select 1 from task where task.id = ${m}.task_id and task.state = 'active')))`;
}

/** Not an input that the host made before this instant. */
function madeSince(message: Claimable, since: number): RawBuilder<boolean> {
  const m = sql.table(message);
  return sql<boolean>`(${m}.kind <> 'generated' or ${m}.at >= ${since})`;
}

type ClaimableArgs = InboxReads['message.claimable']['args'];

function claimables(
  db: Db,
  arg: ClaimableArgs,
): SelectQueryBuilder<Tables, 'message', MessageRecord> {
  return db
    .selectFrom('message')
    .select(MESSAGE)
    .where('conversation_id', '=', arg.conversationId)
    .where(claimable('message'))
    .where(unfenced('message'))
    .orderBy('seq')
    .limit(arg.limit);
}

type DueRow = { conversationId: ConversationId };

/**
 * Walks the waiting inputs by age and stops at the limit, however many wait. Only the first input of a
 * conversation counts, so none comes twice. What a turn or a fence holds back is read over.
 */
function due(
  db: Db,
  limit: number,
  fits: (message: Claimable) => RawBuilder<boolean>,
): SelectQueryBuilder<Tables, 'message', DueRow> {
  return db
    .selectFrom('message')
    .select('message.conversation_id as conversationId')
    .where(fits('message'))
    .where(
      sql<boolean>`exists (select 1 from conversation where conversation.id = message.conversation_id
        and conversation.turn_id is null and conversation.fence not in ('shut', 'blocked'))`,
    )
    .where(
      sql<boolean>`not exists (select 1 from message as earlier
        where earlier.conversation_id = message.conversation_id
        and earlier.seq < message.seq and ${fits('earlier')})`,
    )
    .orderBy('at')
    .orderBy('conversation_id')
    .limit(limit);
}

export const inboxReads = {
  'message.byId': {
    gives: 'one',
    build: (db, arg) => db.selectFrom('message').select(MESSAGE).where('id', '=', arg.id),
  },
  'message.byExternalId': {
    gives: 'one',
    build: (db, arg) =>
      db
        .selectFrom('message')
        .select(MESSAGE)
        .where('channel', '=', arg.channel)
        .where('external_id', '=', arg.externalId),
  },
  'message.claimable': {
    gives: 'many',
    build: claimables,
    cases: [
      {
        when: (args) => args.generatedSince > 0,
        build: (db, arg) => claimables(db, arg).where(madeSince('message', arg.generatedSince)),
      },
    ],
  },
  'message.unbound': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('message')
        .select(MESSAGE)
        .where('conversation_id', '=', arg.conversationId)
        .where('state', '=', sql.lit('unclaimed'))
        .where(OPEN)
        .where('kind', '=', sql.lit('genuine'))
        .where('task_id', 'is', null)
        .orderBy('seq')
        .limit(arg.limit),
  },
  'message.openCommands': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('message')
        .select(MESSAGE)
        .where(sql<boolean>`message.kind = 'command'`)
        .where(OPEN)
        .orderBy('at')
        .orderBy('id')
        .limit(arg.limit),
  },
  // The inputs of a turn are claimed by its first event or by a later one.
  'message.ofTurn': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('message')
        .select(MESSAGE)
        .where('conversation_id', '=', arg.conversationId)
        .where('turn_id', '=', arg.turnId)
        .where(
          'claimed_seq',
          '>=',
          sql<number>`coalesce((select first_seq from turn where turn.id = ${arg.turnId}), 0)`,
        )
        .orderBy('claimed_seq')
        .orderBy('seq'),
  },
  'message.openOfTask': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('message')
        .select(MESSAGE)
        .where('conversation_id', '=', arg.conversationId)
        .where(OPEN)
        .where('state', '<>', sql.lit('held'))
        .where('task_id', '=', arg.taskId)
        .orderBy('seq'),
  },
  'message.claimedAfter': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('message')
        .select(MESSAGE)
        .where('conversation_id', '=', arg.conversationId)
        .where('claimed_seq', '>', arg.after)
        .where(NO_COMMAND)
        .orderBy('claimed_seq')
        .orderBy('seq')
        .limit(arg.limit),
  },
  // What a session claimed is no older than it is: what earlier ones claimed is not looked through.
  'message.ofSession': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('message')
        .select(MESSAGE)
        .where('conversation_id', '=', arg.conversationId)
        .where(
          'claimed_seq',
          '>',
          sql<number>`coalesce((select case when first_seq > ${arg.after} then first_seq - 1 end
            from session where session.id = ${arg.sessionId}), ${arg.after})`,
        )
        .where(NO_COMMAND)
        .where(
          sql<boolean>`exists (select 1 from turn where turn.id = message.turn_id
            and turn.session_id = ${arg.sessionId})`,
        )
        .orderBy('claimed_seq')
        .orderBy('seq')
        .limit(arg.limit),
  },
  'receipt.byScope': {
    gives: 'one',
    build: (db, arg) =>
      db.selectFrom('receipt').select(selection('receipt')).where('scope', '=', arg.scope),
  },
  'inbox.due': {
    gives: 'many',
    build: (db, arg) => due(db, arg.limit, claimable),
    cases: [
      {
        when: (args) => args.generatedSince > 0,
        build: (db, arg) =>
          due(
            db,
            arg.limit,
            (message) => sql`${claimable(message)} and ${madeSince(message, arg.generatedSince)}`,
          ),
      },
    ],
  },
  'idempotency.byScope': {
    gives: 'one',
    build: (db, arg) =>
      db.selectFrom('idempotency').select(selection('idempotency')).where('scope', '=', arg.scope),
  },
} satisfies ReadDefinitions<InboxReads>;

export const inboxWrites = {
  'message.insert': {
    build: (db, arg) => db.insertInto('message').values(columns('message', arg.row)),
  },
  'message.claim': {
    build: (db, arg) =>
      db
        .updateTable('message')
        .set({
          state: sql.lit('claimed'),
          task_id: arg.taskId,
          turn_id: arg.turnId,
          claimed_seq: arg.claimedSeq,
        })
        .where('id', '=', arg.id)
        .where('state', '=', sql.lit('unclaimed')),
  },
  'message.bind': {
    build: (db, arg) =>
      db
        .updateTable('message')
        .set({ task_id: arg.taskId })
        .where('id', '=', arg.id)
        .where('state', '=', sql.lit('unclaimed'))
        .where('task_id', 'is', null),
  },
  'message.hold': {
    build: (db, arg) =>
      db
        .updateTable('message')
        .set({ state: sql.lit('held') })
        .where('id', '=', arg.id)
        .where('state', '=', sql.lit('unclaimed')),
  },
  'receipt.insert': {
    build: (db, arg) => db.insertInto('receipt').values(columns('receipt', arg.row)),
  },
  'message.done': {
    build: (db, arg) =>
      db
        .updateTable('message')
        .set({ state: sql.lit('done'), answer_id: arg.answerId })
        .where('id', '=', arg.id)
        .where('state', 'not in', sql<'done'>`('done', 'held')`),
  },
  'idempotency.insert': {
    build: (db, arg) => db.insertInto('idempotency').values(columns('idempotency', arg.row)),
  },
  'idempotency.replace': {
    build: (db, arg) =>
      db
        .updateTable('idempotency')
        .set(columns('idempotency', arg.row, ['fingerprint', 'subjectId', 'at']))
        .where('scope', '=', arg.row.scope)
        .where('at', '<', arg.before),
  },
} satisfies WriteDefinitions<InboxWrites>;
