import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { removeLeftGroups } from '../../src/adapters/tools/process-bound.ts';
import { findSandbox } from '../../src/adapters/tools/sandbox.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { callsTool } from '../../src/testing/model-answer.ts';
import { eventually, order, restOf, say, talkTo } from '../support/acts.ts';
import { ANNA, asks, Installation, OPTIONS, says } from '../support/host.ts';
import { openStage, resultsIn } from './stage.ts';

const canRun = 'bwrap' in (await findSandbox());
const ACK_MS = 2_000;
const END_MS = 10_000 + ACK_MS;

test('INC-097 W-1 a stop is acknowledged at once and nothing starts after it, whatever heeds no signal', async () => {
  for (const what of ['a model that streams on', 'a tool that ignores signals'] as const) {
    const place = new Installation();
    const begun = Promise.withResolvers<void>();
    const never = new Promise<never>(() => {});
    const deaf = () => {
      begun.resolve();
      return never;
    };
    place.model.answer = what.startsWith('a model') ? deaf : () => asks(['pay', {}], ['look', {}]);
    place.tools.perform = deaf;
    const engine = await place.host();
    const conversationId = await talkTo(engine);
    const run = await order(engine, 'work for ten minutes', conversationId);
    await begun.promise;
    const [asked, ran] = [place.model.requests.length, place.tools.ran.length];
    const id = await say(engine, conversationId, '/stop');
    await eventually(async () => {
      return (await engine.store.query('message.byId', { id }))?.state === 'done';
    });
    // No time has passed: the hand clock stands still.
    assert.equal((await engine.store.query('task.byId', { id: run.taskId }))?.state, 'stopped');
    assert.equal(engine.health().runningTurns, 1, `${what} still runs`);
    place.clock.advance(LIMITS.stopToolsMs);
    await restOf(engine);
    assert.deepEqual([place.model.requests.length, place.tools.ran.length], [asked, ran], what);
    const [notice] = await place.rows('outbox');
    const running = what.startsWith('a model') ? ['model'] : ['pay'];
    assert.deepEqual(
      (JSON.parse(String(notice?.['params'])) as { tools: unknown }).tools,
      running,
      'it names what it ends',
    );
    assert.equal((await place.rows('outbox')).length, 1);
    place.model.answer = () => says('I am here');
    await say(engine, conversationId, 'are you alive?');
    await restOf(engine);
    assert.equal((await place.rows('outbox')).length, 2);
    await engine.stop(0);
  }
});

test('INC-097 a stop with nothing running says so', async () => {
  const place = new Installation();
  const engine = await place.host();
  const conversationId = await talkTo(engine);
  for (const text of ['/stop', '/stop all']) await say(engine, conversationId, text);
  await restOf(engine);
  for (const entry of await place.rows('outbox'))
    assert.match(String(entry['text']), /Nothing of this conversation is running or open/);
  assert.equal((await place.rows('outbox')).length, 2);
  await engine.stop(0);
});

test('INC-097 W-1 a kill right behind the acknowledgement of a stop leaves it stopped', async (t) => {
  const stage = await openStage(t, () => ({ kind: 'endless', piece: 'on and on ' }));
  const client = stage.host.client();
  const run = await client.createRun({ input: 'talk for ten minutes' });
  const call = await stage.server.arrived(1);
  const began = performance.now();
  const stopped = await client.stopTask(run.taskId);
  assert.ok(performance.now() - began < ACK_MS);
  assert.deepEqual([stopped.state, stopped.running], ['stopped', ['model']]);
  await stage.killAndRestart();
  assert.equal(await call.over, 'aborted');
  const after = stage.host.client();
  assert.equal((await after.task(run.taskId)).state, 'stopped');
  assert.equal((await after.run(run.id)).status, 'cancelled');
  await stage.killAndRestart();
  assert.equal((await stage.host.client().task(run.taskId)).state, 'stopped');
  const { items } = await stage.host.client().outbox({ conversation: run.conversationId });
  assert.deepEqual(
    items.map(({ code }) => code),
    ['stopped'],
  );
  assert.equal(stage.server.requests.length, 1);
});

/** Processes of this machine whose command line holds `mark`. */
function processesWith(mark: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

async function until(holds: () => boolean, withinMs: number): Promise<void> {
  const began = performance.now();
  while (!holds()) {
    assert.ok(performance.now() - began < withinMs, `not within ${withinMs} ms`);
    await pause(20);
  }
}

for (const way of ['stopped', 'killed'] as const) {
  test(
    `INC-097 W-1 a child process that ignores signals ends when its task is stopped${way === 'killed' ? ' and the host is killed behind it' : ''}`,
    { skip: canRun ? false : 'there is no sandbox here' },
    async (t) => {
      const mark = `${process.pid}.${way === 'killed' ? 2 : 1}71`;
      const command = `trap '' TERM INT HUP; sleep ${mark} & sleep ${mark}; echo late > late.txt`;
      const stage = await openStage(t, (request) =>
        resultsIn(request) === 0 ? callsTool('command', { command }) : { kind: 'stall' },
      );
      const client = stage.host.client();
      const run = await client.createRun({ input: 'sleep long' });
      await until(() => processesWith(mark).length > 0, END_MS);
      const stopped = await client.stopTask(run.taskId);
      assert.deepEqual(stopped.running, ['command']);
      if (way === 'killed') await stage.killAndRestart();
      await until(() => processesWith(mark).length === 0, END_MS);
      const task = await stage.host.client().task(run.taskId);
      assert.equal(task.state, 'stopped');
      assert.equal(stage.server.requests.length, 1);
      assert.equal(existsSync(join(stage.place.folder, 'workspace', 'late.txt')), false);
    },
  );
}

const GROUPS = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup'].find(
  (path) => process.getuid?.() === 0 && existsSync(`${path}/cgroup.procs`),
);

test(
  'INC-097 what a killed host left running in its group is ended by the next start',
  { skip: GROUPS === undefined ? 'no group of processes can be made here' : false },
  async () => {
    const dead = spawnSync('true').pid;
    const group = `${GROUPS}/sekisho-${dead}-0123abcd`;
    mkdirSync(group);
    const left = spawn('sleep', ['600']);
    writeFileSync(`${group}/cgroup.procs`, String(left.pid));
    const ended = once(left, 'exit');
    await removeLeftGroups();
    assert.deepEqual(await ended, [null, 'SIGKILL']);
    await removeLeftGroups();
    await until(() => !existsSync(group), ACK_MS);
  },
);

test('INC-097 a reply that was not yet saved is withdrawn by the stop', async () => {
  const place = new Installation();
  const answer = Promise.withResolvers<ReturnType<typeof says>>();
  place.model.answer = () => answer.promise;
  const engine = await place.host({ options: { ...OPTIONS, pid: 2 } });
  const run = await order(engine, 'answer');
  await eventually(() => place.model.requests.length === 1);
  await engine.stopTask({ taskId: run.taskId, principal: ANNA, channel: 'api' });
  answer.resolve(says('too late'));
  await restOf(engine);
  assert.deepEqual(
    (await place.rows('outbox')).map((entry) => entry['code']),
    ['stopped'],
  );
  await engine.stop(0);
});
