import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConversationId } from '../../src/kernel/ids.ts';
import type { TranscriptItem } from '../../src/wire/conversation.ts';
import { asks, says, taskIn, until } from '../support/host.ts';
import { codeOf, openDoor, type TestDoor } from './door.ts';

async function answered(door: TestDoor, id: string, text: string): Promise<void> {
  const { messageId } = await door.client().postMessage(id, { text });
  await until(door.engine, id as ConversationId, async () => {
    return (await door.client().message(messageId)).state === 'done';
  });
}

async function wholeTranscript(
  door: TestDoor,
  id: string,
  limit: number,
): Promise<TranscriptItem[]> {
  const items: TranscriptItem[] = [];
  let cursor: string | undefined;
  do {
    const page = await door
      .client()
      .transcript(id, cursor === undefined ? { limit } : { limit, cursor });
    assert.ok(page.items.length <= limit);
    items.push(...page.items);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return items;
}

describe('a conversation over HTTP', () => {
  test('is opened with 201, and the same address is the same conversation', async (context) => {
    const door = await openDoor(context);
    const body = { channel: 'terminal', address: 'main' };
    const answer = await door.ask('POST', '/v1/conversations', { key: 'ops', body });
    assert.equal(answer.status, 201);
    const again = await door.ask('POST', '/v1/conversations', { key: 'ops', body });
    assert.equal(again.status, 201);
    assert.equal(again.json['id'], answer.json['id']);
    const fresh = await door.ask('POST', '/v1/conversations', { key: 'runner' });
    assert.equal(fresh.json['channel'], 'api');
    assert.equal(fresh.json['address'], fresh.json['id']);
    assert.notEqual(fresh.json['id'], answer.json['id']);
    const foreign = await door.ask('POST', '/v1/conversations', { key: 'runner', body });
    assert.equal(codeOf(foreign), 'forbidden');
    const { items } = await door.client().conversations();
    assert.deepEqual(
      items.map(({ id }) => id),
      [fresh.json['id'], answer.json['id']],
    );
  });

  test('an address that another key took looks unknown to a key that only runs', async (context) => {
    const door = await openDoor(context);
    await door.client('other').openConversation({ address: 'shared' });
    const before = await door.counts();
    const body = { address: 'shared' };
    const answer = await door.ask('POST', '/v1/conversations', { key: 'runner', body });
    assert.equal(codeOf(answer), 'not_found');
    assert.deepEqual(await door.counts(), before);
  });

  test('a message is accepted with 202, and the same key gives the same message', async (context) => {
    const door = await openDoor(context);
    const { id } = await door.client('runner').openConversation();
    const asked = {
      key: 'runner',
      body: { text: 'hello' },
      headers: { 'Idempotency-Key': 'm-1' },
    } as const;
    const path = `/v1/conversations/${id}/messages`;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => door.ask('POST', path, asked)),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]));
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    assert.deepEqual(Object.keys(answers[0]?.json ?? {}), ['messageId', 'conversationId']);
    assert.equal((await door.counts())['message'], 1);
  });

  test('its transcript is the same in pages of any size, newest first', async (context) => {
    const door = await openDoor(context);
    const { id } = await door.client().openConversation();
    let calls = 0;
    door.installation.model.answer = (request) => {
      calls += 1;
      const last = request.messages.at(-1);
      return last?.role === 'user'
        ? asks(['look', { calls }], ['pay', {}])
        : says(`answer ${calls}`);
    };
    for (const text of ['one', 'two', 'three']) await answered(door, id, text);
    await answered(door, id, '/help');
    const whole = await wholeTranscript(door, id, 200);
    assert.deepEqual(
      whole.toReversed().map(({ role }) => role),
      Array.from({ length: 3 }, () => ['user', 'assistant', 'tool', 'tool', 'assistant']).flat(),
    );
    assert.equal(whole[0]?.content, 'answer 6');
    const [reply] = whole.filter(({ toolCalls }) => toolCalls !== undefined);
    const results = whole.filter(({ role }) => role === 'tool').slice(0, 2);
    assert.deepEqual(
      results.map(({ toolCallId, tool }) => [toolCallId, tool]).toReversed(),
      reply?.toolCalls?.map(({ id: call, name }) => [call, name]),
    );
    for (const limit of [1, 2, 3, 7, 15]) {
      assert.deepEqual(await wholeTranscript(door, id, limit), whole, `pages of ${limit}`);
    }
  });

  test('its transcript goes on beyond what one read takes', async (context) => {
    const door = await openDoor(context);
    const { id } = await door.client().openConversation();
    let left = 0;
    door.installation.model.answer = () => {
      left = left === 0 ? 15 : left - 1;
      return left === 0 ? says('done') : asks(['look', { left }], ['pay', {}], ['look', {}]);
    };
    for (let turn = 0; turn < 8; turn += 1) await answered(door, id, `turn ${turn}`);
    const items = await wholeTranscript(door, id, 200);
    assert.equal(items.filter(({ role }) => role === 'user').length, 8);
    assert.equal(items.filter(({ role }) => role === 'tool').length, 8 * 15 * 3);
    const order = items.map(({ seq }) => seq);
    assert.deepEqual(
      order,
      order.toSorted((a, b) => b - a),
    );
    assert.equal(new Set(items.map((item) => JSON.stringify(item))).size, items.length);
  });

  test('W-4: a command that comes over HTTP is answered and reaches no model', async (context) => {
    const door = await openDoor(context);
    const { id } = await door.client().openConversation();
    await answered(door, id, '/status');
    assert.equal(door.installation.model.requests.length, 0);
    const { items } = await door.client().outbox({ conversation: id });
    assert.equal(items[0]?.kind, 'answer');
    assert.notEqual(items[0]?.text, '');
  });

  test('T-21: belongs to one agent, with its model and session', async (context) => {
    const door = await openDoor(context, {}, {}, ({ model, tools }) => {
      const instructions = (): Promise<string> => Promise.resolve('');
      const agent = { instructions, tools, model, fallbacks: [] };
      return {
        agents: [
          { ...agent, name: 'main' },
          { ...agent, name: 'book' },
        ],
      };
    });
    const client = door.client();
    const own = await client.openConversation({ address: 'a', agent: 'book' });
    assert.deepEqual(
      [own.agent, own.model, own.turn],
      ['book', { provider: 'scripted', name: 'configured-model', chosen: false }, null],
    );
    assert.match(own.sessionId, /^sess_/);
    assert.equal((await client.openConversation()).agent, 'main');
    assert.equal((await client.openConversation({ address: 'a' })).id, own.id);
    const before = await door.counts();
    for (const body of [{ agent: 'nobody' }, { address: 'a', agent: 'main' }]) {
      const answer = await door.ask('POST', '/v1/conversations', { key: 'ops', body });
      assert.deepEqual([answer.status, codeOf(answer)], [422, 'invalid']);
      const [error] = answer.json['errors'] as [{ path: string }];
      assert.equal(error.path, 'agent');
    }
    assert.deepEqual(await door.counts(), before);
  });

  test('has one transcript of all its sessions', async (context) => {
    const door = await openDoor(context);
    const { id } = await door.client().openConversation();
    await answered(door, id, 'one');
    const { sessionId } = await door.client().conversation(id);
    await answered(door, id, '/new');
    await answered(door, id, 'two');
    assert.notEqual((await door.client().conversation(id)).sessionId, sessionId);
    const items = await wholeTranscript(door, id, 1);
    assert.deepEqual(
      items.map(({ role, content }) => `${role}: ${content}`),
      ['assistant: ok', 'user: two', 'assistant: ok', 'user: one'],
    );
  });

  test('says that it runs while a turn has it', async (context) => {
    const door = await openDoor(context);
    const { id } = await door.client().openConversation();
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    door.installation.model.answer = async () => {
      begun.resolve();
      await held.promise;
      return says('x');
    };
    await door.client().postMessage(id, { text: 'x' });
    await begun.promise;
    const running = await door.client().conversation(id);
    assert.equal(running.state, 'running');
    const [task] = (await door.client().tasks({ conversation: id })).items;
    assert.equal(running.turn?.taskId, task?.id);
    assert.deepEqual((await door.client().conversations()).items[0]?.turn, running.turn);
    assert.equal((await door.client().status()).runningTurns, 1);
    held.resolve();
    await taskIn(door.engine, id as ConversationId, 'completed');
    assert.equal((await door.client().conversation(id)).state, 'idle');
  });
});
