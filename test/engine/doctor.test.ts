import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { repair } from '../../src/engine/doctor/repair.ts';
import { FINDINGS } from '../../src/engine/doctor/findings.ts';
import type { Engine, Finding } from '../../src/engine/engine.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import { storeFault } from '../../src/adapters/store/fault.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { DAY, HOUR } from '../../src/kernel/time.ts';
import type { PremisesReport } from '../../src/ports/premises.ts';
import type { Store, Write } from '../../src/ports/store.ts';
import {
  ADMIN,
  ANNA,
  asks,
  fails,
  Installation,
  says,
  taskIn,
  type GivenParts,
} from '../support/host.ts';
import { eventually, order, say, talkTo } from '../support/acts.ts';

const BY_ADMIN = { principal: ADMIN, channel: 'api' } as const;
const REASON = 'recovery_assessment_failed';

async function open(
  context: TestContext,
  place: Installation,
  given: GivenParts = {},
): Promise<Engine> {
  const engine = await place.host(given);
  context.after(() => engine.stop(0));
  return engine;
}

/** What an older version or an import may have left: no path of this version writes it. */
async function plant(place: Installation, ...writes: readonly Write[]): Promise<void> {
  const unit = { name: 'test.plant', reads: {}, decide: () => ({ verdict: undefined, writes }) };
  assert.equal((await place.store.commit(unit)).kind, 'done');
}

/** A task that asked a question, as its record becomes with these fields. */
async function planted(
  place: Installation,
  engine: Engine,
  fields: Partial<TaskRecord>,
  address = 'here',
): Promise<TaskRecord> {
  place.model.answer = () => asks(['task_wait', { for: 'answer', question: 'Which?' }]);
  const conversationId = await talkTo(engine, address);
  await say(engine, conversationId, `Sort the papers of ${address}`);
  const task = await taskIn(engine, conversationId, 'waiting');
  const row = { ...task, waitUntil: null, dueAt: null, ...fields, version: task.version + 1 };
  await plant(place, { write: 'task.save', row });
  return row;
}

const SILENT = { state: 'blocked', reason: null, waitKind: null, waitId: null } as const;
const HELD = { ...SILENT, reason: 'held_legacy', enrollment: 'held-legacy' } as const;

function of(found: readonly Finding[], code: string): readonly Finding[] {
  return found.filter((finding) => finding.code === code);
}

async function codesOf(engine: Engine): Promise<readonly string[]> {
  return (await engine.examine()).map(({ code }) => code);
}

async function noticesOf({ id, conversationId }: TaskRecord, { store }: Engine) {
  const args = { conversationId, state: '', before: '~', limit: 100 };
  const entries = await store.query('outbox.list', args);
  return entries.filter(({ code, subjectId }) => code === REASON && subjectId === id);
}

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
        .map(({ subjectId }) => subjectId)
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
    assert.deepEqual(again, { kind: 'repaired', tasks: [], files: [] });

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
      entries.map(({ subject_id: id }) => id).toSorted(),
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
    change: (rows: readonly AuditRow[]) => readonly AuditRow[],
  ) {
    const place = new Installation();
    const engine = await open(t, place);
    for (const address of ['a', 'b', 'c', 'd']) await planted(place, engine, SILENT, address);
    await engine.repair(BY_ADMIN);
    const forged: Store = {
      ...place.store,
      query: async (read, args) => {
        const rows = await place.store.query(read, args);
        return read === 'audit.after' ? (change(rows as readonly AuditRow[]) as typeof rows) : rows;
      },
    };
    const second = await open(t, place, { store: forged });
    const found = await second.examine();
    return found.find(({ code }) => code.startsWith('audit_'));
  }
  type AuditRow = Awaited<ReturnType<Store['query']>> & {
    readonly seq: number;
    readonly after: string;
  };

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

describe('what else is looked at', () => {
  test('a sound installation has no problem, and says what was looked at', async (t) => {
    const place = new Installation();
    const engine = await open(t, place);
    await order(engine, 'hello');
    const found = await engine.examine();
    assert.deepEqual(
      found.filter(({ level }) => level !== 'ok'),
      [],
    );
    for (const { code, data } of found) {
      const allowed: readonly string[] = FINDINGS[code as keyof typeof FINDINGS].data;
      assert.deepEqual(
        Object.keys(data).filter((field) => !allowed.includes(field)),
        [],
      );
    }
  });

  test('it changes nothing', async (t) => {
    const place = new Installation();
    const engine = await open(t, place);
    const task = await planted(place, engine, SILENT);
    const before = await place.rows('event');
    await engine.examine();
    assert.deepEqual(await place.rows('event'), before);
    assert.deepEqual(await engine.store.query('task.byId', { id: task.id }), task);
  });

  test('every configured model is asked for a sign of life at once, each for a bounded time', async (t) => {
    const place = new Installation();
    place.classifier.alive = false;
    const asked: string[] = [];
    const silent = Object.assign(Object.create(place.assessor) as typeof place.assessor, {
      probe: () => {
        asked.push('assessment');
        return new Promise<never>(() => {});
      },
    });
    const engine = await open(t, place, { assessment: silent });
    const examined = engine.examine();
    await eventually(() => asked.length === 1);
    await place.clock.sleeper(LIMITS.probeCallMs);
    place.clock.advance(LIMITS.probeCallMs);
    const found = await examined;
    assert.deepEqual(
      of(found, 'model_unreachable').map(({ data }) => data['uses']),
      [['classifier'], ['assessment']],
    );
    assert.deepEqual(
      of(found, 'model_alive').map(({ data }) => data['uses']),
      [['turns']],
    );
    assert.equal(place.assessor.requests.length, 0);
  });

  test('an account that refuses or is down is a problem', async (t) => {
    const place = new Installation();
    place.model.answer = () => fails('refused', 'http_401', { scope: 'account' });
    const engine = await open(t, place);
    await say(engine, await talkTo(engine), 'hello');
    await eventually(async () => (await codesOf(engine)).includes('account_refused'));
    const [found] = of(await engine.examine(), 'account_refused');
    assert.deepEqual([found?.level, found?.data['detail']], ['problem', 'http_401']);
  });

  test('a clock that is not believed is a problem until it is confirmed', async (t) => {
    const place = new Installation();
    const engine = await open(t, place);
    place.clock.jump(3 * HOUR);
    const [found] = of(await engine.examine(), 'clock_distrusted');
    assert.deepEqual([found?.level, found?.data['driftMs']], ['problem', 3 * HOUR]);
    await engine.confirmClock(BY_ADMIN);
    assert.ok((await codesOf(engine)).includes('clock_believed'));
  });

  test('B-10 a summary that was told to nobody and a boundary without an end are shown', async (t) => {
    const place = new Installation();
    const engine = await open(t, place);
    const at = place.clock.now();
    const row = {
      id: 'bnd_1',
      startedAt: at,
      endedAt: null,
      held: 0,
      kept: 0,
      workersHeld: 0,
      toldAt: null,
    } as const;
    await plant(place, { write: 'boundary.insert', row });
    assert.ok((await codesOf(engine)).includes('boundary_unfinished'));
    await plant(place, {
      write: 'boundary.end',
      row: { ...row, endedAt: at, held: 4, workersHeld: 1 },
    });
    const [untold] = of(await engine.examine(), 'boundary_untold');
    assert.deepEqual(untold?.data, { held: 4, workersHeld: 1, since: at });
    await plant(place, { write: 'boundary.told', id: row.id, toldAt: at });
    assert.ok(!(await codesOf(engine)).includes('boundary_untold'));
  });

  test('R-12 the last storm is shown: as a problem while it is on, then for a week', async (t) => {
    const place = new Installation();
    const engine = await open(t, place);
    const at = place.clock.now();
    const row = { id: 'storm_1', since: at, lastAt: at, endedAt: null, endedBy: null } as const;
    await plant(place, { write: 'storm.insert', row });
    const [on] = of(await engine.examine(), 'safe_mode_on');
    assert.deepEqual([on?.level, on?.data], ['problem', { since: at, until: at + HOUR }]);
    await plant(place, { write: 'storm.end', id: row.id, endedAt: at, endedBy: 'key:ops' });
    assert.deepEqual(
      of(await engine.examine(), 'storm_over').map(({ level }) => level),
      ['warning'],
    );
    place.clock.advance(8 * DAY);
    assert.ok(!(await codesOf(engine)).includes('storm_over'));
  });

  test('R-14 a turn that says that it runs without a living host is named', async (t) => {
    const place = new Installation();
    const engine = await open(t, place);
    const task = await planted(place, engine, {});
    const turn = await engine.store.query('turn.newest', {});
    assert.ok(turn !== undefined);
    const row = {
      ...turn,
      id: 'turn_1',
      hostId: 'host_gone',
      state: 'running',
      end: null,
      endedAt: null,
    } as const;
    await plant(place, { write: 'turn.insert', row });
    const [found] = of(await engine.examine(), 'work_unowned');
    assert.deepEqual(
      [found?.level, found?.subjectId, found?.data['taskId'], found?.data['hostId']],
      ['problem', 'turn_1', task.id, 'host_gone'],
    );
  });

  test('R-6 a blocked task whose notice reached nobody is named, one that was told is not', async (t) => {
    const place = new Installation();
    const engine = await open(t, place);
    const task = await planted(place, engine, { ...SILENT, reason: REASON, recoveryAttempts: 3 });
    const silent = await planted(place, engine, SILENT, 'there');
    await engine.repair(BY_ADMIN);
    const untold = of(await engine.examine(), 'notice_untold');
    assert.deepEqual(
      untold.map(({ subjectId }) => subjectId),
      [task.id],
    );
    assert.equal(untold[0]?.data['command'], `/budget-reset ${task.id}`);
    assert.equal((await noticesOf(silent, engine)).length, 1);
  });

  const REPORT: PremisesReport = {
    folder: '/state',
    files: 3,
    loose: [],
    freeBytes: 5_000_000_000,
    storeBytes: 1,
    logBytes: 2,
    logsBytes: 3,
    version: '1',
    node: '24',
    tz: '2026c',
  };

  test('X-6 a file that is open to others is named, closed by a repair and logged before', async (t) => {
    const place = new Installation();
    const loose = [{ path: '/state/api-key', mode: 0o644, wanted: 0o600 }];
    let report = { ...REPORT, loose };
    const premises = {
      examine: async () => report,
      mend: async () => {
        assert.equal((await place.rows('audit')).length, 1);
        report = { ...REPORT, loose: [] };
        return ['/state/api-key'];
      },
    };
    const engine = await open(t, place, { premises });
    const [found] = of(await engine.examine(), 'file_open');
    assert.deepEqual(found?.data, { path: '/state/api-key', mode: '0644', wanted: '0600' });
    const repaired = await engine.repair(BY_ADMIN);
    assert.deepEqual(repaired, { kind: 'repaired', tasks: [], files: ['/state/api-key'] });
    assert.deepEqual(await engine.repair(BY_ADMIN), { kind: 'repaired', tasks: [], files: [] });
    assert.equal((await place.rows('audit')).length, 1);
    assert.ok((await codesOf(engine)).includes('files_private'));
  });

  test('a disk that runs full is a warning first and then a problem', async (t) => {
    const place = new Installation();
    let freeBytes = 0;
    const premises = {
      examine: async () => ({ ...REPORT, freeBytes }),
      mend: () => Promise.resolve([]),
    };
    const engine = await open(t, place, { premises });
    const levels: string[] = [];
    for (freeBytes of [5_000_000_000, 500_000_000, 1_000])
      levels.push(
        ...(await engine.examine()).flatMap((one) =>
          one.code.startsWith('disk_') ? [one.level] : [],
        ),
      );
    assert.deepEqual(levels, ['ok', 'warning', 'problem']);
  });

  test('records that are damaged are named and not read any further', async (t) => {
    const place = new Installation();
    const asked: string[] = [];
    const store: Store = {
      ...place.store,
      query: (read, args) => {
        asked.push(read);
        return place.store.query(read, args);
      },
      check: async () => ({ depth: 'whole', damage: ['row 7 missing from index', 'and more'] }),
    };
    const engine = await open(t, place, { store });
    const found = await engine.examine();
    const [damaged] = of(found, 'store_damaged');
    assert.deepEqual(
      [damaged?.level, damaged?.data['detail'], damaged?.data['more']],
      ['problem', 'row 7 missing from index', 1],
    );
    assert.deepEqual(
      asked.filter((read) => read === 'audit.after' || read === 'task.silent'),
      [],
    );
    assert.ok(of(found, 'clock_believed').length === 1, 'the others are made all the same');
  });

  test('a check that fails is a finding itself and hides no other', async (t) => {
    const place = new Installation();
    const store: Store = {
      ...place.store,
      query: (read, args) =>
        read === 'task.silent'
          ? Promise.reject(new Error('no such thing'))
          : place.store.query(read, args),
    };
    const engine = await open(t, place, { store });
    const found = await engine.examine();
    assert.deepEqual(
      of(found, 'check_failed').map(({ data }) => data),
      [{ check: 'tasks', detail: 'no such thing' }],
    );
    assert.ok(of(found, 'audit_whole').length === 1);
  });

  test('a task that waits, works or was answered is no finding', async (t) => {
    const place = new Installation();
    const engine = await open(t, place);
    await planted(place, engine, {});
    place.model.answer = () => says('done');
    await say(engine, await talkTo(engine, 'there'), 'hello');
    const found = await engine.examine();
    assert.deepEqual(
      found.filter(({ level }) => level !== 'ok'),
      [],
    );
  });
});
