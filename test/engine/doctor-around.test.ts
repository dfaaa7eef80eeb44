import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FINDINGS } from '../../src/engine/doctor/findings.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { DAY, HOUR } from '../../src/kernel/time.ts';
import type { PremisesReport } from '../../src/ports/premises.ts';
import type { Store } from '../../src/ports/store.ts';
import { fails, Installation, says } from '../support/host.ts';
import { eventually, order, say, talkTo } from '../support/acts.ts';
import {
  BY_ADMIN,
  codesOf,
  noticesOf,
  of,
  open,
  plant,
  planted,
  REASON,
  SILENT,
} from './doctor-support.ts';

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
      [['turns'], ['summary']],
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
    const { id } = row;
    await plant(place, { write: 'boundary.add', id, held: 4, kept: 0, workersHeld: 1 });
    await plant(place, { write: 'boundary.end', id, endedAt: at });
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
    const mended = { kind: 'repaired', tasks: [], fences: [], files: ['/state/api-key'] };
    assert.deepEqual(repaired, mended);
    assert.deepEqual(await engine.repair(BY_ADMIN), {
      kind: 'repaired',
      tasks: [],
      fences: [],
      files: [],
    });
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
