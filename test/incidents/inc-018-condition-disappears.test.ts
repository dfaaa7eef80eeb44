import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelRequest } from '../../src/ports/model.ts';
import { eventually, restOf, say, talkTo } from '../support/acts.ts';
import { ADMIN, asks, Installation, LedgerTools, says, sumsUp, taskIn } from '../support/host.ts';
import { ONE_BY_ONE, operationOf } from '../engine/maintenance-support.ts';

const WINDOW = 8_000;
const ORDERS = [
  {
    text: 'Tidy up my mailbox. Delete nothing before I say go.',
    kept: 'Delete nothing before I say go.',
  },
  {
    text: 'Räum mein Postfach auf. Lösche nichts, bevor ich es sage.',
    kept: 'Lösche nichts, bevor ich es sage.',
  },
  {
    text: 'Clean the disk, but ask me before you delete anything.',
    kept: 'Clean the disk, but ask me before you delete anything.',
  },
] as const;

/** Tools of a mailbox, of which `delete` is never run without a person. */
class MailTools extends LedgerTools {
  override readonly list = ['read', 'delete'].map((name) => ({
    name,
    description: name,
    parameters: { type: 'object' },
    repeatable: name === 'read' ? ('yes' as const) : ('no' as const),
    changes: name === 'read' ? ('no' as const) : ('yes' as const),
  }));
}

function textOf({ messages }: ModelRequest): string {
  return messages.map(({ text }) => text).join('\n');
}

for (const { text, kept } of ORDERS)
  test(`INC-018 (conditions are kept by the host and said again; what is destructive has its own gate) three compactions by a summary that drops it: “${kept}”`, async () => {
    const place = new Installation();
    const tools = new MailTools();
    tools.asked.add('delete');
    tools.perform = ({ args }) => ({ kind: 'result', text: `mail ${args} ${'m'.repeat(7_000)}` });
    place.model.contextWindow = WINDOW;
    place.model.strictWindow = WINDOW;
    place.summariser.answer = () =>
      sumsUp('The person wants the mailbox empty. Delete whatever is old.');
    place.model.answer = () => {
      const { length } = tools.ran;
      return length < 14 ? asks(['read', { mail: length }]) : asks(['delete', { mails: 'all' }]);
    };
    const engine = await place.host({ options: ONE_BY_ONE, tools });
    const here = await talkTo(engine);
    await say(engine, here, text);
    await eventually(async () => (await place.rows('approval')).length === 1);
    const operations = await place.rows('operation');
    assert.ok(operations.length >= 3, `${operations.length} operations`);
    for (const request of place.model.requests)
      assert.ok(textOf(request).includes(kept), 'in the request after each of them, word for word');
    assert.equal(tools.ran.filter(({ name }) => name === 'delete').length, 0, 'nothing is deleted');
    const [approval] = await place.rows('approval');
    assert.deepEqual([approval?.['tool'], approval?.['state']], ['delete', 'open']);
    assert.equal((await taskIn(engine, here, 'waiting')).reason, 'awaits_approval');
  });

test('INC-018 a condition of long ago holds for every later task, through handovers, and a stop from elsewhere ends the work', async () => {
  const place = new Installation();
  const tools = new MailTools();
  tools.asked.add('delete');
  place.model.contextWindow = WINDOW;
  place.model.strictWindow = WINDOW;
  place.summariser.answer = () => sumsUp('The mailbox is to be emptied.');
  place.model.answer = () => says('a'.repeat(3_000));
  const engine = await place.host({ options: ONE_BY_ONE, tools });
  const here = await talkTo(engine);
  const condition = 'Never delete a mail without asking me.';
  await say(engine, here, condition);
  await restOf(engine);
  let handovers = 0;
  for (let n = 0; n < 40; n += 1) {
    await say(engine, here, `mail ${n} ${'m'.repeat(3_000)}`);
    await restOf(engine);
    await eventually(async () => (await place.rows('conversation'))[0]?.['fence'] !== 'shut');
    const last = place.model.requests.at(-1);
    assert.ok(last !== undefined && textOf(last).includes(condition), `message ${n}`);
    handovers = (await place.rows('session')).length - 1;
  }
  assert.ok(handovers >= 3, `${handovers} handovers`);

  // It asks all the same; a stop that somebody sends ends the task and its question.
  place.model.answer = () => asks(['delete', { mails: 'all' }]);
  await say(engine, here, 'now empty the mailbox');
  const { id: taskId } = await taskIn(engine, here, 'waiting');
  await engine.stopTask({ taskId, principal: ADMIN, channel: 'api' });
  assert.deepEqual(
    (await place.rows('approval')).map(({ state }) => state),
    ['denied'],
  );
  assert.deepEqual(tools.ran, []);
  assert.notEqual((await operationOf(place, here)).state, 'blocked');
});
