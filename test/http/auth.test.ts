import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { canonicalAddress } from '../../src/http/address.ts';
import type { ApiOptions } from '../../src/http/api.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { MINUTE, SECOND } from '../../src/kernel/time.ts';
import { codeOf, openDoor, SECRETS, type KeyName } from './door.ts';
import { openWithin, type Heard } from './within.ts';

const { perAddress, overall } = LIMITS.authFailuresPerMinute;
const WRONG = 'wrong-0123456789abcdef0123456789abcdef';

interface Guessing {
  /** Sends a wrong key, or the credential that is given. */
  readonly guess: (from: string, headers?: Record<string, string>) => Promise<Heard>;
  /** Sends so many and gives the statuses. */
  readonly statuses: (
    count: number,
    from: string,
    headers?: Record<string, string>,
  ) => Promise<number[]>;
  readonly right: (from: string, key?: KeyName) => Promise<number>;
  readonly advance: (ms: number) => void;
  readonly lines: readonly { readonly message: string; readonly fields: object }[];
}

async function openGuessing(
  context: TestContext,
  options: Partial<ApiOptions> = {},
): Promise<Guessing> {
  const lines: { message: string; fields: object }[] = [];
  const note = (message: string, fields: object = {}): void => {
    lines.push({ message, fields });
  };
  const log = { debug: note, info: note, warn: note, error: note };
  const bounds = { authFailuresPerMinute: LIMITS.authFailuresPerMinute };
  const { say, installation } = await openWithin(context, {
    log,
    options: { ...bounds, ...options },
  });
  const guess: Guessing['guess'] = (from, headers) =>
    say('GET', '/v1/runs', { from, headers: { Authorization: `Bearer ${WRONG}`, ...headers } });
  return {
    guess,
    statuses: async (count, from, headers) => {
      const statuses: number[] = [];
      for (let at = 0; at < count; at += 1) statuses.push((await guess(from, headers)).status);
      return statuses;
    },
    right: async (from, key = 'ops') => (await say('GET', '/v1/runs', { key, from })).status,
    advance: (ms) => installation.clock.advance(ms),
    lines,
  };
}

const times = (count: number, status: number): number[] =>
  Array.from({ length: count }, () => status);

describe('X-3: repeated failures of authentication', () => {
  test('X-3: beyond ten a minute a wrong key is told when to come again', async (context) => {
    const { guess, statuses, advance } = await openGuessing(context);
    assert.deepEqual(await statuses(perAddress, '192.0.2.1'), times(perAddress, 401));
    const slowed = await guess('192.0.2.1');
    assert.equal(slowed.status, 429);
    assert.equal((JSON.parse(slowed.text) as { code: string }).code, 'slow_down');
    assert.equal(slowed.headers.get('retry-after'), '60');
    assert.equal(slowed.headers.get('connection'), 'close');
    advance(45 * SECOND + 1);
    assert.equal((await guess('192.0.2.1')).headers.get('retry-after'), '15');
    advance(15 * SECOND);
    assert.deepEqual(await statuses(perAddress + 1, '192.0.2.1'), [...times(perAddress, 401), 429]);
  });

  test('X-3: the minute slides: no border lets twice as many through', async (context) => {
    const { statuses, advance } = await openGuessing(context);
    await statuses(1, '192.0.2.1');
    advance(MINUTE - SECOND);
    assert.deepEqual(await statuses(perAddress, '192.0.2.1'), [...times(perAddress - 1, 401), 429]);
    advance(SECOND);
    assert.deepEqual(await statuses(2, '192.0.2.1'), [401, 429]);
  });

  test('X-3: a right key passes, whoever fails behind the same address', async (context) => {
    const { statuses, right } = await openGuessing(context);
    for (const from of ['127.0.0.1', '192.0.2.1']) {
      await statuses(perAddress * 3, from);
      for (const key of ['ops', 'reader', 'runner'] as const) {
        assert.equal(await right(from, key), 200, `${key} from ${from}`);
      }
      assert.deepEqual(await statuses(1, from), [429]);
    }
  });

  test('X-3: an address pays for itself alone, this machine as well', async (context) => {
    const { statuses } = await openGuessing(context);
    for (const from of ['192.0.2.1', '127.0.0.1', '2001:db8::1']) {
      assert.deepEqual((await statuses(perAddress + 1, from)).at(-1), 429, from);
    }
    for (const from of ['192.0.2.2', '198.51.100.1', '2001:db8:0:1::1']) {
      assert.deepEqual(await statuses(1, from), [401], from);
    }
  });

  test('X-3: other spellings of an address are the same address', async (context) => {
    for (const spellings of [
      ['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:FFFF:192.0.2.1'],
      ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '0:0:0:0:0:0:0:1'],
      ['2001:db8::1', '2001:DB8:0:0:ffff:ffff:ffff:ffff', '2001:db8::192.0.2.1%eth0'],
    ]) {
      const { statuses } = await openGuessing(context);
      const heard: number[] = [];
      for (let at = 0; at < perAddress + 4; at += 1) {
        heard.push(...(await statuses(1, spellings[at % spellings.length] ?? '')));
      }
      assert.deepEqual(heard, [...times(perAddress, 401), ...times(4, 429)], spellings[0]);
    }
  });

  test('X-3: whatever stands in the header counts, and nothing there does not', async (context) => {
    const { guess, statuses } = await openGuessing(context);
    const kinds = ['Bearer', 'Basic b3BzOng=', 'Bearer a b', SECRETS.ops, 'Digest x', 'é'];
    for (let at = 0; at < perAddress; at += 1) {
      const Authorization = kinds[at % kinds.length] ?? '';
      assert.equal((await guess('192.0.2.1', { Authorization })).status, 401, Authorization);
    }
    assert.deepEqual(await statuses(1, '192.0.2.1'), [429]);
    for (const Authorization of ['', ' ']) {
      assert.deepEqual(await statuses(30, '192.0.2.1', { Authorization }), times(30, 401));
    }
  });

  test('X-3: many addresses together are slowed too, and a right key is not', async (context) => {
    const { statuses, right, lines } = await openGuessing(context);
    const heard: number[] = [];
    for (let at = 0; at < overall * 3; at += 1) {
      heard.push(...(await statuses(1, `10.0.${at >> 8}.${at & 255}`)));
    }
    assert.deepEqual(heard, [...times(overall, 401), ...times(overall * 2, 429)]);
    assert.equal(await right('10.0.0.1'), 200);
    assert.equal(await right('203.0.113.9'), 200);
    assert.deepEqual(
      lines.map(({ fields }) => fields),
      [{ address: 'every address' }],
    );
  });

  test('X-3: what a caller says of its address counts only behind a proxy', async (context) => {
    const { statuses } = await openGuessing(context);
    for (let at = 0; at < perAddress; at += 1) {
      await statuses(1, '192.0.2.1', { 'X-Forwarded-For': `198.51.100.${at}` });
    }
    const hidden = { 'X-Forwarded-For': '203.0.113.1', 'X-Real-IP': '203.0.113.1' };
    assert.deepEqual(await statuses(1, '192.0.2.1', hidden), [429]);
  });

  test('X-3: behind a proxy the last entry counts, which is the word of the proxy', async (context) => {
    const { statuses, right } = await openGuessing(context, { behindProxy: true });
    const by = (list: string): Record<string, string> => ({ 'X-Forwarded-For': list });
    for (let at = 0; at < perAddress; at += 1) {
      await statuses(1, '10.0.0.1', by(`198.51.100.${at}, 192.0.2.${at}, 203.0.113.7`));
    }
    assert.deepEqual(
      await statuses(1, '10.0.0.1', by('203.0.113.8, [::ffff:203.0.113.7]:99')),
      [429],
    );
    assert.deepEqual(await statuses(1, '10.0.0.1', by('203.0.113.7, 203.0.113.8')), [401]);
    for (const broken of ['', 'unknown', '203.0.113.7,', '_hidden, 1.2.3', 'x'.repeat(5_000)]) {
      assert.deepEqual(await statuses(1, '10.0.0.1', by(broken)), [401], broken.slice(0, 20));
    }
    assert.deepEqual(await statuses(6, '10.0.0.1'), [...times(5, 401), 429]);
    assert.equal(await right('10.0.0.1'), 200);
  });

  test('X-3: one line tells a burst, with the address and without the key', async (context) => {
    const { statuses, advance, lines } = await openGuessing(context);
    await statuses(perAddress, '::ffff:192.0.2.1');
    assert.deepEqual(lines, [], 'a few failures are no burst');
    // Ten minutes of it, and in each the oldest failures are forgotten and new ones are counted.
    for (let at = 0; at < 100; at += 1) {
      await statuses(12, '192.0.2.1');
      advance(6 * SECOND);
    }
    assert.deepEqual(lines, [
      {
        message: 'repeated failures of authentication are slowed',
        fields: { address: '192.0.2.1' },
      },
    ]);
    advance(2 * MINUTE);
    await statuses(perAddress + 1, '192.0.2.1');
    assert.equal(lines.length, 2);
    assert.ok(!JSON.stringify(lines).includes(WRONG));
  });

  test('X-3: a wall clock that is set neither ends the minute nor prolongs it', async (context) => {
    const door = await openDoor(context);
    const headers = { Authorization: `Bearer ${WRONG}` };
    const status = async (): Promise<number> =>
      (await door.ask('GET', '/v1/runs', { headers })).status;
    for (let at = 0; at < perAddress; at += 1) assert.equal(await status(), 401);
    door.installation.clock.jump(10 * MINUTE);
    assert.equal(await status(), 429);
    door.installation.clock.jump(-20 * MINUTE);
    door.installation.clock.advance(MINUTE);
    assert.equal(await status(), 401);
  });

  test('X-3: over a socket the connection is closed with the answer', async (context) => {
    const door = await openDoor(context);
    const headers = { Authorization: `Bearer ${WRONG}`, Connection: 'keep-alive' };
    const ask = (): ReturnType<typeof door.ask> => door.ask('POST', '/v1/runs', { headers });
    for (let at = 0; at < perAddress; at += 1) assert.equal((await ask()).status, 401);
    const slowed = await ask();
    assert.equal(codeOf(slowed), 'slow_down');
    assert.equal(slowed.headers.connection, 'close');
    assert.equal((await door.ask('GET', '/v1/runs', { key: 'ops' })).status, 200);
  });
});

describe('the canonical address', () => {
  test('what is no address has none', () => {
    for (const text of ['', 'unknown', '1.2.3', '1.2.3.4.5', '256.1.1.1', '01.2.3.4', ':', '::g']) {
      assert.equal(canonicalAddress(text), undefined, text);
    }
    for (const text of ['[]', '[1.2.3.4', '1.2.3.4:x', '::1:', 'localhost', '１.2.3.4', '%']) {
      assert.equal(canonicalAddress(text), undefined, text);
    }
  });

  test('any address is itself however it is written, and never another', () => {
    const byte = fc.nat(255);
    const group = fc.nat(0xffff);
    fc.assert(
      fc.property(fc.tuple(byte, byte, byte, byte), (bytes) => {
        const [a, b, c, d] = bytes;
        const plain = bytes.join('.');
        const name = a === 127 ? 'loopback' : plain;
        const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
        for (const text of [plain, `::ffff:${plain}`, `::FFFF:${hex}`, `${plain}:80`]) {
          assert.equal(canonicalAddress(text), name);
        }
      }),
    );
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        fc.pre(groups.slice(0, 4).some((one) => one !== 0));
        const texts = groups.map((one) => one.toString(16));
        const name = `${texts.slice(0, 4).join(':')}::/64`;
        const padded = texts.map((text) => text.padStart(4, '0').toUpperCase()).join(':');
        const { hostname } = new URL(`http://[${texts.join(':')}]`);
        for (const text of [texts.join(':'), padded, hostname, `${hostname}:443`]) {
          assert.equal(canonicalAddress(text), name);
        }
      }),
    );
  });
});
