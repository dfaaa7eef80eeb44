// One look of the upkeep, with nobody who takes up what it lets go on.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Upkeep } from '../../src/engine/task/upkeep.ts';
import { commitHostStart } from '../../src/engine/lease/host.ts';
import { Live } from '../../src/engine/turn/live.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { pass, restOf, say, talkTo } from '../support/acts.ts';
import { fails, Installation, OPTIONS, type GivenParts } from '../support/host.ts';
import { ShakyStore } from '../support/store-faults.ts';
import { mortal, noticesOf, taskRow, waiting, waitsAsAsked } from './upkeep-support.ts';

/** The upkeep of a host that runs no turns. */
async function upkeepOf(place: Installation, given: GivenParts = {}) {
  const parts = place.parts(given);
  const hostId = place.ids.next('host');
  await commitHostStart(parts, hostId);
  const faults: unknown[] = [];
  const upkeep = new Upkeep({
    parts,
    live: new Live(),
    hostId,
    poke: () => {},
    interrupt: () => {},
    assess: () => {},
    mayWake: () => true,
    running: () => [],
    onFault: (error) => faults.push(error),
  });
  await upkeep.begin();
  void upkeep.open().catch((error: unknown) => faults.push(error));
  await pass();
  return { upkeep, faults };
}

/** So many tasks that wait for their instant, left by a host that stopped cleanly. */
async function left(
  place: Installation,
  count: number,
  text = 'in 90 s',
): Promise<readonly string[]> {
  waitsAsAsked(place);
  const engine = await place.host();
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1)
    ids.push((await waiting(engine, text, `lane ${index}`)).id);
  await restOf(engine);
  await engine.stop(0);
  return ids;
}

async function active(place: Installation): Promise<number> {
  return (await place.rows('task')).filter(({ state }) => state === 'active').length;
}

describe('one look', () => {
  test('settles everything that is due, however much it is', async () => {
    const place = new Installation();
    const many = LIMITS.dueMax + 9;
    await left(place, many);
    const { upkeep } = await upkeepOf(place);
    place.clock.jump(90 * SECOND);
    await upkeep.tick();
    assert.equal(await active(place), many);
    await upkeep.close();
  });

  test('settles what it can when one of it fails, and that at the next look', async () => {
    const place = new Installation();
    await left(place, 20);
    const store = new ShakyStore(place.store);
    const { upkeep, faults } = await upkeepOf(place, { store });
    let tries = 0;
    store.mishap = ({ unit }) => {
      if (unit === 'task.due') tries += 1;
      return unit === 'task.due' && tries === 1 ? 'disk_full' : undefined;
    };
    place.clock.jump(90 * SECOND);
    await upkeep.tick();
    assert.equal(faults.length, 1);
    assert.equal(await active(place), 19, 'what failed once is due still');
    await upkeep.tick();
    assert.equal(await active(place), 20, 'and looked at again');
    await upkeep.close();
  });

  test('that finds something due which cannot be moved comes again ever later', async () => {
    const place = new Installation();
    await left(place, 1, 'in 20 s');
    const store = new ShakyStore(place.store);
    const { upkeep, faults } = await upkeepOf(place, { store });
    store.mishap = ({ unit }) => (unit === 'task.due' ? 'disk_full' : undefined);
    for (let passed = 0; passed < 5 * MINUTE; passed += SECOND) {
      place.clock.advance(SECOND);
      await pass(2);
    }
    assert.ok(faults.length >= 4 && faults.length <= 8, `${faults.length} looks in five minutes`);
    await upkeep.close();
  });

  test('comes at the earlier of what it knows and what it is told', async () => {
    const place = new Installation();
    const [id] = await left(place, 1, 'in 20 s');
    const { upkeep } = await upkeepOf(place);
    upkeep.hint(place.clock.now() + 25 * SECOND);
    place.clock.advance(20 * SECOND);
    await pass();
    assert.equal((await taskRow(place, id!))['state'], 'active');
    await upkeep.close();
  });

  test('comes before the tick when it is told of something nearer, and never after the end', async () => {
    const place = new Installation();
    const [id] = await left(place, 1);
    const { upkeep } = await upkeepOf(place);
    place.clock.jump(90 * SECOND);
    upkeep.hint(place.clock.now() + 5 * SECOND);
    place.clock.advance(5 * SECOND);
    await pass();
    assert.equal((await taskRow(place, id!))['state'], 'active');
    await upkeep.close();
    upkeep.hint();
    await upkeep.tick();
  });
});

describe('the tasks of a provider that shows a sign of life', () => {
  test('T-18 go on one by one while nobody has found out yet', async () => {
    const place = new Installation();
    place.model.alive = false;
    place.model.answer = () => fails('transient', 'connect');
    const { engine } = await mortal(place);
    for (let index = 0; index < 3; index += 1)
      await say(engine, await talkTo(engine, `lane ${index}`), 'hello');
    for (let passed = 0; passed < 40; passed += 1) {
      place.clock.advance(SECOND);
      await pass(3);
    }
    await restOf(engine);
    await engine.stop(0);
    place.model.alive = true;
    const { upkeep } = await upkeepOf(place);
    for (let passed = 0; passed < 6; passed += 1) {
      place.clock.advance(5 * SECOND);
      await pass();
      upkeep.hint();
      await pass();
    }
    assert.equal(await active(place), 1, 'whatever it is told');
    place.clock.advance(OPTIONS.tickMs);
    await upkeep.tick();
    assert.equal(await active(place), 2, 'the first may have been stopped');
    await upkeep.close();
  });
});

test('R-1 a wait that a host beside a living one settles was not interrupted', async () => {
  const place = new Installation({ exclusive: false });
  waitsAsAsked(place);
  const options = { ...OPTIONS, leaseMs: HOUR };
  const one = await mortal(place, { options });
  const task = await waiting(one.engine, 'in 90 s');
  place.clock.advance(SECOND);
  const { upkeep } = await upkeepOf(place, { options });
  one.kill();
  place.clock.advance(89 * SECOND);
  await upkeep.tick();
  assert.equal((await taskRow(place, task.id))['state'], 'active');
  assert.deepEqual(await noticesOf(place, task.id), ['awaits_instant']);
  await upkeep.close();
});
