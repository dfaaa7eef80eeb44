// What no client library would send, over a real socket: naughty strings as they are in each header
// that the door reads, and in the request line.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { talk } from './raw.ts';
import { NAUGHTY } from './naughty.ts';
import { openDoor, SECRETS, type TestDoor } from './door.ts';
import { UNBOUNDED } from './within.ts';

interface Spot {
  readonly what: string;
  readonly line: (text: string, ids: { readonly run: string }) => string;
  /** Headers with the string among them; those that a request needs are filled in. */
  readonly headers: (text: string) => Readonly<Record<string, string>>;
  readonly body?: string;
  readonly statuses: readonly number[];
}

const post = { line: () => 'POST /v1/runs', body: '{"input":"x"}' } as const;
const stream = (_text: string, { run }: { readonly run: string }): string =>
  `GET /v1/runs/${run}/events`;

const SPOTS: readonly Spot[] = [
  {
    ...post,
    what: 'Authorization',
    headers: (text) => ({ Authorization: text }),
    statuses: [400, 401],
  },
  {
    ...post,
    what: 'a bearer key',
    headers: (text) => ({ Authorization: `Bearer ${text}` }),
    statuses: [400, 401],
  },
  { ...post, what: 'Host', headers: (text) => ({ Host: text }), statuses: [400, 403] },
  { ...post, what: 'Origin', headers: (text) => ({ Origin: text }), statuses: [400, 403] },
  {
    ...post,
    what: 'Content-Type',
    headers: (text) => ({ 'Content-Type': text }),
    statuses: [400, 415],
  },
  {
    ...post,
    what: 'Content-Encoding',
    headers: (text) => ({ 'Content-Encoding': text }),
    statuses: [400, 415],
  },
  {
    ...post,
    what: 'Content-Length',
    headers: (text) => ({ 'Content-Length': text }),
    // One that claims more than there is waits for it, as long as a request may.
    statuses: [400, 408, 413],
  },
  {
    ...post,
    what: 'Idempotency-Key',
    headers: (text) => ({ 'Idempotency-Key': text }),
    statuses: [202, 400],
  },
  {
    what: 'Last-Event-ID',
    line: stream,
    headers: (text) => ({ 'Last-Event-ID': text }),
    statuses: [200, 400],
  },
  {
    what: 'an id',
    line: (text) => `GET /v1/runs/${text}`,
    headers: () => ({}),
    statuses: [200, 400, 404],
  },
  {
    what: 'a query',
    line: (text) => `GET /v1/tasks?conversation=${text}`,
    headers: () => ({}),
    statuses: [200, 400],
  },
  {
    what: 'a method',
    line: (text) => `${text} /v1/runs`,
    headers: () => ({}),
    statuses: [400, 405],
  },
];

function bytesOf(door: TestDoor, spot: Spot, text: string, run: string): Buffer {
  const { body } = spot;
  const headers = {
    Host: door.host,
    Authorization: `Bearer ${SECRETS.ops}`,
    Connection: 'close',
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(body === undefined ? {} : { 'Content-Length': String(body.length) }),
    ...spot.headers(text),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(
    [`${spot.line(text, { run })} HTTP/1.1`, ...lines, '', body ?? ''].join('\r\n'),
  );
}

const AT_ONCE = 16;

async function sweep(
  context: TestContext,
  spot: Spot,
): Promise<{ readonly door: TestDoor; readonly heard: readonly string[] }> {
  const bounds = { headersMs: 500, requestMs: 1_000 };
  const door = await openDoor(context, { authFailuresPerMinute: UNBOUNDED }, bounds);
  const { id } = await door.client().createRun({ input: 'x', wait: 300 });
  const heard: string[] = [];
  for (let at = 0; at < NAUGHTY.length; at += AT_ONCE) {
    const texts = NAUGHTY.slice(at, at + AT_ONCE);
    const said = texts.map((text) => talk(door, bytesOf(door, spot, text, id)));
    heard.push(...(await Promise.all(said)));
  }
  return { door, heard };
}

for (const spot of SPOTS) {
  test(`A-5: ${spot.what} that is a naughty string is answered as the surface says`, async (context) => {
    const { door, heard } = await sweep(context, spot);
    assert.equal(heard.length, NAUGHTY.length);
    for (const [at, answer] of heard.entries()) {
      const where = JSON.stringify([NAUGHTY[at]?.slice(0, 200), answer.slice(0, 600)]);
      const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
      assert.ok(spot.statuses.includes(status), where);
      if (status < 400) continue;
      assert.match(answer, /^content-type: application\/problem\+json\r$/im, where);
      assert.match(answer, /"code":"[a-z_]+"/, where);
    }
    assert.equal((await door.ask('GET', '/healthz')).status, 200);
  });
}
