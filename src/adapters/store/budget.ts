import { sql, type SelectQueryBuilder } from 'kysely';
import type { BudgetReads, BudgetWrites } from '../../ports/budget.ts';
import type { Db, ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection, type Tables } from './tables.ts';
import { USED } from './usage.ts';

const LIMITER = selection('limiter');
const TOKENS = sql`coalesce(sum(step.input_tokens), 0) + coalesce(sum(step.output_tokens), 0)`;
const CALLS = sql<number>`cast(count(*) as bigint)`.as('calls');

/** The model calls of the turns with an id in [from, to): one range of the steps' own key. */
function callsOf(
  db: Db,
  arg: { readonly from: string; readonly to: string },
): SelectQueryBuilder<Tables, 'step', object> {
  return db
    .selectFrom('step')
    .where(sql<boolean>`step.turn_id >= ${arg.from} and step.turn_id < ${arg.to}`)
    .where('step.kind', '=', sql.lit('model'));
}

export const budgetReads = {
  'limiter.byAccount': {
    gives: 'one',
    build: (db, arg) => db.selectFrom('limiter').select(LIMITER).where('account', '=', arg.account),
  },
  'limiter.list': {
    gives: 'many',
    build: (db, arg) =>
      db.selectFrom('limiter').select(LIMITER).orderBy('account').limit(arg.limit),
  },
  'usage.ofRange': {
    gives: 'many',
    build: (db, arg) =>
      callsOf(db, arg)
        .select(['step.provider as provider', 'step.model as model', ...USED, CALLS])
        .groupBy(['step.provider', 'step.model'])
        .orderBy(sql`coalesce(step.provider, '')`)
        .orderBy(sql`coalesce(step.model, '')`),
  },
  'usage.ofMaintenance': {
    gives: 'one',
    build: (db, arg) =>
      db
        .selectFrom('operation')
        .select([
          sql<number>`cast(coalesce(sum(input_tokens), 0) as bigint)`.as('inputTokens'),
          sql<number>`cast(coalesce(sum(output_tokens), 0) as bigint)`.as('outputTokens'),
          sql<number>`cast(coalesce(sum(cost), 0) as bigint)`.as('cost'),
          sql<number>`cast(coalesce(sum(attempts), 0) as bigint)`.as('calls'),
        ])
        .where(sql`operation.id`, '>=', arg.from)
        .where(sql`operation.id`, '<', arg.to),
  },
  'usage.byTask': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom(
          callsOf(db, arg)
            .select(['step.task_id as taskId', ...USED, CALLS])
            .groupBy('step.task_id')
            .orderBy(TOKENS, 'desc')
            .orderBy('step.task_id', 'desc')
            .limit(arg.limit)
            .as('found'),
        )
        .innerJoin('task', 'task.id', 'found.taskId')
        .select([
          'found.taskId as taskId',
          'task.conversation_id as conversationId',
          'task.mandate_text as mandateText',
          'found.inputTokens as inputTokens',
          'found.outputTokens as outputTokens',
          'found.cost as cost',
          'found.calls as calls',
          'found.unpriced as unpriced',
        ])
        .orderBy(sql`found."inputTokens" + found."outputTokens"`, 'desc')
        .orderBy('found.taskId', 'desc'),
  },
} satisfies ReadDefinitions<BudgetReads>;

export const budgetWrites = {
  'limiter.insert': {
    build: (db, arg) => db.insertInto('limiter').values(columns('limiter', arg.row)),
  },
  'limiter.save': {
    build: (db, arg) =>
      db
        .updateTable('limiter')
        .set(
          columns('limiter', arg.row, [
            'state',
            'until',
            'isNamed',
            'failures',
            'code',
            'probeUntil',
            'version',
            'since',
          ]),
        )
        .where('account', '=', arg.row.account)
        .where(sql`version + 1`, '=', arg.row.version),
  },
} satisfies WriteDefinitions<BudgetWrites>;
