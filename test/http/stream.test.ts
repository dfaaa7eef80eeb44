import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { StreamEvent } from '../../src/wire/stream.ts';
import { asks, says, until } from '../support/host.ts';
import { codeOf, GRANTS, openDoor, type TestDoor } from './door.ts';
import { kept, openLine, scriptText, types, type Frame, type Line } from './line.ts';

/** A run of two calls and an answer that says so; it has ended. */
async function finishedRun(door: TestDoor): Promise<{ id: string; conversationId: string }> {
  const answers = [asks(['look', { at: 1 }], ['pay', { sum: 2 }]), says('paid')];
  door.installation.model.answer = () => answers.shift() ?? says('?');
  door.installation.tools.perform = ({ name }) =>
    name === 'pay'
      ? { kind: 'error', code: 'failed', text: 'no money' }
      : { kind: 'result', text: 'seen' };
  return door.client('runner').createRun({ input: 'pay it', wait: 300 });
}

async function nextMessage(line: Line): Promise<StreamEvent & { type: 'message' }> {
  const told = (await line.upTo('message')).at(-1)?.data;
  assert.ok(told?.type === 'message');
  return told;
}

/** Resolves once a stream has nothing to send and waits for its next comment. */
async function asleep(door: TestDoor): Promise<void> {
  while (door.resting() === 0) await nextTurn();
}

/** Resolves once a further stream gets a place. */
async function freed(door: TestDoor, path: string): Promise<void> {
  for (;;) {
    const line = await openLine(door, path);
    line.leave();
    if (line.head.statusCode === 200) return;
  }
}

describe('the stream of a run', () => {
  test('A-1: tells what was kept, each with its id, and ends after the run', async (context) => {
    const door = await openDoor(context);
    const { id } = await finishedRun(door);
    const line = await openLine(door, `/v1/runs/${id}/events`, { key: 'runner' });
    assert.equal(line.head.headers['content-type'], 'text/event-stream');
    const frames = await line.rest();
    assert.deepEqual(types(frames), [
      'run.queued',
      'run.started',
      'model.selected',
      'tool.started',
      'tool.finished',
      'tool.started',
      'tool.finished',
      'run.completed',
    ]);
    for (const { id: event, data } of frames) {
      assert.match(event ?? '', /^evt_[0-9A-Z]{16}$/);
      assert.ok(data !== undefined && 'id' in data && data.id === event);
      assert.equal(data.runId, id);
    }
    assert.equal(new Set(frames.map((frame) => frame.id)).size, frames.length);
    const of = (index: number): Record<string, unknown> => ({ ...frames[index]?.data });
    assert.deepEqual([of(2)['provider'], of(2)['model']], ['scripted', 'reported-model']);
    assert.deepEqual([of(3)['tool'], of(3)['args']], ['look', { at: 1 }]);
    assert.deepEqual([of(4)['stepId'], of(4)['result']], [of(3)['stepId'], 'seen']);
    assert.deepEqual(of(6)['error'], { code: 'failed', text: 'no money' });
    assert.equal(of(7)['output'], 'paid');
  });

  test('A-1: resumes after each of its ids with exactly what is left', async (context) => {
    const door = await openDoor(context);
    const { id } = await finishedRun(door);
    const path = `/v1/runs/${id}/events`;
    const whole = await (await openLine(door, path)).rest();
    assert.ok(whole.length >= 8);
    for (const [index, { id: after }] of whole.entries()) {
      const line = await openLine(door, path, { after: after ?? '' });
      assert.deepEqual(await line.rest(), whole.slice(index + 1));
    }
  });

  test('A-1: an id that this conversation never had is 400 unknown_event', async (context) => {
    const door = await openDoor(context);
    const { id, conversationId } = await finishedRun(door);
    const other = await finishedRun(door);
    const [first] = await (await openLine(door, `/v1/runs/${other.id}/events`)).rest();
    for (const path of [`/v1/runs/${id}/events`, `/v1/conversations/${conversationId}/events`]) {
      for (const after of ['evt_0000000000000000', 'nonsense', first?.id ?? '']) {
        const headers = { 'Last-Event-ID': after };
        const answer = await door.ask('GET', path, { key: 'ops', headers });
        assert.equal(answer.status, 400, after);
        assert.equal(codeOf(answer), 'unknown_event');
      }
    }
  });

  test('is followed live: text as it comes, then the end', async (context) => {
    const door = await openDoor(context);
    const call = scriptText(door);
    const { id } = await door.client('runner').createRun({ input: 'x' });
    await call.begun;
    const line = await openLine(door, `/v1/runs/${id}/events`);
    await line.upTo('run.started');
    call.say('Hel');
    const [first] = await line.upTo('text.delta');
    assert.equal(first?.data?.type === 'text.delta' ? first.data.text : '', 'Hel');
    assert.equal(first?.id, undefined);
    call.say('lo');
    await line.upTo('text.delta');
    call.end();
    const last = (await line.rest()).at(-1)?.data;
    assert.equal(last?.type === 'run.completed' ? last.output : '', 'Hello');
  });

  test('sets a text apart from one that the same turn said before', async (context) => {
    const door = await openDoor(context);
    const call = Promise.withResolvers<void>();
    const answers = [{ ...asks(['look', {}]), text: 'I look.' }, says('Seen.')];
    door.installation.model.answer = async () => {
      await call.promise;
      return answers.shift() ?? says('?');
    };
    const { id } = await door.client('runner').createRun({ input: 'x' });
    const line = await openLine(door, `/v1/runs/${id}/events`);
    await line.upTo('run.started');
    call.resolve();
    const texts = (await line.rest()).flatMap(({ data }) =>
      data?.type === 'text.delta' || data?.type === 'text.snapshot' ? [[data.type, data.text]] : [],
    );
    assert.deepEqual(texts, [
      ['text.delta', 'I look.'],
      ['text.snapshot', ''],
      ['text.delta', 'Seen.'],
    ]);
  });

  test('A-1: resumed in the middle, a text in progress comes once as a snapshot', async (context) => {
    const door = await openDoor(context);
    const call = scriptText(door);
    const { id } = await door.client('runner').createRun({ input: 'x' });
    await call.begun;
    const path = `/v1/runs/${id}/events`;
    const line = await openLine(door, path);
    const before = await line.upTo('run.started');
    call.say('Hel');
    await line.upTo('text.delta');
    line.leave();
    call.say('lo, ');
    const again = await openLine(door, path, { after: before.at(-1)?.id ?? '' });
    const [snapshot] = await again.upTo('text.snapshot');
    assert.equal(snapshot?.id, undefined);
    assert.equal(snapshot?.data?.type === 'text.snapshot' ? snapshot.data.text : '', 'Hello, ');
    call.say('you');
    const [delta] = await again.upTo('text.delta');
    assert.equal(delta?.data?.type === 'text.delta' ? delta.data.text : '', 'you');
    call.end();
    const rest = await again.rest();
    assert.deepEqual(types(rest), ['model.selected', 'run.completed']);
  });

  test('loses nothing and repeats nothing, wherever between its events a reader joins', async (context) => {
    const door = await openDoor(context);
    const turns = 12;
    let left = turns;
    const gate = { open: Promise.withResolvers<void>() };
    door.installation.model.answer = () => (left-- > 0 ? asks(['look', { left }]) : says('end'));
    door.installation.tools.perform = async () => {
      await gate.open.promise;
      gate.open = Promise.withResolvers();
      return { kind: 'result', text: String(left) };
    };
    const { id, conversationId } = await door.client('runner').createRun({ input: 'x' });
    const path = `/v1/runs/${id}/events`;
    const reading: Promise<readonly Frame[]>[] = [];
    for (let step = 0; step < turns; step += 1) {
      // Joins while the call is open, and once more in the same moment as it ends.
      reading.push((await openLine(door, path)).rest());
      const ran = door.installation.tools.ran.length;
      const joining = openLine(door, path);
      gate.open.resolve();
      reading.push((await joining).rest());
      await until(door.engine, conversationId as ConversationId, async () => {
        const run = await door.client().run(id);
        return run.status === 'completed' || door.installation.tools.ran.length > ran;
      });
    }
    const all = await Promise.all(reading);
    const whole = await (await openLine(door, path)).rest();
    assert.equal(whole.length, 3 + 2 * turns + 1);
    for (const frames of all) assert.deepEqual(kept(frames), whole);
  });

  test('leaves a notice in its place, with its sentence and its command', async (context) => {
    const door = await openDoor(context);
    door.installation.model.answer = () => says('');
    const { id, taskId } = await door.client('runner').createRun({ input: 'x', wait: 300 });
    const frames = await (await openLine(door, `/v1/runs/${id}/events`)).rest();
    const notice = frames.find(({ event }) => event === 'notice')?.data;
    assert.ok(notice?.type === 'notice');
    const { level, code, command, subjectId, sentence } = notice;
    assert.deepEqual(
      { level, code, command, subjectId },
      {
        level: 'blocked',
        code: 'no_outcome',
        command: `/task-resume ${taskId}`,
        subjectId: taskId,
      },
    );
    assert.match(sentence, /\/stop task_/);
    const end = frames.at(-1)?.data;
    assert.ok(end?.type === 'run.failed');
    assert.equal(end.outcome.code, 'no_outcome');
    assert.equal(end.outcome.message, sentence);
  });
});

describe('the stream of a conversation', () => {
  test('tells messages, answers and commands, and has no end of its own', async (context) => {
    const door = await openDoor(context);
    door.installation.model.answer = () => says('hi');
    const client = door.client();
    const { id } = await client.openConversation({ channel: 'terminal', address: 'main' });
    const line = await openLine(door, `/v1/conversations/${id}/events`);
    const sent = await client.postMessage(id, { text: 'hello' });
    const asked = await nextMessage(line);
    assert.deepEqual([asked.role, asked.text, asked.messageId], ['user', 'hello', sent.messageId]);
    const said = await nextMessage(line);
    assert.deepEqual([said.role, said.text], ['assistant', 'hi']);
    assert.equal((await client.message(sent.messageId)).answer, 'hi');
    await client.postMessage(id, { text: '/help' });
    assert.equal((await nextMessage(line)).role, 'user');
    const answer = await nextMessage(line);
    assert.equal(answer.role, 'assistant');
    assert.match(answer.text, /\/stop/);
    line.leave();
  });

  test('goes on from `lastEventId` with what comes later alone', async (context) => {
    const door = await openDoor(context);
    const { conversationId } = await finishedRun(door);
    const { lastEventId } = await door.client().conversation(conversationId);
    const path = `/v1/conversations/${conversationId}/events`;
    const line = await openLine(door, path, { after: lastEventId ?? '' });
    door.installation.model.answer = () => says('later');
    const { messageId } = await door.client().postMessage(conversationId, { text: 'more' });
    const first = await line.next();
    assert.ok(first?.data?.type === 'message');
    assert.equal(first.data.messageId, messageId);
    line.leave();
  });

  test('a comment keeps it alive, and tells a withdrawn key that its time is over', async (context) => {
    const door = await openDoor(context);
    const { id } = await door.client().openConversation();
    const line = await openLine(door, `/v1/conversations/${id}/events`, { key: 'reader' });
    await asleep(door);
    door.installation.clock.advance(LIMITS.httpKeepAliveCommentMs);
    assert.equal((await line.next())?.comment, 'still here');
    await asleep(door);
    door.keys.replace(GRANTS.filter(({ name }) => name === 'ops'));
    door.installation.clock.advance(LIMITS.httpKeepAliveCommentMs);
    await assert.rejects(line.next());
  });

  test('breaks when the host goes, so that nobody takes it for the end of a run', async (context) => {
    const door = await openDoor(context);
    const { id } = await door.client().openConversation();
    const line = await openLine(door, `/v1/conversations/${id}/events`);
    door.api.closeStreams();
    await assert.rejects(line.rest());
  });
});

describe('A-5: the streams of a key', () => {
  test('are bounded, and a place that was left is free again', async (context) => {
    const door = await openDoor(context, { streamsPerKey: 2 });
    const { id } = await door.client().openConversation();
    const path = `/v1/conversations/${id}/events`;
    const lines = [await openLine(door, path), await openLine(door, path)];
    const third = await door.ask('GET', path, { key: 'ops' });
    assert.equal(third.status, 429);
    assert.equal(codeOf(third), 'slow_down');
    assert.notEqual(third.headers['retry-after'], undefined);
    const other = await openLine(door, path, { key: 'reader' });
    other.leave();
    lines[0]?.leave();
    await freed(door, path);
    lines[1]?.leave();
  });
});
