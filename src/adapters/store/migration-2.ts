import type { Migration, Words } from './migration.ts';

// What a task waits for, what a person is asked, what limits an account, and what was ordered once.
// New columns stand behind the old ones and have a default, so that a host of version 1 that still runs
// on a shared store fails at nothing. It may not start on it anew: it would wake no wait, leave ended
// tasks due, and make an ordinary turn of the input that carries an approved call.
export const waits: Migration = {
  number: 2,
  name: 'waits',
  breaking: 'yes',
  sql: (words) => [
    ...columns(words),
    ...VALUES,
    ...taskIndexes(),
    ...approvalTable(words),
    ...orderTables(words),
    ...(words.dialect === 'sqlite' ? EXPECTED : []),
  ],
};

function columns({ text, int }: Words): readonly string[] {
  return [
    `alter table task add column session_id ${text} not null default ''`,
    `alter table task add column mandate_authority ${text} not null default 'own'`,
    `alter table task add column due_at ${int}`,
    `alter table task add column checkpoint ${text}`,
    `alter table task add column quota_waits ${int} not null default 0`,
    `alter table conversation add column model ${text}`,
    `alter table turn add column authority ${text} not null default 'own'`,
    `alter table step add column tries ${int} not null default 1`,
  ];
}

/** What the new columns hold of the tasks that are there: one pass over them. */
const VALUES: readonly string[] = [
  `update task set
    session_id = coalesce((select conversation.session_id from conversation
      where conversation.id = task.conversation_id), ''),
    mandate_authority = case when substr(mandate_principal, 1, 6) = 'admin:' then 'admin' else 'own' end,
    due_at = case
      when ended_at is not null or state = 'active' then null
      when wait_until is null then deadline
      when deadline is null or wait_until < deadline then wait_until
      else deadline end`,
];

// No save of active work changes what these say of it: it touches none of their pages.
function taskIndexes(): readonly string[] {
  return [
    `create index task_due on task (due_at, id) where due_at is not null`,
    `create index task_waiting on task (wait_kind, wait_id) where state = 'waiting'`,
  ];
}

function approvalTable({ text, int, plain }: Words): readonly string[] {
  return [
    `create table approval (
      id ${text} primary key not null, conversation_id ${text} not null, task_id ${text} not null,
      run_id ${text}, turn_id ${text} not null, step_id ${text} not null, kind ${text} not null,
      tool ${text} not null, approver ${text} not null, state ${text} not null,
      requested_by ${text} not null, decided_by ${text}, at ${int} not null,
      expires_at ${int} not null, decided_at ${int}, input ${text} not null,
      shown ${text} not null)${plain}`,
    `create index approval_of_conversation on approval (conversation_id, id)`,
    `create index approval_open on approval (conversation_id, id) where state = 'open'`,
    `create index approval_open_of_task on approval (task_id, id) where state = 'open'`,
    `create index approval_due on approval (expires_at, id) where state = 'open'`,
  ];
}

function orderTables({ text, int, plain, keyed }: Words): readonly string[] {
  return [
    `create table limiter (
      account ${text} not null, state ${text} not null, until ${int}, is_named ${text} not null,
      failures ${int} not null, code ${text}, probe_until ${int}, version ${int} not null,
      since ${int} not null, primary key (account))${keyed}`,
    `create table audit (
      seq ${int} primary key not null, at ${int} not null, principal ${text} not null,
      channel ${text} not null, action ${text} not null, subject_id ${text} not null,
      before ${text} not null, after ${text} not null, previous_hash ${text} not null,
      hash ${text} not null)${plain}`,
    `create table receipt (
      scope ${text} not null, "order" ${text} not null, subject_id ${text} not null,
      outcome ${text} not null, at ${int} not null, primary key (scope))${keyed}`,
  ];
}

/** What SQLite's planner is told of a grown store, as in migration 1: few tasks wait, few approvals are open. */
const EXPECTED: readonly string[] = [
  ...[
    ['task', 'task_due', '1000 2 1'],
    ['task', 'task_waiting', '1000 250 50'],
    ['approval', 'sqlite_autoindex_approval_1', '100000 1'],
    ['approval', 'approval_of_conversation', '100000 100 1'],
    ['approval', 'approval_open', '100 2 1'],
    ['approval', 'approval_open_of_task', '100 2 1'],
    ['approval', 'approval_due', '100 2 1'],
  ].map(
    ([table, index, rows]) =>
      `insert into sqlite_stat1 (tbl, idx, stat) values ('${table}', '${index}', '${rows}')`,
  ),
  'analyze sqlite_schema',
];
