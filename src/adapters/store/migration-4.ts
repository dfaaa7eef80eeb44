import type { Migration, Words } from './migration.ts';

// The operations that keep a session within the window of its model, the fence before a conversation that
// has one, and what stands for the older part of a session.
// New columns stand behind the old ones and have a default, so that a host of version 3 that still runs
// on a shared store fails at nothing. It may not start on it anew: it would run turns behind a fence, and
// send word for word what a seed stands for.
export const maintenance: Migration = {
  number: 4,
  name: 'maintenance',
  breaking: 'yes',
  sql: (words) => [
    ...columns(words),
    ...operationTable(words),
    `create index session_of_conversation on session (conversation_id, id)`,
    `create index conversation_fenced on conversation (id) where fence in ('shut', 'blocked')`,
    ...(words.dialect === 'sqlite' ? EXPECTED : []),
  ],
};

function columns({ text, int }: Words): readonly string[] {
  return [
    `alter table conversation add column fence ${text} not null default 'none'`,
    `alter table conversation add column operation_id ${text}`,
    `alter table session add column previous_id ${text}`,
    `alter table session add column next_id ${text}`,
    `alter table session add column cut_seq ${int} not null default 0`,
    `alter table session add column compactions ${int} not null default 0`,
    `alter table session add column seed ${text}`,
  ];
}

// Most operations are done: what is looked for again and again is in indexes of the others. That a
// conversation has one open operation at most is kept by the store as well (M-8).
function operationTable({ text, int, plain }: Words): readonly string[] {
  return [
    `create table operation (
      id ${text} primary key not null, conversation_id ${text} not null, session_id ${text} not null,
      next_session_id ${text}, kind ${text} not null, step ${text} not null, state ${text} not null,
      reason ${text}, version ${int} not null, epoch ${int} not null, failures ${int} not null,
      lifetime_failures ${int} not null, attempts ${int} not null, attempt_at ${int},
      host_id ${text}, next_attempt_at ${int}, quota_waits ${int} not null, "window" ${int} not null,
      notice_id ${text}, notice_at ${int}, is_told ${text} not null, is_kept_told ${text} not null,
      looks_first ${text} not null,
      input_tokens ${int} not null, output_tokens ${int} not null, cost ${int} not null,
      created_at ${int} not null, changed_at ${int} not null, ended_at ${int}, fault ${text},
      work ${text})${plain}`,
    `create index operation_of_conversation on operation (conversation_id, id)`,
    `create index operation_due on operation
      ((case when next_attempt_at < notice_at or notice_at is null then next_attempt_at else notice_at end), id)
      where state in ('running', 'waiting') and attempt_at is null`,
    `create index operation_tried on operation (attempt_at, id) where attempt_at is not null`,
    `create index operation_open on operation (id, state)
      where state in ('running', 'waiting', 'blocked')`,
    `create unique index operation_only on operation (conversation_id)
      where state in ('running', 'waiting', 'blocked')`,
    `create index operation_dropped on operation (id) where state = 'dropped'`,
  ];
}

/** What SQLite's planner is told of a grown store, as in migration 1. */
const EXPECTED: readonly string[] = [
  ...[
    ['session', 'session_of_conversation', '100000 4 1'],
    ['conversation', 'conversation_fenced', '100 1'],
    ['operation', 'sqlite_autoindex_operation_1', '100000 1'],
    ['operation', 'operation_of_conversation', '100000 20 1'],
    ['operation', 'operation_due', '100 2 1'],
    ['operation', 'operation_tried', '10 2 1'],
    ['operation', 'operation_open', '100 1 1'],
    ['operation', 'operation_only', '100 1'],
    ['operation', 'operation_dropped', '100 1'],
  ].map(
    ([table, index, rows]) =>
      `insert into sqlite_stat1 (tbl, idx, stat) values ('${table}', '${index}', '${rows}')`,
  ),
  'analyze sqlite_schema',
];
