import type { Migration, Words } from './migration.ts';

// There are no foreign keys: records are kept for different lengths of time, and a unit may write in
// any order. What refers to what is an invariant that the tests ask of every state they reach.
// A commit writes every page that it touches, hence no index on a column that changes at each step,
// and indexes of what is open, waiting or claimed instead of indexes of everything. What conversations
// write all the time stands in the order of its writing, so that those that write at once share pages;
// what is changed in its place, and seldom, stands in the order of its key.
export const start: Migration = {
  number: 1,
  name: 'start',
  breaking: 'yes',
  sql: (words) => [
    ...conversationTables(words),
    ...inboxTables(words),
    ...taskTables(words),
    ...turnTables(words),
    ...outboxTables(words),
    ...(words.dialect === 'sqlite' ? EXPECTED : []),
  ],
};

function conversationTables({ text, int, plain, keyed }: Words): readonly string[] {
  return [
    `create table host (
      id ${text} primary key not null, pid ${int} not null, started_at ${int} not null,
      alive_until ${int} not null, stopped_at ${int})${plain}`,
    `create table conversation (
      id ${text} not null, agent ${text} not null, channel ${text} not null, address ${text} not null,
      session_id ${text} not null, seq ${int} not null, token ${int} not null, turn_id ${text},
      created_at ${int} not null,
      primary key (id), unique (channel, address))${keyed}`,
    `create table session (
      id ${text} not null, conversation_id ${text} not null, first_seq ${int} not null,
      started_at ${int} not null, ended_at ${int}, primary key (id))${keyed}`,
    `create table event (
      conversation_id ${text} not null, seq ${int} not null, id ${text} not null, type ${text} not null,
      at ${int} not null, by ${text} not null, task_id ${text}, turn_id ${text}, run_id ${text},
      from_state ${text}, to_state ${text}, reason ${text}, data ${text},
      primary key (conversation_id, seq))${plain}`,
    `create index event_of_task on event (task_id, seq) where task_id is not null`,
  ];
}

function inboxTables({ text, int, plain, keyed }: Words): readonly string[] {
  return [
    `create table message (
      conversation_id ${text} not null, seq ${int} not null, id ${text} not null,
      channel ${text} not null, external_id ${text} not null, kind ${text} not null,
      principal ${text} not null, authority ${text} not null, state ${text} not null,
      task_id ${text}, run_id ${text}, turn_id ${text}, claimed_seq ${int}, answer_id ${text},
      at ${int} not null, reply_to ${text}, body_hash ${text} not null, text ${text} not null,
      primary key (conversation_id, seq), unique (id), unique (channel, external_id))${plain}`,
    `create index message_open on message (conversation_id, state, seq) where state <> 'done'`,
    `create index message_waiting on message (at, conversation_id)
      where state = 'unclaimed' and kind <> 'command'`,
    `create index message_command on message (at) where kind = 'command' and state <> 'done'`,
    `create index message_claimed on message (conversation_id, claimed_seq)
      where claimed_seq is not null`,
    `create table idempotency (
      scope ${text} not null, fingerprint ${text} not null, subject_id ${text} not null,
      at ${int} not null, primary key (scope))${keyed}`,
  ];
}

function taskTables({ text, int, plain, keyed }: Words): readonly string[] {
  return [
    `create table task (
      id ${text} primary key not null, conversation_id ${text} not null, agent ${text} not null,
      enrollment ${text} not null, state ${text} not null, reason ${text}, version ${int} not null,
      wait_kind ${text}, wait_id ${text}, wait_until ${int}, deadline ${int},
      turns_limit ${int} not null, turns_used ${int} not null,
      tokens_limit ${int} not null, tokens_used ${int} not null,
      cost_limit ${int} not null, cost_used ${int} not null,
      continuations_limit ${int} not null, continuations_used ${int} not null,
      corrections_used ${int} not null, recovery_epoch ${int} not null,
      recovery_attempts ${int} not null, recovery_lifetime_attempts ${int} not null,
      recovery_next_at ${int}, created_at ${int} not null, changed_at ${int} not null,
      ended_at ${int}, mandate_principal ${text} not null,
      mandate_origin ${text} not null, mandate_at ${int} not null, mandate_hash ${text} not null,
      wait_question ${text}, outcome_data ${text}, mandate_text ${text} not null)${plain}`,
    `create index task_of_conversation on task (conversation_id, id)`,
    `create index task_open on task (conversation_id, id) where ended_at is null`,
    `create index task_ended_otherwise on task (state, id)
      where state in ('failed', 'stopped', 'cancelled', 'expired')`,
    `create table run (
      id ${text} not null, conversation_id ${text} not null, task_id ${text} not null,
      principal ${text} not null, state ${text} not null, outcome_code ${text}, outcome_id ${text},
      created_at ${int} not null, ended_at ${int}, callback_url ${text}, metadata ${text},
      primary key (id))${keyed}`,
    `create index run_of_task on run (task_id)`,
  ];
}

function turnTables({ text, int, plain, keyed }: Words): readonly string[] {
  return [
    `create table turn (
      id ${text} not null, conversation_id ${text} not null, session_id ${text} not null,
      task_id ${text} not null, run_id ${text}, token ${int} not null, host_id ${text} not null,
      state ${text} not null, "end" ${text}, first_seq ${int} not null, started_at ${int} not null,
      ended_at ${int}, primary key (id))${keyed}`,
    `create index turn_of_conversation on turn (conversation_id, first_seq, task_id)`,
    `create index turn_open on turn (host_id) where ended_at is null`,
    `create table step (
      conversation_id ${text} not null, seq ${int} not null, id ${text} not null,
      turn_id ${text} not null, task_id ${text} not null, run_id ${text}, ordinal ${int} not null,
      kind ${text} not null, state ${text} not null, started_at ${int} not null,
      finished_id ${text}, finished_seq ${int}, finished_at ${int}, tool ${text}, call_id ${text},
      repeatable ${text}, error_code ${text}, provider ${text}, model ${text},
      input_tokens ${int}, output_tokens ${int}, cost ${int}, input ${text}, output ${text},
      primary key (turn_id, seq))${plain}`,
  ];
}

function outboxTables({ text, int, plain }: Words): readonly string[] {
  return [
    `create table outbox (
      conversation_id ${text} not null, seq ${int} not null, id ${text} not null, key ${text} not null,
      kind ${text} not null, level ${text}, code ${text}, subject_id ${text}, task_id ${text},
      run_id ${text}, state ${text} not null, at ${int} not null, delivered_at ${int},
      params ${text}, text ${text},
      primary key (conversation_id, seq), unique (id), unique (key))${plain}`,
  ];
}

/**
 * What SQLite's planner is told of a grown store: a conversation has many messages, of which few are
 * open. Without it a whole conversation would be looked through for its few open inputs.
 */
const EXPECTED: readonly string[] = [
  'analyze sqlite_schema',
  ...[
    ['message', 'sqlite_autoindex_message_1', '1000000 1000 1'],
    ['message', 'sqlite_autoindex_message_2', '1000000 1'],
    ['message', 'sqlite_autoindex_message_3', '1000000 100000 1'],
    ['message', 'message_open', '1000 4 2 1'],
    ['message', 'message_waiting', '1000 2 1'],
    ['message', 'message_command', '10 2 1 1'],
    ['message', 'message_claimed', '1000000 1000 1'],
    ['event', 'sqlite_autoindex_event_1', '10000000 10000 1'],
    ['event', 'event_of_task', '10000000 10 1'],
    ['task', 'sqlite_autoindex_task_1', '1000000 1'],
    ['task', 'task_of_conversation', '1000000 1000 1'],
    ['task', 'task_open', '1000 4 1'],
    ['task', 'task_ended_otherwise', '10000 2500 1'],
    ['turn', 'turn', '1000000 1'],
    ['turn', 'turn_of_conversation', '1000000 1000 1 1'],
    ['turn', 'turn_open', '10 5 1'],
    ['step', 'sqlite_autoindex_step_1', '10000000 10 1'],
    ['outbox', 'sqlite_autoindex_outbox_1', '1000000 1000 1'],
    ['outbox', 'sqlite_autoindex_outbox_2', '1000000 1'],
    ['outbox', 'sqlite_autoindex_outbox_3', '1000000 1'],
  ].map(
    ([table, index, rows]) =>
      `insert into sqlite_stat1 (tbl, idx, stat) values ('${table}', '${index}', '${rows}')`,
  ),
  'analyze sqlite_schema',
];
