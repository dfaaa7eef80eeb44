import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isObject } from '../../src/kernel/json.ts';
import { SECOND } from '../../src/kernel/time.ts';
import { callsTool, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import {
  startModelServer,
  type ModelServer,
  type RecordedRequest,
} from '../../src/testing/model-server.ts';
import type { Client } from '../../src/client/client.ts';
import type { TaskReply } from '../../src/wire/task.ts';
import { Place, type RunningHost } from '../e2e/process.ts';

const LIMIT_MS = 60 * SECOND;
const STALL: ModelAnswer = { kind: 'stall' };

function isAssessment({ body }: RecordedRequest): boolean {
  const { response_format: format } = body;
  const schema = isObject(format) ? format['json_schema'] : undefined;
  return isObject(schema) && schema['name'] === 'assessment';
}

function configFor({ url }: ModelServer): string {
  return [
    'api: { port: 0 }',
    'tick: { seconds: 1 }',
    'recovery: { spacingSeconds: 0.1, callTimeoutSeconds: 30 }',
    `model: { provider: openai-compatible, baseURL: '${url}', name: scripted }`,
  ].join('\n');
}

/** A host with a terminal behind a pipe, at which somebody has said something. */
async function startWithTerminal(place: Place): Promise<RunningHost> {
  const host = await place.start({ args: [] });
  host.child.process.stdin?.write('good morning\n');
  await host.child.line((text) => text.includes('noted'));
  return host;
}

async function killed(host: RunningHost): Promise<void> {
  host.signal('SIGKILL');
  await host.child.ended;
}

/** Asks again until this holds; fails when it never does. */
async function reached<T>(ask: () => Promise<T>, holds: (found: T) => boolean): Promise<T> {
  const last = Date.now() + LIMIT_MS;
  for (;;) {
    const found = await ask();
    if (holds(found)) return found;
    assert.ok(Date.now() < last, `it never holds: ${JSON.stringify(found)}`);
  }
}

function stateOf(client: Client, id: string, state: TaskReply['state']): Promise<TaskReply> {
  return reached(
    () => client.task(id),
    (task) => task.state === state,
  );
}

test('R-12: after three kills within ten minutes nothing starts by itself until an admin says so', async (t) => {
  let isOver = false;
  const server = await startModelServer((request) => {
    if (isAssessment(request))
      return isOver ? says('{"verdict":"continue","reason":"it is harmless"}') : STALL;
    if (request.lastText.includes('good morning')) return says('noted');
    if (request.lastText.includes('wait two seconds') && !isOver)
      return callsTool('task_wait', { for: 'instant', seconds: 2 });
    if (request.lastText.includes('long work') && !isOver) return STALL;
    return says('done');
  });
  const place = new Place(configFor(server));
  t.after(async () => {
    await place.clear();
    await server.close();
  });
  const assessments = (): number => server.requests.filter(isAssessment).length;
  /** Resolves once the server has had so many of them. */
  const assessed = async (count: number): Promise<void> => {
    for (let order = 1; assessments() < count; order += 1) await server.arrived(order);
  };

  const first = await startWithTerminal(place);
  const work = await first.client().createRun({ input: 'long work' });
  await reached(
    () => first.client().run(work.id),
    ({ status }) => status === 'running',
  );
  await killed(first);
  for (const count of [1, 2]) {
    const next = await place.start();
    assert.equal((await next.client().status()).safeMode.on, false);
    await assessed(count);
    await killed(next);
  }

  const host = await place.start();
  const client = host.client();
  assert.equal((await client.status()).safeMode.on, true);
  const run = await client.createRun({ input: 'hello', wait: 30 });
  assert.equal('status' in run && run.status, 'completed');
  const late = await client.createRun({ input: 'wait two seconds' });
  const waiting = await stateOf(client, late.taskId, 'waiting');
  const due = Date.parse(waiting.waitsFor?.until ?? '') + 2 * SECOND;
  await reached(
    () => client.status(),
    ({ at }) => Date.parse(at) > due,
  );
  assert.deepEqual(await client.task(late.taskId), waiting);
  const interrupted = await client.task(work.taskId);
  assert.deepEqual(
    [interrupted.state, interrupted.waitsFor?.kind, interrupted.recovery.attempts],
    ['waiting', 'assessment', 2],
  );
  assert.equal(assessments(), 2);
  const escalations = async () =>
    (await client.outbox({ limit: 200 })).items.filter(({ code }) => code === 'safe_mode');
  const [escalation, ...more] = await escalations();
  assert.match(escalation?.text ?? '', /^! .*`\/safe-mode off`/s);
  assert.deepEqual(more, []);
  assert.match((await place.run(['status'])).stdout, /safe +nothing starts by itself until/);

  isOver = true;
  const ended = await place.run(['safe-mode', 'off']);
  assert.deepEqual([ended.code, ended.stderr], [0, '']);
  await stateOf(client, late.taskId, 'completed');
  const gone = await stateOf(client, work.taskId, 'completed');
  assert.equal(assessments(), 3);
  assert.equal(gone.recovery.lifetimeAttempts, 3);
  assert.equal((await escalations()).length, 1);
  const again = await place.run(['safe-mode', 'off']);
  assert.equal(again.code, 3);
  assert.match(again.stderr, /no_safe_mode/);
  assert.equal((await host.stop()).code, 0);
});
