import type { Migration, Words } from './migration.ts';

// Whether interrupted work may go on, what an import leaves unmarked, and the records of workers.
// New columns stand behind the old ones and have a default, so that a host of version 2 that still runs
// on a shared store fails at nothing. It may not start on it anew: it would let interrupted work go on
// by a person's word alone, wake and expire what the boundary holds, and take an end of its own host
// for a clean one.
export const recovery: Migration = {
  number: 3,
  name: 'recovery',
  breaking: 'yes',
  sql: (words) => [
    ...columns(words),
    ...VALUES,
    ...INDEXES,
    ...executionTable(words),
    ...recordTables(words),
    ...(words.dialect === 'sqlite' ? EXPECTED : []),
  ],
};

function columns({ text, int }: Words): readonly string[] {
  return [
    `alter table host add column "end" ${text}`,
    `alter table task add column order_at ${int}`,
    `alter table task add column recovery_state ${text} not null default 'none'`,
    `alter table task add column recovery_outcome ${text}`,
    `alter table task add column recovery_granted_at ${int}`,
  ];
}

/** How a host of before ended is not known: none of them begins a storm. Nothing has been assessed yet. */
const VALUES: readonly string[] = [
  `update host set "end" = 'clean' where stopped_at is not null`,
  `update task set recovery_state = 'needed'
    where ended_at is null and state = 'waiting' and wait_kind = 'assessment'`,
];

// None of them holds ordinary active work, whatever a save of it sets: it touches none of their pages.
const INDEXES: readonly string[] = [
  `create index task_assessable on task (coalesce(recovery_next_at, 0), id)
    where enrollment = 'current' and state = 'waiting' and wait_kind = 'assessment'`,
  `create index task_granted on task (id)
    where recovery_state = 'granted' and enrollment = 'current' and ended_at is null`,
  `create index task_silent on task (id)
    where enrollment = 'current' and reason is null and ended_at is null
      and (state = 'blocked' or (state = 'waiting' and wait_kind is null))`,
  `create index task_reported on task (changed_at, id)
    where enrollment = 'current' and state in ('blocked', 'expired')`,
  `create index task_unmarked on task (enrollment, id, conversation_id, ended_at)
    where enrollment = 'unmarked' and ended_at is null`,
  `create index task_not_current on task (enrollment, id, ended_at) where enrollment <> 'current'`,
  // What is open, with its task: the boundary looks through it without its rows. It costs the same pages.
  `drop index message_open`,
  `create index message_open on message (conversation_id, state, seq, task_id)
    where state <> 'done'`,
  `drop index turn_open`,
  `create index turn_open on turn (host_id, started_at, task_id, ended_at)
    where ended_at is null`,
  `create index event_of_boundary on event (type, at) where type in ('task.held', 'task.enrolled')`,
  `create index conversation_read on conversation (id) where channel <> 'api'`,
  `create index outbox_not_delivered on outbox (state, id) where state <> 'delivered'`,
  `create index host_lost on host (stopped_at, id) where "end" = 'lost'`,
];

function executionTable({ text, int, plain }: Words): readonly string[] {
  return [
    `create table execution (
      id ${text} primary key not null, task_id ${text}, mandate_hash ${text},
      conversation_id ${text}, enrollment ${text} not null, state ${text} not null,
      version ${int} not null, host_id ${text}, deadline ${int}, created_at ${int} not null,
      changed_at ${int} not null, ended_at ${int}, job ${text} not null,
      outcome ${text})${plain}`,
    `create index execution_of_task on execution (task_id, id) where task_id is not null`,
    `create index execution_running on execution (id)
      where enrollment = 'current' and state = 'running'`,
    `create index execution_not_completed on execution (state, id) where state <> 'completed'`,
    `create index execution_unmarked on execution (id)
      where enrollment = 'unmarked' and ended_at is null`,
    `create index execution_not_current on execution (enrollment, id, changed_at)
      where enrollment <> 'current'`,
  ];
}

function recordTables({ text, int, plain }: Words): readonly string[] {
  return [
    `create table boundary (
      id ${text} primary key not null, started_at ${int} not null, ended_at ${int},
      held ${int} not null, kept ${int} not null, workers_held ${int} not null,
      told_at ${int})${plain}`,
    `create table storm (
      id ${text} primary key not null, since ${int} not null, last_at ${int} not null,
      ended_at ${int}, ended_by ${text})${plain}`,
    `create table report (
      id ${text} primary key not null, at ${int} not null, outbox_id ${text} not null)${plain}`,
  ];
}

/**
 * What SQLite's planner is told of a grown store, as in migration 1. What an import left unmarked is
 * much for a moment and then nothing: it is told of the much.
 */
const EXPECTED: readonly string[] = [
  `delete from sqlite_stat1 where idx in ('message_open', 'turn_open')`,
  ...[
    ['task', 'task_assessable', '1000 2 1'],
    ['task', 'task_granted', '10 1'],
    ['task', 'task_silent', '10 1'],
    ['task', 'task_reported', '1000 2 1'],
    ['task', 'task_unmarked', '10000 10000 1 1 1'],
    ['task', 'task_not_current', '100000 50000 1 1'],
    ['message', 'message_open', '1000 4 2 1 1'],
    ['turn', 'turn_open', '10 5 1 1 1 1'],
    ['event', 'event_of_boundary', '10000 5000 2'],
    ['conversation', 'conversation_read', '100 1'],
    ['outbox', 'outbox_not_delivered', '1000 500 1'],
    ['host', 'host_lost', '10 2 1'],
    ['execution', 'sqlite_autoindex_execution_1', '100000 1'],
    ['execution', 'execution_of_task', '100000 4 1'],
    ['execution', 'execution_running', '100 1'],
    ['execution', 'execution_not_completed', '10000 2000 1'],
    ['execution', 'execution_unmarked', '1000 1'],
    ['execution', 'execution_not_current', '10000 5000 1 1'],
    ['boundary', 'sqlite_autoindex_boundary_1', '10 1'],
    ['storm', 'sqlite_autoindex_storm_1', '10 1'],
    ['report', 'sqlite_autoindex_report_1', '1000 1'],
  ].map(
    ([table, index, rows]) =>
      `insert into sqlite_stat1 (tbl, idx, stat) values ('${table}', '${index}', '${rows}')`,
  ),
  'analyze sqlite_schema',
];
