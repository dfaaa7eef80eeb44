import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ROUTES } from '../../src/http/routes.ts';
import { Fault, refuse } from '../../src/kernel/fault.ts';
import { codeOf, openDoor, SECRETS } from './door.ts';

describe('what went wrong inside', () => {
  test('X-6: is told by its code, without stack, path, SQL or secret', async (context) => {
    const door = await openDoor(context);
    const canary = 'canary-0123456789 /var/lib/secret.db select * from message';
    const { engine } = door;
    context.mock.method(engine.store, 'query', () => Promise.reject(new Error(canary)));
    for (const path of [
      '/v1/runs',
      '/v1/tasks',
      '/v1/status',
      '/v1/attention',
      '/v1/outbox',
      '/metrics',
    ]) {
      const answer = await door.ask('GET', path, { key: 'ops' });
      assert.equal(answer.status, 500, path);
      assert.equal(codeOf(answer), 'internal');
      assert.doesNotMatch(answer.text, /canary|secret|select|\.ts|at /i);
    }
  });

  test('a store that fails is 503 or 507 with a time to come again', async (context) => {
    const door = await openDoor(context);
    for (const [fault, status, code] of [
      ['io', 503, 'store_failed'],
      ['read_only', 503, 'store_failed'],
      ['corrupt', 503, 'store_failed'],
      ['closed', 503, 'store_failed'],
      ['busy', 503, 'store_failed'],
      ['disk_full', 507, 'disk_full'],
      ['bug', 500, 'internal'],
    ] as const) {
      const mocked = context.mock.method(door.engine, 'acceptRun', () =>
        Promise.reject(new Fault(fault, 'stop', 'SQLITE_IOERR /data/sekisho.db')),
      );
      const answer = await door.ask('POST', '/v1/runs', { key: 'ops', body: { input: 'x' } });
      assert.equal(answer.status, status, fault);
      assert.equal(codeOf(answer), code);
      assert.equal(answer.headers['retry-after'] !== undefined, code !== 'internal');
      assert.ok(!answer.text.includes('sekisho.db'));
      mocked.mock.restore();
    }
  });

  test('A-7: a host that drains is alive, not ready, and still answers what it knows', async (context) => {
    const door = await openDoor(context);
    const { id } = await door.client().createRun({ input: 'x', wait: 300 });
    assert.deepEqual((await door.ask('GET', '/readyz')).json, { status: 'ready' });
    await door.engine.stop(0);
    const probe = await door.ask('GET', '/readyz');
    assert.equal(probe.status, 503);
    assert.deepEqual(probe.json, { status: 'stopped', reason: 'stopped' });
    assert.equal((await door.ask('GET', '/healthz')).status, 200);
    assert.equal((await door.client().run(id)).status, 'completed');
  });

  test('a refusal keeps its own code, with the status that the surface gives it', async (context) => {
    const door = await openDoor(context);
    for (const [code, status] of [
      ['draining', 503],
      ['store_failed', 503],
      ['disk_full', 507],
      ['forbidden', 403],
      ['not_found', 404],
      ['run_ended', 409],
      ['not_allowed_now', 409],
    ] as const) {
      const mocked = context.mock.method(door.engine, 'acceptRun', () =>
        Promise.resolve(refuse(code)),
      );
      const answer = await door.ask('POST', '/v1/runs', { key: 'ops', body: { input: 'x' } });
      assert.equal(answer.status, status, code);
      assert.equal(codeOf(answer), code);
      assert.notEqual(answer.json['detail'], '');
      assert.equal(answer.headers['retry-after'] !== undefined, status > 500);
      mocked.mock.restore();
    }
  });
});

test('X-6: no answer of any route holds a key', async (context) => {
  const door = await openDoor(context);
  const { id: run, conversationId: conv } = await door
    .client()
    .createRun({ input: 'x', wait: 300 });
  const ids: Record<string, string> = { runs: run, conversations: conv };
  let looked = 0;
  for (const { method, path } of ROUTES.filter((line) => line.method === 'GET')) {
    if (path.endsWith('/events')) continue;
    const target = path.replace('{id}', ids[path.split('/')[2] ?? ''] ?? 'x');
    const { text, headers } = await door.ask(method, target, { key: 'ops' });
    const whole = text + JSON.stringify(headers);
    for (const secret of Object.values(SECRETS)) assert.ok(!whole.includes(secret), target);
    looked += 1;
  }
  assert.ok(looked > 10);
});

test('A-7: the metrics are Prometheus text', async (context) => {
  const door = await openDoor(context);
  await door.client().createRun({ input: 'x', wait: 300 });
  const answer = await door.ask('GET', '/metrics', { key: 'reader' });
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers['content-type']), /^text\/plain; version=/);
  assert.match(answer.text, /^sekisho_ready 1$/m);
  assert.match(answer.text, /^sekisho_tasks_open\{state="blocked"\} 0$/m);
  assert.match(answer.text, /^# TYPE sekisho_http_answers_total counter$/m);
  assert.match(answer.text, /^sekisho_http_answers_total\{status="200"\} \d+$/m);
  assert.match(answer.text, /^process_resident_memory_bytes \d+$/m);
});
