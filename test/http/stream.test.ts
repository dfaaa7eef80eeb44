import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createClient } from '../../src/client/client.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { StreamEvent } from '../../src/wire/stream.ts';
import { asks, says, until } from '../support/host.ts';
import { codeOf, GRANTS, openDoor, SECRETS, type KeyName, type TestDoor } from './door.ts';

/** One event as it stands on the wire. */
interface Frame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly comment: string | undefined;
  readonly data: StreamEvent | undefined;
}

interface Line {
  readonly head: IncomingMessage;
  /** The next frame with an event or a comment; undefined at a clean end; throws when it was cut. */
  next(): Promise<Frame | undefined>;
  /** Frames up to and with the first of this type. */
  upTo(type: string): Promise<readonly Frame[]>;
  rest(): Promise<readonly Frame[]>;
  leave(): void;
}

async function openLine(
  door: TestDoor,
  path: string,
  given: { readonly key?: KeyName; readonly after?: string } = {},
): Promise<Line> {
  const headers: Record<string, string> = {
    Authorization: `Bearer ${SECRETS[given.key ?? 'ops']}`,
  };
  if (given.after !== undefined) headers['Last-Event-ID'] = given.after;
  const request = httpRequest(`${door.url}${path}`, { headers, agent: false });
  const head = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject).end();
  });
  const frames = readFrames(head);
  const next = async (): Promise<Frame | undefined> => {
    const { value } = await frames.next();
    return value;
  };
  return {
    head,
    next,
    async upTo(type) {
      const seen: Frame[] = [];
      while (seen.at(-1)?.event !== type) {
        const frame = await next();
        assert.ok(frame !== undefined, `ended before ${type}`);
        seen.push(frame);
      }
      return seen;
    },
    async rest() {
      const seen: Frame[] = [];
      for (let frame = await next(); frame !== undefined; frame = await next()) seen.push(frame);
      return seen;
    },
    leave: () => request.destroy(),
  };
}

async function* readFrames(head: IncomingMessage): AsyncGenerator<Frame, undefined, void> {
  let text = '';
  for await (const chunk of head) {
    text += String(chunk);
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const frame = frameOf(part);
      if (frame.event !== undefined || frame.comment !== undefined) yield frame;
    }
  }
  return undefined;
}

function frameOf(part: string): Frame {
  const field = (name: string): string | undefined =>
    part
      .split('\n')
      .find((line) => line.startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim();
  const data = field('data');
  const told = data === undefined ? undefined : (JSON.parse(data) as StreamEvent);
  // Each event on the wire has the described shape and nothing beyond it.
  if (told !== undefined) assert.deepEqual(StreamEvent.parse(told), told);
  return { id: field('id'), event: field('event'), comment: field(''), data: told };
}

const types = (frames: readonly Frame[]): (string | undefined)[] =>
  frames.map(({ event }) => event);
const kept = (frames: readonly Frame[]): readonly Frame[] =>
  frames.filter(({ id }) => id !== undefined);

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

/** A model call whose text the test says piece by piece. */
function scriptText(door: TestDoor): {
  readonly begun: Promise<void>;
  say(piece: string): void;
  end(): void;
} {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let text = '';
  let tell = (_piece: string): void => {};
  door.installation.model.call = async (_request, live) => {
    tell = live.onText;
    begun.resolve();
    await ended.promise;
    return says(text);
  };
  return {
    begun: begun.promise,
    say(piece) {
      text += piece;
      tell(piece);
    },
    end: () => ended.resolve(),
  };
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
        command: `/stop ${taskId}`,
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
    const told: (StreamEvent & { type: 'message' })[] = [];
    while (told.length < 2) {
      const { data } = (await line.upTo('message')).at(-1) ?? {};
      if (data?.type === 'message') told.push(data);
    }
    assert.deepEqual(
      told.map(({ role, text }) => [role, text]),
      [
        ['user', 'hello'],
        ['assistant', 'hi'],
      ],
    );
    assert.equal(told[0]?.messageId, sent.messageId);
    assert.equal((await client.message(sent.messageId)).answer, 'hi');
    await client.postMessage(id, { text: '/help' });
    const command = (await line.upTo('message')).at(-1)?.data;
    assert.ok(command?.type === 'message' && command.role === 'user');
    const answer = (await line.upTo('message')).at(-1)?.data;
    assert.ok(answer?.type === 'message' && answer.role === 'assistant');
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

describe('the client', () => {
  test('A-1: takes a broken stream up where it was', async (context) => {
    const door = await openDoor(context);
    const call = scriptText(door);
    const { id } = await door.client('runner').createRun({ input: 'x' });
    await call.begun;
    const cut = new AbortController();
    const asked: (string | null)[] = [];
    const client = createClient({
      url: door.url,
      key: SECRETS.runner,
      fetch: (url, init = {}) => {
        asked.push(new Headers(init.headers).get('last-event-id'));
        const signal = asked.length === 1 ? cut.signal : (init.signal ?? null);
        return fetch(url, { ...init, signal });
      },
    });
    const seen: StreamEvent[] = [];
    for await (const event of client.runEvents(id)) {
      seen.push(event);
      if (event.type !== 'run.started') continue;
      cut.abort();
      call.say('Hello');
      call.end();
    }
    const started = seen.find(({ type }) => type === 'run.started');
    assert.ok(started !== undefined && 'id' in started);
    assert.deepEqual(asked, [null, started.id]);
    const ids = seen.flatMap((event) => ('id' in event ? [event.id] : []));
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(seen.at(-1)?.type, 'run.completed');
    assert.deepEqual(
      seen.filter((event) => 'id' in event).map(({ type }) => type),
      ['run.queued', 'run.started', 'model.selected', 'run.completed'],
    );
  });

  test('throws what the host says no to, and what cannot be reached', async (context) => {
    const door = await openDoor(context);
    const client = door.client('runner');
    await assert.rejects(client.run('run_0000000000000000'), {
      name: 'ApiProblem',
      status: 404,
      code: 'not_found',
    });
    await assert.rejects(client.status(), { status: 403, code: 'forbidden' });
    await assert.rejects(client.runEvents('run_0000000000000000').next(), { code: 'not_found' });
    const nobody = createClient({ url: 'http://127.0.0.1:1', key: 'x' });
    await assert.rejects(nobody.status(), TypeError);
    await assert.rejects(nobody.runEvents('run_0000000000000000').next(), TypeError);
  });

  test('ends a stream by its signal without an error', async (context) => {
    const door = await openDoor(context);
    const client = door.client();
    const { id } = await client.openConversation();
    const stop = new AbortController();
    const reading = client.conversationEvents(id, { signal: stop.signal });
    await client.postMessage(id, { text: 'hello' });
    assert.equal((await reading.next()).value?.type, 'message');
    stop.abort();
    const rest: StreamEvent[] = [];
    for await (const event of reading) rest.push(event);
    assert.ok(rest.length < 5);
  });
});
