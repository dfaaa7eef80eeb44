import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECOND } from '../../src/kernel/time.ts';
import type { ExecutionRecord } from '../../src/core/dispatch/record.ts';
import { order, pass, say, talkTo } from '../support/acts.ts';
import { asks, Installation } from '../support/host.ts';
import { openDoorOf } from '../http/door.ts';
import { elapse, taskOf } from '../engine/recovery-support.ts';
import { mortal } from '../engine/upkeep-support.ts';

test('INC-005 R-14 after a kill nothing says that it is running, and nothing holds the next drain up', async (context) => {
  const place = new Installation();
  place.model.answer = () => asks(['look', {}]);
  place.tools.perform = () => new Promise(() => {});
  const { engine, kill } = await mortal(place);
  const { taskId, conversationId } = await order(engine, 'with a worker');
  await order(engine, 'another order');
  await say(engine, await talkTo(engine), 'a message');
  await pass();
  const { mandateHash } = await taskOf(place, taskId);
  const { hostId } = engine.health();
  await place.store.commit({
    name: 'test.worker',
    reads: {},
    decide: (_rows, { now, ids }) => {
      const worker: ExecutionRecord = {
        id: ids.next('execution'),
        taskId,
        mandateHash,
        conversationId,
        enrollment: 'current',
        state: 'running',
        version: 1,
        hostId,
        job: 'count the files',
        outcome: null,
        deadline: null,
        createdAt: now,
        changedAt: now,
        endedAt: null,
      };
      return { verdict: undefined, writes: [{ write: 'execution.insert', row: worker }] };
    },
  });
  kill();

  // Each assessment fails, so that nothing goes on meanwhile.
  const door = await openDoorOf(context, place);
  await elapse(place, 30 * SECOND);
  const running = async (): Promise<readonly unknown[]> => [
    ...(await place.rows('turn')).filter((row) => row['state'] !== 'ended'),
    ...(await place.rows('execution')).filter((row) => row['state'] === 'running'),
    ...(await place.rows('task')).filter((row) => row['state'] === 'active'),
  ];
  assert.deepEqual(await running(), []);
  const { hostId: next } = door.engine.health();
  const rows = async (): Promise<unknown> => [await place.rows('task'), await place.rows('turn')];
  const before = await rows();
  for (let list = 0; list < 2; list += 1) {
    assert.equal((await door.ask('GET', '/v1/tasks', { key: 'ops' })).status, 200);
    assert.equal((await door.ask('GET', '/v1/status', { key: 'ops' })).status, 200);
  }
  assert.deepEqual(await rows(), before, 'looking changes nothing');
  // A drain that waited for a record would wait for this grace, which no clock lets pass.
  await door.engine.stop(600 * SECOND);
  const host = (await place.rows('host')).find((row) => row['id'] === next);
  assert.equal(host?.['end'], 'clean');
});
