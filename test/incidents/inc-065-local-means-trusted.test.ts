import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Place } from '../e2e/process.ts';
import { rawAsk } from './stage.ts';

test('INC-065 a real host answers no foreign page, no rebound name and no forged proxy, before any data', async (t) => {
  const place = new Place();
  t.after(() => place.clear());
  const { url, client } = await startOn(place);
  const { id, conversationId } = await client.createRun({ input: 'hello', wait: 30 });
  const { port } = new URL(url);
  const key = `Bearer ${place.read('api-key').trim()}`;
  const bodies: Readonly<Record<string, string>> = { '/v1/runs': '{"input":"obey"}' };
  const paths = [
    '/v1/status',
    '/v1/runs',
    `/v1/runs/${id}/events`,
    `/v1/conversations/${conversationId}/events`,
    `/v1/conversations/${conversationId}/transcript`,
  ];
  const foreign: Readonly<Record<string, Record<string, string>>> = {
    'another site': { Authorization: key, Origin: 'https://evil.example' },
    'a page without an origin of its own': { Authorization: key, Origin: 'null' },
    'another program on this machine': { Authorization: key, Origin: 'http://127.0.0.1:1' },
    'a rebound name': { Authorization: key, Host: `evil.example:${port}` },
    'a name that begins like ours': { Authorization: key, Host: `localhost.evil.example:${port}` },
    'no key, and a proxy that says loopback': { 'X-Forwarded-For': '127.0.0.1' },
    'no key, and a proxy list with ours in it': { 'X-Forwarded-For': '10.0.0.1, 127.0.0.1, ::1' },
    'no key, and other words for it': {
      Forwarded: 'for=127.0.0.1;host=localhost',
      'X-Real-IP': '127.0.0.1',
      'X-Forwarded-Host': `localhost:${port}`,
    },
    'no key at all': {},
  };
  for (const path of paths) {
    for (const [who, headers] of Object.entries(foreign)) {
      const body = bodies[path];
      const answer = await rawAsk(url, {
        path,
        ...(body === undefined ? {} : { method: 'POST', body }),
        headers: { 'Content-Type': 'application/json', ...headers },
      });
      const expected = 'Authorization' in headers ? 403 : 401;
      assert.equal(answer.status, expected, `${path} from ${who}`);
      assert.ok(!answer.text.includes('hello'), `${path} from ${who} tells ${answer.text}`);
    }
    const inUrl = await rawAsk(url, { path: `${path}?key=${key.slice(7)}`, headers: {} });
    assert.equal(inUrl.status, 401, `${path} with the key in the URL`);
  }
  assert.equal((await client.runs()).items.length, 1, 'nothing was made');
});

async function startOn(place: Place) {
  const host = await place.start();
  return { url: host.url, client: host.client() };
}

test('INC-065 a host that others could reach without keys or without TLS does not start', async (t) => {
  const place = new Place();
  t.after(() => place.clear());
  const args = ['start', '--no-terminal', '--port', '0', '--host', '0.0.0.0'];
  const bare = await place.run(args);
  assert.equal(bare.code, 2);
  assert.match(bare.stderr, /0\.0\.0\.0.*api\.tls/);
  assert.match(bare.stderr, /0\.0\.0\.0.*api\.keys/);
  assert.equal(bare.stdout, '', 'it was never ready');
  place.configure(
    'model: { provider: rehearsal }\napi: { keys: [{ name: ops, scopes: [read], secret: { env: OPS } }] }\n',
  );
  const keyed = await place.run(args, { env: { OPS: 'a-key-of-some-length-0123456789' } });
  assert.equal(keyed.code, 2);
  assert.match(keyed.stderr, /api\.tls, or api\.behindProxy/);
  assert.doesNotMatch(keyed.stderr, /a-key-of-some-length/);
});
