import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { ensureKeyFile, KeyRing, newSecret, type KeyGrant } from './keys.ts';

const SECRET = 'a-secret-0123456789abcdef0123456789abcdef';
const OTHER = 'b-secret-0123456789abcdef0123456789abcdef';

class Time implements Clock {
  at = 1_800_000_000_000;
  now(): number {
    return this.at;
  }
  uptime(): number {
    return this.at;
  }
  sleep(): Promise<void> {
    return Promise.resolve();
  }
}

function silent(warned: string[] = [], told: string[] = []): Log {
  const warn = (message: string, fields?: object): void =>
    void warned.push([message, ...(fields ? [JSON.stringify(fields)] : [])].join(' '));
  return { debug() {}, info: (message) => void told.push(message), warn, error() {} };
}

function grant(given: Partial<KeyGrant> = {}): KeyGrant {
  return { name: 'a', scopes: ['run'], secret: SECRET, ...given };
}

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'sekisho-keys-'));
  context.after(() => rmSync(path, { recursive: true }));
  return path;
}

describe('a ring of keys', () => {
  test('A-3: knows each key by its whole secret and gives its scopes', () => {
    const grants = [grant(), grant({ name: 'b', scopes: ['admin'], secret: OTHER })];
    const ring = new KeyRing({ grants, clock: new Time(), log: silent() });
    assert.deepEqual(ring.verify(SECRET)?.principal, { kind: 'key', id: 'a', isAdmin: false });
    assert.deepEqual([...(ring.verify(SECRET)?.scopes ?? [])], ['run']);
    assert.equal(ring.verify(OTHER)?.name, 'key:b');
    assert.deepEqual([...(ring.verify(OTHER)?.scopes ?? [])], ['run', 'read', 'admin']);
    for (const wrong of ['', ' ', SECRET.slice(1), `${SECRET} `, SECRET.toUpperCase()]) {
      assert.equal(ring.verify(wrong), undefined, wrong);
    }
  });

  test('A-3: holds no secret, neither in itself nor in what it says of itself', async () => {
    const { inspect } = await import('node:util');
    const ring = new KeyRing({ grants: [grant()], clock: new Time(), log: silent() });
    assert.ok(!inspect(ring, { depth: 9, showHidden: true }).includes(SECRET));
    assert.ok(!JSON.stringify(ring.verify(SECRET)).includes(SECRET));
  });

  test('A-3: is changed without a restart, all at once', () => {
    const ring = new KeyRing({ grants: [grant()], clock: new Time(), log: silent() });
    ring.replace([grant({ secret: OTHER })]);
    assert.equal(ring.verify(SECRET), undefined);
    assert.equal(ring.verify(OTHER)?.name, 'key:a');
    assert.throws(() => ring.replace([grant({ secret: ' ' })]), { code: 'bad_key' });
    assert.equal(ring.verify(OTHER)?.name, 'key:a');
  });

  test('refuses a blank key, a name twice and a secret twice, and warns of a short one', () => {
    const warned: string[] = [];
    const make = (...grants: KeyGrant[]): KeyRing =>
      new KeyRing({ grants, clock: new Time(), log: silent(warned) });
    const refused = (message: string, ...grants: KeyGrant[]): void =>
      assert.throws(() => make(...grants), { code: 'bad_key', remedy: 'stop', message });
    refused('the key a is blank', grant({ secret: '' }));
    refused('the key a is blank', grant({ secret: ' \n' }));
    refused('two keys have the same name', grant(), grant({ secret: OTHER }));
    refused('two keys have the same secret', grant(), grant({ name: 'b' }));
    make(grant({ secret: 'x'.repeat(32) }));
    assert.deepEqual(warned, []);
    make(grant({ secret: 'x'.repeat(31) }));
    assert.deepEqual(warned, ['this key is short {"key":"a"}']);
  });
});

describe('the generated key', () => {
  test('A-3: is made once, for its owner alone, and is long', (context) => {
    const path = join(folder(context), 'api-key');
    assert.equal(ensureKeyFile(path), false);
    const secret = readFileSync(path, 'utf8').trim();
    assert.ok(secret.length >= 43);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    ensureKeyFile(path);
    assert.equal(readFileSync(path, 'utf8').trim(), secret);
    assert.notEqual(newSecret(), newSecret());
  });

  test('A-3: takes the place of a blank one, which a start that was cut short has left', (context) => {
    const path = join(folder(context), 'api-key');
    writeFileSync(path, '', { mode: 0o600 });
    ensureKeyFile(path);
    assert.match(readFileSync(path, 'utf8'), /^sk_\S{43}\n$/);
    writeFileSync(path, ' \n');
    ensureKeyFile(path);
    assert.match(readFileSync(path, 'utf8'), /^sk_\S{43}\n$/);
    assert.deepEqual(readdirSync(dirname(path)), ['api-key']);
  });

  test('X-6: a file that others can read is closed, and that is said', (context) => {
    const path = join(folder(context), 'api-key');
    ensureKeyFile(path);
    chmodSync(path, 0o644);
    assert.equal(ensureKeyFile(path), true);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    chmodSync(path, 0o400);
    assert.equal(ensureKeyFile(path), false);
    assert.equal(statSync(path).mode & 0o777, 0o400, 'a stricter one stays so');
  });

  test('A-3: is read again when its file changes, at most once a second', (context) => {
    const keyFile = join(folder(context), 'api-key');
    writeFileSync(keyFile, `${SECRET}\n`);
    const clock = new Time();
    const told: string[] = [];
    const ring = new KeyRing({ grants: [], keyFile, clock, log: silent([], told) });
    assert.equal(ring.verify(SECRET)?.name, 'key:local');
    clock.at += 1_000;
    assert.equal(ring.verify(SECRET)?.name, 'key:local');
    assert.deepEqual(told, [], 'one that is the same is not read');
    writeFileSync(keyFile, OTHER);
    utimesSync(keyFile, 1, 1);
    assert.equal(ring.verify(SECRET)?.name, 'key:local');
    clock.at += 1_000;
    assert.equal(ring.verify(SECRET), undefined);
    assert.equal(ring.verify(OTHER)?.name, 'key:local');
    assert.deepEqual(told, ['the key file was read again']);
  });

  test('A-3: opens nothing once its file is gone or blank', (context) => {
    const keyFile = join(folder(context), 'api-key');
    writeFileSync(keyFile, SECRET);
    const clock = new Time();
    const warned: string[] = [];
    const grants = [grant({ secret: OTHER })];
    const ring = new KeyRing({ grants, keyFile, clock, log: silent(warned) });
    writeFileSync(keyFile, '\n');
    clock.at += 1_000;
    assert.equal(ring.verify(SECRET), undefined);
    assert.deepEqual(warned, ['the key file cannot be read; its key no longer opens anything']);
    assert.equal(ring.verify('')?.name, undefined);
    rmSync(keyFile);
    clock.at += 1_000;
    assert.equal(ring.verify(SECRET), undefined);
    assert.equal(ring.verify(OTHER)?.name, 'key:a');
    writeFileSync(keyFile, SECRET);
    clock.at -= 3_600_000;
    assert.equal(ring.verify(SECRET)?.name, 'key:local');
  });
});
