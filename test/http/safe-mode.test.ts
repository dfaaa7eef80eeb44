import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { shellCommand } from '../../src/cli/shell.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import { HOUR, MINUTE } from '../../src/kernel/time.ts';
import { say, eventually } from '../support/acts.ts';
import { ADMIN, ANNA, Installation, OPTIONS, taskIn, type GivenParts } from '../support/host.ts';
import { mortal } from '../engine/upkeep-support.ts';
import { openDoor, openDoorOf, type TestDoor } from './door.ts';
import { HELD, openPlace, putTask } from './history.ts';

const STORMY: GivenParts = {
  options: { ...OPTIONS, recovery: { ...OPTIONS.recovery, safeMode: true } },
};

/** The door of a host that has started in safe mode; somebody has sat at its terminal. */
async function doorInSafeMode(context: TestContext): Promise<TestDoor> {
  const place = new Installation();
  for (let count = 0; count < 3; count += 1) {
    const { engine, kill } = await mortal(place, STORMY);
    await engine.openConversation({ channel: 'terminal', address: 'desk', principal: ADMIN });
    kill();
    place.clock.advance(MINUTE);
  }
  return openDoorOf(context, place, { given: () => STORMY });
}

const OFF = { on: false, since: null, until: null };

describe('safe mode at the door', () => {
  test('stands in the status and in what waits for a person until an admin ends it', async (context) => {
    const door = await doorInSafeMode(context);
    const reader = door.client('reader');
    const { safeMode, attention, at } = await reader.status();
    assert.deepEqual(safeMode, {
      on: true,
      since: at,
      until: new Date(door.installation.clock.now() + HOUR).toISOString(),
    });
    const { items } = await reader.attention();
    assert.equal(attention, items.length);
    const [item, ...more] = items;
    const { sentence = '', ...rest } = item ?? {};
    const [storm] = await door.installation.rows('storm');
    assert.deepEqual(rest, {
      level: 'escalation',
      code: 'safe_mode',
      subjectId: storm?.['id'],
      command: '/safe-mode off',
      taskId: null,
    });
    assert.match(sentence, /Safe mode is on since .*`\/safe-mode off`/s);
    assert.equal(shellCommand(rest.command ?? ''), 'sekisho safe-mode off');
    assert.deepEqual(more, []);
    assert.deepEqual(await door.client('ops').endSafeMode(), OFF);
    assert.deepEqual((await reader.status()).safeMode, OFF);
    assert.deepEqual((await reader.attention()).items, []);
  });

  test('is told with the command that ends it', async (context) => {
    const door = await doorInSafeMode(context);
    const { items } = await door.client('reader').outbox();
    const [notice, ...more] = items.filter(({ code }) => code === 'safe_mode');
    assert.match(notice?.text ?? '', /^! The host ended without warning 3 times .*safe-mode off/s);
    assert.deepEqual(more, []);
  });

  test('is in the answer to /status', async (context) => {
    const door = await doorInSafeMode(context);
    const { engine } = door;
    const here = await engine.openConversation({ channel: 'api', principal: ADMIN });
    const id = await say(engine, here, '/status', { principal: ADMIN });
    const answer = async () => (await door.client('ops').message(id)).answer;
    await eventually(async () => (await answer()) !== null);
    assert.match((await answer()) ?? '', /Safe mode is on since .* until .*safe-mode off/s);
  });

  test('R-12: is ended by an admin’s `/safe-mode off`, and by nobody else’s', async (context) => {
    const door = await doorInSafeMode(context);
    const { engine } = door;
    const here = await engine.openConversation({ channel: 'api', principal: ADMIN });
    const typed = async (principal: Principal) => {
      const id = await say(engine, here, '/safe-mode off', { principal });
      const answer = async () => (await door.client('ops').message(id)).answer;
      await eventually(async () => (await answer()) !== null);
      return answer();
    };
    assert.match((await typed(ANNA)) ?? '', /Only an admin/);
    assert.notEqual(engine.health().safeMode, null);
    assert.match((await typed(ADMIN)) ?? '', /^Safe mode is over/);
    assert.equal(engine.health().safeMode, null);
    const [entry, ...more] = await door.installation.rows('audit');
    assert.equal(entry?.['channel'], 'api');
    assert.deepEqual(more, []);
    assert.match((await typed(ADMIN)) ?? '', /Safe mode is not on/);
  });

  test('takes work of people and of callers', async (context) => {
    const door = await doorInSafeMode(context);
    const run = await door.client('runner').createRun({ input: 'hello' });
    const here = run.conversationId as `conv_${string}`;
    assert.equal((await taskIn(door.engine, here, 'completed')).id, run.taskId);
  });

  const REFUSED: readonly [who: 'runner' | 'reader' | 'ops', body: unknown, said: string][] = [
    ['runner', { on: false }, '403 forbidden'],
    ['reader', { on: false }, '403 forbidden'],
    ['ops', { on: true }, '422 invalid'],
    ['ops', {}, '422 invalid'],
    ['ops', { on: 'false' }, '422 invalid'],
    ['ops', { on: false, hours: 1 }, '422 invalid'],
  ];
  for (const [who, body, said] of REFUSED) {
    test(`is not ended by ${who} with ${JSON.stringify(body)}`, async (context) => {
      const door = await doorInSafeMode(context);
      const key = { key: who, body };
      const { status, json } = await door.ask('POST', '/v1/admin/safe-mode', key);
      assert.equal(`${status} ${String(json['code'])}`, said);
      assert.notEqual(door.engine.health().safeMode, null);
      assert.deepEqual(await door.installation.rows('audit'), []);
    });
  }

  test('that is off is a conflict to end, and changes nothing', async (context) => {
    const door = await openDoor(context);
    const before = await door.counts();
    const asked = { key: 'ops', body: { on: false } } as const;
    const { status, json } = await door.ask('POST', '/v1/admin/safe-mode', asked);
    assert.equal(`${status} ${String(json['code'])}`, '409 no_safe_mode');
    assert.deepEqual(await door.counts(), before);
    assert.deepEqual((await door.client('reader').status()).safeMode, OFF);
  });
});

describe('what was interrupted, and what is history', () => {
  test('is counted in the status; all that is held is one line of what waits for a person', async (context) => {
    const door = await openDoor(context);
    const reader = door.client('reader');
    const none = { interrupted: 0, assessing: [], held: 0 };
    assert.deepEqual((await reader.status()).recovery, none);
    const here = await openPlace(door);
    for (let count = 0; count < 3; count += 1) await putTask(door, here, HELD);
    const { recovery, attention } = await reader.status();
    assert.deepEqual(recovery, { ...none, held: 3 });
    const { items } = await reader.attention();
    assert.equal(attention, 1);
    const { sentence = '', ...rest } = items[0] ?? {};
    assert.deepEqual(rest, {
      level: 'info',
      code: 'held_legacy',
      subjectId: door.engine.health().hostId,
      command: '/tasks held',
      taskId: null,
    });
    assert.match(sentence, /^3 older tasks were found .*`\/task-resume ID`/);
  });
});
