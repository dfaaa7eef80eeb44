import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readObject } from '../../src/kernel/json.ts';
import { eventually, heldCall, restOf, say, talkTo } from '../support/acts.ts';
import { ADMIN, ANNA, BEN, Installation, OPTIONS, says, ScriptedModel } from '../support/host.ts';
import { askingToPay, counted, losing, standing, taskOf, type } from '../support/orders.ts';
import type { Model } from '../../src/ports/model.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import { QuickClock, ShakyStore } from '../support/store-faults.ts';

function shownTo(model: ScriptedModel): string {
  return JSON.stringify(model.requests.at(-1)?.messages);
}

test('W-2 /new begins a session that knows nothing of the one before', async () => {
  const place = new Installation();
  const engine = await place.host();
  const conversationId = await talkTo(engine);
  await say(engine, conversationId, 'My name is Anna');
  await restOf(engine);
  for (const command of ['/new', '/reset']) {
    const said = await type(engine, conversationId, command);
    assert.match(said, /^A fresh session begins[^]*Nothing else is open\.$/u);
  }
  await say(engine, conversationId, 'Who am I?');
  await restOf(engine);
  assert.ok(!shownTo(place.model).includes('Anna'));
  const sessions = await place.rows('session');
  assert.deepEqual(
    sessions.map(({ ended_at: ended }) => ended === null),
    [false, false, true],
  );
  const turns = await place.rows('turn');
  assert.deepEqual(
    turns.map((turn) => turn['session_id']),
    [sessions[0]?.['id'], sessions[2]?.['id']],
  );
  await engine.stop(0);
});

test('W-2 INC-104 what waited is set aside with an answer and never comes back to life', async () => {
  const place = new Installation();
  const call = heldCall();
  place.model.answer = () => call.hold();
  const engine = await place.host({ options: { ...OPTIONS, whileBusy: 'wait' } });
  const conversationId = await talkTo(engine);
  await say(engine, conversationId, 'Count the files');
  await call.begun;
  const waiting = await say(engine, conversationId, 'and then delete them');
  const others = await say(engine, conversationId, 'Ben asks too', { principal: BEN });
  const said = await type(engine, conversationId, '/new');
  assert.match(said, /“Count the files”: running[^]*set aside unanswered: 1\.$/u);
  place.model.answer = () => says('done');
  call.release(says('seven'));
  await restOf(engine);
  const message = await engine.store.query('message.byId', { id: waiting });
  assert.deepEqual([message?.state, message?.turnId], ['done', null]);
  assert.ok(message?.answerId !== null);
  const other = await engine.store.query('message.byId', { id: others });
  assert.notEqual(other?.turnId, null, 'what somebody else asked for is not theirs to set aside');
  const [first, second] = await place.rows('turn');
  const [old, fresh] = await place.rows('session');
  assert.equal(first?.['session_id'], old?.['id'], 'its turn goes on where it was asked');
  assert.equal(second?.['session_id'], fresh?.['id']);
  assert.deepEqual(await counted(place, 'task', 'mandate_text'), {
    'Count the files': 1,
    'Ben asks too': 1,
  });
  await engine.stop(0);
});

test('W-2 /new names what remains: tasks, waits, approvals; up to twelve, then a count', async () => {
  const place = new Installation();
  const engine = await place.host();
  const { conversationId, taskId, approval } = await askingToPay(place, engine);
  const few = await type(engine, conversationId, '/new');
  assert.match(few, new RegExp(`“Pay the bill”: waiting for an approval.*${taskId}`, 'u'));
  assert.match(few, new RegExp(`the approval of \`pay\` for “Pay the bill”.*${approval.id}`, 'u'));
  place.model.answer = () => says('');
  for (let count = 0; count < 12; count += 1) {
    await say(engine, conversationId, `Ask ${count}`);
    await restOf(engine);
  }
  const many = await type(engine, conversationId, '/new');
  assert.equal(many.split('\n').filter((line) => /^[▸…■]/u.test(line)).length, 12);
  assert.match(many, /and 2 more$/u);
  await engine.stop(0);
});

test('W-7 a task that no longer fitted starts anew from its request in the fresh session', async () => {
  const place = new Installation();
  place.model.answer = () => says('');
  const engine = await place.host();
  const found = await standing(engine, `Sum up: ${'a lot of words. '.repeat(200)}`);
  // As an older version blocked it, and as background work still is.
  const { version, ...task } = await taskOf(engine, found);
  const row = { ...task, version: version + 1, reason: 'base_too_large' } as const;
  await mustPut(place.store, { write: 'task.save', row });
  place.model.answer = () => says('done');
  const refused = await type(engine, found.conversationId, '/new', BEN);
  assert.match(refused, /blocked/u, 'another’s /new leaves it where it is');
  assert.equal((await taskOf(engine, found)).state, 'blocked');
  const said = await type(engine, found.conversationId, '/new');
  assert.match(said, /“Sum up: a lot of/u);
  await restOf(engine);
  const done = await taskOf(engine, found);
  assert.equal(done.state, 'completed');
  const conversation = await engine.store.query('conversation.byId', { id: found.conversationId });
  assert.equal(done.sessionId, conversation?.sessionId);
  assert.match(shownTo(place.model), /began a fresh session[^]*Sum up: a lot of words/u);
  await engine.stop(0);
});

for (const how of ['unseen', 'lost'] as const)
  test(`/new and /model whose commit is ${how} are carried out once`, async () => {
    const place = new Installation();
    const names = new Set(['session.fresh', 'conversation.model']);
    const shaky = new ShakyStore(place.store, ({ unit }) =>
      names.delete(unit) ? 'unseen' : undefined,
    );
    const lossy = losing(losing(place.store, 'session.fresh'), 'conversation.model');
    const store = how === 'unseen' ? shaky : lossy;
    const engine = await place.host({ store, clock: new QuickClock() });
    const conversationId = await talkTo(engine);
    await type(engine, conversationId, '/new');
    await type(engine, conversationId, '/model configured-model', ADMIN);
    assert.equal((await place.rows('session')).length, 2);
    assert.equal((await place.rows('audit')).length, 1);
    const events = await counted(place, 'event', 'type');
    assert.deepEqual(
      [events['session.started'], events['conversation.model'], events['command.answered']],
      [1, 1, 2],
    );
    await engine.stop(0);
  });

test('T-20 /model shows what is in use and what it costs, and an admin’s choice survives a restart', async () => {
  const place = new Installation();
  const dear = new ScriptedModel(() => says('from the dear one'), 'dear');
  const priced: Model = {
    provider: 'scripted',
    name: 'dear',
    account: dear.account,
    price: 'costs-money',
    rates: { input: 1.25, output: 10 },
    contextWindow: 128_000,
    probe: () => dear.probe(),
    call: (request, live) => dear.call(request, live),
  };
  const models = [place.model, priced];
  const engine = await place.host({ models });
  const conversationId = await talkTo(engine);
  const shown = await type(engine, conversationId, '/model');
  assert.match(shown, /^The model of this conversation is scripted\/configured-model \(free of/u);
  assert.match(shown, /- scripted\/dear \(US\$1\.25 per million tokens in, US\$10\.00 out\)/u);
  assert.match(await type(engine, conversationId, '/model dear', ANNA), /admin/u);
  const typo = await type(engine, conversationId, '/model daer', ADMIN);
  assert.match(typo, /No configured model has the name `daer`\. The nearest is `dear`/u);
  assert.match(await type(engine, conversationId, '/model dear', ADMIN), /uses scripted\/dear/u);
  await engine.stop(0);
  const next = await place.host({ models });
  await say(next, conversationId, 'hello');
  await restOf(next);
  assert.deepEqual([place.model.requests.length, dear.requests.length], [0, 1]);
  assert.match(await type(next, conversationId, '/status'), /as configured: scripted\/dear/u);
  await type(next, conversationId, '/model default', ADMIN);
  await say(next, conversationId, 'hello again');
  await restOf(next);
  assert.deepEqual([place.model.requests.length, dear.requests.length], [1, 1]);
  const entries = (await place.rows('audit')).map(({ before, after }) => [
    readObject(String(before))['model'],
    readObject(String(after))['model'],
  ]);
  assert.deepEqual(entries, [
    [null, 'scripted/dear'],
    ['scripted/dear', null],
  ]);
  await next.stop(0);
});

test('T-20 /context shows by part what fills the window', async () => {
  const place = new Installation();
  const engine = await place.host({ instructions: async () => 'x'.repeat(3_000) });
  const conversationId = await talkTo(engine);
  await say(engine, conversationId, 'y'.repeat(6_000));
  await restOf(engine);
  const said = await type(engine, conversationId, '/context');
  assert.match(said, /of the 128,000 tokens that scripted\/configured-model can see/u);
  assert.match(said, /the instructions: 500$/mu);
  assert.match(said, /what was said and done before, word for word \(turns: 1\): 1,\d{3}$/mu);
  assert.doesNotMatch(said, /summary/u, 'nothing of it is summarised');
  assert.match(said, /kept free for the answer: 12,800$/mu);
  assert.doesNotMatch(said, /room is made/u);
  place.model.contextWindow = 1_600;
  const small = await type(engine, conversationId, '/context');
  assert.match(small, /of the 1,600 tokens/u);
  assert.match(small, /free: 0\n.* the conversation is paused\.$/u);
  await engine.stop(0);
});

test('T-20 /usage counts tokens and money by day, model and task, and says what it cannot count', async () => {
  const place = new Installation();
  const engine = await place.host({ options: { ...OPTIONS, timeZone: 'Pacific/Auckland' } });
  const conversationId = await talkTo(engine);
  await say(engine, conversationId, 'Count the files');
  await restOf(engine);
  place.model.answer = () => {
    const said = says('free');
    return said.kind === 'reply' ? { ...said, usage: { ...said.usage, cost: null } } : said;
  };
  await say(engine, conversationId, 'Ben counts', { principal: BEN });
  await restOf(engine);
  const today = await type(engine, conversationId, '/usage', ADMIN);
  const lines = today.split('\n');
  assert.match(lines[0] ?? '', /: 30 tokens, US\$0\.000003; calls of models: 2\.$/u);
  assert.match(lines[1] ?? '', /^- scripted\/reported-model: 30 tokens/u);
  assert.match(today, /“Count the files”: 15 tokens, US\$0\.000003; calls: 1\. task_/u);
  assert.match(today, /price is not known, so that their cost is not counted: 1\.$/u);
  assert.equal(lines.filter((line) => line.endsWith('nothing was used.')).length, 7);
  const own = await type(engine, conversationId, '/usage', ANNA);
  assert.match(own, /^Your tasks[^]*“Count the files”: 15 tokens, US\$0\.000003\. task_\w+$/u);
  assert.doesNotMatch(own, /Ben/u);
  place.clock.advance(86_400_000);
  const later = await type(engine, conversationId, '/usage', ADMIN);
  assert.match(later.split('\n')[0] ?? '', /nothing was used/u);
  assert.match(later, /: 30 tokens/u);
  await engine.stop(0);
});

test('/clock confirm is an admin’s, is refused while the clock is trusted, and stands in the log', async () => {
  const place = new Installation();
  const engine = await place.host();
  const conversationId = await talkTo(engine);
  assert.match(await type(engine, conversationId, '/clock confirm', ADMIN), /trusted already/u);
  place.clock.jump(7_200_000);
  assert.equal(engine.health().clock.isTrusted, false);
  assert.match(await type(engine, conversationId, '/status'), /The clock is not trusted/u);
  assert.match(await type(engine, conversationId, '/clock confirm', ANNA), /admin/u);
  assert.equal(engine.health().clock.isTrusted, false);
  assert.match(await type(engine, conversationId, '/clock confirm', ADMIN), /trusted again/u);
  assert.equal(engine.health().clock.isTrusted, true);
  const [entry] = await place.rows('audit');
  assert.equal(entry?.['action'], 'clock.confirm');
  assert.equal((await place.rows('audit')).length, 1);
  await engine.stop(0);
});

test('commands answer while a turn runs, and the turn goes on untouched', async () => {
  const place = new Installation();
  const call = heldCall();
  place.model.answer = () => call.hold();
  const engine = await place.host();
  const conversationId = await talkTo(engine);
  await say(engine, conversationId, 'Count the files');
  await call.begun;
  for (const command of ['/context', '/usage', '/model', '/new', '/help'])
    await type(engine, conversationId, command);
  await type(engine, conversationId, '/model configured-model', ADMIN);
  assert.equal(place.model.requests.length, 1);
  call.release(says('seven'));
  await eventually(async () => (await place.rows('turn'))[0]?.['end'] === 'answered');
  await engine.stop(0);
});
