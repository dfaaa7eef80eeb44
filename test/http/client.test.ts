import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createClient } from '../../src/client/client.ts';
import type { StreamEvent } from '../../src/wire/stream.ts';
import { openDoor, SECRETS } from './door.ts';
import { scriptText } from './line.ts';

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

test('an answer of somebody between us and the host is no problem of the host', async () => {
  for (const body of ['{"message":"no upstream"}', '<html>', 'null']) {
    const fetch = (): Promise<Response> =>
      Promise.resolve(new Response(body, { status: 502, statusText: 'Bad Gateway' }));
    const client = createClient({ url: 'http://127.0.0.1:1', key: 'k', fetch });
    await assert.rejects(client.status(), {
      code: 'unreadable',
      status: 502,
      detail: 'Bad Gateway',
    });
  }
});
