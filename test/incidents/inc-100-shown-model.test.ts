import assert from 'node:assert/strict';
import { test } from 'node:test';
import { says } from '../../src/testing/model-answer.ts';
import type { StatusReply } from '../../src/wire/status.ts';
import { openStage, type Stage } from './stage.ts';

const CONFIGURED = 'openai-compatible/configured';

/** What `/status` answers in the chat of the terminal. */
async function chatStatus({ host }: Stage): Promise<string> {
  const client = host.client();
  const { id } = await client.openConversation({ channel: 'terminal', address: 'terminal' });
  const { messageId } = await client.postMessage(id, { text: '/status' });
  for await (const event of client.conversationEvents(id)) {
    if (event.type !== 'message' || event.role !== 'assistant') continue;
    const { answer } = await client.message(messageId);
    if (answer !== null) return answer;
  }
  assert.fail('the stream ended without the answer');
}

/** The model that answered last, as each surface says it; undefined where it says that none has. */
async function shownIn(stage: Stage) {
  const chat = await chatStatus(stage);
  const { model } = await stage.host.client().status();
  const text = (await stage.place.run(['status'])).stdout;
  const json = JSON.parse((await stage.place.run(['status', '--json'])).stdout) as StatusReply;
  assert.match(chat, new RegExp(`as configured: ${CONFIGURED}`));
  assert.ok(text.includes(`model   ${CONFIGURED}`), text);
  assert.equal(`${model.provider}/${model.name}`, CONFIGURED);
  assert.deepEqual(json.model, model);
  return {
    api: model.answeredBy?.model,
    chat: firstIn(chat, /answered last: openai-compatible\/(\S+),/),
    cli: firstIn(text, /last answered by openai-compatible\/(\S+)/),
    json: json.model.answeredBy?.model,
  };
}

function firstIn(text: string, pattern: RegExp): string | undefined {
  return pattern.exec(text)?.[1];
}

/** The models that the stream of a run names, and what its reply was recorded with. */
async function toldOf(stage: Stage, runId: string): Promise<readonly string[]> {
  const models: string[] = [];
  for await (const event of stage.host.client().runEvents(runId))
    if (event.type === 'model.selected') models.push(event.model);
  return models;
}

function same(model: string | undefined) {
  return { api: model, chat: model, cli: model, json: model };
}

test('INC-100 T-9 every surface shows the model that answered, apart from the configured one, also when it changes', async (t) => {
  let served = 'served-1';
  const stage = await openStage(t, () => says(`I am ${served}`, { model: served }));
  assert.deepEqual(await shownIn(stage), same(undefined), 'no model has answered yet');
  const first = await stage.host.client().createRun({ input: 'who are you', wait: 30 });
  assert.deepEqual(await shownIn(stage), same('served-1'));
  served = 'served-2';
  const second = await stage.host.client().createRun({ input: 'and now', wait: 30 });
  assert.deepEqual(await shownIn(stage), same('served-2'));
  assert.deepEqual(await toldOf(stage, first.id), ['served-1']);
  assert.deepEqual(await toldOf(stage, second.id), ['served-2']);
  await stage.killAndRestart();
  assert.deepEqual(await shownIn(stage), same(undefined), 'this process has asked none yet');
  assert.deepEqual(await toldOf(stage, first.id), ['served-1'], 'a record stays as it was');
  await stage.host.client().createRun({ input: 'again', wait: 30 });
  assert.deepEqual(await shownIn(stage), same('served-2'));
  const asked = stage.server.requests.filter(({ path }) => path.endsWith('/chat/completions'));
  assert.ok(asked.every((request) => request.body['model'] === 'configured'));
});
