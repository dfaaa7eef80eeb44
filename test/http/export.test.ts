import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exporter } from '../../src/http/export.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { openExport } from '../../src/engine/archive/export.ts';
import { runningSha256 } from '../../src/adapters/digest/running.ts';
import { sha256 } from '../../src/adapters/digest/sha256.ts';
import { Installation } from '../support/host.ts';
import {
  bring,
  everything,
  EXPORTED_AT,
  fileOf,
  recordsIn,
  sqlitePlace,
} from '../support/archive.ts';
import { codeOf, openDoorOf, SECRETS } from './door.ts';

/** Pieces that never end, and how many were taken. */
function endless(): {
  exporter: Exporter;
  readonly taken: () => number;
  readonly closed: () => number;
} {
  let taken = 0;
  let closed = 0;
  async function* pieces(): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      taken += 1;
      yield Buffer.alloc(65_536, 'x');
    }
  }
  const close = (): Promise<void> => {
    closed += 1;
    return Promise.resolve();
  };
  const exporter: Exporter = () => Promise.resolve({ pieces: pieces(), close });
  return { exporter, taken: () => taken, closed: () => closed };
}

test('the whole store streams to an admin, and to no other key', async (context) => {
  const place = sqlitePlace(context);
  await bring(fileOf(everything()), place.filling);
  const parts = { digest: sha256, running: runningSha256, product: '1.2.3' };
  const exporter: Exporter = () =>
    openExport({ ...parts, ...place, mask: (text) => text, exportedAt: EXPORTED_AT });
  const door = await openDoorOf(context, new Installation(), { exporter });
  for (const key of ['reader', 'runner'] as const) {
    const refused = await door.ask('GET', '/v1/admin/export', { key });
    assert.equal(refused.status, 403);
    assert.equal(codeOf(refused), 'forbidden');
  }
  assert.equal((await door.ask('GET', '/v1/admin/export')).status, 401);
  const answer = await door.ask('GET', '/v1/admin/export', { key: 'ops' });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/x-ndjson');
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.equal(recordsIn(answer.text).length, everything().length + 1);
  const head = await door.ask('HEAD', '/v1/admin/export', { key: 'ops' });
  assert.equal(head.status, 200);
  assert.equal(head.text, '');
  assert.equal(await new Response(await door.client().exportAll()).text(), answer.text);
});

test('a store that cannot be read is told before a byte of an export', async (context) => {
  const exporter: Exporter = () => Promise.reject(new Fault('io', 'stop', 'SQLITE_IOERR /data'));
  const door = await openDoorOf(context, new Installation(), { exporter });
  const answer = await door.ask('GET', '/v1/admin/export', { key: 'ops' });
  assert.equal(answer.status, 503);
  assert.equal(codeOf(answer), 'store_failed');
  assert.ok(!answer.text.includes('/data'));
});

test('an export that breaks off breaks its connection', async (context) => {
  let closed = 0;
  async function* pieces(): AsyncGenerator<Uint8Array, void> {
    yield Buffer.from('{"format":"sekisho-export"}\n');
    throw new Error('the disk went away');
  }
  const close = (): Promise<void> => {
    closed += 1;
    return Promise.resolve();
  };
  const exporter: Exporter = () => Promise.resolve({ pieces: pieces(), close });
  const door = await openDoorOf(context, new Installation(), { exporter });
  const response = await fetch(`${door.url}/v1/admin/export`, {
    headers: { Authorization: `Bearer ${SECRETS.ops}` },
  });
  assert.equal(response.status, 200);
  await assert.rejects(response.text());
  assert.equal(closed, 1);
});

test('a reader that goes, and one that stands still, hold no state of the store', async (context) => {
  const source = endless();
  const installation = new Installation();
  const door = await openDoorOf(context, installation, source);
  const gone = await door.client().exportAll();
  const reader = gone.getReader();
  assert.equal((await reader.read()).done, false);
  await reader.cancel();
  const still = await door.client().exportAll();
  const slow = still.getReader();
  assert.equal((await slow.read()).done, false);
  await installation.clock.sleeper(LIMITS.exportStallMs);
  // Until the socket is full, more is taken now and then: it is asked again until nothing is.
  while (source.closed() < 2) {
    installation.clock.advance(LIMITS.exportStallMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await assert.rejects(async () => {
    for (;;) await slow.read();
  });
  assert.equal(source.closed(), 2);
  assert.ok(source.taken() > 1);
});

test('a host that ends cuts the exports that run', async (context) => {
  const source = endless();
  const door = await openDoorOf(context, new Installation(), source);
  const reader = (await door.client().exportAll()).getReader();
  await reader.read();
  door.api.closeStreams();
  await assert.rejects(async () => {
    for (;;) await reader.read();
  });
  assert.equal(source.closed(), 1);
  await assert.rejects(async () => {
    for await (const piece of await door.client().exportAll()) assert.ok(piece);
  });
});
