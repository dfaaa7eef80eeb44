// Two hosts over one PostgreSQL: orders that race for a receipt, for a task and for the log of admins.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSystemClock } from '../../src/adapters/clock/system.ts';
import { createIds, secureRandom } from '../../src/adapters/ids/ids.ts';
import { openPostgres } from '../../src/adapters/store/postgres/open.ts';
import { createEngine } from '../../src/engine/create.ts';
import { verifyAudit } from '../../src/engine/audit/verify.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { TaskId } from '../../src/kernel/ids.ts';
import { say, talkTo } from '../support/acts.ts';
import { ADMIN, ANNA, Installation, says, taskIn } from '../support/host.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

let server: TestPostgres;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

const clock = createSystemClock();
const ids = createIds({ now: () => clock.now(), random: secureRandom });

async function hosts(count: number): Promise<{
  readonly engines: readonly Engine[];
  readonly close: () => Promise<void>;
}> {
  const url = await server.freshUrl();
  const place = new Installation();
  place.model.answer = () => says('');
  const engines: Engine[] = [];
  for (let made = 0; made < count; made += 1) {
    const store = await openPostgres({ url, ids });
    const engine = createEngine(place.parts({ store, clock, ids }));
    await engine.start();
    engines.push(engine);
  }
  const close = async (): Promise<void> => {
    for (const engine of engines) await engine.stop(0);
    for (const { store } of engines) await store.close();
    await place.store.close();
  };
  return { engines, close };
}

test('orders of two hosts at once are each carried out once, and the log is one chain', async (context) => {
  const { engines, close } = await hosts(2);
  context.after(close);
  const [first, second] = engines;
  assert.ok(first !== undefined && second !== undefined);
  const tasks: TaskId[] = [];
  for (let count = 0; count < 6; count += 1) {
    const conversationId = await talkTo(first, `c${count}`);
    await say(first, conversationId, 'Count the files');
    tasks.push((await taskIn(first, conversationId, 'blocked')).id);
  }
  const grant = { turns: 1 };
  const given = { principal: ADMIN, channel: 'api', grant };
  const verdicts = await Promise.all(
    tasks.flatMap((taskId, index) => [
      first.extendTask({ ...given, taskId }),
      second.extendTask({ ...given, taskId }),
      first.extendTask({ ...given, taskId, receiptId: `r${index}` }),
      second.extendTask({ ...given, taskId, receiptId: `r${index}` }),
    ]),
  );
  assert.ok(verdicts.every(({ kind }) => kind === 'ordered'));
  const repeated = verdicts.filter((one) => one.kind === 'ordered' && one.repeated);
  assert.equal(repeated.length, tasks.length, 'of each receipt one was the first');
  for (const id of tasks) {
    const task: TaskRecord | undefined = await first.store.query('task.byId', { id });
    assert.equal(task?.turnsLimit, 53);
  }
  const entries = tasks.length * 3;
  assert.deepEqual(await verifyAudit(second.parts), { kind: 'whole', entries });
  const [one] = tasks;
  assert.ok(one !== undefined);
  const order = { taskId: one, principal: ANNA, channel: 'api' };
  const resumed = await Promise.all([first.resumeTask(order), second.resumeTask(order)]);
  assert.deepEqual(resumed.map(({ kind }) => kind).toSorted(), ['ordered', 'refused']);
});
