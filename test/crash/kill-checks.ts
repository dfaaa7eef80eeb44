import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Witness } from './kill-load.ts';
import type { HostProcess } from './host-process.ts';

export interface KillTally {
  readonly cycles: number;
  readonly acked: number;
  readonly answered: number;
  readonly waiting: number;
  readonly uncertain: number;
}

type Row = Record<string, unknown>;

/** Each task that waits names its way out, in `why` as in its one notice. */
export async function checkWaysOut(host: HostProcess): Promise<void> {
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof host.client.tasks>> = await host.client.tasks({
      state: 'waiting',
      limit: 200,
      ...(cursor === null ? {} : { cursor }),
    });
    for (const { id } of page.items) {
      const why = await host.client.why(id);
      assert.ok(
        why.commands.some(({ command }) => command === `/stop ${id}`),
        `why of ${id} must quote /stop`,
      );
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
}

/** Holds the store against what the outside saw. The host must have ended. */
export function checkStore(folder: string, witness: Witness): KillTally {
  const db = new DatabaseSync(join(folder, 'data/sekisho.db'), { readOnly: true });
  try {
    assert.equal(db.prepare('pragma integrity_check').get()?.['integrity_check'], 'ok');
    assert.deepEqual(db.prepare('pragma foreign_key_check').all(), []);
    const all = (sql: string): Row[] => db.prepare(sql).all();
    checkNothingTwice(all('select * from step'), witness);
    return checkMessages(all, witness);
  } finally {
    db.close();
  }
}

function checkNothingTwice(steps: readonly Row[], witness: Witness): void {
  for (const [key, times] of witness.asked)
    assert.equal(times, 1, `step ${key} was asked for ${times} times`);
  for (const [number, times] of witness.ledger)
    assert.equal(times, 1, `command ${number} ran ${times} times`);
  const finished = steps.filter(
    (step) => step['kind'] === 'tool' && step['tool'] === 'command' && step['state'] === 'finished',
  );
  for (const step of finished) {
    const number = Number(/echo (\d+)/.exec(String(step['input']))?.[1]);
    assert.equal(
      witness.ledger.get(number),
      1,
      `the finished command of job ${number} must have run`,
    );
  }
}

function checkMessages(all: (sql: string) => Row[], witness: Witness): KillTally {
  const messages = new Map(
    all("select * from message where kind = 'genuine'").map((row) => [row['id'], row]),
  );
  const tasks = new Map(all('select * from task').map((row) => [row['id'], row]));
  const replies = count(all("select * from outbox where kind = 'reply'"));
  const notices = all("select * from outbox where kind = 'notice'");
  const interrupted = count(notices.filter(({ code }) => code === 'interrupted'));
  checkAsked(all, notices);
  let answered = 0;
  let waiting = 0;
  for (const [id, number] of witness.acked) {
    const message = messages.get(id);
    assert.ok(message !== undefined, `the acknowledged message ${id} is gone`);
    const taskId = message['task_id'];
    const task = tasks.get(taskId);
    assert.ok(task !== undefined, `message ${number} was claimed by no turn`);
    if (message['state'] === 'done') {
      assert.equal(task['state'], 'completed');
      assert.equal(replies.get(taskId), 1);
      answered += 1;
    } else {
      assert.deepEqual(
        [task['state'], task['reason'], task['wait_kind']],
        ['waiting', 'interrupted', 'assessment'],
      );
      assert.deepEqual([replies.get(taskId) ?? 0, interrupted.get(taskId)], [0, 1]);
      waiting += 1;
    }
  }
  const uncertain = all("select * from step where state = 'uncertain'").length;
  return { cycles: witness.cycles, acked: witness.acked.size, answered, waiting, uncertain };
}

/** A person is asked once about each call whose outcome is unknown (E-2), and told of nothing else. */
function checkAsked(all: (sql: string) => Row[], notices: readonly Row[]): void {
  const asked = all("select * from approval where kind = 'uncertain' and state = 'open'");
  const steps = all("select * from step where state = 'uncertain'");
  assert.deepEqual(count(asked), count(steps));
  assert.deepEqual(count(notices.filter(({ code }) => code === 'uncertain_effect')), count(steps));
  const told = ['interrupted', 'uncertain_effect'];
  assert.deepEqual(
    notices.filter(({ code }) => !told.includes(String(code))),
    [],
  );
}

function count(rows: readonly Row[]): ReadonlyMap<unknown, number> {
  const counts = new Map<unknown, number>();
  for (const row of rows) counts.set(row['task_id'], (counts.get(row['task_id']) ?? 0) + 1);
  return counts;
}
