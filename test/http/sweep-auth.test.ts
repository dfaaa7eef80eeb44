// Every route × every state of a credential × every form of Host and Origin. What is expected of a
// cell is read off the table of routes, so a route that is added is held to it without being named.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Route } from '../../src/http/call.ts';
import { ensureKeyFile, type KeyGrant, type Scope } from '../../src/http/keys.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { openDoor, SECRETS } from './door.ts';
import { talk } from './raw.ts';
import { makeSubjects, pathFor, sampleOf, titleOf, type Subjects } from './subjects.ts';
import {
  dumpOf,
  heardCode,
  HOST,
  makerOf,
  openWithin,
  PORT,
  type Heard,
  type Within,
} from './within.ts';

const BOTH = 'both-secret-0123456789abcdef0123456789abcde';
const WITHDRAWN = 'withdrawn-secret-0123456789abcdef012345678';
const FORMER = 'former-secret-0123456789abcdef0123456789ab';

const FOREVER: readonly KeyGrant[] = [
  { name: 'ops', scopes: ['admin'], secret: SECRETS.ops },
  { name: 'runner', scopes: ['run'], secret: SECRETS.runner },
  { name: 'other', scopes: ['run'], secret: SECRETS.other },
  { name: 'reader', scopes: ['read'], secret: SECRETS.reader },
  { name: 'both', scopes: ['run', 'read'], secret: BOTH },
];
/** What the ring held before its keys were changed; the sweep comes after. */
const BEFORE: readonly KeyGrant[] = [
  ...FOREVER.filter(({ name }) => name !== 'reader'),
  { name: 'reader', scopes: ['read'], secret: FORMER },
  { name: 'withdrawn', scopes: ['admin'], secret: WITHDRAWN },
];

/** Whose records the sweep asks for. */
const OWNER = 'runner';

interface Credential {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for one that opens nothing. */
  readonly opens?: { readonly who: string; readonly scopes: readonly Scope[] };
}

function credentials(generated: string): readonly Credential[] {
  const bearer = (secret: string): Record<string, string> => ({
    Authorization: `Bearer ${secret}`,
  });
  const closed: Readonly<Record<string, Record<string, string>>> = {
    none: {},
    blank: { Authorization: '' },
    'a scheme alone': { Authorization: 'Bearer' },
    'no scheme': { Authorization: SECRETS.ops },
    basic: { Authorization: `Basic ${Buffer.from(`ops:${SECRETS.ops}`).toString('base64')}` },
    'two keys': bearer(`${SECRETS.ops} ${SECRETS.ops}`),
    wrong: bearer('wrong-0123456789abcdef0123456789abcdef'),
    'nearly right': bearer(SECRETS.ops.slice(0, -1)),
    'another case': bearer(SECRETS.ops.toUpperCase()),
    withdrawn: bearer(WITHDRAWN),
    rotated: bearer(FORMER),
    'in other headers': { 'X-Api-Key': SECRETS.ops, Cookie: `key=${SECRETS.ops}` },
  };
  const all: readonly Scope[] = ['run', 'read', 'admin'];
  return [
    ...Object.entries(closed).map(([name, headers]) => ({ name, headers })),
    ...FOREVER.map(({ name, scopes, secret }) => ({
      name,
      headers: bearer(secret),
      opens: { who: name, scopes: scopes.includes('admin') ? all : scopes },
    })),
    { name: 'generated', headers: bearer(generated), opens: { who: 'local', scopes: all } },
  ];
}

interface Form {
  readonly headers: Readonly<Record<string, string>>;
  readonly bad?: 'host' | 'origin';
}

const host = (Host: string): Form => ({ headers: { Host }, bad: 'host' });
const origin = (Origin: string): Form => ({ headers: { Origin }, bad: 'origin' });

/** Whence a request says that it comes. `Host` is 127.0.0.1 with the port unless a form has its own. */
const FORMS: readonly Form[] = [
  { headers: {} },
  { headers: { Host: `localhost:${PORT}` } },
  { headers: { Host: `LocalHost:${PORT}` } },
  { headers: { Host: `[::1]:${PORT}` } },
  { headers: { Origin: `http://${HOST}` } },
  { headers: { Host: `LOCALHOST:${PORT}`, Origin: `HTTP://LOCALHOST:${PORT}` } },
  host('evil.example'),
  host(`evil.example:${PORT}`),
  host(`localhost.evil.example:${PORT}`),
  host(`127.0.0.1.evil.example:${PORT}`),
  host('127.0.0.1:1'),
  host('127.0.0.1'),
  host(`localhost.:${PORT}`),
  host(`2130706433:${PORT}`),
  host(`0x7f.0.0.1:${PORT}`),
  host(`0.0.0.0:${PORT}`),
  host(`[::ffff:127.0.0.1]:${PORT}`),
  host(`[::]:${PORT}`),
  origin('http://evil.example'),
  origin(`http://evil.example:${PORT}`),
  origin('null'),
  origin(''),
  origin(`https://${HOST}`),
  origin('http://127.0.0.1:1'),
  origin(`http://${HOST}/`),
  origin(`http://${HOST}/path`),
  origin(`http://localhost.:${PORT}`),
  origin(`http://u@${HOST}`),
  origin(`chrome-extension://${HOST}`),
  origin(`http://${HOST}, http://evil.example`),
];

interface Cell {
  readonly line: Route;
  readonly credential: Credential;
  readonly form: Form;
}

const CELLS_FLOOR = 18_000;

function cellsOf(generated: string): readonly Cell[] {
  return ROUTES.flatMap((line) =>
    credentials(generated).flatMap((credential) =>
      FORMS.map((form) => ({ line, credential, form })),
    ),
  );
}

/** What has to come: `passes`, or the refusal with its status. */
function expectedOf({ line, credential, form }: Cell): 'passes' | 401 | 403 | 404 {
  const isProbe = line.need === 'none';
  if (form.bad === 'origin' || (form.bad === 'host' && !isProbe)) return 403;
  if (isProbe) return 'passes';
  if (credential.opens === undefined) return 401;
  const { scopes } = credential.opens;
  if (line.need !== 'any' && !scopes.includes(line.need)) return 403;
  return ownership(line, credential.opens);
}

/** A record of another key: nothing is there without `read`, and with it nothing can be changed. */
function ownership(
  { need, path, method }: Route,
  { who, scopes }: NonNullable<Credential['opens']>,
): 'passes' | 403 | 404 {
  const isOwned = path.includes('{id}') && (need === 'any' || need === 'run');
  if (!isOwned || who === OWNER || scopes.includes('admin')) return 'passes';
  if (!scopes.includes('read')) return 404;
  return method === 'GET' ? 'passes' : 403;
}

interface Ground {
  readonly within: Within;
  readonly generated: string;
  readonly logged: readonly string[];
  readonly ask: (cell: Cell, method?: string) => Promise<Heard>;
}

async function openGround(context: TestContext): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-sweep-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const keyFile = join(folder, 'api-key');
  ensureKeyFile(keyFile);
  const generated = readFileSync(keyFile, 'utf8').trim();
  const logged: string[] = [];
  const note = (...line: unknown[]): void => {
    logged.push(JSON.stringify(line));
  };
  const log = { debug: note, info: note, warn: note, error: note };
  const within = await openWithin(context, { grants: BEFORE, keyFile, log });
  const subjects = await makeSubjects(makerOf(within, OWNER));
  assert.equal(await statusWith(within, WITHDRAWN), 200);
  within.keys.replace(FOREVER);
  assert.equal(await statusWith(within, WITHDRAWN), 401);
  return { within, generated, logged, ask: (cell, method) => ask(within, subjects, cell, method) };
}

async function statusWith({ say }: Within, secret: string): Promise<number> {
  return (await say('GET', '/v1/status', { headers: { Authorization: `Bearer ${secret}` } }))
    .status;
}

async function ask(
  { say }: Within,
  subjects: Subjects,
  { line, credential, form }: Cell,
  method: string = line.method,
): Promise<Heard> {
  const isSent = line.body !== undefined && method === line.method;
  const body = isSent ? { raw: JSON.stringify(sampleOf(line)) } : {};
  const headers = { ...credential.headers, ...form.headers };
  return say(method, pathFor(line, subjects), { ...body, headers });
}

function whereOf({ line, credential, form }: Cell): string {
  return `${titleOf(line)} with ${credential.name} from ${JSON.stringify(form.headers)}`;
}

function assertCell(cell: Cell, heard: Heard): void {
  const expected = expectedOf(cell);
  const where = `${whereOf(cell)}: ${heard.status} ${heard.text}`;
  const code = heardCode(heard, where);
  if (expected === 'passes') {
    assert.ok(heard.status in cell.line.replies || heard.status === 409, where);
    return;
  }
  assert.equal(heard.status, expected, where);
  assert.equal(code, { 401: 'unauthorized', 403: 'forbidden', 404: 'not_found' }[expected], where);
  assert.equal(heard.writes, 0, where);
}

test('X-1: only the cells that the table allows pass, and no other leaves anything', async (context) => {
  const { within, generated, logged, ask: sayCell } = await openGround(context);
  const cells = cellsOf(generated);
  const secrets = [...Object.values(SECRETS), BOTH, WITHDRAWN, FORMER, generated];
  const sweep = async (part: readonly Cell[]): Promise<void> => {
    for (const cell of part) {
      const heard = await sayCell(cell);
      assertCell(cell, heard);
      const whole = heard.text + JSON.stringify([...heard.headers]);
      assert.equal(heard.headers.get('access-control-allow-origin'), null, whereOf(cell));
      assert.deepEqual(
        secrets.filter((secret) => whole.includes(secret)),
        [],
        whereOf(cell),
      );
    }
  };
  const refused = cells.filter((cell) => expectedOf(cell) !== 'passes');
  const allowed = cells.filter((cell) => expectedOf(cell) === 'passes');
  const before = await dumpOf(within);
  await sweep(refused);
  assert.deepEqual(await dumpOf(within), before);
  await sweep(allowed);
  const broken = context.mock.method(within.engine.store, 'query', () => {
    return Promise.reject(new Error('a surprise'));
  });
  for (const cell of allowed.filter(({ form }) => form === FORMS[0])) {
    const { text } = await sayCell(cell);
    assert.deepEqual(
      secrets.filter((secret) => text.includes(secret)),
      [],
    );
  }
  broken.mock.restore();
  assert.ok(logged.length >= 20, 'nothing was logged, so nothing was looked at');
  const kept = JSON.stringify(await dumpOf(within)) + logged.join('\n');
  assert.deepEqual(
    secrets.filter((secret) => kept.includes(secret)),
    [],
  );
  context.diagnostic(`${cells.length} cells, ${allowed.length} of them allowed`);
  assert.ok(cells.length >= CELLS_FLOOR, `${cells.length} cells`);
  assert.equal(new Set(allowed.map(({ line }) => line)).size, ROUTES.length);
});

// The sweep reads its expectations off the table, so the table itself is held to what the spec says.
test('X-1: the table opens nothing but the probes, and changes nothing for who may only read', () => {
  const open = ROUTES.filter(({ need }) => need === 'none').map(({ path }) => path);
  assert.deepEqual(open, ['/healthz', '/readyz']);
  for (const line of ROUTES.filter(({ method }) => method !== 'GET')) {
    const isAdmin = /^\/v1\/(?:admin|workers)\/|\/(?:extend|budget-reset|admit)$/.test(line.path);
    assert.equal(line.need, isAdmin ? 'admin' : 'run', titleOf(line));
  }
});

test('A-5: another method opens no path, whatever the credential', async (context) => {
  const { within, generated, ask: sayCell } = await openGround(context);
  const [form] = FORMS;
  assert.ok(form !== undefined);
  const before = await dumpOf(within);
  const others = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE'];
  let cells = 0;
  for (const line of ROUTES) {
    const own = ROUTES.filter(({ path }) => path === line.path).map(({ method }) => method);
    for (const method of others.filter((one) => !isOwn(one, own))) {
      for (const credential of credentials(generated)) {
        const heard = await sayCell({ line, credential, form }, method);
        const isOpen = credential.opens !== undefined || line.need === 'none';
        const expected = isOpen ? (method === 'OPTIONS' ? 204 : 405) : 401;
        assert.equal(heard.status, expected, `${method} ${line.path} with ${credential.name}`);
        assert.equal(heard.headers.get('access-control-allow-methods'), null);
        assert.equal(heard.writes, 0);
        cells += 1;
      }
    }
  }
  context.diagnostic(`${cells} cells`);
  assert.ok(cells >= 2_000, `${cells} cells`);
  assert.deepEqual(await dumpOf(within), before);
});

function isOwn(method: string, own: readonly string[]): boolean {
  return own.includes(method === 'HEAD' ? 'GET' : method);
}

test('X-2: without a Host, with two, or for another protocol nothing is answered', async (context) => {
  const door = await openDoor(context);
  const key = `Authorization: Bearer ${SECRETS.ops}`;
  const before = await door.counts();
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  const evil = 'Origin: http://evil.example';
  for (const [lines, statuses] of [
    [['GET /v1/status HTTP/1.1', key], [400]],
    [
      ['GET /v1/status HTTP/1.0', key],
      [400, 403],
    ],
    [
      ['GET /v1/status HTTP/1.1', 'Host: evil.example', `Host: ${door.host}`, key],
      [400, 403],
    ],
    [
      ['GET /v1/status HTTP/1.1', `Host: ${door.host}`, 'Host: evil.example', key],
      [400, 403],
    ],
    [['GET http://evil.example/v1/status HTTP/1.1', 'Host: evil.example', key], [403]],
    [['GET /v1/status HTTP/1.1', `Host: ${door.host}`, key, evil, ...upgrade], [403]],
    [['GET /v1/status HTTP/1.1', `Host: ${door.host}`, ...upgrade], [401]],
    [['POST /v1/runs HTTP/1.1', `Host: ${door.host}`, key, evil, 'Content-Length: 0'], [403]],
    [['PRI * HTTP/2.0', '', 'SM'], [400]],
  ] as const) {
    const heard = await talk(
      door,
      Buffer.from([...lines, 'Connection: close', '', ''].join('\r\n')),
    );
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(heard)?.[1]);
    assert.ok(
      statuses.some((one) => one === status),
      `${lines.join(' | ')}: ${heard}`,
    );
  }
  // A tunnel is not even refused: the line is cut.
  const tunnel = ['CONNECT evil.example:443 HTTP/1.1', `Host: ${door.host}`, key, '', ''];
  assert.equal(await talk(door, Buffer.from(tunnel.join('\r\n'))), '');
  assert.deepEqual(await door.counts(), before);
});
