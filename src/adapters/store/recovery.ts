import { sql } from 'kysely';
import type { RecoveryReads, RecoveryWrites } from '../../ports/recovery.ts';
import { unfenced } from './fence.ts';
import type { ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection } from './tables.ts';

const TASK = selection('task');
// Word for word what the partial indexes say: only then are they used.
const ASSESSABLE = sql<boolean>`task.enrollment = 'current' and task.state = 'waiting'
  and task.wait_kind = 'assessment'`;
const GRANTED = sql<boolean>`task.recovery_state = 'granted' and task.enrollment = 'current'
  and task.ended_at is null`;
const SILENT = sql<boolean>`task.enrollment = 'current' and task.reason is null
  and task.ended_at is null
  and (task.state = 'blocked' or (task.state = 'waiting' and task.wait_kind is null))`;
const REPORTED = sql<boolean>`task.enrollment = 'current' and task.state in ('blocked', 'expired')`;
const LOST = sql<boolean>`host."end" = 'lost'`;
const NEXT_AT = sql<number>`coalesce(task.recovery_next_at, 0)`;
// Says nothing, but makes SQLite look through this index and not through all that waits.
const BY_NEXT_AT = sql<boolean>`coalesce(task.recovery_next_at, 0) >= 0`;

/**
 * When a person last said something about the task: what no turn has claimed yet, else what was claimed
 * last, by the task's own events of the claims. Messages have no index by their task, which would cost a
 * page at every claim.
 */
const SAID_AT = sql<number>`coalesce(
  (select kept.at from message as kept where kept.conversation_id = task.conversation_id
    and kept.state = 'unclaimed' and kept.state <> 'done' and kept.kind = 'genuine'
    and kept.task_id = task.id order by kept.seq desc limit 1),
  (select said.at from event cross join message as said where event.task_id = task.id
    and event.task_id is not null and said.conversation_id = task.conversation_id
    and said.claimed_seq = event.seq and said.claimed_seq is not null
    and said.task_id = task.id and said.kind = 'genuine' order by event.seq desc limit 1),
  0)`;

export const recoveryReads = {
  'task.assessable': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom(
          db
            .selectFrom('task')
            .select(['task.id as id', SAID_AT.as('said')])
            .where(ASSESSABLE)
            .where(BY_NEXT_AT)
            .where(
              sql<boolean>`(${NEXT_AT} <= ${arg.now} or task.recovery_attempts >= ${arg.attempts})`,
            )
            .where(sql<boolean>`(task.deadline is null or task.deadline > ${arg.now})`)
            .where(unfenced('task'))
            .orderBy('said', 'desc')
            .orderBy('task.id')
            .limit(arg.limit)
            .as('found'),
        )
        .innerJoin('task', 'task.id', 'found.id')
        .select(TASK)
        .orderBy('found.said', 'desc')
        .orderBy('found.id'),
  },
  'task.nextAssessment': {
    gives: 'one',
    build: (db) =>
      db
        .selectFrom('task')
        .select(NEXT_AT.as('at'))
        .where(ASSESSABLE)
        .where(BY_NEXT_AT)
        .where(unfenced('task'))
        .orderBy(NEXT_AT)
        .limit(sql.lit(1)),
  },
  'task.granted': {
    gives: 'many',
    build: (db, arg) =>
      db.selectFrom('task').select(TASK).where(GRANTED).orderBy('id').limit(arg.limit),
  },
  'task.silent': {
    gives: 'many',
    build: (db, arg) =>
      db.selectFrom('task').select(TASK).where(SILENT).orderBy('id').limit(arg.limit),
  },
  'recovery.standing': {
    gives: 'one',
    build: (db) =>
      db.selectNoFrom([
        sql<number>`(select cast(count(*) as bigint) from task
          where ${ASSESSABLE} and ${BY_NEXT_AT})
          + (select cast(count(*) as bigint) from task where task.state = 'waiting'
          and task.wait_kind = 'provider' and task.reason = 'interrupted'
          and task.enrollment = 'current')`.as('interrupted'),
        sql<number>`(select cast(count(*) as bigint) from task where task.enrollment <> 'current'
          and task.enrollment = 'held-legacy' and task.ended_at is null)`.as('held'),
      ]),
  },
  'report.tasks': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('task')
        .select(TASK)
        .where(REPORTED)
        .where('changed_at', '>', arg.since)
        .orderBy('changed_at', 'desc')
        .orderBy('id', 'desc')
        .limit(arg.limit),
  },
  'report.last': {
    gives: 'one',
    build: (db, arg) =>
      db
        .selectFrom('report')
        .select(selection('report'))
        .where(sql<boolean>`report.id > ''`)
        .where('at', '<=', arg.now)
        .orderBy('at', 'desc')
        .orderBy('id', 'desc')
        .limit(sql.lit(1)),
  },
  'storm.last': {
    gives: 'one',
    build: (db) =>
      db
        .selectFrom('storm')
        .select(selection('storm'))
        .where(sql<boolean>`storm.id > ''`)
        // Few rows, and under a clock that was set back an open one may have the lower id.
        .orderBy(sql`case when storm.ended_at is null then 0 else 1 end`)
        .orderBy('id', 'desc')
        .limit(sql.lit(1)),
  },
  'host.lostSince': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('host')
        .select(selection('host'))
        .where(LOST)
        .where('stopped_at', '>', arg.since)
        .orderBy('stopped_at', 'desc')
        .orderBy('id', 'desc')
        .limit(arg.limit),
  },
} satisfies ReadDefinitions<RecoveryReads>;

export const recoveryWrites = {
  'report.insert': {
    build: (db, arg) => db.insertInto('report').values(columns('report', arg.row)),
  },
  'storm.insert': {
    build: (db, arg) => db.insertInto('storm').values(columns('storm', arg.row)),
  },
  'storm.seen': {
    build: (db, arg) =>
      db
        .updateTable('storm')
        .set({ last_at: arg.lastAt })
        .where('id', '=', arg.id)
        .where('ended_at', 'is', null),
  },
  'storm.end': {
    build: (db, arg) =>
      db
        .updateTable('storm')
        .set({ ended_at: arg.endedAt, ended_by: arg.endedBy })
        .where('id', '=', arg.id)
        .where('ended_at', 'is', null),
  },
} satisfies WriteDefinitions<RecoveryWrites>;
