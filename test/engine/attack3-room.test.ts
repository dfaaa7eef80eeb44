// A disk that is full for a while costs no turn what it has paid for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE } from '../../src/kernel/time.ts';
import { fails, Installation, says, taskIn } from '../support/host.ts';
import { eventually, say, talkTo } from '../support/acts.ts';
import { ShakyStore } from '../support/store-faults.ts';

for (const unit of ['turn.retry', 'budget.limit'])
  // At the limiter both what a call came to and the turn of the next one meet it.
  test(`G-6 T-18 a full disk at ${unit} is waited out`, async () => {
    const place = new Installation();
    let refused = 0;
    const store = new ShakyStore(place.store, (seen) => {
      if (seen.unit !== unit) return undefined;
      refused += 1;
      return refused % 3 === 0 ? undefined : 'disk_full';
    });
    place.model.answer = () =>
      place.model.requests.length === 1 ? fails('transient', 'http_503') : says('done');
    const engine = await place.host({ store });
    const here = await talkTo(engine);
    await say(engine, here, 'Count the files');
    await eventually(async () => {
      place.clock.advance(MINUTE / 6);
      const [task] = await place.rows('task');
      return task !== undefined && task['state'] !== 'active';
    });
    assert.equal(refused > 0, true);
    await taskIn(engine, here, 'completed');
    await engine.stop(0);
  });
