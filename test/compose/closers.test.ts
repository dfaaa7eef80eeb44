import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeAll } from '../../src/compose/closers.ts';

test('every closer runs, the last opened first, and the first error is thrown at the end', async () => {
  const ran: string[] = [];
  const closer = (name: string, fails: boolean) => async (): Promise<void> => {
    ran.push(name);
    if (fails) throw new Error(`${name} does not close`);
  };
  const opened = [closer('store', false), closer('server', true), closer('engine', true)];
  await assert.rejects(closeAll(opened), /^Error: engine does not close$/);
  assert.deepEqual(ran, ['engine', 'server', 'store']);
  assert.deepEqual(opened, []);
});
