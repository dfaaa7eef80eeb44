import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR, MINUTE } from '../../src/kernel/time.ts';
import { order, pass, restOf, say, talkTo, wordsOf } from '../support/acts.ts';
import { ADMIN, asks, Installation, judges, OPTIONS, says } from '../support/host.ts';
import { elapse } from '../engine/recovery-support.ts';
import { mortal } from '../engine/upkeep-support.ts';

// A version that is sixteen days younger starts over what the old one had begun.
for (const [name, deadlineMs, states] of [
  ['without a deadline', null, ['blocked order_late', 'blocked recovery_inconclusive']],
  ['with the usual deadline', 7 * DAY, ['expired deadline_passed', 'expired deadline_passed']],
] as const)
  test(`INC-001 weeks-old work ${name} sends nothing after a restart and is told of once`, async () => {
    const place = new Installation();
    const options = { ...OPTIONS, deadlineMs };
    const sent: string[] = [];
    const tool = Promise.withResolvers<void>();
    const at = new Date(place.clock.now() + HOUR).toISOString();
    place.model.answer = (request) => {
      const text = JSON.stringify(request.messages);
      if (text.includes('at half past two')) return asks(['task_wait', { for: 'instant', at }]);
      return asks(['pay', { to: 'C' }]);
    };
    place.tools.perform = (call) => {
      sent.push(call.name);
      tool.resolve();
      return new Promise(() => {});
    };
    const { engine, kill } = await mortal(place, { options });
    // Somebody sits at the terminal: there the report of a start is read.
    const terminal = await engine.openConversation({ channel: 'terminal', principal: ADMIN });
    const late = await order(engine, 'at half past two send X to contact C');
    await restOf(engine);
    const report = await order(engine, 'summarise the report');
    await tool.promise;
    kill();

    place.clock.advance(16 * DAY);
    place.model.answer = () => says('sent X to contact C');
    place.assessor.answer = () => judges('inconclusive', 'it is weeks old');
    const calls = place.model.requests.length;
    for (let start = 0; start < 4; start += 1) {
      const next = await mortal(place, { options });
      await elapse(place, start === 0 ? 10 * MINUTE : MINUTE);
      next.kill();
      const rows = await place.rows('task');
      const now = [late, report].map(({ taskId }) => {
        const row = rows.find(({ id }) => id === taskId);
        return `${String(row?.['state'])} ${String(row?.['reason'])}`;
      });
      assert.deepEqual(now, states, `after start ${start + 1}`);
    }
    assert.equal(place.model.requests.length, calls, '0 model calls of turns');
    assert.deepEqual(sent, ['pay'], 'nothing was sent again');
    const outbox = await place.rows('outbox');
    const digests = outbox.filter(
      (row) => row['conversation_id'] === terminal && row['code'] === 'restart_report',
    );
    assert.equal(digests.length, 1);
    for (const request of ['at half past two', 'summarise the report'])
      assert.match(wordsOf(digests[0] ?? {}), new RegExp(request));
  });

test('INC-001 what a message asks for after the restart is done as ever', async () => {
  const place = new Installation();
  place.model.answer = () => new Promise(() => {});
  const { engine, kill } = await mortal(place);
  const here = await talkTo(engine);
  await say(engine, here, 'old work');
  await pass();
  kill();
  place.clock.advance(16 * DAY);
  place.model.answer = () => says('good morning');
  place.assessor.answer = () => judges('inconclusive');
  const next = await place.host();
  const id = await say(next, here, 'good morning');
  await restOf(next);
  assert.equal((await next.store.query('message.byId', { id }))?.state, 'done');
});
