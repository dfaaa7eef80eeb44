import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asks, Installation, says, taskIn } from '../support/host.ts';
import { say, talkTo } from '../support/acts.ts';

/** Characters that every table holds after a turn of so many calls, each with 5 kB of result. */
async function storedAfter(calls: number): Promise<number> {
  const place = new Installation();
  place.model.answer = (request) => {
    const made = request.messages.filter(({ role }) => role === 'tool').length;
    return made < calls ? asks(['look', { at: made }]) : says('seen');
  };
  place.tools.perform = ({ args }) => ({ kind: 'result', text: `${args} ${'x'.repeat(5_000)}` });
  const engine = await place.host();
  const here = await talkTo(engine);
  await say(engine, here, 'look around');
  await taskIn(engine, here, 'completed');
  await engine.stop(0);
  const tables = ['step', 'message', 'event', 'outbox', 'turn', 'task'];
  const rows = await Promise.all(tables.map((table) => place.rows(table)));
  return JSON.stringify(rows).length;
}

// A turn has at most 100 steps, so the incident's 1,000 calls are 45 here, and the growth is compared.
test('INC-094 what a turn stores grows with what is new in it, not with the whole context a step', async () => {
  const few = await storedAfter(15);
  const many = await storedAfter(45);
  assert.ok(many / few < 3.2, `${few} characters for 15 calls, ${many} for 45`);
  assert.ok(many < 45 * 8_000);
});
