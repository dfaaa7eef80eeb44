import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelFetch } from './keep-alive-fetch.ts';
import { openWire } from './wire.ts';

test('a library that asks twice in one call is refused the second time, and its address and headers are not used', async () => {
  const asked: Parameters<ModelFetch>[] = [];
  const fetch: ModelFetch = (...request) => {
    asked.push(request);
    return Promise.resolve({ status: 500, headers: { get: () => null }, body: null });
  };
  const wire = openWire({
    url: 'http://ours/call',
    fetch,
    headers: { 'x-key': 'ours' },
    streamFromJson: () => undefined,
    clock: { now: () => 0, uptime: () => 0, sleep: () => Promise.resolve() },
    signal: new AbortController().signal,
    onTooLarge: () => assert.fail('nothing was sent'),
  });
  const init = { method: 'POST', body: '{}', headers: { 'x-key': 'theirs', 'x-more': '1' } };
  await wire.fetch('http://theirs/v1/messages?beta=true', init);
  await assert.rejects(wire.fetch('http://theirs/v1/messages', init), /one request per call/);
  assert.equal(asked.length, 1);
  const [url, sent] = asked[0] ?? [];
  assert.equal(url, 'http://ours/call');
  assert.deepEqual(Object.keys(sent?.headers ?? {}).toSorted(), [
    'accept',
    'content-type',
    'x-key',
  ]);
  assert.equal(sent?.headers['x-key'], 'ours');
});
