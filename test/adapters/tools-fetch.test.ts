// INC-070: whatever a URL looks like and wherever it leads, nothing of this machine or its net is reached.
// Only addresses of this machine are ever connected to here; the others are asked about alone.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isPublicAddress } from '../../src/adapters/tools/address.ts';
import { FETCH_OPTIONS, parseUrl, targetOf } from '../../src/adapters/tools/fetch-target.ts';
import { INNER, NOT_PUBLIC, withPort } from './tools-web-forms.ts';
import { names, site, surfing } from './tools-web.ts';
import { bench } from './tools-workbench.ts';

const SECRET = 'the inner secret';

const resolve = names({
  '127.0.0.1.nip.com': ['127.0.0.1'],
  'inner4.com': ['127.0.0.1'],
  'inner4.com.': ['127.0.0.1'],
  'inner6.com': ['::1'],
  'mapped.com': ['::ffff:127.0.0.1'],
  'site.com': ['127.0.0.1'],
});
/** Only what leads away is allowed. */
const allow = ['site.com:1'];

describe('X-7: INC-070 a URL that leads to this machine is refused before anything is connected', () => {
  for (const form of INNER) {
    test(JSON.stringify(form), async () => {
      await using inner = await site((_, response) => response.end(SECRET));
      await using at = await surfing({ resolve, allow });
      const outcome = await at.call('fetch', { url: withPort(form, inner.port) });
      const code = outcome.kind === 'error' ? outcome.code : '';
      assert.ok(['refused', 'not_found', 'invalid_args'].includes(code), outcome.text);
      assert.ok(!outcome.text.includes(SECRET));
      assert.equal(inner.connections(), 0);
    });
  }

  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  for (const { address, family } of own) {
    test(`an address of its own: ${address}`, async () => {
      await using inner = await site((_, response) => response.end(SECRET));
      await using at = await surfing({ resolve, allow });
      const host = family === 'IPv6' ? `[${address}]` : address;
      const outcome = await at.call('fetch', { url: `http://${host}:${inner.port}/` });
      assert.equal(outcome.kind === 'error' && outcome.code, 'refused', outcome.text);
      assert.equal(inner.connections(), 0);
    });
  }
});

describe('X-7: INC-070 a redirect is checked as the first URL is', () => {
  for (const form of INNER.filter((one) => /^https?:(?:\/\/|\\\\)|^\/\//.test(one))) {
    test(JSON.stringify(form), async () => {
      await using inner = await site((_, response) => response.end(SECRET));
      const location = withPort(form, inner.port).replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);
      await using outer = await site((_, response) => {
        response.writeHead(302, { location }).end();
      });
      await using at = await surfing({ resolve, allow: [`site.com:${outer.port}`] });
      const outcome = await at.call('fetch', { url: `http://site.com:${outer.port}/` });
      const code = outcome.kind === 'error' ? outcome.code : '';
      assert.ok(['refused', 'not_found'].includes(code), outcome.text);
      assert.match(outcome.text, /^behind a redirect: /);
      assert.equal(inner.connections(), 0);
      assert.equal(outer.connections(), 1);
    });
  }
});

describe('X-7: an address that is not public is refused', () => {
  for (const address of NOT_PUBLIC) {
    test(address === '' ? 'nothing' : address, async () => {
      assert.equal(isPublicAddress(address), false);
      for (const answer of [[address], ['8.8.8.8', address], [address, '2a00:1450::1']]) {
        const options = { ...FETCH_OPTIONS, resolve: names({ 'name.com': answer }) };
        const target = targetOf(parseUrl('http://name.com/'), options);
        await assert.rejects(target, { code: 'refused' });
      }
    });
  }

  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '126.255.255.255',
    '128.0.0.1',
    '169.253.255.255',
    '169.255.0.1',
    '172.15.255.255',
    '172.32.0.1',
    '192.167.255.255',
    '192.169.0.1',
    '198.17.255.255',
    '198.20.0.1',
    '223.255.255.255',
    '2001:200::1',
    '2003::1',
    '2606:4700::1',
    '2a00:1450::1',
    '3ffe::1',
  ]) {
    test(`but not ${address}`, () => {
      assert.equal(isPublicAddress(address), true);
    });
  }

  for (const port of [1, 21, 22, 23, 25, 110, 143, 445, 587, 993]) {
    test(`nor the port ${port} of a public one`, async () => {
      const options = { ...FETCH_OPTIONS, resolve: names({ 'name.com': ['8.8.8.8'] }) };
      const target = targetOf(parseUrl(`http://name.com:${port}/`), options);
      await assert.rejects(target, { code: 'refused', message: /port/ });
    });
  }
});

describe('X-7: a name is resolved once', () => {
  test('and only what was checked is connected to, whatever it resolves to a moment later', async () => {
    await using good = await site((_, response) => response.end('good'), '127.0.0.3');
    let asked = 0;
    await using at = await surfing({
      allow: [],
      isPublic: (address) => address === '127.0.0.3',
      async resolve() {
        asked += 1;
        return [{ address: asked === 1 ? '127.0.0.3' : '127.0.0.1', family: 4 }];
      },
    });
    await using inner = await site((_, response) => response.end(SECRET), '127.0.0.1');
    const first = await at.call('fetch', { url: `http://rebind.com:${good.port}/` });
    assert.match(first.text, /\ngood\n/);
    assert.equal(asked, 1);
    const later = await at.call('fetch', { url: `http://rebind.com:${inner.port}/` });
    assert.equal(later.kind === 'error' && later.code, 'refused');
    assert.deepEqual([good.connections(), inner.connections()], [1, 0]);
  });

  test('again at each redirect, to the same name too', async () => {
    let asked = 0;
    await using outer = await site((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/again' }).end();
      else response.end(SECRET);
    });
    await using at = await surfing({
      allow: [],
      isPublic: (address) => address === '127.0.0.3',
      async resolve() {
        asked += 1;
        return [{ address: asked === 1 ? '127.0.0.3' : '127.0.0.1', family: 4 }];
      },
    });
    const outcome = await at.call('fetch', { url: `http://rebind.com:${outer.port}/` });
    assert.equal(outcome.kind === 'error' && outcome.code, 'refused', outcome.text);
    assert.deepEqual([asked, outer.connections()], [2, 1]);
  });
});

describe('X-7: what is allowed by name', () => {
  const cases: readonly [allow: string, url: string, isReached: boolean][] = [
    ['site.com', 'http://site.com:P/', true],
    ['SITE.com', 'http://site.COM:P/', true],
    ['site.com:P', 'http://site.com:P/', true],
    ['127.0.0.1', 'http://127.0.0.1:P/', true],
    ['127.0.0.1:P', 'http://0x7f.1:P/', true],
    ['localhost:P', 'http://localhost:P/', true],
    ['::1', 'http://[::1]:P/', true],
    ['[::1]:P', 'http://[0::1]:P/', true],
    ['site.com:1', 'http://site.com:P/', false],
    ['127.0.0.1', 'http://site.com:P/', false],
    ['site.com', 'http://127.0.0.1:P/', false],
    ['site.com', 'http://a.site.com:P/', false],
    ['a.site.com', 'http://site.com:P/', false],
    ['*', 'http://site.com:P/', false],
    ['*.com', 'http://site.com:P/', false],
    ['', 'http://site.com:P/', false],
    ['127.0.0.1', 'http://127.0.0.2:P/', false],
    ['127.0.0.0/8', 'http://127.0.0.1:P/', false],
    ['127.0.0.1', 'http://[::ffff:127.0.0.1]:P/', false],
    ['site.com', 'http://user@site.com:P/', false],
  ];
  for (const [entry, form, isReached] of cases) {
    test(`${JSON.stringify(entry)} ${isReached ? 'covers' : 'does not cover'} ${form}`, async () => {
      await using inner = await site((_, response) => response.end('hello'));
      const at = await surfing({
        allow: [withPort(entry, inner.port)],
        resolve: names({
          'site.com': ['127.0.0.1'],
          'a.site.com': ['127.0.0.1'],
          localhost: ['127.0.0.1'],
        }),
      });
      const outcome = await at.call('fetch', { url: withPort(form, inner.port) });
      assert.equal(outcome.kind === 'result', isReached, outcome.text);
      assert.equal(inner.connections(), isReached ? 1 : 0);
    });
  }
});

test('X-7: an error names the reason and no address of the inner net', async () => {
  await using at = await surfing({
    allow: ['down.com'],
    resolve: names({ 'inner.com': ['10.11.12.13'], 'down.com': ['127.0.0.1'] }),
  });
  const refused = await at.call('fetch', { url: 'http://inner.com/' });
  assert.match(refused.text, /not on the public net/);
  const down = await at.call('fetch', { url: 'http://down.com:1/' });
  assert.match(down.text, /refused the connection/);
  const unknown = await at.call('fetch', { url: 'http://unknown.com/' });
  assert.equal(unknown.kind === 'error' && unknown.code, 'not_found');
  for (const { text } of [refused, down, unknown]) assert.doesNotMatch(text, /\d+\.\d+|10|127/);
});

test('X-6: a URL that would carry a secret out is refused', async () => {
  const secret = 'tok_0123456789abcdef';
  await using inner = await site((_, response) => response.end('x'));
  await using at = await bench({
    secrets: [secret],
    fetch: { allow: ['site.com'], resolve: names({ 'site.com': ['127.0.0.1'] }) },
  });
  for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]) {
    const outcome = await at.call('fetch', { url: `http://site.com:${inner.port}/?q=${form}` });
    assert.equal(outcome.kind === 'error' && outcome.code, 'refused');
  }
  assert.equal(inner.connections(), 0);
});

test('X-7: proxies of the environment are not asked', async () => {
  await using proxy = await site((_, response) => response.end('proxied'));
  await using inner = await site((_, response) => response.end('direct'));
  const url = `http://127.0.0.1:${proxy.port}`;
  const child = join(import.meta.dirname, 'tools-fetch-child.ts');
  const host = spawn(process.execPath, [child, `http://127.0.0.1:${inner.port}/`], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      NODE_USE_ENV_PROXY: '1',
      ...Object.fromEntries(
        ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'].map((name) => [
          name,
          url,
        ]),
      ),
    },
  });
  const chunks = await host.stdout.toArray();
  assert.match(Buffer.concat(chunks).toString(), /\ndirect\n/);
  assert.deepEqual([proxy.connections(), inner.connections()], [0, 1]);
});
