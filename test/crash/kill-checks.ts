import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Witness } from './kill-load.ts';

export interface KillTally {
  readonly cycles: number;
  readonly acked: number;
  readonly answered: number;
  /** Turns that a kill has cut, and attempts of assessments. */
  readonly interrupted: number;
  readonly assessments: number;
  readonly resets: number;
  readonly uncertain: number;
  /** Maintenance operations, of them done, tries that a kill has cut, and admissions. */
  readonly operations: number;
  readonly shortened: number;
  readonly cutTries: number;
  readonly admissions: number;
}

type Row = Record<string, unknown>;

/** Holds the store against what the outside saw. The host must have ended. */
export function checkStore(folder: string, witness: Witness): KillTally {
  const db = new DatabaseSync(join(folder, 'data/sekisho.db'), { readOnly: true });
  try {
    assert.equal(db.prepare('pragma integrity_check').get()?.['integrity_check'], 'ok');
    assert.deepEqual(db.prepare('pragma foreign_key_check').all(), []);
    const all = (sql: string): Row[] => db.prepare(sql).all();
    const shortened = all("select * from event where type = 'session.compacted'").length;
    checkNothingTwice(all('select * from step'), witness, shortened);
    return checkMessages(all, witness);
  } finally {
    db.close();
  }
}

function checkNothingTwice(steps: readonly Row[], witness: Witness, shortened: number): void {
  const of = (kind: string): Row[] => steps.filter((step) => step['kind'] === kind);
  const sum = (rows: readonly Row[]): number =>
    rows.reduce((all, row) => all + Number(row['tries']), 0);
  const requests = [...witness.asked.values()].reduce((all, times) => all + times, 0);
  assert.ok(requests <= sum(of('model')), `${requests} requests were made for fewer steps`);
  // A further request for the same is there only where a kill has cut the step that the first was of.
  const cut = steps.filter((step) => step['state'] === 'cut').length;
  // So it is where a session was shortened: what is harmless to do again may be told no more.
  const again = requests - witness.asked.size;
  const most = cut + shortened;
  assert.ok(again <= most, `${again} requests were made again, ${cut} steps were cut`);
  for (const [number, times] of witness.ledger)
    assert.equal(times, 1, `command ${number} ran ${times} times`);
  for (const step of of('tool')) {
    if (step['tool'] !== 'command' || step['state'] !== 'finished') continue;
    // It waits for a person: what runs then is a step of its own.
    if (step['error_code'] === 'asked') continue;
    const number = Number(/echo (\d+)/.exec(String(step['input']))?.[1]);
    const ran = witness.ledger.get(number);
    assert.equal(ran, 1, `the finished command of job ${number} must have run`);
  }
}

function checkMessages(all: (sql: string) => Row[], witness: Witness): KillTally {
  const messages = new Map(
    all("select * from message where kind = 'genuine'").map((row) => [row['id'], row]),
  );
  const tasks = new Map(all('select * from task').map((row) => [row['id'], row]));
  const replies = count(all("select * from outbox where kind = 'reply'"));
  const words = all("select text from outbox where kind = 'reply'").map(({ text }) => text);
  assert.equal(new Set(words).size, words.length, 'something was answered twice');
  checkAsked(all);
  checkAssessments(all);
  checkMaintenance(all);
  for (const [id, number] of witness.acked) {
    const message = messages.get(id);
    assert.ok(message !== undefined, `the acknowledged message ${id} is gone`);
    const taskId = message['task_id'];
    const task = tasks.get(taskId);
    assert.ok(task !== undefined, `message ${number} was claimed by no turn`);
    assert.deepEqual([message['state'], task['state']], ['done', 'completed']);
    assert.ok((replies.get(taskId) ?? 0) > 0, `message ${number} has no answer`);
    assert.notEqual(message['answer_id'], null, `message ${number} is not answered`);
  }
  const { cycles, acked } = witness;
  return {
    cycles,
    acked: acked.size,
    answered: acked.size,
    interrupted: all('select * from turn where "end" = \'interrupted\'').length,
    assessments: all("select * from event where type = 'assessment.reserved'").length,
    resets: all("select * from event where type = 'recovery.reset'").length,
    uncertain: all("select * from step where state = 'uncertain'").length,
    ...maintained(all),
  };
}

function maintained(
  all: (sql: string) => Row[],
): Pick<KillTally, 'operations' | 'shortened' | 'cutTries' | 'admissions'> {
  const moved = all("select * from event where type = 'operation.moved'");
  const cut = moved.filter(({ data }) => String(data).includes('"interrupted"'));
  return {
    operations: all('select * from operation').length,
    shortened: all("select * from operation where state = 'done'").length,
    cutTries: cut.length,
    admissions: all("select * from event where type = 'operation.admitted'").length,
  };
}

/** V7 and V8: behind a fence no turn begins, seven failures are the end, and each block is told once. */
function checkMaintenance(all: (sql: string) => Row[]): void {
  const fences = new Map<unknown, unknown>();
  const events = all('select * from event order by conversation_id, seq');
  for (const { type, conversation_id: room, to_state: to, data } of events) {
    if (type === 'conversation.fence') fences.set(room, to);
    const fence = fences.get(room);
    if (type === 'turn.started')
      assert.ok(fence !== 'shut' && fence !== 'blocked', `a turn began behind ${String(fence)}`);
    if (type !== 'operation.moved') continue;
    const { failures } = JSON.parse(String(data)) as Row;
    assert.ok(Number(failures) <= 7, `${String(failures)} failures of one epoch`);
  }
  const told = all("select * from outbox where level = 'blocked' and subject_id like 'mop_%'");
  const blocked = events.filter(
    (one) => one['type'] === 'operation.moved' && one['to_state'] === 'blocked',
  );
  assert.equal(told.length, blocked.length, 'each block is told once');
  assert.deepEqual(
    all("select id from operation where state in ('running','waiting','blocked')"),
    [],
  );
}

/** R-3 and V6: at most three attempts an epoch, and no turn of a cut task before a `continue`. */
function checkAssessments(all: (sql: string) => Row[]): void {
  const standing = new Map<unknown, 'cut' | 'continue'>();
  const events = all('select * from event where task_id is not null order by conversation_id, seq');
  for (const { type, task_id: taskId, data } of events) {
    const said = typeof data === 'string' ? (JSON.parse(data) as Row) : {};
    if (type === 'turn.ended' && said['end'] === 'interrupted') standing.set(taskId, 'cut');
    if (type === 'assessment.ended' && said['outcome'] === 'continue')
      standing.set(taskId, 'continue');
    if (type === 'assessment.reserved')
      assert.ok(
        Number(said['attempt']) <= 3,
        `attempt ${String(said['attempt'])} of ${String(taskId)}`,
      );
    if (type === 'turn.started')
      assert.notEqual(standing.get(taskId), 'cut', `${String(taskId)} went on by itself`);
  }
}

/** A person is asked once about each call whose outcome is unknown (E-2), and told of each block once (V8). */
function checkAsked(all: (sql: string) => Row[]): void {
  const asked = all("select * from approval where kind = 'uncertain'");
  const steps = all("select * from step where state = 'uncertain'");
  const notices = all("select * from outbox where kind = 'notice' and task_id is not null");
  const told = (code: string): Counts => count(notices.filter((notice) => notice['code'] === code));
  same('questions', count(asked), count(steps));
  same('notices of what is uncertain', told('uncertain_effect'), count(steps));
  for (const reason of BLOCKS) {
    const blocks = all(`select * from event where type = 'task.moved' and reason = '${reason}'`);
    same(`notices of ${reason}`, told(reason), count(blocks));
  }
  const known = ['uncertain_effect', 'awaits_approval', ...BLOCKS];
  assert.deepEqual(
    notices.filter(({ code }) => !known.includes(String(code))),
    [],
  );
}

const BLOCKS = ['recovery_assessment_failed', 'recovery_no_progress'] as const;

/** By their tasks; what differs is named, with how often it was and how often it should have been. */
function same(what: string, found: Counts, wanted: Counts): void {
  const tasks = new Set([...found.keys(), ...wanted.keys()]);
  const others = Array.from(tasks, (id) => [id, found.get(id) ?? 0, wanted.get(id) ?? 0] as const);
  assert.deepEqual(
    others.filter(([, was, should]) => was !== should).map((one) => [what, ...one].join(' ')),
    [],
  );
}

type Counts = ReadonlyMap<unknown, number>;

function count(rows: readonly Row[]): Counts {
  const counts = new Map<unknown, number>();
  for (const row of rows) counts.set(row['task_id'], (counts.get(row['task_id']) ?? 0) + 1);
  return counts;
}
