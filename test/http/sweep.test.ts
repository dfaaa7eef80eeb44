// Every route, as the table has it, against every state of a credential and every form of Host and
// Origin: a route that is added is swept without being named here.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { Route } from '../../src/http/call.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { makeSubjects, pathFor, sampleOf } from './subjects.ts';
import { UNBOUNDED } from './within.ts';
import { GRANTS, codeOf, openDoor, SECRETS, type Asked, type TestDoor } from './door.ts';

interface Target {
  readonly line: Route;
  readonly path: string;
  readonly body: unknown;
}

/** Each route with ids that exist, and the body that it takes. */
async function targets(door: TestDoor): Promise<readonly Target[]> {
  const { installation, engine } = door;
  const subjects = await makeSubjects({
    installation,
    engine,
    post: async (path, body) => (await door.ask('POST', path, { key: 'ops', body })).json,
  });
  return ROUTES.map((line) => {
    const body = line.body === undefined ? undefined : sampleOf(line);
    return { line, path: pathFor(line, subjects), body };
  });
}

function title({ line }: Target): string {
  return `${line.method} ${line.path}`;
}

async function open(context: TestContext): Promise<{ door: TestDoor; all: readonly Target[] }> {
  const door = await openDoor(context, { authFailuresPerMinute: UNBOUNDED });
  const all = await targets(door);
  assert.ok(all.length >= 24, 'a sweep that looked at nothing has not passed');
  return { door, all };
}

describe('without a valid key', () => {
  const credentials: Readonly<Record<string, Asked['headers']>> = {
    none: {},
    blank: { Authorization: '' },
    'a scheme alone': { Authorization: 'Bearer' },
    wrong: { Authorization: 'Bearer wrong-0123456789abcdef0123456789abcdef' },
    'nearly right': { Authorization: `Bearer ${SECRETS.ops.slice(0, -1)}` },
    'right and more': { Authorization: `Bearer ${SECRETS.ops}x` },
    'another case': { Authorization: `Bearer ${SECRETS.ops.toUpperCase()}` },
    'two keys': { Authorization: `Bearer ${SECRETS.ops} ${SECRETS.ops}` },
    basic: { Authorization: `Basic ${Buffer.from(`ops:${SECRETS.ops}`).toString('base64')}` },
    'no scheme': { Authorization: SECRETS.ops },
    'another header': { 'X-Api-Key': SECRETS.ops },
    'a cookie': { Cookie: `key=${SECRETS.ops}` },
    'a proxy header': { 'X-Forwarded-For': '127.0.0.1', 'X-Real-IP': '127.0.0.1' },
    'a user header': { 'X-User': 'ops', 'X-Scopes': 'admin' },
  };
  test('X-1: no route answers but the two probes, and nothing is stored', async (context) => {
    const { door, all } = await open(context);
    const before = await door.counts();
    for (const target of all) {
      for (const [name, headers] of Object.entries(credentials)) {
        const { line, path, body } = target;
        const answer = await door.ask(line.method, path, { body, headers: headers ?? {} });
        const where = `${title(target)} with ${name}`;
        if (line.need === 'none') {
          assert.equal(answer.status, 200, where);
        } else {
          assert.equal(answer.status, 401, where);
          assert.equal(codeOf(answer), 'unauthorized', where);
          assert.equal(answer.headers['www-authenticate'], 'Bearer realm="sekisho"', where);
        }
      }
    }
    assert.deepEqual(await door.counts(), before);
    const probes = all.filter(({ line }) => line.need === 'none').map(({ path }) => path);
    assert.deepEqual(probes, ['/healthz', '/readyz']);
  });

  test('X-1: a key in the URL opens nothing', async (context) => {
    const { door, all } = await open(context);
    for (const target of all.filter(({ line }) => line.need !== 'none')) {
      for (const name of ['key', 'api_key', 'access_token', 'token', 'authorization']) {
        const path = `${target.path}?${name}=${SECRETS.ops}`;
        const answer = await door.ask(target.line.method, path, { body: target.body });
        assert.equal(answer.status, 401, title(target));
        assert.ok(!answer.text.includes(SECRETS.ops));
      }
    }
  });

  test('an unknown path and a wrong method tell nothing before the key', async (context) => {
    const { door } = await open(context);
    for (const [method, path] of [
      ['GET', '/v1/nothing'],
      ['DELETE', '/v1/runs'],
      ['OPTIONS', '/v1/runs'],
      ['GET', '/'],
      ['TRACE', '/v1/runs'],
    ] as const) {
      assert.equal((await door.ask(method, path)).status, 401, `${method} ${path}`);
    }
  });

  test('A-3: a key that was withdrawn opens nothing from then on', async (context) => {
    const { door, all } = await open(context);
    assert.equal((await door.ask('GET', '/v1/status', { key: 'reader' })).status, 200);
    door.keys.replace(GRANTS.filter(({ name }) => name === 'ops'));
    for (const target of all.filter(({ line }) => line.need !== 'none')) {
      for (const key of ['reader', 'runner'] as const) {
        const answer = await door.ask(target.line.method, target.path, { key, body: target.body });
        assert.equal(answer.status, 401, `${title(target)} for ${key}`);
      }
    }
  });
});

test('A-3: each route refuses every key that lacks its scope, and nothing is stored', async (context) => {
  const { door, all } = await open(context);
  const before = await door.counts();
  let refused = 0;
  for (const target of all) {
    const { need, method } = target.line;
    const lacking = {
      run: ['reader'],
      read: ['runner'],
      admin: ['reader', 'runner'],
      any: [],
      none: [],
    } as const;
    for (const key of lacking[need]) {
      const answer = await door.ask(method, target.path, { key, body: target.body });
      assert.equal(answer.status, 403, `${title(target)} for ${key}`);
      assert.equal(codeOf(answer), 'forbidden');
      refused += 1;
    }
  }
  assert.ok(refused >= 10);
  assert.deepEqual(await door.counts(), before);
});

describe('with a valid key, from another site', () => {
  const foreign = (door: TestDoor): Readonly<Record<string, Record<string, string>>> => {
    const port = door.host.split(':')[1] ?? '';
    return {
      'a rebound name': { Host: 'evil.example' },
      'a rebound name with our port': { Host: `evil.example:${port}` },
      'a name that begins like ours': { Host: `localhost.evil.example:${port}` },
      'a name that ends like ours': { Host: `evil-localhost:${port}` },
      'another port': { Host: '127.0.0.1:1' },
      'a user part': { Host: `localhost@evil.example:${port}` },
      'an address that means loopback': { Host: `2130706433:${port}` },
      'a name with a dot at its end': { Host: `localhost.:${port}` },
      'another site': { Origin: 'https://evil.example' },
      'no origin to speak of': { Origin: 'null' },
      'an empty origin': { Origin: '' },
      'another port of this machine': { Origin: 'http://127.0.0.1:1' },
      'another scheme': { Origin: `https://${door.host}` },
      'a name that begins like ours as origin': { Origin: `http://localhost.evil.example:${port}` },
      'an origin with a path': { Origin: `http://${door.host}/x` },
      'an extension': { Origin: `chrome-extension://${door.host}` },
    };
  };
  test('X-2: no route answers, and nothing is stored (INC-065)', async (context) => {
    const { door, all } = await open(context);
    const before = await door.counts();
    for (const target of all) {
      for (const [name, headers] of Object.entries(foreign(door))) {
        const isProbe = target.line.need === 'none';
        const answer = await door.ask(target.line.method, target.path, {
          key: 'ops',
          body: target.body,
          headers,
        });
        const where = `${title(target)} from ${name}`;
        if (isProbe && 'Host' in headers) {
          assert.equal(answer.status, name === 'a user part' ? 400 : 200, where);
          continue;
        }
        // The user part does not even make a URL.
        assert.ok([403, 400].includes(answer.status), `${where}: ${answer.status}`);
        assert.ok(answer.status === 403 || name === 'a user part', where);
        assert.equal(answer.headers['access-control-allow-origin'], undefined);
      }
    }
    assert.deepEqual(await door.counts(), before);
  });

  test('X-2: this machine by its names and its own origin is answered', async (context) => {
    const { door } = await open(context);
    const port = door.host.split(':')[1] ?? '';
    for (const name of ['127.0.0.1', 'localhost', '[::1]', 'LOCALHOST']) {
      const headers = { Host: `${name}:${port}`, Origin: `http://${name}:${port}` };
      const answer = await door.ask('GET', '/v1/status', { key: 'ops', headers });
      assert.equal(answer.status, 200, name);
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
    }
  });

  test('X-2: a configured name is answered, with the port or as it is written', async (context) => {
    const door = await openDoor(context, { allowedHosts: ['sekisho.example', 'other.example:1'] });
    const port = door.host.split(':')[1] ?? '';
    const status = async (Host: string): Promise<number> =>
      (await door.ask('GET', '/v1/status', { key: 'ops', headers: { Host } })).status;
    assert.equal(await status('sekisho.example'), 200);
    assert.equal(await status(`Sekisho.Example:${port}`), 200);
    assert.equal(await status('other.example:1'), 200);
    assert.equal(await status('other.example'), 403);
    assert.equal(await status('sekisho.example:1'), 403);
  });

  test('X-2: a page cannot post what a form could send', async (context) => {
    const { door } = await open(context);
    const before = await door.counts();
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const raw = JSON.stringify({ input: 'x' });
      const headers = { 'Content-Type': type };
      const answer = await door.ask('POST', '/v1/runs', { key: 'ops', raw, headers });
      assert.equal(codeOf(answer), 'unsupported_type', type);
    }
    assert.deepEqual(await door.counts(), before);
  });
});

describe('the description', () => {
  test('A-1: names each route of the table and no other', async (context) => {
    const { door } = await open(context);
    const document = (await door.ask('GET', '/v1/openapi.json', { key: 'runner' })).json as {
      openapi: string;
      paths: Record<string, Record<string, unknown>>;
    };
    assert.match(document.openapi, /^3\.1\.\d$/);
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const table = ROUTES.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(described.toSorted(), table.toSorted());
    assert.equal(new Set(table).size, table.length);
  });

  test('A-1: each described route is routed, and answers as described', async (context) => {
    const { door, all } = await open(context);
    for (const target of all) {
      const { line, path, body } = target;
      const isStream = Object.values(line.replies).some(({ type }) => type === 'text/event-stream');
      // A stream without an end has no whole answer to look at; its head has.
      const method = isStream ? 'HEAD' : line.method;
      const answer = await door.ask(method, path, { key: 'ops', body });
      const reply = line.replies[answer.status];
      const refused = answer.status === 409;
      assert.ok(
        reply !== undefined || refused,
        `${title(target)}: ${answer.status} ${answer.text}`,
      );
      if (reply?.shape === undefined) continue;
      // Unknown fields would be dropped by the parse, so equality also says that none is undescribed.
      assert.deepEqual(reply.shape.parse(answer.json), answer.json, title(target));
    }
  });

  test('A-5: a wrong method is 405 with what goes, on every path of the table', async (context) => {
    const { door, all } = await open(context);
    const before = await door.counts();
    for (const { path } of all) {
      const methods = all.filter((one) => one.path === path).map(({ line }) => line.method);
      for (const method of ['PUT', 'DELETE', 'PATCH', 'POST', 'GET'] as const) {
        if (methods.some((own) => own === method)) continue;
        const answer = await door.ask(method, path, { key: 'ops' });
        assert.equal(answer.status, 405, `${method} ${path}`);
        assert.equal(codeOf(answer), 'method_not_allowed');
        const allow = String(answer.headers.allow).split(', ');
        assert.deepEqual(allow.filter((one) => one !== 'HEAD').toSorted(), methods.toSorted());
      }
      const options = await door.ask('OPTIONS', path, { key: 'ops' });
      assert.equal(options.status, 204);
      assert.equal(options.headers['access-control-allow-methods'], undefined);
    }
    assert.deepEqual(await door.counts(), before);
  });
});
