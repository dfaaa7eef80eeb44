import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { storeFault } from '../../src/adapters/store/fault.ts';
import type { AuditRecord } from '../../src/core/audit/record.ts';
import { repair } from '../../src/engine/doctor/repair.ts';
import type { Store } from '../../src/ports/store.ts';
import { ANNA, Installation } from '../support/host.ts';
import {
  BY_ADMIN,
  codesOf,
  HELD,
  noticesOf,
  of,
  open,
  planted,
  REASON,
  SILENT,
} from './doctor-support.ts';

describe('tasks that stand still without a reason', () => {
  test('R-11 are listed, refused by a reset, and given the reason and its notice once', async (t) => {
    const place = new Installation();
    const engine = await open(t, place);
    const task = await planted(place, engine, SILENT);
    const waiting = await planted(place, engine, { ...SILENT, state: 'waiting' }, 'there');
    const held = await planted(place, engine, HELD, 'elsewhere');

    const found = await engine.examine();
    assert.deepEqual(
      of(found, 'task_silent')
        .map(({ subjectId }) => String(subjectId))
        .toSorted(),
      [task.id, waiting.id].toSorted(),
    );
    assert.deepEqual(
      of(found, 'tasks_held').map(({ data }) => data),
      [{ held: 1, tasks: [held.id] }],
    );
    const reset = { ...BY_ADMIN, taskId: task.id };
    const early = await engine.resetBudget(reset);
    assert.ok(early.kind === 'refused' && early.code === 'not_budget_blocked');

    const repaired = await engine.repair(BY_ADMIN);
    assert.ok(repaired.kind === 'repaired');
    assert.deepEqual(repaired.tasks.toSorted(), [task.id, waiting.id].toSorted());
    const again = await engine.repair(BY_ADMIN);
    assert.deepEqual(again, { kind: 'repaired', tasks: [], fences: [], files: [] });

    for (const { id } of [task, waiting]) {
      const now = await engine.store.query('task.byId', { id });
      assert.deepEqual([now?.state, now?.reason, now?.recoveryAttempts], ['blocked', REASON, 3]);
      assert.equal(now === undefined ? 0 : (await noticesOf(now, engine)).length, 1);
    }
    assert.deepEqual(await engine.store.query('task.byId', { id: held.id }), held);
    assert.equal((await noticesOf(held, engine)).length, 0);

    const opened = await engine.resetBudget(reset);
    assert.ok(opened.kind === 'ordered' && opened.task.waitKind === 'assessment');
    assert.equal(opened.task.recoveryEpoch, task.recoveryEpoch + 1);
    assert.ok(!(await codesOf(engine)).includes('task_silent'));
  });

  test('R-11 a repair that was cut between two of them does the rest when it is given again', async (t) => {
    const place = new Installation();
    const engine = await open(t, place);
    const tasks = [];
    for (const address of ['a', 'b', 'c'])
      tasks.push(await planted(place, engine, SILENT, address));
    let commits = 0;
    const store: Store = {
      ...place.store,
      commit: (unit) => {
        commits += 1;
        const isCut = commits === 2;
        return isCut ? Promise.reject(storeFault('io', 'cut')) : place.store.commit(unit);
      },
    };
    const { hostId } = engine.health();
    await assert.rejects(repair(place.parts({ store }), { ...BY_ADMIN, hostId }));
    const rest = await engine.repair(BY_ADMIN);
    assert.ok(rest.kind === 'repaired' && rest.tasks.length === tasks.length - 1);
    for (const task of tasks) assert.equal((await noticesOf(task, engine)).length, 1);
    const entries = await place.rows('audit');
    assert.deepEqual(
      entries.map(({ subject_id: id }) => String(id)).toSorted(),
      tasks.map(({ id }) => id).toSorted(),
    );
  });

  test('R-11 two repairs at once tell of each task once', async (t) => {
    const place = new Installation();
    const engine = await open(t, place);
    const task = await planted(place, engine, SILENT);
    await Promise.all([engine.repair(BY_ADMIN), engine.repair(BY_ADMIN)]);
    assert.equal((await noticesOf(task, engine)).length, 1);
    assert.equal((await place.rows('audit')).length, 1);
  });

  test('only an admin repairs, and a refusal changes nothing', async (t) => {
    const place = new Installation();
    const engine = await open(t, place);
    const task = await planted(place, engine, SILENT);
    const refused = await engine.repair({ principal: ANNA, channel: 'api' });
    assert.ok(refused.kind === 'refused' && refused.code === 'forbidden');
    assert.deepEqual(await engine.store.query('task.byId', { id: task.id }), task);
    assert.deepEqual(await place.rows('audit'), []);
  });

  test('what a repair did stands in the history of the task and in the log of admins', async (t) => {
    const place = new Installation();
    const engine = await open(t, place);
    const task = await planted(place, engine, SILENT);
    await engine.repair(BY_ADMIN);
    const events = (await place.rows('event')).filter(({ task_id: id }) => id === task.id);
    const said = events.find(({ type }) => type === 'recovery.state');
    assert.deepEqual(JSON.parse(String(said?.['data'])), {
      recovery: 'needed',
      epoch: 1,
      attempts: 3,
      lifetime: 3,
      by: 'repair',
    });
    const [entry] = await place.rows('audit');
    assert.deepEqual([entry?.['action'], entry?.['subject_id']], ['task.repair', task.id]);
    assert.deepEqual(of(await engine.examine(), 'audit_whole').length, 1);
  });
});

describe('the log of admin actions', () => {
  /** A log of four entries, read as these rows. */
  async function auditedAs(
    t: TestContext,
    change: (rows: readonly AuditRecord[]) => readonly AuditRecord[],
  ) {
    const place = new Installation();
    const engine = await open(t, place);
    for (const address of ['a', 'b', 'c', 'd']) await planted(place, engine, SILENT, address);
    await engine.repair(BY_ADMIN);
    const forged: Store = {
      ...place.store,
      query: async (read, args) => {
        const rows = await place.store.query(read, args);
        if (read !== 'audit.after') return rows;
        const shown: unknown = change(rows as readonly AuditRecord[]);
        return shown as typeof rows;
      },
    };
    const second = await open(t, place, { store: forged });
    const found = await second.examine();
    return found.find(({ code }) => code.startsWith('audit_'));
  }

  test('X-10 an entry that was altered, removed or reordered is named', async (t) => {
    const whole = await auditedAs(t, (rows) => rows);
    assert.deepEqual([whole?.code, whole?.data['entries']], ['audit_whole', 4]);
    const altered = await auditedAs(t, (rows) =>
      rows.map((row) => (row.seq === 2 ? { ...row, after: '{}' } : row)),
    );
    const removed = await auditedAs(t, (rows) => rows.filter(({ seq }) => seq !== 3));
    const reordered = await auditedAs(t, (rows) =>
      rows
        .map((row) => ({ ...row, seq: SWAPPED[row.seq] ?? row.seq }))
        .toSorted((a, b) => a.seq - b.seq),
    );
    assert.deepEqual(
      [altered, removed, reordered].map((one) => [one?.code, one?.level, one?.data]),
      [
        ['audit_broken', 'problem', { seq: 2, what: 'altered' }],
        ['audit_broken', 'problem', { seq: 3, what: 'missing' }],
        ['audit_broken', 'problem', { seq: 2, what: 'displaced' }],
      ],
    );
  });
  const SWAPPED: Readonly<Record<number, number>> = { 2: 3, 3: 2 };
});
