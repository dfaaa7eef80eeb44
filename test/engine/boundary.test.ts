import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runBoundary } from '../../src/engine/boundary/run.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import { idOf, turnRow } from '../../src/testing/store-rows.ts';
import { mustPut, plain } from '../../src/testing/store-calls.ts';
import { DAY, HOUR } from '../../src/kernel/time.ts';
import { eventually, everyRow, restOf, wordsOf } from '../support/acts.ts';
import { Installation, judges, says } from '../support/host.ts';
import {
  BEGIN,
  BY_INPUT,
  BY_READY,
  BY_RUNNING,
  importHistory,
  MISBOUND,
  oldMessage,
  oldPlaces,
  oldTask,
  PROVEN,
  STRAYS,
  UNPROVEN,
} from '../support/history.ts';
import { ShakyStore } from '../support/store-faults.ts';

const HOST = idOf('host', 1);
/** All but the proven ones. */
const HELD = UNPROVEN + 1;

async function tasksOf({ store }: Pick<Installation, 'store'>): Promise<readonly TaskRecord[]> {
  const any = { state: '', enrollment: '', conversationId: '', before: '~', limit: 1_000 };
  return plain(await store.query('task.list', any));
}

/** What the boundary may change of a task that it holds. */
const STANDING: ReadonlySet<string> = new Set([
  'enrollment',
  'state',
  'reason',
  'version',
  'waitKind',
  'waitId',
  'waitUntil',
  'waitQuestion',
  'dueAt',
  'changedAt',
  'outcomeData',
]);

function evidenceOf(task: TaskRecord): unknown {
  return Object.fromEntries(Object.entries(task).filter(([field]) => !STANDING.has(field)));
}

/** Everything that a boundary leaves, without what names the host and the place of a row. */
async function leftBy(place: Installation): Promise<unknown> {
  const { task, message, execution, run, event, boundary } = await everyRow(place);
  const ofEvents = (event ?? []).map(({ conversation_id, seq, type, task_id, to_state, data }) => ({
    conversation_id,
    seq,
    type,
    task_id,
    to_state,
    data,
  }));
  const counts = (boundary ?? []).map(({ held, kept, workers_held }) => [held, kept, workers_held]);
  return { task, message, execution, run, ofEvents, counts };
}

describe('the boundary over an import', () => {
  test('B-3 B-4 only the three that ongoing work proves go on, and the rest stays as it was', async () => {
    const place = new Installation();
    await importHistory(place.store);
    const before = await tasksOf(place);
    const rowsBefore = await everyRow(place);
    place.assessor.answer = () => judges('continue');
    place.model.answer = () => says('done');
    const engine = await place.host();
    await eventually(() => place.model.requests.length >= PROVEN.length);
    await restOf(engine);

    const after = new Map((await tasksOf(place)).map((task) => [task.id, task]));
    const ended = PROVEN.map((id) => [after.get(id)?.enrollment, after.get(id)?.state]);
    assert.deepEqual(
      ended,
      PROVEN.map(() => ['current', 'completed']),
    );
    // A message that no turn had claimed is simply next; the others are assessed first, each once.
    assert.equal(place.assessor.requests.length, 2);
    assert.equal(place.model.requests.length, 3);

    let held = 0;
    for (const task of before) {
      if (PROVEN.includes(task.id)) continue;
      const now = after.get(task.id);
      assert.ok(now !== undefined);
      held += 1;
      assert.deepEqual(
        [now.enrollment, now.state, now.reason, now.dueAt],
        ['held-legacy', 'blocked', 'held_legacy', null],
      );
      assert.deepEqual(evidenceOf(now), evidenceOf(task), task.id);
      const { was } = JSON.parse(now.outcomeData ?? '') as { readonly was: object };
      const { state, reason, waitKind, waitUntil, changedAt: since, outcomeData } = task;
      assert.deepEqual(
        { ...was },
        {
          ...was,
          state,
          reason,
          waitKind,
          waitUntil,
          since,
          outcomeData: outcomeData === null ? null : (JSON.parse(outcomeData) as unknown),
        },
      );
    }
    assert.equal(held, HELD);
    assert.equal(after.get(MISBOUND)?.enrollment, 'held-legacy');
    // Steps and turns of before are as they were.
    const rowsAfter = await everyRow(place);
    for (const table of ['step', 'turn'] as const) {
      const kept = (rowsAfter[table] ?? []).slice(0, rowsBefore[table]?.length);
      assert.deepEqual(kept, rowsBefore[table]);
    }
    await engine.stop(0);
  });

  test('B-4 generated inputs of what is held are set aside, and nothing that a person said is', async () => {
    const place = new Installation();
    await importHistory(place.store);
    await runBoundary(place.parts(), HOST);
    const messages = await place.rows('message');
    const held = messages.filter(({ state }) => state === 'held');
    assert.equal(held.length, 46);
    assert.ok(held.every(({ kind, turn_id }) => kind === 'generated' && turn_id === null));
    const said = messages.filter(({ kind }) => kind === 'genuine');
    assert.deepEqual(
      Map.groupBy(said, ({ state }) => state)
        .get('unclaimed')
        ?.map((row) => row['task_id']),
      [BY_INPUT],
    );
  });

  test('B-9 a worker is current where its task is and where it is bound to it, else kept and fenced', async () => {
    const place = new Installation();
    await importHistory(place.store);
    await runBoundary(place.parts(), HOST);
    const workers = await place.rows('execution');
    const current = workers.filter(({ enrollment }) => enrollment === 'current');
    assert.deepEqual(
      current.map((row) => [row['task_id'], row['state']]),
      [
        [BY_READY, 'ready'],
        [BY_RUNNING, 'running'],
      ],
    );
    const fenced = workers.filter(({ enrollment }) => enrollment === 'held-legacy');
    assert.equal(fenced.length, STRAYS + 1);
    assert.ok(fenced.every(({ state }) => state === 'running'));
  });

  test('B-10 one summary tells how many are held, and no message for each', async () => {
    const place = new Installation();
    await importHistory(place.store);
    let engine = await place.host();
    await restOf(engine);
    await engine.stop(0);
    engine = await place.host();
    await restOf(engine);
    const notices = (await place.rows('outbox')).filter(({ kind }) => kind === 'notice');
    const summaries = notices.filter((row) => wordsOf(row).includes(String(HELD)));
    assert.equal(summaries.length, 1);
    assert.match(wordsOf(summaries[0] ?? {}), /`\/tasks held`.*`\/task-resume ID`/s);
    const ofHeld = (await tasksOf(place)).filter((task) => task.enrollment === 'held-legacy');
    const ids = new Set<unknown>(ofHeld.map(({ id }) => id));
    assert.equal(notices.filter(({ task_id }) => ids.has(task_id)).length, 0);
    await engine.stop(0);
  });

  test('B-10 whatever the clock does meanwhile, each is counted once', async () => {
    for (const jump of [-HOUR, HOUR]) {
      const place = new Installation();
      await importHistory(place.store);
      const shaky = new ShakyStore(place.store, () => {
        place.clock.jump(jump);
        return undefined;
      });
      const drawn = await runBoundary(place.parts({ store: shaky }), HOST);
      assert.deepEqual([drawn?.held, drawn?.kept, drawn?.workersHeld], [HELD, 3, STRAYS + 1]);
    }
  });

  test('B-2 killed before or after any of its commits it comes to the same result', async () => {
    const whole = new Installation();
    await importHistory(whole.store);
    const seen = new ShakyStore(whole.store);
    const drawn = await runBoundary(whole.parts({ store: seen }), HOST);
    assert.deepEqual([drawn?.held, drawn?.kept, drawn?.workersHeld], [HELD, 3, STRAYS + 1]);
    const reference = await leftBy(whole);
    assert.ok(seen.seen.length >= 6, seen.seen.join(', '));

    for (let at = 0; at < seen.seen.length; at += 1) {
      for (const mishap of ['hangs', 'hangs-after'] as const) {
        const place = new Installation();
        await importHistory(place.store);
        const { promise: died, resolve } = Promise.withResolvers<void>();
        const shaky = new ShakyStore(place.store, ({ index }) => {
          if (index < at) return undefined;
          if (index === at) resolve();
          return index === at ? mishap : 'hangs';
        });
        void runBoundary(place.parts({ store: shaky }), HOST);
        await died;
        await new Promise(setImmediate);
        await runBoundary(place.parts(), idOf('host', 2));
        assert.deepEqual(await leftBy(place), reference, `${mishap} at ${seen.seen[at]} ${at}`);
      }
    }
  });

  test('B-2 a commit whose outcome stays unknown, or that is refused for a while, changes nothing', async () => {
    for (const mishap of ['unseen', 'busy'] as const) {
      const place = new Installation();
      await importHistory(place.store);
      const shaky = new ShakyStore(place.store, ({ index }) =>
        index % 2 === 0 ? mishap : undefined,
      );
      const work = runBoundary(place.parts({ store: shaky }), HOST);
      let isOver = false;
      void work.finally(() => (isOver = true));
      await eventually(() => {
        place.clock.advance(1);
        return isOver;
      });
      assert.equal(
        (await tasksOf(place)).filter((t) => t.enrollment === 'held-legacy').length,
        HELD,
      );
      const [row] = await place.rows('boundary');
      assert.deepEqual(
        [row?.['held'], row?.['kept'], row?.['workers_held']],
        [HELD, 3, STRAYS + 1],
      );
    }
  });

  test('B-2 it is committed before anything that was restored is released', async () => {
    const place = new Installation();
    await importHistory(place.store);
    const shaky = new ShakyStore(place.store);
    const engine = await place.host({ store: shaky });
    const last = shaky.seen.lastIndexOf('boundary.end');
    assert.ok(last > 0);
    const before = new Set(shaky.seen.slice(0, last));
    assert.deepEqual(
      before,
      new Set(['lease.start', 'boundary.begin', 'boundary.tasks', 'boundary.workers']),
    );
    await restOf(engine);
    await engine.stop(0);
  });

  test('a start that finds nothing unmarked looks once and writes nothing', async () => {
    const place = new Installation();
    await importHistory(place.store);
    await runBoundary(place.parts(), HOST);
    const before = await everyRow(place);
    const shaky = new ShakyStore(place.store);
    assert.equal(await runBoundary(place.parts({ store: shaky }), idOf('host', 2)), undefined);
    assert.deepEqual(shaky.seen, ['boundary.begin']);
    assert.deepEqual(await everyRow(place), before);
  });

  test('a second import is ruled by a run of its own, and what is marked stays', async () => {
    const place = new Installation();
    await importHistory(place.store);
    const first = await runBoundary(place.parts(), HOST);
    place.clock.advance(DAY);
    await mustPut(place.store, { write: 'task.insert', row: oldTask(500) });
    const second = await runBoundary(place.parts(), HOST);
    assert.notEqual(second?.id, first?.id);
    assert.deepEqual([second?.held, second?.kept, second?.workersHeld], [1, 0, 0]);
    assert.equal((await place.rows('boundary')).length, 2);
  });

  test('A-2 whoever waits for the run of a held task is told that it failed', async () => {
    const place = new Installation();
    await importHistory(place.store);
    await runBoundary(place.parts(), HOST);
    const runs = await place.rows('run');
    assert.ok(runs.length > 10);
    for (const run of runs)
      assert.deepEqual([run['state'], run['outcome_code']], ['failed', 'held_legacy']);
    const failed = (await place.rows('event')).filter(({ type }) => type === 'run.failed');
    assert.equal(failed.length, runs.length);
  });

  test('B-1 what is asked for here is current, whatever an import left beside it', async () => {
    const place = new Installation();
    await mustPut(place.store, ...oldPlaces(), { write: 'task.insert', row: oldTask(0) });
    const engine = await place.host();
    await engine.acceptMessage({
      conversationId: oldTask(0).conversationId,
      text: 'Something new',
      principal: { kind: 'key', id: 'anna', isAdmin: false },
    });
    await restOf(engine);
    const made = (await tasksOf(place)).filter(({ id }) => id !== oldTask(0).id);
    assert.deepEqual(
      made.map(({ enrollment, state }) => [enrollment, state]),
      [['current', 'completed']],
    );
    await engine.stop(0);
  });

  test('B-3 an input that a turn had claimed and not finished keeps its task, which is assessed', async () => {
    const place = new Installation();
    const turn = { id: idOf('turn', 7), taskId: idOf('task', 7) };
    const conversationId = oldTask(7).conversationId;
    await mustPut(
      place.store,
      ...oldPlaces(),
      { write: 'task.insert', row: oldTask(7) },
      {
        write: 'message.insert',
        row: oldMessage(7, { state: 'claimed', turnId: turn.id, claimedSeq: 60 }),
      },
      { write: 'turn.insert', row: turnRow({ ...turn, conversationId, hostId: idOf('host', 9) }) },
      {
        write: 'conversation.advance',
        id: conversationId,
        expectedSeq: 1_000,
        seq: 1_000,
        token: 1,
        turnId: turn.id,
      },
    );
    place.assessor.answer = () => judges('end', 'nobody needs it');
    const engine = await place.host();
    await eventually(async () => (await tasksOf(place))[0]?.state === 'failed');
    assert.equal(place.assessor.requests.length, 1);
    assert.equal(place.model.requests.length, 0);
    await engine.stop(0);
  });

  test('T-6 an eight-day-old polling window that ended seven days ago never wakes its task', async () => {
    for (const enrollment of ['unmarked', 'current'] as const) {
      const place = new Installation();
      const window = {
        state: 'waiting',
        reason: null,
        waitKind: null,
        waitUntil: BEGIN - 7 * DAY,
        dueAt: BEGIN - 7 * DAY,
      } as const;
      await mustPut(place.store, ...oldPlaces(), {
        write: 'task.insert',
        row: oldTask(1, { ...window, enrollment }),
      });
      const states = new Set<string>();
      for (let start = 0; start < 5; start += 1) {
        const engine = await place.host();
        for (let tick = 0; tick < 200; tick += 1) {
          place.clock.advance(30_000);
          await new Promise(setImmediate);
          const [task] = await tasksOf(place);
          states.add(String(task?.state));
        }
        await engine.stop(0);
      }
      assert.ok(!states.has('active'), [...states].join(', '));
      const [task] = await tasksOf(place);
      const reason = enrollment === 'current' ? 'wait_elapsed' : 'held_legacy';
      assert.deepEqual([task?.state, task?.reason], ['blocked', reason]);
      assert.equal(place.model.requests.length + place.assessor.requests.length, 0);
    }
  });
});
