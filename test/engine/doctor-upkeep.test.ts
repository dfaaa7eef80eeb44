// What the doctor says of maintenance: what an admin has to open, what has been waiting for long, and fences
// that nothing opens any more.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { examine } from '../../src/engine/doctor/examine.ts';
import { FINDINGS } from '../../src/engine/doctor/findings.ts';
import type { Engine, Finding } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { HOUR, MINUTE } from '../../src/kernel/time.ts';
import { shellCommand } from '../../src/cli/shell.ts';
import { EXHAUSTED, putOperation, UNCERTAIN, waitingUntil } from '../http/upkeep.ts';
import { EN, say, talkTo } from '../support/acts.ts';
import { ANNA, Installation, says, until } from '../support/host.ts';
import { sayFinding } from '../../src/text/finding.ts';
import { BY_ADMIN, codesOf, of, open, plant } from './doctor-support.ts';

interface Behind {
  readonly place: Installation;
  readonly installation: Installation;
  readonly engine: Engine;
  readonly here: ConversationId;
}

async function talking(t: TestContext): Promise<Behind> {
  const place = new Installation();
  const engine = await open(t, place);
  return { place, installation: place, engine, here: await talkTo(engine) };
}

const CODES = [
  'operation_blocked',
  'operation_waiting',
  'fence_unowned',
  'fence_missing',
  'operations_more',
];

async function upkeepIn(engine: Engine): Promise<readonly Finding[]> {
  return (await engine.examine()).filter(({ code }) => CODES.includes(code));
}

describe('maintenance that stands still', () => {
  test('M-7 is a problem where an admin has to open it, with the very command', async (t) => {
    const { engine, place, here } = await talking(t);
    const there = await talkTo(engine, 'there');
    const changedAt = place.clock.now();
    const [lost, left] = [
      await putOperation({ engine, installation: place }, here, EXHAUSTED),
      await putOperation({ engine, installation: place }, there, UNCERTAIN),
    ];
    const found = of(await engine.examine(), 'operation_blocked');
    assert.deepEqual(
      found.map(({ subjectId, data, level }) => [level, subjectId, data['command']]),
      [
        ['problem', left, `/admit ${left} handover`],
        ['problem', lost, `/admit ${lost}`],
      ],
    );
    const [, { data } = { data: {} }] = found;
    const since = changedAt;
    assert.deepEqual(data, { ...data, conversationId: here, reason: 'exhausted', since });
    assert.deepEqual(Object.keys(data).toSorted(), [...FINDINGS.operation_blocked.data].toSorted());
    const { sentence, command } = sayFinding(EN, { code: 'operation_blocked', data }, since);
    assert.match(
      sentence,
      new RegExp(`${here} has been paused since .+: making room in it failed`),
    );
    assert.equal(shellCommand(command ?? ''), `sekisho admit ${lost}`);
    const { command: handover } = sayFinding(EN, found[0] ?? { code: '', data: {} }, since);
    assert.equal(shellCommand(handover ?? ''), `sekisho admit ${left} --as handover`);
    assert.deepEqual(await upkeepIn(engine), await upkeepIn(engine), 'and changes nothing');
  });

  test('is worth a line once it has been waiting for more than ten minutes', async (t) => {
    const behind = await talking(t);
    const { engine, place, here } = behind;
    const nextAt = place.clock.now() + 5 * HOUR;
    const id = await putOperation(behind, here, waitingUntil(nextAt));
    assert.deepEqual(await upkeepIn(engine), []);
    place.clock.advance(11 * MINUTE);
    const [slow, ...more] = await upkeepIn(engine);
    assert.deepEqual(more, []);
    assert.deepEqual(
      [slow?.code, slow?.level, slow?.subjectId],
      ['operation_waiting', 'warning', id],
    );
    assert.equal(slow?.data['until'], nextAt);
    const health = { ...engine.health(), state: 'stopped' } as const;
    const stopped = await examine({ parts: engine.parts, health, deadBefore: 0 });
    assert.deepEqual(of(stopped, 'operation_waiting'), [], 'the next start takes it up');
  });

  test('is no finding where a session is only long, or its maintenance is done', async (t) => {
    const behind = await talking(t);
    await putOperation(behind, behind.here, { state: 'done', nextAttemptAt: null, endedAt: 5 });
    await say(behind.engine, await talkTo(behind.engine, 'there'), 'x'.repeat(90_000));
    assert.deepEqual(await upkeepIn(behind.engine), []);
  });
});

describe('a fence that does not fit its maintenance', () => {
  test('M-8 without an open operation is a problem, and a repair opens it once', async (t) => {
    const { engine, place, here } = await talking(t);
    const fence = { fence: 'shut', operationId: place.ids.next('operation') } as const;
    await plant(place, { write: 'conversation.fence', id: here, ...fence });
    await say(engine, here, 'hello?', { principal: ANNA });
    const [found] = of(await engine.examine(), 'fence_unowned');
    assert.deepEqual([found?.level, found?.subjectId], ['problem', here]);
    const refused = await engine.repair({ ...BY_ADMIN, principal: ANNA });
    assert.equal(refused.kind, 'refused');
    assert.ok((await codesOf(engine)).includes('fence_unowned'));

    place.model.answer = () => says('here I am');
    const repaired = await engine.repair(BY_ADMIN);
    assert.deepEqual(repaired, { kind: 'repaired', tasks: [], fences: [here], files: [] });
    const again = await engine.repair(BY_ADMIN);
    assert.deepEqual(again, { kind: 'repaired', tasks: [], fences: [], files: [] });
    const conversation = await engine.store.query('conversation.byId', { id: here });
    assert.deepEqual([conversation?.fence, conversation?.operationId], ['none', null]);
    const [entry] = await place.rows('audit');
    assert.deepEqual([entry?.['action'], entry?.['subject_id']], ['fence.mend', here]);
    assert.equal((await place.rows('audit')).length, 1);
    // What was kept behind it is answered from the next look on.
    place.clock.advance(MINUTE);
    await until(engine, here, async () => {
      const said = await place.rows('message');
      return said.every(({ state }) => state === 'done');
    });
  });

  test('M-8 is no fence before an open operation: a repair holds turns back as that stands', async (t) => {
    const behind = await talking(t);
    const { engine, place, here } = behind;
    const operationId = await putOperation(behind, here, EXHAUSTED);
    await plant(place, {
      write: 'conversation.fence',
      id: here,
      fence: 'none',
      operationId: null,
    });
    assert.ok((await codesOf(engine)).includes('fence_missing'));
    const repaired = await engine.repair(BY_ADMIN);
    assert.ok(repaired.kind === 'repaired');
    assert.deepEqual(repaired.fences, [here]);
    const conversation = await engine.store.query('conversation.byId', { id: here });
    assert.deepEqual([conversation?.fence, conversation?.operationId], ['blocked', operationId]);
    assert.ok(!(await codesOf(engine)).includes('fence_missing'));
  });
});
