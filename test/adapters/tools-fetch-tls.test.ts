// X-7 over TLS: the name that was asked for is the one that the certificate must have.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { surfing } from './tools-web.ts';

const folder = mkdtempSync(join(tmpdir(), 'tools-tls-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const key = join(folder, 'key.pem');
const cert = join(folder, 'cert.pem');
const REQUEST =
  'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=site -addext subjectAltName=DNS:site.com';
const made = spawnSync('openssl', [...REQUEST.split(' '), '-keyout', key, '-out', cert]);
const skip = made.status === 0 ? false : 'openssl makes no certificate here';

test(
  'a certificate that nobody vouches for is refused, and nothing is sent',
  { skip },
  async () => {
    const { port, requests, close } = await secureSite();
    await using at = await surfing();
    const outcome = await at.call('fetch', { url: `https://site.com:${port}/` });
    assert.equal(outcome.kind === 'error' && outcome.code, 'failed');
    assert.equal(outcome.text, 'the certificate of the host is not valid');
    assert.equal(requests(), 0);
    await close();
  },
);

test('a good one is taken for its name alone', { skip }, async () => {
  const { port, requests, close } = await secureSite();
  assert.match(await inChild(`https://site.com:${port}/`), /\nsecure site\.com\n/);
  assert.match(await inChild(`https://127.0.0.1:${port}/`), /certificate/);
  assert.equal(requests(), 1);
  await close();
});

async function secureSite(): Promise<{
  readonly port: number;
  readonly requests: () => number;
  readonly close: () => Promise<void>;
}> {
  let requests = 0;
  const options = { key: readFileSync(key), cert: readFileSync(cert) };
  const server = createServer(options, (request, response) => {
    requests += 1;
    const name = 'servername' in request.socket ? request.socket.servername : '';
    response.end(`secure ${String(name)}`);
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A process trusts a certificate of its own from its start on. */
async function inChild(url: string): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'tools-fetch-child.ts'), url], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], NODE_EXTRA_CA_CERTS: cert },
  });
  return Buffer.concat(await child.stdout.toArray()).toString();
}
