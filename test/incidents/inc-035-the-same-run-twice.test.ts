import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiProblem } from '../../src/client/client.ts';
import { callsTool, says } from '../../src/testing/model-answer.ts';
import { openStage, resultsIn } from './stage.ts';

const TRIES = 20;

test('INC-035 a run that is asked for twenty times at once and again after a kill is made once', async (t) => {
  const stage = await openStage(t, (request) => {
    if (resultsIn(request) === 0) return callsTool('write', { path: 'once.txt', content: 'x' });
    return { kind: 'stall' };
  });
  const body = { input: 'write it once' };
  const once = { idempotencyKey: 'order-1' };
  const ask = async () => (await stage.host.client().createRun(body, once)).id;
  const ids = await Promise.all(Array.from({ length: TRIES }, ask));
  await stage.server.arrived(2);
  await stage.killAndRestart();
  ids.push(...(await Promise.all(Array.from({ length: TRIES }, ask))));
  assert.equal(new Set(ids).size, 1);
  const turns = stage.server.requests.filter((request) => !('response_format' in request.body));
  assert.equal(turns.length, 2, 'one call of the tool, before the kill');
  const client = stage.host.client();
  assert.equal((await client.runs()).items.length, 1);
  assert.equal((await client.tasks()).items.length, 1);
  await assert.rejects(client.createRun({ input: 'another' }, once), (problem) => {
    assert.ok(problem instanceof ApiProblem);
    assert.deepEqual([problem.status, problem.code], [409, 'idempotency_conflict']);
    return true;
  });
  assert.equal((await client.runs()).items.length, 1);
});

test('INC-035 a caller that leaves ends nothing, and cancel tells the truth', async (t) => {
  const gate = Promise.withResolvers<void>();
  const stage = await openStage(t, () => says('done without you', { before: gate.promise }));
  const client = stage.host.client();
  const leave = new AbortController();
  const waiting = client.createRun(
    { input: 'work', wait: 60 },
    { idempotencyKey: 'order-2', signal: leave.signal },
  );
  await stage.server.arrived(1);
  leave.abort();
  await assert.rejects(waiting);
  gate.resolve();
  const { id } = await client.createRun({ input: 'work', wait: 60 }, { idempotencyKey: 'order-2' });
  const ended = await client.run(id);
  assert.deepEqual([ended.status, ended.output], ['completed', 'done without you']);
  assert.equal(stage.server.requests.length, 1);
  assert.deepEqual(await client.cancelRun(id), ended, 'a run that has ended keeps its end');
  await assert.rejects(client.cancelRun('run_0000000000000000'), (problem) => {
    assert.ok(problem instanceof ApiProblem);
    assert.deepEqual([problem.status, problem.code], [404, 'not_found']);
    return true;
  });
});
