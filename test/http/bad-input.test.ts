import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { codeOf, openDoor, type Asked, type TestDoor } from './door.ts';

interface Bad {
  readonly what: string;
  readonly method: 'GET' | 'POST';
  /** `{conv}` and `{run}` stand for ids that exist. */
  readonly path: string;
  readonly asked?: Asked;
  readonly status: number;
  readonly code: string;
  /** Paths that `errors` names. */
  readonly errors?: readonly string[];
}

const raw = (text: string | Buffer, type = 'application/json'): Asked => ({
  raw: text,
  headers: { 'Content-Type': type },
});
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const post = { method: 'POST', path: '/v1/runs' } as const;
const get = { method: 'GET', path: '/v1/runs' } as const;
const badJson = { status: 400, code: 'bad_json' } as const;
const invalid = { status: 422, code: 'invalid' } as const;
const badRequest = { status: 400, code: 'bad_request' } as const;
const notFound = { status: 404, code: 'not_found' } as const;

const BAD: readonly Bad[] = [
  { ...post, ...badJson, what: 'half a document', asked: raw('{"input":"x"') },
  { ...post, ...badJson, what: 'an empty body', asked: raw('') },
  { ...post, ...badJson, what: 'two documents', asked: raw('{"input":"x"}{}') },
  { ...post, ...badJson, what: 'NaN', asked: raw('{"input":"x","wait":NaN}') },
  {
    ...post,
    ...badJson,
    what: 'no UTF-8',
    asked: raw(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
  },
  { ...post, ...badJson, what: 'a __proto__ key', asked: raw('{"input":"x","__proto__":{"a":1}}') },
  {
    ...post,
    ...badJson,
    what: 'a deep constructor key',
    asked: raw('{"input":"x","metadata":{"constructor":"y"}}'),
  },
  { ...post, ...badJson, what: 'a prototype key', asked: raw('{"prototype":{}}') },
  {
    ...post,
    ...badJson,
    what: 'too deep nesting',
    asked: raw(`{"input":${nested(LIMITS.jsonDepthMax + 1)}}`),
  },
  { ...post, ...badJson, what: 'absurdly deep nesting', asked: raw(nested(100_000)) },
  { ...post, ...invalid, what: 'no object', asked: { body: [] }, errors: [''] },
  { ...post, ...invalid, what: 'null', asked: { body: null }, errors: [''] },
  { ...post, ...invalid, what: 'no input', asked: { body: {} }, errors: ['input'] },
  {
    ...post,
    ...invalid,
    what: 'an input that is no text',
    asked: { body: { input: 7 } },
    errors: ['input'],
  },
  {
    ...post,
    ...invalid,
    what: 'an empty input',
    asked: { body: { input: '' } },
    errors: ['input'],
  },
  {
    ...post,
    ...invalid,
    what: 'an unknown field',
    asked: { body: { input: 'x', inputs: 'y' } },
    errors: ['inputs'],
  },
  {
    ...post,
    ...invalid,
    what: 'too long a wait',
    asked: { body: { input: 'x', wait: 301 } },
    errors: ['wait'],
  },
  {
    ...post,
    ...invalid,
    what: 'a negative wait',
    asked: { body: { input: 'x', wait: -1 } },
    errors: ['wait'],
  },
  {
    ...post,
    ...invalid,
    what: 'a wait as text',
    asked: { body: { input: 'x', wait: '5' } },
    errors: ['wait'],
  },
  {
    ...post,
    ...invalid,
    what: 'metadata that is nested',
    asked: { body: { input: 'x', metadata: { a: {} } } },
    errors: ['metadata.a'],
  },
  {
    ...post,
    ...invalid,
    what: 'a callback to a file',
    asked: { body: { input: 'x', callbackUrl: 'file:///etc/passwd' } },
    errors: ['callbackUrl'],
  },
  {
    ...post,
    ...invalid,
    what: 'two wrong fields',
    asked: { body: { input: 1, wait: true } },
    errors: ['input', 'wait'],
  },
  {
    ...post,
    ...notFound,
    what: 'a conversation that is no id',
    asked: { body: { input: 'x', conversation: "' or 1=1 --" } },
  },
  {
    ...post,
    status: 415,
    code: 'unsupported_type',
    what: 'plain text',
    asked: raw('{"input":"x"}', 'text/plain'),
  },
  {
    ...post,
    status: 415,
    code: 'unsupported_type',
    what: 'another charset',
    asked: raw('{"input":"x"}', 'application/json; charset=utf-16'),
  },
  { ...post, status: 415, code: 'unsupported_type', what: 'no body and no type' },
  {
    ...post,
    status: 415,
    code: 'unsupported_type',
    what: 'a packed body',
    asked: { body: { input: 'x' }, headers: { 'Content-Encoding': 'gzip' } },
  },
  {
    ...post,
    status: 413,
    code: 'too_large',
    what: 'too many bytes',
    asked: { body: { input: 'x'.repeat(LIMITS.httpBodyBytes) } },
  },
  {
    ...post,
    ...badRequest,
    what: 'an empty idempotency key',
    asked: { body: { input: 'x' }, headers: { 'Idempotency-Key': '' } },
  },
  {
    ...post,
    ...badRequest,
    what: 'a long idempotency key',
    asked: { body: { input: 'x' }, headers: { 'Idempotency-Key': 'k'.repeat(256) } },
  },
  {
    ...post,
    ...badRequest,
    path: '/v1/runs?wait=5',
    what: 'a query where none is',
    asked: { body: { input: 'x' } },
  },
  { ...get, ...badRequest, path: '/v1/runs?limit=0', what: 'a limit of none' },
  { ...get, ...badRequest, path: '/v1/runs?limit=201', what: 'too high a limit' },
  { ...get, ...badRequest, path: '/v1/runs?limit=1e2', what: 'a limit in words' },
  { ...get, ...badRequest, path: '/v1/runs?limit=5&limit=6', what: 'a limit twice' },
  { ...get, ...badRequest, path: '/v1/runs?cursor=x', what: 'a cursor that is no id' },
  {
    ...get,
    ...badRequest,
    path: '/v1/runs?cursor=task_0000000000000000',
    what: 'a cursor of another list',
  },
  { ...get, ...badRequest, path: '/v1/runs?offset=5', what: 'an unknown parameter' },
  { ...get, ...badRequest, path: '/v1/tasks?state=busy', what: 'an unknown state' },
  { ...get, ...badRequest, path: '/v1/tasks?enrollment=', what: 'an empty enrollment' },
  {
    ...get,
    ...badRequest,
    path: '/v1/conversations/{conv}/transcript?cursor=1',
    what: 'half a cursor',
  },
  { ...get, ...badRequest, path: '/v1/outbox?state=gone', what: 'an unknown state of the outbox' },
  { ...get, ...notFound, path: '/v1/runs/run_0000000000000000', what: 'an unknown run' },
  { ...get, ...notFound, path: '/v1/runs/task_0000000000000000', what: 'an id of another kind' },
  { ...get, ...notFound, path: '/v1/runs/%00', what: 'an id that is no text' },
  { ...get, ...notFound, path: '/v1/runs/%ZZ', what: 'an id that cannot be decoded' },
  { ...get, ...notFound, path: '/v1/runs/..%2f..%2fetc%2fpasswd', what: 'a way up' },
  { ...get, ...notFound, path: '/v1/runs/', what: 'a path with a slash at its end' },
  { ...get, ...notFound, path: '/v1/nothing', what: 'an unknown path' },
  { ...get, ...notFound, path: '/v1/messages/msg_0000000000000000', what: 'an unknown message' },
  { ...get, ...notFound, path: '/v1/tasks/task_0000000000000000/why', what: 'an unknown task' },
  {
    ...post,
    ...notFound,
    path: '/v1/conversations/conv_0000000000000000/messages',
    what: 'an unknown conversation',
    asked: { body: { text: 'x' } },
  },
  {
    ...post,
    ...notFound,
    path: '/v1/runs/run_0000000000000000/messages',
    what: 'a message to an unknown run',
    asked: { body: { text: 'x' } },
  },
  {
    ...post,
    ...invalid,
    path: '/v1/conversations/{conv}/messages',
    what: 'a message without text',
    asked: { body: { replyTo: 'x' } },
    errors: ['text'],
  },
  {
    ...post,
    ...invalid,
    path: '/v1/conversations',
    what: 'a channel that is none',
    asked: { body: { channel: 'slack' } },
    errors: ['channel'],
  },
  {
    ...post,
    ...invalid,
    path: '/v1/conversations',
    what: 'an address with a line',
    asked: { body: { address: 'a\nb' } },
    errors: ['address'],
  },
  {
    ...post,
    ...invalid,
    path: '/v1/runs/{run}/cancel',
    what: 'a cancel with a field',
    asked: { body: { force: true } },
    errors: ['force'],
  },
  {
    ...post,
    ...invalid,
    path: '/v1/tasks/task_0000000000000000/stop',
    what: 'a version that is no number',
    asked: { body: { expectedVersion: 'x' } },
    errors: ['expectedVersion'],
  },
];

async function existing(door: TestDoor): Promise<{ conv: string; run: string }> {
  const run = await door.client().createRun({ input: 'x', wait: 300 });
  return { conv: run.conversationId, run: run.id };
}

describe('A-5: nothing is stored and a stable code is answered for', () => {
  for (const bad of BAD) {
    test(bad.what, async (context) => {
      const door = await openDoor(context);
      const { conv, run } = await existing(door);
      const before = await door.counts();
      const path = bad.path.replace('{conv}', conv).replace('{run}', run);
      const answer = await door.ask(bad.method, path, { key: 'ops', ...bad.asked });
      assert.equal(answer.status, bad.status, answer.text);
      assert.equal(codeOf(answer), bad.code);
      assert.equal(answer.json['status'], bad.status);
      const errors = answer.json['errors'] as { path: string; message: string }[] | undefined;
      assert.deepEqual(
        errors?.map((error) => error.path),
        bad.errors,
      );
      assert.ok(errors?.every(({ message }) => message !== '') ?? true);
      assert.deepEqual(await door.counts(), before);
      assert.equal(({} as Record<string, unknown>)['a'], undefined);
      assert.equal((await door.ask('GET', '/healthz')).status, 200);
    });
  }
});

test('A-5: beyond its requests of a second a key is told when to come again', async (context) => {
  const door = await openDoor(context, { requestsPerSecondPerKey: 3 });
  const status = async (key: 'ops' | 'reader'): Promise<number> =>
    (await door.ask('GET', '/v1/status', { key })).status;
  for (let index = 0; index < 3; index += 1) assert.equal(await status('ops'), 200);
  const answer = await door.ask('GET', '/v1/status', { key: 'ops' });
  assert.equal(codeOf(answer), 'slow_down');
  assert.equal(answer.status, 429);
  assert.equal(answer.headers['retry-after'], '1');
  assert.equal(await status('reader'), 200);
  door.installation.clock.advance(1_000);
  assert.equal(await status('ops'), 200);
});
