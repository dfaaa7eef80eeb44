import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { Place, type Ended, type RunningHost } from '../e2e/process.ts';

interface Told {
  readonly problems: number;
  readonly items: readonly {
    readonly level: string;
    readonly code: string;
    readonly subjectId: string | null;
  }[];
  readonly repaired: {
    readonly tasks: readonly string[];
    readonly files: readonly string[];
  } | null;
}

function toldBy(ended: Ended): Told {
  return JSON.parse(ended.stdout) as Told;
}

function codesOf(told: Told, level = 'problem'): readonly string[] {
  return told.items.filter((item) => item.level === level).map(({ code }) => code);
}

/** Parks the newest task as an older version did: without a reason. */
function parkSilently(place: Place): string {
  using db = new DatabaseSync(join(place.data, 'sekisho.db'));
  const row = db.prepare('select id from task order by id desc limit 1').get();
  const id = String(row?.['id']);
  db.prepare(
    `update task set state = 'blocked', reason = null, wait_kind = null, wait_id = null, ended_at = null,
      due_at = null where id = ?`,
  ).run(id);
  return id;
}

async function placeWithTask(): Promise<Place> {
  const place = new Place();
  const host = await place.start();
  await host.client().createRun({ input: 'hello', wait: 20 });
  await host.stop();
  return place;
}

describe('doctor on a stopped host', () => {
  let place: Place;
  before(async () => {
    place = await placeWithTask();
  });
  after(() => place.clear());

  test('says in lines that nothing is wrong, and ends with 0', async () => {
    const ended = await place.run(['doctor']);
    assert.equal(ended.code, 0, ended.stdout + ended.stderr);
    assert.match(ended.stdout, /^ok {2}The records are whole/);
    assert.match(ended.stdout, /\nNothing is wrong\.\n$/);
    assert.equal(ended.stderr, '');
  });

  test('R-11 names a silent task and ends with 1; a repair gives it its reason once', async () => {
    const id = parkSilently(place);
    const ill = await place.run(['doctor', '--json']);
    assert.deepEqual([ill.code, codesOf(toldBy(ill))], [1, ['task_silent']]);
    const mended = await place.run(['doctor', '--repair', '--json']);
    assert.equal(mended.code, 0, mended.stdout);
    assert.deepEqual(toldBy(mended).repaired, { tasks: [id], fences: [], files: [] });
    const again = toldBy(await place.run(['doctor', '--repair', '--json']));
    assert.deepEqual(again.repaired, { tasks: [], fences: [], files: [] });
    const task = JSON.parse((await place.run(['task', id, '--json'])).stdout) as { reason: string };
    assert.equal(task.reason, 'recovery_assessment_failed');
  });

  test('X-6 names what is open to others, and a repair closes it', async () => {
    const file = join(place.data, 'api-key');
    chmodSync(file, 0o644);
    const ill = await place.run(['doctor']);
    assert.equal(ill.code, 1);
    assert.match(ill.stdout, /✗ {3}`\S+api-key` is open to others: its mode is 0644/);
    assert.match(ill.stdout, /\n {6}sekisho doctor --repair\n/);
    const mended = await place.run(['doctor', '--repair']);
    assert.equal(mended.code, 0, mended.stdout);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  test('X-10 names an entry of the log of admins that was altered or removed', async (t) => {
    const forged = await placeWithTask();
    t.after(() => forged.clear());
    const path = join(forged.data, 'sekisho.db');
    parkSilently(forged);
    await forged.run(['doctor', '--repair']);
    parkSilently(forged);
    await forged.run(['doctor', '--repair']);
    const change = (sql: string): void => {
      using db = new DatabaseSync(path);
      db.exec(sql);
    };
    change(`update audit set channel = 'elsewhere' where seq = 2`);
    const altered = toldBy(await forged.run(['doctor', '--json']));
    assert.deepEqual(codesOf(altered), ['audit_broken']);
    change('delete from audit where seq = 1');
    const removed = await forged.run(['doctor']);
    assert.equal(removed.code, 1);
    assert.match(removed.stdout, /tampered with: entry 1 is missing/);
  });

  test('records that are damaged are a finding, whatever else they hold', async (t) => {
    const broken = await placeWithTask();
    t.after(() => broken.clear());
    const path = join(broken.data, 'sekisho.db');
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 20_000, 60_000);
    writeFileSync(path, bytes);
    const ended = await broken.run(['doctor', '--json']);
    assert.equal(ended.code, 1, ended.stderr);
    const [code] = codesOf(toldBy(ended));
    assert.match(String(code), /^store_(?:damaged|unreachable)$/);
    writeFileSync(path, 'no database at all');
    assert.deepEqual(codesOf(toldBy(await broken.run(['doctor', '--json']))), [
      'store_unreachable',
    ]);
  });

  test('a killed host leaves work that was cut, which is no problem', async (t) => {
    const killed = new Place();
    t.after(() => killed.clear());
    const host = await killed.start();
    await host.client().createRun({ input: 'run sleep 30' });
    await begun(host);
    host.signal('SIGKILL');
    await host.child.ended;
    const ended = await killed.run(['doctor', '--json']);
    assert.deepEqual(codesOf(toldBy(ended), 'warning'), ['work_cut']);
    assert.equal(ended.code, 0);
  });

  test('where nothing ran yet it ends with 5', async (t) => {
    const empty = new Place();
    t.after(() => empty.clear());
    for (const args of [['doctor'], ['doctor', '--repair']])
      assert.equal((await empty.run(args)).code, 5);
  });
});

async function begun(host: RunningHost): Promise<void> {
  for (;;) if ((await host.client().status()).runningTurns > 0) return;
}

describe('doctor on a running host', () => {
  test('is asked of that host, which repairs what it has itself', async (t) => {
    const place = new Place();
    t.after(() => place.clear());
    const host = await place.start();
    await host.client().createRun({ input: 'hello', wait: 20 });
    const well = await place.run(['doctor', '--json']);
    assert.deepEqual([well.code, codesOf(toldBy(well))], [0, []]);
    const id = parkSilently(place);
    const mended = await place.run(['doctor', '--repair', '--json']);
    assert.deepEqual(toldBy(mended).repaired?.tasks, [id]);
    const { items } = await host.client().outbox();
    assert.equal(items.filter(({ code }) => code === 'recovery_assessment_failed').length, 1);
  });
});
