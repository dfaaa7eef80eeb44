import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR } from '../../src/kernel/time.ts';
import { hostRow, idOf, messageRow, turnRow } from '../../src/testing/store-rows.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import { restOf, say } from '../support/acts.ts';
import { Installation } from '../support/host.ts';
import { BEGIN, FORMER, oldPlaces, oldTask } from '../support/history.ts';

const OLD = oldTask(1);
const HERE = OLD.conversationId;

test('V9 W-1 a bare stop leaves history alone, also where its turn has no end yet, and its id stops it', async () => {
  const place = new Installation({ exclusive: false });
  const turnId = idOf('turn', 1);
  const of = { conversationId: HERE, taskId: OLD.id, turnId };
  const made = { kind: 'generated', channel: 'wake', state: 'claimed', claimedSeq: 40 } as const;
  await mustPut(
    place.store,
    ...oldPlaces(),
    // Its lease is not over: nobody may close its turn.
    { write: 'host.insert', row: hostRow({ id: FORMER, aliveUntil: BEGIN + HOUR }) },
    { write: 'task.insert', row: OLD },
    { write: 'message.insert', row: messageRow({ ...of, ...made, seq: 39 }) },
    { write: 'turn.insert', row: turnRow({ ...of, id: turnId, hostId: FORMER, firstSeq: 40 }) },
    { write: 'conversation.advance', id: HERE, expectedSeq: 1_000, seq: 1_000, token: 1, turnId },
  );
  const engine = await place.host();
  const task = () => engine.store.query('task.byId', { id: OLD.id });
  const held = await task();
  assert.equal(held?.enrollment, 'held-legacy');
  const [turn] = await place.rows('turn');
  assert.equal(turn?.['state'], 'running');
  await say(engine, HERE, '/stop');
  await restOf(engine);
  assert.deepEqual(await task(), held);
  await say(engine, HERE, `/stop ${OLD.id}`);
  await restOf(engine);
  assert.equal((await task())?.state, 'stopped');
  await engine.stop(0);
});
