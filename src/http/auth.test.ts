import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, test } from 'node:test';
import { LIMITS } from '../kernel/limits.ts';
import { checkHost, demandKey, demandOwn, demandScope, maySee } from './auth.ts';
import type { AuthFailures, SocketEnv } from './bounds.ts';
import { KeyRing, type Identity, type Scope } from './keys.ts';
import { Problem } from './problems.ts';

const SECRET = 'a-secret-0123456789abcdef0123456789abcdef';
const UPTIME = 4_711;

/** A socket as the server has it: where it was reached, and from where. */
function socket(given: Record<string, unknown> = {}): SocketEnv {
  const reached = { localAddress: '192.0.2.7', localPort: 8_787, remoteAddress: '198.51.100.1' };
  return { incoming: { socket: { ...reached, ...given } } as unknown as IncomingMessage };
}

/** A request with these headers; `Host` may be set by hand here, as on the wire. */
function ask(headers: Record<string, string>, url = 'http://localhost:8787/v1/runs'): Request {
  return new Request(url, { headers });
}

/** What was refused, and why; undefined when nothing was. */
function refusalOf(act: () => unknown): Problem | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return error;
  }
}

interface Asked {
  readonly env?: SocketEnv;
  readonly allowedHosts?: readonly string[];
  readonly behindProxy?: boolean;
  readonly isProbe?: boolean;
}

function judged(headers: Record<string, string>, asked: Asked = {}): Problem | undefined {
  const { env = socket(), allowedHosts = [], behindProxy = false, isProbe = false } = asked;
  return refusalOf(() => checkHost(ask(headers), env, { allowedHosts, behindProxy, isProbe }));
}

const takes = (headers: Record<string, string>, asked: Asked = {}): boolean =>
  judged(headers, asked) === undefined;

describe('X-2: the name in `Host`', () => {
  test('is loopback or the address that was reached, with the port that was', () => {
    for (const name of ['localhost', '127.0.0.1', '[::1]', '192.0.2.7', 'LOCALHOST'])
      assert.equal(takes({ host: `${name}:8787` }), true, name);
    const wrong = ['localhost', 'localhost:8788', 'evil.example:8787', '192.0.2.8:8787', ':8787'];
    for (const host of [...wrong, 'xlocalhost:8787', 'localhost:87870', 'localhost.:8787'])
      assert.equal(takes({ host }), false, host);
  });

  test('is an IPv6 address in its brackets, and a mapped one is the IPv4 that it is', () => {
    const six = { env: socket({ localAddress: '2001:db8::7' }) };
    assert.equal(takes({ host: '[2001:db8::7]:8787' }, six), true);
    assert.equal(takes({ host: '2001:db8::7:8787' }, six), false);
    const mapped = { env: socket({ localAddress: '::ffff:192.0.2.9' }) };
    assert.equal(takes({ host: '192.0.2.9:8787' }, mapped), true);
    assert.equal(takes({ host: '[::ffff:192.0.2.9]:8787' }, mapped), false);
    const alike = { env: socket({ localAddress: '2001:db8::ffff:7' }) };
    assert.equal(takes({ host: '[2001:db8::ffff:7]:8787' }, alike), true);
    const unknown = { env: socket({ localAddress: undefined }) };
    assert.equal(takes({ host: 'localhost:8787' }, unknown), true);
  });

  test('may leave out a port that is the scheme’s own, or that no socket says', () => {
    for (const localPort of [80, 443, undefined])
      assert.equal(takes({ host: 'localhost' }, { env: socket({ localPort }) }), true);
    assert.equal(takes({ host: 'localhost' }, { env: socket({ localPort: 81 }) }), false);
    assert.equal(takes({ host: 'evil.example' }, { env: socket({ localPort: 80 }) }), false);
    assert.equal(takes({ host: 'localhost' }, { env: {} }), true);
    assert.equal(takes({ host: '' }, { env: {} }), false, 'no address is no name');
  });

  test('is that of the URL where there is no header', () => {
    assert.equal(takes({}), true);
    const asked = { allowedHosts: [], behindProxy: false, isProbe: false };
    const foreign = ask({}, 'http://evil.example:8787/');
    assert.notEqual(
      refusalOf(() => checkHost(foreign, socket(), asked)),
      undefined,
    );
  });

  test('may be a configured one, alone with the bound port or with its own', () => {
    const allowedHosts = ['bot.example', 'front.example:443'];
    for (const host of ['bot.example', 'bot.example:8787', 'BOT.example', 'front.example:443'])
      assert.equal(takes({ host }, { allowedHosts }), true, host);
    for (const host of ['front.example', 'bot.example:443', 'x.bot.example'])
      assert.equal(takes({ host }, { allowedHosts }), false, host);
  });

  test('is not asked of a probe, whose origin is', () => {
    assert.equal(takes({ host: 'balancer' }, { isProbe: true }), true);
    assert.equal(takes({ host: 'balancer', origin: 'http://balancer' }, { isProbe: true }), false);
  });

  test('is refused for a reason', () => {
    const refused = judged({ host: 'evil.example' });
    assert.deepEqual(
      [refused?.body.code, refused?.body.detail],
      ['forbidden', 'This host name is not one of this server.'],
    );
  });
});

describe('X-2: the page in `Origin`', () => {
  const from = (origin: string, asked: Asked = {}): boolean =>
    takes({ host: 'localhost:8787', origin }, asked);

  test('is one of this server, whole and nothing more', () => {
    assert.equal(from('http://localhost:8787'), true);
    assert.equal(from('HTTP://LOCALHOST:8787'), true);
    const wrong = ['null', '', 'localhost:8787', 'ftp://localhost:8787', 'http://localhost:8788'];
    const odd = ['http://localhost:8787/', 'http://a@localhost:8787', 'xhttp://localhost:8787'];
    const tails = ['?', '#', '\\', '/x'].map((end) => `http://localhost:8787${end}`);
    for (const origin of [...wrong, ...odd, ...tails, 'http://evil.example:8787', 'http://'])
      assert.equal(from(origin), false, origin);
  });

  test('has the scheme of the socket, unless a proxy speaks TLS for us', () => {
    const tls = { env: socket({ encrypted: true }) };
    assert.equal(from('https://localhost:8787'), false);
    assert.equal(from('https://localhost:8787', tls), true);
    assert.equal(from('http://localhost:8787', tls), false);
    for (const scheme of ['http', 'https'])
      assert.equal(from(`${scheme}://localhost:8787`, { behindProxy: true }), true);
    assert.equal(from('https://evil.example:8787', { behindProxy: true }), false);
    assert.equal(from('http://localhost', { env: {} }), false, 'nor does the host fit then');
    assert.equal(takes({ host: 'localhost', origin: 'http://localhost' }, { env: {} }), true);
    assert.equal(takes({ host: 'localhost', origin: 'https://localhost' }, { env: {} }), false);
  });

  test('is refused for a reason', () => {
    const refused = judged({ host: 'localhost:8787', origin: 'http://evil.example' });
    assert.deepEqual(
      [refused?.body.code, refused?.body.detail],
      ['forbidden', 'Requests from this origin are not taken.'],
    );
  });
});

/** A ring of one key, and who was counted for failing at which uptime. */
function door(behindProxy = false): {
  readonly counted: readonly (readonly [string, number])[];
  readonly demand: (headers: Record<string, string>, env?: SocketEnv) => Identity;
} {
  const time = { now: () => 0, uptime: () => UPTIME, sleep: () => Promise.resolve() };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const grants = [{ name: 'anna', scopes: ['run'] as const, secret: SECRET }];
  const keys = new KeyRing({ grants, clock: time, log });
  const counted: (readonly [string, number])[] = [];
  const failures = {
    count: (address: string, at: number) => void counted.push([address, at]),
  } as unknown as AuthFailures;
  const check = { keys, failures, behindProxy, clock: time };
  return { counted, demand: (headers, env = socket()) => demandKey(ask(headers), env, check) };
}

describe('A-3: a key', () => {
  test('counts as `Authorization: Bearer`, in whatever letters that word is', () => {
    const { demand, counted } = door();
    for (const word of ['Bearer', 'bearer', 'BEARER', 'Bearer  '])
      assert.equal(demand({ authorization: `${word} ${SECRET}` }).name, 'key:anna');
    assert.deepEqual(counted, []);
  });

  test('X-3 counts nowhere else, and whatever else stands there is counted as a failure', () => {
    const { demand, counted } = door();
    const wrong = [SECRET, `Basic ${SECRET}`, `Bearer${SECRET}`, `x Bearer ${SECRET}`];
    const odd = [`Bearer ${SECRET} x`, `Bearer ${SECRET}x`, 'Bearer', 'Bearer sch\u00f6n'];
    for (const authorization of [...wrong, ...odd]) {
      const refused = refusalOf(() => demand({ authorization }));
      assert.equal(refused?.body.code, 'unauthorized', authorization);
    }
    assert.deepEqual(
      counted,
      [...wrong, ...odd].map(() => ['198.51.100.1', UPTIME]),
    );
  });

  test('X-3 that is not there guesses nothing', () => {
    const { demand, counted } = door();
    const none: readonly Record<string, string>[] = [{}, { authorization: '' }];
    for (const headers of [...none, { authorization: '  ' }]) {
      const refused = refusalOf(() => demand(headers));
      assert.equal(refused?.body.code, 'unauthorized');
      assert.equal(refused?.body.detail, 'Send a valid key as "Authorization: Bearer KEY".');
      assert.deepEqual(refused?.headers, { 'WWW-Authenticate': 'Bearer realm="sekisho"' });
    }
    assert.deepEqual(counted, []);
  });

  test('A-5 of a header that is too long is not looked at, though it fits', () => {
    const { demand } = door();
    const padded = (length: number): string =>
      `Bearer ${' '.repeat(length - SECRET.length - 'Bearer '.length)}${SECRET}`;
    assert.equal(demand({ authorization: padded(LIMITS.httpHeaderBytes) }).name, 'key:anna');
    const long = padded(LIMITS.httpHeaderBytes + 1);
    assert.equal(refusalOf(() => demand({ authorization: long }))?.body.code, 'unauthorized');
  });
});

describe('X-3: whoever fails is counted', () => {
  const WRONG = { authorization: 'Bearer wrong' };
  const callerOf = (
    forwarded: string | undefined,
    behindProxy: boolean,
    env?: SocketEnv,
  ): unknown => {
    const { demand, counted } = door(behindProxy);
    const headers = forwarded === undefined ? WRONG : { ...WRONG, 'x-forwarded-for': forwarded };
    assert.ok(refusalOf(() => demand(headers, env)));
    return counted[0]?.[0];
  };

  test('by its socket, whatever it says of itself', () => {
    assert.equal(callerOf(undefined, false), '198.51.100.1');
    assert.equal(callerOf('203.0.113.9', false), '198.51.100.1');
    assert.equal(callerOf(undefined, false, socket({ remoteAddress: '127.0.0.5' })), 'loopback');
    assert.equal(callerOf(undefined, false, socket({ remoteAddress: undefined })), 'unknown');
    assert.equal(callerOf(undefined, false, {}), 'unknown');
  });

  test('behind a proxy by the last entry, which the proxy wrote', () => {
    assert.equal(callerOf('203.0.113.9', true), '203.0.113.9');
    assert.equal(callerOf('192.0.2.1, 203.0.113.9', true), '203.0.113.9');
    assert.equal(callerOf('203.0.113.9, nonsense', true), '198.51.100.1');
    assert.equal(callerOf(undefined, true), '198.51.100.1');
  });
});

describe('A-4: what a key may', () => {
  const holder = (...scopes: readonly Scope[]): Identity => ({
    principal: { kind: 'key', id: 'anna', isAdmin: scopes.includes('admin') },
    name: 'key:anna',
    scopes: new Set(scopes),
  });

  test('is what its scopes say, and what needs none', () => {
    for (const need of ['none', 'any', 'run'] as const)
      assert.equal(
        refusalOf(() => demandScope(holder('run'), need)),
        undefined,
        need,
      );
    for (const need of ['read', 'admin'] as const) {
      const refused = refusalOf(() => demandScope(holder('run'), need));
      assert.equal(refused?.body.code, 'forbidden');
      assert.equal(refused?.body.detail, `This needs a key with the scope ${need}.`);
    }
    assert.ok(refusalOf(() => demandScope(holder(), 'run')));
  });

  test('see: its own, and any with `read`', () => {
    assert.equal(maySee(holder('run'), 'key:anna'), true);
    assert.equal(maySee(holder('run', 'admin'), 'key:ben'), false, '`admin` brings `read` with it');
    assert.equal(maySee(holder('read'), 'key:ben'), true);
  });

  test('change: its own, and any with `admin`; of another it may not even know', () => {
    const codeOf = (identity: Identity, owner: string): unknown =>
      refusalOf(() => demandOwn(identity, owner))?.body.code;
    assert.equal(codeOf(holder('run'), 'key:anna'), undefined);
    assert.equal(codeOf(holder('admin'), 'key:ben'), undefined);
    assert.equal(codeOf(holder('run'), 'key:ben'), 'not_found');
    assert.equal(codeOf(holder('read'), 'key:ben'), 'forbidden');
    assert.equal(
      refusalOf(() => demandOwn(holder('read'), 'key:ben'))?.body.detail,
      'This belongs to another key; it needs the scope admin.',
    );
  });
});
