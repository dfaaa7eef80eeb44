import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_RECOVERY_FAILURES } from '../../src/core/maintenance/record.ts';
import { SECOND } from '../../src/kernel/time.ts';
import { say, talkTo } from '../support/acts.ts';
import { ADMIN, Installation, says } from '../support/host.ts';
import { elapse, operationOf, repliesIn, saysFull, toldOf } from './maintenance-support.ts';

test('M-4 M-10 what an operation works on cannot be read: it fails, is told and is blocked like any other', async () => {
  const place = new Installation();
  let isBroken = false;
  const instructions = (): Promise<string> =>
    isBroken ? Promise.reject(new Error('unreadable')) : Promise.resolve('You are a test.');
  const engine = await place.host({ instructions });
  const here = await talkTo(engine);
  place.model.answer = () => {
    isBroken = true;
    return saysFull('full');
  };
  await say(engine, here, 'one');
  await elapse(place, 200 * SECOND);
  const { id, state, reason, failures } = await operationOf(place, here);
  assert.deepEqual(
    { state, reason, failures },
    { state: 'blocked', reason: 'exhausted', failures: MAX_RECOVERY_FAILURES },
  );
  assert.deepEqual(await toldOf(place, here), ['maintenance_waiting', 'maintenance_exhausted']);
  isBroken = false;
  place.model.answer = () => says('two');
  await say(engine, here, 'and now?');
  await say(engine, here, `/admit ${id}`, { principal: ADMIN });
  await elapse(place, 5 * SECOND);
  assert.deepEqual(await repliesIn(place, here), ['full', 'two']);
  await engine.stop(0);
});
