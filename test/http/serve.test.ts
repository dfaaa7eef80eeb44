import assert from 'node:assert/strict';
import { connect, createServer, type AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { serveApi, type ServeOptions } from '../../src/http/serve.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { openDoor, SECRETS, type TestDoor } from './door.ts';

const nothing: ServeOptions['fetch'] = () => Promise.resolve(new Response('{}'));

/** Sends bytes as they are and gives everything that comes back until the other side closes. */
function talk(door: TestDoor, chunks: readonly (string | Buffer)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(door.url).port), '127.0.0.1');
    let heard = '';
    socket.on('data', (data) => (heard += data.toString('latin1')));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A door that closes while we still send resets the line; what it said before counts.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(heard));
    for (const chunk of chunks) socket.write(chunk);
  });
}

function head(door: TestDoor, lines: readonly string[]): string {
  return [...lines.slice(0, 1), `Host: ${door.host}`, ...lines.slice(1), '', ''].join('\r\n');
}

function problemIn(heard: string): { status: number; code: string; type: string } {
  const [headers = '', body = ''] = heard.split('\r\n\r\n');
  const parsed = JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1)) as {
    status: number;
    code: string;
  };
  assert.ok(headers.startsWith(`HTTP/1.1 ${parsed.status} `), headers);
  const type = /content-type: ([^\r\n]+)/i.exec(headers)?.[1] ?? '';
  return { status: parsed.status, code: parsed.code, type };
}

const bearer = `Authorization: Bearer ${SECRETS.ops}`;
const problem = (status: number, code: string): object => ({
  status,
  code,
  type: 'application/problem+json',
});

describe('A-5: the bounds of a connection', () => {
  test('headers beyond 16 KiB are 431', async (context) => {
    const door = await openDoor(context);
    const large = `X-Large: ${'x'.repeat(LIMITS.httpHeaderBytes)}`;
    const heard = await talk(door, [head(door, ['GET /healthz HTTP/1.1', large])]);
    assert.deepEqual(problemIn(heard), problem(431, 'headers_too_large'));
  });

  test('headers that do not come in time are 408', async (context) => {
    const door = await openDoor(context, {}, { headersMs: 50, requestMs: 100 });
    const heard = await talk(door, ['GET /healthz HTTP/1.1\r\nHost: ']);
    assert.deepEqual(problemIn(heard), problem(408, 'timeout'));
  });

  test('a body that does not come in time is 408, and stores nothing', async (context) => {
    const door = await openDoor(context, {}, { headersMs: 50, requestMs: 100 });
    const before = await door.counts();
    const lines = [
      'POST /v1/runs HTTP/1.1',
      bearer,
      'Content-Type: application/json',
      'Content-Length: 20',
    ];
    const heard = await talk(door, [head(door, lines), '{"input":']);
    assert.deepEqual(problemIn(heard), problem(408, 'timeout'));
    assert.deepEqual(await door.counts(), before);
  });

  test('a body that claims no length is counted while it is read: 413', async (context) => {
    const door = await openDoor(context);
    const before = await door.counts();
    const lines = [
      'POST /v1/runs HTTP/1.1',
      bearer,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ];
    const piece = 'x'.repeat(65_536);
    const chunk = `${piece.length.toString(16)}\r\n${piece}\r\n`;
    const heard = await talk(door, [head(door, lines), ...Array.from({ length: 17 }, () => chunk)]);
    assert.deepEqual(problemIn(heard), problem(413, 'too_large'));
    assert.deepEqual(await door.counts(), before);
  });

  test('a claimed length beyond the bound is 413 before a byte of it', async (context) => {
    const door = await openDoor(context);
    const length = `Content-Length: ${LIMITS.httpBodyBytes + 1}`;
    const lines = ['POST /v1/runs HTTP/1.1', bearer, 'Content-Type: application/json', length];
    const heard = await talk(door, [head(door, lines)]);
    assert.deepEqual(problemIn(heard), problem(413, 'too_large'));
  });

  test('a body of exactly the bound is read', async (context) => {
    const door = await openDoor(context);
    const body = `"${'x'.repeat(LIMITS.httpBodyBytes - 2)}"`;
    const answer = await door.ask('POST', '/v1/runs', { key: 'ops', raw: body });
    assert.equal(answer.status, 422);
  });

  test('what is no HTTP is 400 and closes', async (context) => {
    const door = await openDoor(context);
    assert.deepEqual(problemIn(await talk(door, ['hello\r\n\r\n'])), problem(400, 'bad_request'));
    const twoLengths = [
      'POST /v1/runs HTTP/1.1',
      bearer,
      'Content-Length: 2',
      'Transfer-Encoding: chunked',
    ];
    const heard = await talk(door, [head(door, twoLengths), '0\r\n\r\n']);
    assert.deepEqual(problemIn(heard), problem(400, 'bad_request'));
  });
});

describe('X-1: the key comes before the body', () => {
  test('no byte of a body is asked for without one', async (context) => {
    const door = await openDoor(context);
    const lines = [
      'POST /v1/runs HTTP/1.1',
      'Content-Type: application/json',
      'Content-Length: 900000',
      'Expect: 100-continue',
      'Connection: close',
    ];
    const heard = await talk(door, [head(door, lines)]);
    assert.deepEqual(problemIn(heard), problem(401, 'unauthorized'));
    assert.ok(!heard.includes('100 Continue'));
  });

  test('with one it is asked for', async (context) => {
    const door = await openDoor(context);
    const body = JSON.stringify({ input: 'x' });
    const lines = [
      'POST /v1/runs HTTP/1.1',
      bearer,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
      'Connection: close',
    ];
    const heard = await talk(door, [head(door, lines), body]);
    assert.ok(heard.startsWith('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 '), heard);
  });
});

describe('X-1: binding', () => {
  test('others can reach an address only with TLS or a proxy that is named', async () => {
    for (const host of [
      '0.0.0.0',
      '::',
      '192.0.2.1',
      'sekisho.example',
      '127.0.0.1.evil.example',
    ]) {
      await assert.rejects(
        serveApi({ fetch: nothing, host, port: 0 }),
        (error: Error & { code: string }) => {
          assert.equal(error.code, 'bind_refused');
          assert.match(error.message, /TLS/);
          assert.match(error.message, /behindProxy/);
          return true;
        },
      );
    }
    const served = await serveApi({ fetch: nothing, host: '0.0.0.0', port: 0, behindProxy: true });
    await served.close(0);
  });

  test('a TLS key and certificate that are none stop the start', async () => {
    const tls = { key: 'no key', cert: 'no certificate' };
    await assert.rejects(serveApi({ fetch: nothing, host: '127.0.0.1', port: 0, tls }), {
      code: 'bad_tls',
    });
  });

  test('a taken port is said by its number', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    await assert.rejects(serveApi({ fetch: nothing, host: '127.0.0.1', port }), {
      code: 'port_taken',
      message: `127.0.0.1:${port} is taken by another program`,
    });
    await new Promise((resolve) => other.close(resolve));
  });

  test('closing lets a request end within its grace, and cuts it after', async () => {
    const begun = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<Response>();
    const served = await serveApi({
      fetch: () => {
        begun.resolve();
        return answer.promise;
      },
      host: '127.0.0.1',
      port: 0,
    });
    const asking = fetch(served.url);
    await begun.promise;
    const closing = served.close(60_000);
    answer.resolve(new Response('late'));
    assert.equal(await (await asking).text(), 'late');
    await closing;

    const hung = await serveApi({ fetch: () => new Promise(() => {}), host: '127.0.0.1', port: 0 });
    const cut = assert.rejects(fetch(hung.url));
    await new Promise((resolve) => setImmediate(resolve));
    await hung.close(0);
    await cut;
  });
});
