import { sql, type SelectQueryBuilder } from 'kysely';
import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { ApprovalReads, ApprovalWrites } from '../../ports/approval.ts';
import type { Db, ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection, type Tables } from './tables.ts';

const APPROVAL = selection('approval');
// Word for word what the partial indexes say: only then are they used.
const OPEN = sql<boolean>`approval.state = 'open'`;
// Says nothing, but makes SQLite look through the index of open approvals and not through all ids.
const BY_OPEN_INDEX = sql<boolean>`approval.conversation_id > ''`;

type ListArgs = ApprovalReads['approval.list']['args'];

/** The newest approvals that fit; an empty state fits all. */
function list(db: Db, arg: ListArgs): SelectQueryBuilder<Tables, 'approval', ApprovalRecord> {
  return db
    .selectFrom('approval')
    .select(APPROVAL)
    .where(sql`approval.id`, '<', arg.before)
    .where(sql<boolean>`(${arg.state} = '' or approval.state = ${arg.state})`)
    .orderBy('id', 'desc')
    .limit(arg.limit);
}

/** What the boundary holds comes due in nothing (B-4). */
const NOT_HISTORY = sql<boolean>`not exists (select 1 from task
  where task.id = approval.task_id and task.enrollment <> 'current')`;

export const approvalReads = {
  'approval.byId': {
    gives: 'one',
    build: (db, arg) => db.selectFrom('approval').select(APPROVAL).where('id', '=', arg.id),
  },
  'approval.openOfTask': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('approval')
        .select(APPROVAL)
        .where(OPEN)
        .where('task_id', '=', arg.taskId)
        .orderBy('id'),
  },
  'approval.openOf': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('approval')
        .select(APPROVAL)
        .where(OPEN)
        .where('conversation_id', '=', arg.conversationId)
        .orderBy('id')
        .limit(arg.limit),
  },
  'approval.list': {
    gives: 'many',
    build: list,
    cases: [
      {
        when: (args) => args.conversationId !== '',
        build: (db, arg) =>
          list(db, arg).where(sql<boolean>`approval.conversation_id = ${arg.conversationId}`),
      },
      {
        when: (args) => args.state === 'open',
        build: (db, arg) => list(db, arg).where(OPEN).where(BY_OPEN_INDEX),
      },
    ],
  },
  'approval.due': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('approval')
        .select(APPROVAL)
        .where(OPEN)
        .where(NOT_HISTORY)
        .where('expires_at', '<=', arg.now)
        .orderBy('expires_at')
        .orderBy('id')
        .limit(arg.limit),
  },
  'approval.nextDue': {
    gives: 'one',
    build: (db) =>
      db
        .selectFrom('approval')
        .select('approval.expires_at as at')
        .where(OPEN)
        .where(NOT_HISTORY)
        .orderBy('expires_at')
        .limit(sql.lit(1)),
  },
} satisfies ReadDefinitions<ApprovalReads>;

export const approvalWrites = {
  'approval.insert': {
    build: (db, arg) => db.insertInto('approval').values(columns('approval', arg.row)),
  },
  'approval.decide': {
    build: (db, arg) =>
      db
        .updateTable('approval')
        .set(columns('approval', arg.row, ['state', 'decidedBy', 'decidedAt']))
        .where('id', '=', arg.row.id)
        .where(OPEN),
  },
} satisfies WriteDefinitions<ApprovalWrites>;
