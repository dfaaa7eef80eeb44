import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ApiProblem } from '../../src/client/client.ts';
import { says } from '../../src/testing/model-answer.ts';
import { startModelServer } from '../../src/testing/model-server.ts';
import { Place, type RunningHost } from './process.ts';

describe('a host', () => {
  const place = new Place();
  let host: RunningHost;
  before(async () => {
    host = await place.start();
  });
  after(() => place.clear());

  test('says in its first line where it listens, who answers and what that costs', async () => {
    assert.match(host.ready, /^ready http:\/\/127\.0\.0\.1:\d+ rehearsal\/rehearsal free$/);
    assert.ok(host.child.stdout.startsWith(host.ready));
    assert.equal((await fetch(`${host.url}/readyz`)).status, 200);
    const { url, pid, startedAt } = JSON.parse(place.read('host.json')) as Record<string, unknown>;
    assert.equal(url, host.url);
    assert.equal(pid, host.child.process.pid);
    assert.equal(new Date(String(startedAt)).toISOString(), startedAt);
  });

  test('answers a run with the key that it made', async () => {
    const answer = await fetch(`${host.url}/v1/runs`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${place.read('api-key').trim()}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ input: 'hello', wait: 20 }),
    });
    assert.equal(answer.status, 200);
    const { status, output } = (await answer.json()) as Record<string, unknown>;
    assert.equal(status, 'completed');
    assert.match(String(output), /rehearsal model/);
  });

  test('G-8: refuses a second host on its store, and names its pid and start', async () => {
    const second = await place.run(['start', '--no-terminal']);
    assert.equal(second.code, 6);
    assert.equal(second.stdout, '');
    const line = second.stderr.split('\n').find((text) => text.startsWith('store_in_use'));
    assert.match(line ?? second.stderr, new RegExp(`process ${host.child.process.pid}, started 2`));
    assert.equal((await fetch(`${host.url}/readyz`)).status, 200);
    assert.equal((JSON.parse(place.read('host.json')) as { url: string }).url, host.url);
  });

  test('A-3: takes a rotated key without a restart, and the old one no more', async () => {
    const old = place.read('api-key').trim();
    const rotated = await place.run(['keys', 'rotate', '--json']);
    assert.equal(rotated.code, 0);
    const fresh = place.read('api-key').trim();
    assert.notEqual(fresh, old);
    assert.ok(!rotated.stdout.includes(fresh));
    // The host looks at the file at most once a second; meanwhile wrong keys are slowed.
    const until = performance.now() + 10_000;
    const opens = (key: string): Promise<boolean> =>
      host
        .client(key)
        .status()
        .then(
          () => true,
          (error: unknown) => {
            const isRefused =
              error instanceof ApiProblem && ['unauthorized', 'slow_down'].includes(error.code);
            if (!isRefused) throw error;
            return false;
          },
        );
    while (!(await opens(fresh))) assert.ok(performance.now() < until, 'the new key opens nothing');
    assert.equal(await opens(old), false);
    assert.equal(statSync(join(place.data, 'api-key')).mode & 0o777, 0o600);
  });

  test('X-6: keeps its folder and its files to its owner', () => {
    const modes = readdirSync(place.data, { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [
        entry.name,
        statSync(path).mode & 0o777,
        entry.isDirectory() ? 0o700 : 0o600,
      ] as const;
    });
    assert.ok(modes.length >= 5, JSON.stringify(modes));
    for (const [name, mode, wanted] of modes) assert.equal(mode, wanted, name);
    assert.equal(statSync(place.data).mode & 0o777, 0o700);
  });

  test('ends with 0 on SIGTERM, takes its host.json away and leaves stdout alone', async () => {
    const ended = await host.stop();
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(ended.stdout, `${host.ready}\n`);
    assert.equal(existsSync(join(place.data, 'host.json')), false);
  });

  test('X-6: tells of a looser state and mends it', async () => {
    chmodSync(place.data, 0o755);
    chmodSync(join(place.data, 'api-key'), 0o644);
    host = await place.start();
    assert.equal(statSync(place.data).mode & 0o777, 0o700);
    assert.equal(statSync(join(place.data, 'api-key')).mode & 0o777, 0o600);
    const { stderr } = await host.stop();
    const told = stderr.split('\n').find((line) => line.includes('open to others'));
    assert.match(told ?? stderr, /"level":"warn".*api-key/);
  });
});

describe('what a host reads from a pipe', () => {
  test('is a message a line, and the end of input stops nothing', async (t) => {
    const place = new Place();
    t.after(() => place.clear());
    const host = await place.start({ args: [] });
    host.child.process.stdin?.end('hello\n\n/status\n');
    await host.child.line((line) => line.startsWith('Hello! I am the rehearsal'));
    await host.child.line((line) => line.startsWith('The host is ready'));
    assert.equal((await fetch(`${host.url}/readyz`)).status, 200);
    assert.equal((await host.stop()).code, 0);
  });
});

describe('a signal', () => {
  test('lets a running turn end, and a second one cuts it', async (t) => {
    const place = new Place();
    t.after(() => place.clear());
    const held = Promise.withResolvers<void>();
    const server = await startModelServer([
      says('the first'),
      says('never', { before: held.promise }),
    ]);
    t.after(() => server.close());
    t.after(() => held.resolve());
    place.configure(
      `model: { provider: openai-compatible, baseURL: "${server.url}", name: m }\napi: { port: 0 }\n`,
    );
    const first = await place.start();
    assert.match(first.ready, / openai-compatible\/m unpriced$/);
    const run = await first.client().createRun({ input: 'one' });
    await server.arrived(1);
    assert.equal((await first.stop()).code, 0);

    const second = await place.start();
    const ended = await second.client().run(run.id);
    assert.equal(ended.output, 'the first');
    const { taskId } = await second.client().createRun({ input: 'two' });
    await server.arrived(2);
    second.signal('SIGTERM');
    const drains = async (): Promise<boolean> =>
      (await fetch(`${second.url}/readyz`)).status === 503;
    const until = performance.now() + 10_000;
    while (!(await drains())) assert.ok(performance.now() < until, 'the signal was not heard');
    second.signal('SIGTERM');
    assert.equal((await second.child.ended).code, 0);
    const { stdout } = await place.run(['task', taskId, '--json']);
    assert.match((JSON.parse(stdout) as { state: string }).state, /^(?:waiting|active)$/);
  });
});

describe('a broken configuration', () => {
  test('G-1: ends the start with 2, tells everything at once and makes nothing', async (t) => {
    const place = new Place('api:\n  prot: 1\nlocale: fr\n');
    t.after(() => place.clear());
    const { code, stdout, stderr } = await place.run(['start', '--no-terminal', '--port', 'x']);
    assert.equal(code, 2);
    assert.equal(stdout, '');
    assert.deepEqual(stderr.trimEnd().split('\n'), [
      'sekisho.yaml:2: api.prot: unknown key; did you mean api.port?',
      'sekisho.yaml:3: locale: "fr" is not allowed; allowed: en | de',
      '--port: api.port: "x" is not allowed; allowed: a whole number from 0 to 65535',
    ]);
    assert.deepEqual(readdirSync(place.folder), ['sekisho.yaml']);
  });

  test('X-1: a bind that others reach needs keys and TLS or a proxy', async (t) => {
    const place = new Place();
    t.after(() => place.clear());
    const { code, stderr } = await place.run(['start', '--no-terminal', '--host', '0.0.0.0']);
    assert.equal(code, 2);
    assert.match(stderr, /^--host: api\.host: 0\.0\.0\.0 .* needs api\.tls/m);
    assert.match(stderr, /^--host: api\.host: 0\.0\.0\.0 .* needs api\.keys/m);
  });

  test('tools and records do not share a folder', async (t) => {
    const place = new Place('model: { provider: rehearsal }\nworkspace: .\n');
    t.after(() => place.clear());
    const { code, stderr } = await place.run(['start', '--no-terminal', '--port', '0']);
    assert.equal(code, 2);
    assert.match(stderr, /^sekisho\.yaml:2: workspace: .*lie in one another/m);
  });

  test('TLS files that cannot be read stop the start', async (t) => {
    const place = new Place(
      'model: { provider: rehearsal }\napi: { port: 0, tls: { keyFile: k, certFile: c } }\n',
    );
    t.after(() => place.clear());
    const missing = await place.run(['start', '--no-terminal']);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /bad_tls: the TLS file .*k cannot be read/);
    for (const name of ['k', 'c']) writeFileSync(join(place.folder, name), 'no pem');
    const invalid = await place.run(['start', '--no-terminal']);
    assert.equal(invalid.code, 2);
    assert.match(invalid.stderr, /bad_tls: /);
  });
});
