import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConversationId, TaskId } from '../../src/kernel/ids.ts';
import { DoctorReply, RepairReply } from '../../src/wire/doctor.ts';
import { says, taskIn } from '../support/host.ts';
import { openDoor, type TestDoor } from './door.ts';

const DOCTOR = '/v1/admin/doctor';
const REPAIR = '/v1/admin/repair';

/** A task that an older version has parked without a reason. */
async function parkSilently(door: TestDoor): Promise<TaskId> {
  const { installation, engine } = door;
  installation.model.answer = () => says('');
  const { conversationId } = await door.client('runner').createRun({ input: 'count' });
  const task = await taskIn(engine, conversationId as ConversationId, 'blocked');
  const row = { ...task, reason: null, version: task.version + 1 };
  await installation.store.commit({
    name: 'test.park',
    reads: {},
    decide: () => ({ verdict: undefined, writes: [{ write: 'task.save', row }] }),
  });
  return task.id;
}

test('each finding has its sentence and the command that changes it', async (context) => {
  const door = await openDoor(context);
  const taskId = await parkSilently(door);
  const { status, json } = await door.ask('GET', DOCTOR, { key: 'ops' });
  assert.equal(status, 200);
  const found = DoctorReply.parse(json);
  assert.equal(found.problems, 1);
  const silent = found.items.find(({ code }) => code === 'task_silent');
  assert.ok(silent !== undefined);
  assert.equal(silent.subjectId, taskId);
  assert.match(
    silent.sentence,
    /^“count” \(task_\w+\) stands still since .+, and no reason is on record\.$/,
  );
  assert.equal(silent.command, 'sekisho doctor --repair');
  assert.ok(found.items.every(({ sentence }) => sentence.length > 10));
});

test('a repair is answered with what it mended, and given again with nothing', async (context) => {
  const door = await openDoor(context);
  const taskId = await parkSilently(door);
  const body = { repair: true };
  const first = RepairReply.parse((await door.ask('POST', REPAIR, { key: 'ops', body })).json);
  assert.deepEqual(first, { tasks: [taskId], fences: [], files: [] });
  const again = RepairReply.parse((await door.ask('POST', REPAIR, { key: 'ops', body })).json);
  assert.deepEqual(again, { tasks: [], fences: [], files: [] });
  assert.equal((await door.client().doctor()).problems, 0);
  const [entry] = await door.installation.rows('audit');
  assert.deepEqual([entry?.['principal'], entry?.['channel']], ['key:ops', 'api']);
});

test('both need the scope admin, and a body of another shape repairs nothing', async (context) => {
  const door = await openDoor(context);
  const taskId = await parkSilently(door);
  for (const key of ['runner', 'reader'] as const) {
    const body = { repair: true };
    assert.equal((await door.ask('GET', DOCTOR, { key })).status, 403);
    assert.equal((await door.ask('POST', REPAIR, { key, body })).status, 403);
  }
  for (const body of [{}, { repair: false }, { repair: true, all: true }, []]) {
    assert.equal((await door.ask('POST', REPAIR, { key: 'ops', body })).status, 422);
  }
  assert.equal((await door.client().task(taskId)).reason, null);
});
