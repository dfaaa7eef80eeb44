// A hold and its way out, through a whole host: what is said is what helps.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import { explainTask } from '../../src/engine/task/why.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { renderStoredNotice } from '../../src/text/render.ts';
import { ADMIN, asks, Installation, OPTIONS, says, taskIn, until } from '../support/host.ts';

const EN = { locale: 'en', timeZone: 'UTC' } as const;

test('V8: the command of the one notice of a blocked task leaves the state', async (t) => {
  const place = new Installation();
  place.model.answer = () => says('');
  const { engine, conversationId } = await open(t, place);
  await send(engine, conversationId, 'Pay the hosting bill');
  const blocked = await taskIn(engine, conversationId, 'blocked');

  const [notice, ...others] = await notices(engine, conversationId);
  assert.deepEqual(others, []);
  assert.match(notice ?? '', /^■ I could not finish “Pay the hosting bill”: /);
  const command = /`(\/stop [^`]+)`/.exec(notice ?? '')?.[1] ?? '';
  const told = await explainTask(engine.parts, blocked.id, EN);
  assert.deepEqual(
    told?.commands.map((way) => way.command),
    [command],
  );

  await send(engine, conversationId, command.toLowerCase());
  const stopped = await taskIn(engine, conversationId, 'stopped');
  assert.equal(stopped.id, blocked.id);
  const [, said] = await notices(engine, conversationId);
  assert.match(said ?? '', /^▸ “Pay the hosting bill” is stopped\. What was done is kept/);
});

test('W-6: what a crash left says which call is uncertain, in its notice and in why', async (t) => {
  const place = new Installation();
  const started = Promise.withResolvers<void>();
  const never = new Promise<never>(() => {});
  place.model.answer = () => asks(['pay', { sum: 3 }]);
  place.tools.perform = () => {
    started.resolve();
    return never;
  };
  const crashed = await place.host({ tools: place.tools });
  const conversationId = await crashed.openConversation({ channel: 'terminal', principal: ADMIN });
  await send(crashed, conversationId, 'Pay the hosting bill');
  await started.promise;

  const { engine } = await open(t, place);
  const waiting = await taskIn(engine, conversationId, 'waiting');
  const [notice, ...others] = await notices(engine, conversationId);
  assert.deepEqual(others, []);
  assert.match(notice ?? '', /^… “Pay the hosting bill” was interrupted: .* `pay` took effect is/);
  assert.match(notice ?? '', new RegExp(`nothing of it continues by itself.*/stop ${waiting.id}`));
  const told = await explainTask(engine.parts, waiting.id, EN);
  assert.match(told?.sentence ?? '', /Whether `pay` took effect is unknown/);
  assert.ok(told?.chain.some((line) => line.endsWith('`pay` began; its outcome is unknown.')));
});

test('W-3: commands are answered while the model does not answer at all', async (t) => {
  const place = new Installation();
  const { promise: end, resolve } = Promise.withResolvers<ReturnType<typeof says>>();
  const asked = Promise.withResolvers<void>();
  place.model.answer = () => {
    asked.resolve();
    return end;
  };
  const { engine, conversationId } = await open(t, place);
  await send(engine, conversationId, 'Pay the hosting bill');
  await asked.promise;
  await send(engine, conversationId, '/why');
  await send(engine, conversationId, '/tasks');
  await until(
    engine,
    conversationId,
    async () => (await answers(engine, conversationId)).length === 2,
  );
  const [why, tasks] = await answers(engine, conversationId);
  assert.match(why ?? '', /^“Pay the hosting bill” \(task_\w+\) has been running since /);
  assert.match(why ?? '', /What changes it:\n\/stop task_/);
  assert.match(tasks ?? '', /^▸ “Pay the hosting bill”: running since /);
  resolve(says('Paid.'));
  await taskIn(engine, conversationId, 'completed');
});

async function open(
  t: TestContext,
  place: Installation,
): Promise<{ readonly engine: Engine; readonly conversationId: ConversationId }> {
  const engine = await place.host({ options: { ...OPTIONS, pid: 2 } });
  t.after(() => engine.stop(0));
  const conversationId = await engine.openConversation({ channel: 'terminal', principal: ADMIN });
  return { engine, conversationId };
}

async function send(engine: Engine, conversationId: ConversationId, text: string): Promise<void> {
  const { kind } = await engine.acceptMessage({ conversationId, text, principal: ADMIN });
  assert.equal(kind, 'accepted');
}

async function entries(engine: Engine, conversationId: ConversationId, kind: string) {
  const all = { conversationId, after: 0, limit: 50 };
  const rows = await engine.store.query('outbox.after', all);
  return rows.filter((row) => row.kind === kind);
}

async function notices(engine: Engine, conversationId: ConversationId): Promise<readonly string[]> {
  const rows = await entries(engine, conversationId, 'notice');
  return rows.map(({ code, params }) => renderStoredNotice(EN, code ?? '', params));
}

async function answers(engine: Engine, conversationId: ConversationId): Promise<readonly string[]> {
  return (await entries(engine, conversationId, 'answer')).map(({ text }) => text ?? '');
}
