// Quick questions to the rows, asked between two steps.
import type { DatabaseSync } from 'node:sqlite';
import type { TaskId } from '../../src/kernel/ids.ts';

const ENDED = `('completed','failed','stopped','cancelled','expired')`;

export interface Look {
  hasMessage(id: string): boolean;
  hasStep(id: string): boolean;
  openTasks(): readonly TaskId[];
  eventCount(): number;
  /** Whether the host of a turn may still hold it at `now` on a shared store. */
  isHeld(turnId: string, now: number): boolean;
  /** What still has to move: nothing of it is left at rest (V20). */
  unrest(): readonly string[];
}

export function lookAt(db: DatabaseSync): Look {
  const message = db.prepare('select 1 from message where id = ?');
  const step = db.prepare('select 1 from step where id = ?');
  const open = db.prepare(`select id from task where state not in ${ENDED} order by id`);
  const events = db.prepare('select count(*) as count from event');
  const held = db.prepare(`select 1 from turn join host on host.id = turn.host_id
    where turn.id = ? and host.stopped_at is null and host.alive_until > ?`);
  const unrest = db.prepare(`
    select 'turn ' || id || ' is ' || state as what from turn where state <> 'ended'
    union all select 'task ' || id || ' is active' from task where state = 'active'
    union all select 'task ' || id || ' waits for nothing' from task
      where state = 'waiting' and wait_kind is null
    union all select 'message ' || message.id || ' is unclaimed' from message
      left join task on task.id = message.task_id
      where message.state = 'unclaimed' and coalesce(task.state, 'active') = 'active'
    union all select 'message ' || message.id || ' is claimed and its task ended' from message
      left join task on task.id = message.task_id
      where message.state = 'claimed' and task.state in ${ENDED}
    limit 5`);
  return {
    hasMessage: (id) => message.get(id) !== undefined,
    hasStep: (id) => step.get(id) !== undefined,
    openTasks: () => open.all().map((row) => row['id'] as TaskId),
    eventCount: () => Number(events.get()?.['count']),
    isHeld: (turnId, now) => held.get(turnId, now) !== undefined,
    unrest: () => unrest.all().map((row) => String(row['what'])),
  };
}
