// Quick questions to the rows about maintenance operations, fences and sessions, asked between two steps.
import type { DatabaseSync } from 'node:sqlite';
import type { ApprovalRecord } from '../../src/core/approval/record.ts';
import type { MessageRecord } from '../../src/core/inbox/record.ts';
import type { OperationRecord } from '../../src/core/maintenance/record.ts';
import type { ConversationRecord, SessionRecord } from '../../src/core/session/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { TurnRecord } from '../../src/core/turn/record.ts';
import { rowsOf, type Rows } from './rows.ts';

export interface UpkeepLook {
  operation(id: string): OperationRecord | undefined;
  /** Running, waiting or blocked. */
  open(): readonly OperationRecord[];
  /** All epochs of all operations of a conversation. */
  epochsOf(conversationId: string): number;
  conversation(id: string): ConversationRecord | undefined;
  session(id: string): SessionRecord | undefined;
  turn(id: string): TurnRecord | undefined;
  message(id: string): MessageRecord | undefined;
  /** Open tasks of a conversation that are not history. */
  tasksOf(conversationId: string): readonly TaskRecord[];
  approvalsOf(conversationId: string): readonly ApprovalRecord[];
  /** Genuine messages that a turn has claimed in a conversation, in their order. */
  said(conversationId: string): readonly MessageRecord[];
}

const OPEN = `('running','waiting','blocked')`;

export function lookAtUpkeep(db: DatabaseSync): UpkeepLook {
  const many = <T>(sql: string): Rows<T>['all'] => rowsOf<T>(db, sql).all;
  const one = <T>(table: string): Rows<T>['first'] =>
    rowsOf<T>(db, `select * from "${table}" where id = ?`).first;
  const epochs = rowsOf(
    db,
    'select coalesce(sum(epoch), 0) as sum from operation where conversation_id = ?',
  );
  return {
    epochsOf: (conversationId) => Number(epochs.firstColumn(conversationId)[0]),
    operation: one('operation'),
    open: many(`select * from operation where state in ${OPEN} order by id`),
    conversation: one('conversation'),
    session: one('session'),
    turn: one('turn'),
    message: one('message'),
    tasksOf: many(`select * from task where conversation_id = ? and ended_at is null
      and enrollment = 'current' order by id`),
    approvalsOf: many(
      `select * from approval where conversation_id = ? and state = 'open' order by id`,
    ),
    said: many(`select * from message where conversation_id = ? and kind = 'genuine'
      and claimed_seq is not null order by claimed_seq`),
  };
}

/** What has to move before a world is at rest: operations, and notices that are held back (V20). */
export const UPKEEP_UNREST = `
    union all select 'operation ' || id || ' is ' || state from operation
      where state in ('running','waiting')
    union all select 'operation ' || id || ' has a try that is out' from operation
      where attempt_at is not null
    union all select 'nobody is told what is kept behind ' || one.id from operation one
      where one.state = 'blocked' and one.is_kept_told = 'no' and exists (
        select 1 from message where conversation_id = one.conversation_id and kind = 'genuine'
          and run_id is null and state = 'unclaimed' and seq > (select max(seq) from event
            where conversation_id = one.conversation_id and type = 'conversation.fence'))`;

/** In such a conversation nothing goes on before an admin says so (M-8). */
export const NOT_BLOCKED = `conversation_id not in
      (select id from conversation where fence = 'blocked')`;
