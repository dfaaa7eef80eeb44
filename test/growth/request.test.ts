import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { says } from '../../src/testing/model-answer.ts';
import { startModelServer } from '../../src/testing/model-server.ts';
import { startHost } from '../crash/host-process.ts';

/** Of a model request that says `hello`, with everything that a request always carries. */
const BYTES_MAX = 12_000;

test('the request for "hello" with all built-in tools has at most 12 kB, and the next grows by what was said', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-request-'));
  const server = await startModelServer(() => says('hi'));
  t.after(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  mkdirSync(join(folder, 'workspace'));
  writeFileSync(
    join(folder, 'sekisho.yaml'),
    `data: ./data\nworkspace: ./workspace\napi: { port: 0 }\n` +
      `model: { provider: openai-compatible, baseURL: '${server.url}', name: scripted }\n`,
  );
  const host = await startHost(folder);
  const { id } = await host.client.openConversation({});
  for (const order of [1, 2]) {
    await host.client.postMessage(id, { text: 'hello' });
    await server.arrived(order);
  }
  await host.end();
  const [first, second] = server.requests;
  const tools = first?.body['tools'];
  assert.ok(Array.isArray(tools) && tools.length >= 4, 'the tools are in it');
  const bytes = Buffer.byteLength(first?.text ?? '');
  assert.ok(bytes > 500 && bytes <= BYTES_MAX, `${bytes} bytes`);
  const grown = Buffer.byteLength(second?.text ?? '') - bytes;
  assert.ok(grown > 0 && grown < 500, `${grown} bytes more`);
});
