import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { callsTool, says } from '../../src/testing/model-answer.ts';
import { startModelServer, type RecordedRequest } from '../../src/testing/model-server.ts';
import { startPostgres } from '../support/postgres.ts';
import { startHost, type HostProcess } from './host-process.ts';

test('L-8 a host whose server is gone is alive and not ready', async () => {
  const postgres = await startPostgres();
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-pg-away-'));
  const config = [
    'api: { port: 0 }',
    `store: '${await postgres.freshUrl()}'`,
    'model: { provider: rehearsal }',
  ];
  writeFileSync(join(folder, 'sekisho.yaml'), config.join('\n'));
  const host = await startHost(folder);
  const ready = async (): Promise<unknown> => (await fetch(`${host.url}/readyz`)).json();
  try {
    assert.deepEqual(await ready(), { status: 'ready' });
    await postgres.stop();
    assert.deepEqual(await ready(), { status: 'ready', reason: 'store_unreachable' });
    assert.equal((await fetch(`${host.url}/readyz`)).status, 503);
    assert.equal((await fetch(`${host.url}/healthz`)).status, 200);
  } finally {
    await host.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});

const isSlow = (request: RecordedRequest): boolean =>
  !isAssessment(request) && JSON.stringify(request.body).includes('slowly');

function isAssessment({ body }: RecordedRequest): boolean {
  return 'response_format' in body;
}

test('R-14 a host on PostgreSQL answers, and its death is waited out by the lease', async () => {
  const postgres = await startPostgres();
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-pg-host-'));
  mkdirSync(join(folder, 'workspace'));
  const stalled = Promise.withResolvers<void>();
  const server = await startModelServer((request) => {
    if (isAssessment(request)) return says('{"verdict":"inconclusive","reason":"it is slow"}');
    if (isSlow(request)) {
      stalled.resolve();
      return { kind: 'stall' };
    }
    return request.lastText.startsWith('wrote')
      ? says('written')
      : callsTool('write', { path: 'a.txt', content: 'x' });
  });
  const config = [
    'data: ./data',
    'workspace: ./workspace',
    'api: { port: 0 }',
    'lease: { seconds: 2, renewSeconds: 1 }',
    'tick: { seconds: 1 }',
    `store: '${await postgres.freshUrl()}'`,
    `model: { provider: openai-compatible, baseURL: '${server.url}', name: scripted }`,
  ];
  writeFileSync(join(folder, 'sekisho.yaml'), config.join('\n'));
  let host: HostProcess | undefined;
  try {
    host = await startHost(folder);
    const done = await host.client.createRun({ input: 'write a file', wait: 30 });
    assert.deepEqual(
      [done.status, 'output' in done ? done.output : null],
      ['completed', 'written'],
    );
    const cut = await host.client.createRun({ input: 'think slowly' });
    await stalled.promise;
    await host.kill();
    host = await startHost(folder);
    for await (const event of host.client.runEvents(cut.id)) {
      if (event.type !== 'notice') continue;
      assert.deepEqual([event.level, event.code], ['blocked', 'recovery_inconclusive']);
      break;
    }
    assert.equal((await host.client.run(cut.id)).status, 'failed');
    assert.equal(server.requests.filter(isSlow).length, 1);
    assert.equal(await host.end(), 0);
  } finally {
    await host?.kill();
    await server.close();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
