import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { MaintenanceReads, MaintenanceWrites } from '../../ports/maintenance.ts';
import type { Db, ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection, type Tables } from './tables.ts';
import { beganBy } from './turn.ts';

const OPERATION = selection('operation');
// Word for word what the partial indexes say: only then are they used.
const OPEN = sql<boolean>`operation.state in ('running', 'waiting', 'blocked')`;
const UNTRIED = sql<boolean>`operation.state in ('running', 'waiting')
  and operation.attempt_at is null`;
const TRIED = sql<boolean>`operation.attempt_at is not null`;
const DROPPED = sql<boolean>`operation.state = 'dropped'`;
/** The next try or the notice, whichever is due first. */
const DUE_AT = sql<number>`(case when operation.next_attempt_at < operation.notice_at
  or operation.notice_at is null then operation.next_attempt_at else operation.notice_at end)`;

type ListArgs = MaintenanceReads['operation.list']['args'];

/** The newest operations that fit; an empty filter fits all. */
function list(db: Db, arg: ListArgs): SelectQueryBuilder<Tables, 'operation', OperationRecord> {
  return db
    .selectFrom('operation')
    .select(OPERATION)
    .where(sql`operation.id`, '<', arg.before)
    .where(
      sql<boolean>`(${arg.state} = '' or operation.state = ${arg.state}
        or (${arg.state} = 'open' and ${OPEN}))`,
    )
    .orderBy('id', 'desc')
    .limit(arg.limit);
}

const OPEN_STATES: readonly string[] = ['open', 'running', 'waiting', 'blocked'];

/** How many operations are open in this state. */
function standing(state: 'running' | 'waiting' | 'blocked'): RawBuilder<number> {
  return sql<number>`(select cast(count(*) as bigint) from operation
    where ${OPEN} and operation.state = ${sql.lit(state)})`;
}

export const maintenanceReads = {
  'operation.byId': {
    gives: 'one',
    build: (db, arg) => db.selectFrom('operation').select(OPERATION).where('id', '=', arg.id),
  },
  // Hosts of one store may make ids out of order: what the fence speaks of is the newest, whatever its id.
  'operation.newestOf': {
    gives: 'one',
    build: (db, arg) =>
      db
        .selectFrom('operation')
        .select(OPERATION)
        .where(
          'id',
          '=',
          sql<OperationRecord['id']>`coalesce(
            (select operation_id from conversation where conversation.id = ${arg.conversationId}),
            (select max(own.id) from operation as own where own.conversation_id = ${arg.conversationId}))`,
        ),
  },
  'operation.due': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('operation')
        .select(OPERATION)
        .where(UNTRIED)
        .where(DUE_AT, '<=', arg.now)
        .orderBy(DUE_AT)
        .orderBy('id')
        .limit(arg.limit),
  },
  'operation.nextDue': {
    gives: 'one',
    build: (db) =>
      db
        .selectFrom('operation')
        .select(DUE_AT.as('at'))
        .where(UNTRIED)
        .where(sql<boolean>`${DUE_AT} is not null`)
        .orderBy(DUE_AT)
        .limit(sql.lit(1)),
  },
  'operation.tried': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('operation')
        .select(OPERATION)
        .where(TRIED)
        .orderBy('attempt_at')
        .orderBy('id')
        .limit(arg.limit),
  },
  'operation.list': {
    gives: 'many',
    build: list,
    cases: [
      {
        when: (args) => args.conversationId !== '',
        build: (db, arg) =>
          list(db, arg).where(sql<boolean>`operation.conversation_id = ${arg.conversationId}`),
      },
      {
        when: (args) => OPEN_STATES.includes(args.state),
        build: (db, arg) => list(db, arg).where(OPEN),
      },
      {
        when: (args) => args.state === 'dropped',
        build: (db, arg) => list(db, arg).where(DROPPED),
      },
    ],
  },
  'operation.standing': {
    gives: 'one',
    build: (db) =>
      db.selectNoFrom([
        standing('running').as('running'),
        standing('waiting').as('waiting'),
        standing('blocked').as('blocked'),
      ]),
  },
  'conversation.fenced': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('conversation')
        .select(selection('conversation'))
        .where(sql<boolean>`conversation.fence in ('shut', 'blocked')`)
        .orderBy('id')
        .limit(arg.limit),
  },
  'session.list': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('session')
        .select(selection('session'))
        .where('conversation_id', '=', arg.conversationId)
        .where(sql`session.id`, '<', arg.before)
        .orderBy('id', 'desc')
        .limit(arg.limit),
  },
  'step.ofSession': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('turn')
        .innerJoin('step', 'step.turn_id', 'turn.id')
        .select(selection('step'))
        .where('turn.conversation_id', '=', arg.conversationId)
        .where('turn.session_id', '=', arg.sessionId)
        .where('turn.first_seq', '>=', beganBy(arg))
        .where('turn.first_seq', '<=', arg.upTo)
        .where('step.seq', '>', arg.after)
        .where('step.seq', '<=', arg.upTo)
        .orderBy('turn.first_seq')
        .orderBy('turn.id')
        .orderBy('step.seq')
        .limit(arg.limit),
  },
  'message.newestSaid': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('message')
        .select(selection('message'))
        .where('conversation_id', '=', arg.conversationId)
        .where('claimed_seq', 'is not', null)
        .where('kind', '=', sql.lit('genuine'))
        .orderBy('claimed_seq', 'desc')
        .orderBy('seq', 'desc')
        .limit(arg.limit),
  },
  // By the open tasks, since a run is open while its task is: an index of open runs would cost a page at
  // the start and at the end of each.
  'run.openOf': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('task')
        .innerJoin('run', 'run.task_id', 'task.id')
        .select(selection('run'))
        .where('task.conversation_id', '=', arg.conversationId)
        .where(sql<boolean>`task.ended_at is null`)
        .where('run.state', '=', sql.lit('open'))
        .orderBy('run.id')
        .limit(arg.limit),
  },
} satisfies ReadDefinitions<MaintenanceReads>;

/** What changes of an operation: all but what it is of, and since when. */
const SAVED = [
  'sessionId',
  'nextSessionId',
  'kind',
  'step',
  'state',
  'reason',
  'version',
  'epoch',
  'failures',
  'lifetimeFailures',
  'attempts',
  'attemptAt',
  'hostId',
  'nextAttemptAt',
  'quotaWaits',
  'window',
  'noticeId',
  'noticeAt',
  'isTold',
  'isKeptTold',
  'looksFirst',
  'inputTokens',
  'outputTokens',
  'cost',
  'changedAt',
  'endedAt',
  'fault',
  'work',
] as const satisfies readonly (keyof OperationRecord)[];

export const maintenanceWrites = {
  'operation.insert': {
    build: (db, arg) => db.insertInto('operation').values(columns('operation', arg.row)),
  },
  'operation.save': {
    build: (db, arg) =>
      db
        .updateTable('operation')
        .set(columns('operation', arg.row, SAVED))
        .where('id', '=', arg.row.id)
        .where(sql`version + 1`, '=', arg.row.version),
  },
  'operation.keptTold': {
    build: (db, arg) =>
      db
        .updateTable('operation')
        .set({ is_kept_told: sql.lit('yes') })
        .where('id', '=', arg.id)
        .where('is_kept_told', '=', sql.lit('no')),
  },
  'conversation.fence': {
    build: (db, arg) =>
      db
        .updateTable('conversation')
        .set({ fence: arg.fence, operation_id: arg.operationId })
        .where('id', '=', arg.id),
  },
  'session.seed': {
    build: (db, arg) =>
      db
        .updateTable('session')
        .set({ seed: arg.seed, cut_seq: arg.cutSeq, compactions: arg.compactions })
        .where('id', '=', arg.id),
  },
  'session.link': {
    build: (db, arg) =>
      db.updateTable('session').set({ next_id: arg.nextId }).where('id', '=', arg.id),
  },
  // Whoever it goes to fetches it: it is delivered as it leaves.
  'outbox.release': {
    build: (db, arg) =>
      db
        .updateTable('outbox')
        .set({
          state: sql.lit('delivered'),
          seq: arg.seq,
          at: arg.at,
          delivered_at: arg.at,
          params: arg.params,
        })
        .where('id', '=', arg.id)
        .where('state', '=', sql.lit('pending')),
  },
  'outbox.withdraw': {
    build: (db, arg) =>
      db
        .updateTable('outbox')
        .set({ state: sql.lit('stale') })
        .where('id', '=', arg.id)
        .where('state', '=', sql.lit('pending')),
  },
} satisfies WriteDefinitions<MaintenanceWrites>;
