import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeSeed } from '../../src/core/maintenance/summary.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import { pass, restOf, say, talkTo } from '../support/acts.ts';
import { Installation, says, sumsUp } from '../support/host.ts';
import { operationOf, saysFull, toldOf } from './maintenance-support.ts';

test('M-14 M-19 a summary model with a small window has room for what it wrote and what was written before it', async () => {
  const place = new Installation();
  const window = 2_000;
  place.summariser.contextWindow = window;
  place.summariser.strictWindow = window;
  // As long as it is told that it may.
  place.summariser.answer = ({ system }) => {
    const most = Number(/at most (\d+) characters/.exec(system)?.[1]);
    return sumsUp('s'.repeat(most));
  };
  const engine = await place.host();
  const here = await talkTo(engine);
  place.model.answer = () => says('an answer. '.repeat(200));
  for (let n = 0; n < 6; n += 1) {
    await say(engine, here, 'words of a person. '.repeat(100));
    await restOf(engine);
  }
  const session = await place.store.query('conversation.byId', { id: here });
  assert.ok(session);
  // A model with a larger window has summarised what came before.
  await mustPut(place.store, {
    write: 'session.seed',
    id: session.sessionId,
    seed: writeSeed({
      summary: 'w'.repeat(11_000),
      conditions: [],
      sinceSeq: 0,
      reported: null,
    }),
    cutSeq: 0,
    compactions: 1,
  });
  place.model.answer = () => saysFull('full');
  await say(engine, here, 'one more');
  await pass(200);
  const { state, lifetimeFailures } = await operationOf(place, here);
  assert.deepEqual({ state, lifetimeFailures }, { state: 'done', lifetimeFailures: 0 });
  assert.ok(place.summariser.requests.length > 1, 'it came in pieces');
  assert.deepEqual(await toldOf(place, here), []);
  await engine.stop(0);
});
