// Quick questions to the rows, asked between two steps.
import type { DatabaseSync } from 'node:sqlite';
import type { ApprovalRecord } from '../../src/core/approval/record.ts';
import type { LimiterRecord } from '../../src/core/budget/record.ts';
import type { ExecutionRecord } from '../../src/core/dispatch/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { TaskId } from '../../src/kernel/ids.ts';
import { lookAtUpkeep, NOT_BLOCKED, UPKEEP_UNREST, type UpkeepLook } from './look-upkeep.ts';
import { rowsOf } from './rows.ts';

const ENDED = `('completed','failed','stopped','cancelled','expired')`;

export interface Look {
  hasMessage(id: string): boolean;
  hasStep(id: string): boolean;
  openTasks(): readonly TaskId[];
  /** The same as records. */
  tasks(): readonly TaskRecord[];
  task(id: string): TaskRecord | undefined;
  approvals(): readonly ApprovalRecord[];
  /** What a person may reply to: entries of the outbox and messages. */
  repliable(): readonly string[];
  isApproved(call: { readonly tool: string; readonly input: string }): boolean;
  /** The conversation of the message with this marker. */
  conversationOf(marker: string): string | undefined;
  /** Whether a reply names this marker. */
  isAnswered(marker: string): boolean;
  /** The task that was made of the message with this marker. */
  taskOf(marker: string): string | undefined;
  lastStepOf(turnId: string): { readonly id: string; readonly tries: number } | undefined;
  limiterOf(account: string): LimiterRecord | undefined;
  /** Whether something comes due by itself before `at`, or a provider is looked for. */
  isDueBefore(at: number): boolean;
  hasClosedLimiter(): boolean;
  execution(id: string): ExecutionRecord | undefined;
  /** Workers that the boundary holds. */
  heldWorkers(): readonly ExecutionRecord[];
  isInSafeMode(): boolean;
  /** What a run of the boundary says that it held, tasks and workers. */
  countedBy(boundaryId: string): number;
  /** The next attempt of an assessment or a summary that is farthest away: a provider may have named it (R-5, T-18). */
  lastAttemptAt(): number;
  message(id: string): { readonly state: string } | undefined;
  eventCount(): number;
  /** Whether the host of a turn may still hold it at `now` on a shared store. */
  isHeld(turnId: string, now: number): boolean;
  /** What still has to move: nothing of it is left at rest (V20). */
  unrest(): readonly string[];
  /** Whether nothing of it is left. */
  isAtRest(): boolean;
  readonly upkeep: UpkeepLook;
}

export function lookAt(db: DatabaseSync): Look {
  const message = rowsOf(db, 'select 1 from message where id = ?');
  const step = rowsOf(db, 'select 1 from step where id = ?');
  const open = rowsOf(db, `select id from task where state not in ${ENDED} order by id`);
  const events = rowsOf(db, 'select count(*) as count from event');
  const tasks = rowsOf<TaskRecord>(
    db,
    `select * from task where state not in ${ENDED} order by id`,
  );
  const task = rowsOf<TaskRecord>(db, 'select * from task where id = ?');
  const approvals = rowsOf<ApprovalRecord>(db, `select * from approval order by id`);
  const repliable = rowsOf(
    db,
    `select id from outbox where task_id is not null
    union all select id from message where task_id is not null order by 1`,
  );
  const approved = rowsOf(
    db,
    `select 1 from approval where tool = ? and input = ? and state = 'approved'`,
  );
  const conversation = rowsOf(
    db,
    `select conversation_id as id from message where instr(text, ?) > 0 and kind = 'genuine' limit 1`,
  );
  const reply = rowsOf(db, `select 1 from outbox where kind = 'reply' and instr(text, ?) > 0`);
  const taskOf = rowsOf(db, `select id from task where instr(mandate_text, ?) > 0 limit 1`);
  const lastStep = rowsOf<NonNullable<ReturnType<Look['lastStepOf']>>>(
    db,
    'select id, tries from step where turn_id = ? order by ordinal desc limit 1',
  );
  const limiter = rowsOf<LimiterRecord>(db, 'select * from limiter where account = ?');
  const due = rowsOf(
    db,
    `select 1 from task where due_at <= ? or wait_kind = 'provider'
    union all select 1 from approval where state = 'open' and expires_at <= ?
    union all select 1 from storm where ended_at is null
    union all select 1 from limiter where state <> 'open'`,
  );
  const closed = rowsOf(db, `select 1 from limiter where state <> 'open'`);
  const execution = rowsOf<ExecutionRecord>(db, 'select * from execution where id = ?');
  const heldWorkers = rowsOf<ExecutionRecord>(
    db,
    `select * from execution where enrollment = 'held-legacy' and ended_at is null order by id`,
  );
  const attempt = rowsOf(
    db,
    // A provider of summaries may name an instant that is hours away, and its session waits for it.
    `select coalesce(max(at), 0) as at from (
      select recovery_next_at as at from task where reason = 'interrupted'
      union all select next_attempt_at from operation where state = 'waiting')`,
  );
  const storm = rowsOf(db, 'select 1 from storm where ended_at is null');
  const counted = rowsOf(db, 'select held + workers_held as count from boundary where id = ?');
  const messageState = rowsOf<NonNullable<ReturnType<Look['message']>>>(
    db,
    'select state from message where id = ?',
  );
  const held = rowsOf(
    db,
    `select 1 from turn join host on host.id = turn.host_id
    where turn.id = ? and host.stopped_at is null and host.alive_until > ?`,
  );
  const unrest = rowsOf(
    db,
    `
    select 'turn ' || id || ' is ' || state as what from turn where state <> 'ended'
    union all select 'task ' || id || ' is active' from task
      where state = 'active' and ${NOT_BLOCKED}
    union all select 'task ' || id || ' waits for nothing' from task
      where state = 'waiting' and wait_kind is null and wait_until is null
    union all select 'task ' || id || ' waits for its assessment' from task
      where state = 'waiting' and enrollment <> 'held-legacy' and reason = 'interrupted'
        and ${NOT_BLOCKED}
    union all select 'boundary ' || id || ' has no end' from boundary where ended_at is null
    union all select 'task ' || id || ' has no mark' from task
      where enrollment = 'unmarked' and state not in ${ENDED}
    union all select 'boundary ' || id || ' is not told' from boundary
      where told_at is null and held > 0 and id = (select max(id) from boundary)
        and exists (select 1 from conversation where channel <> 'api')
    union all select 'message ' || message.id || ' is unclaimed' from message
      left join task on task.id = message.task_id
      where message.state = 'unclaimed' and coalesce(task.state, 'active') = 'active'
        and (message.kind = 'command' or message.${NOT_BLOCKED})${UPKEEP_UNREST}
    union all select 'message ' || message.id || ' is claimed and its task ended' from message
      left join task on task.id = message.task_id
      where message.state = 'claimed' and task.state in ${ENDED}
    limit 5`,
  );
  return {
    hasMessage: (id) => message.some(id),
    hasStep: (id) => step.some(id),
    openTasks: () => open.firstColumn() as TaskId[],
    tasks: () => tasks.all(),
    task: (id) => task.first(id),
    approvals: () => approvals.all(),
    repliable: () => repliable.firstColumn().map(String),
    isApproved: ({ tool, input }) => approved.some(tool, input),
    conversationOf: (marker) => conversation.firstColumn(marker)[0] as string | undefined,
    isAnswered: (marker) => reply.some(marker),
    taskOf: (marker) => (marker === '' ? undefined : String(taskOf.firstColumn(marker)[0] ?? '')),
    lastStepOf: (turnId) => lastStep.first(turnId),
    limiterOf: (account) => limiter.first(account),
    isDueBefore: (at) => due.some(at, at),
    hasClosedLimiter: () => closed.some(),
    execution: (id) => execution.first(id),
    heldWorkers: () => heldWorkers.all(),
    lastAttemptAt: () => Number(attempt.firstColumn()[0]),
    isInSafeMode: () => storm.some(),
    countedBy: (id) => Number(counted.firstColumn(id)[0]),
    message: (id) => messageState.first(id),
    eventCount: () => Number(events.firstColumn()[0]),
    isHeld: (turnId, now) => held.some(turnId, now),
    unrest: () => unrest.firstColumn().map(String),
    isAtRest: () => !unrest.some(),
    upkeep: lookAtUpkeep(db),
  };
}
