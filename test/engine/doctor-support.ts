// Installations with what older versions left behind, for the tests of the doctor.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { OutboxRecord } from '../../src/core/outbox/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { Engine, Finding } from '../../src/engine/engine.ts';
import type { Write } from '../../src/ports/store.ts';
import { ADMIN, asks, taskIn, type GivenParts, type Installation } from '../support/host.ts';
import { say, talkTo } from '../support/acts.ts';

export const BY_ADMIN = { principal: ADMIN, channel: 'api' } as const;
export const REASON = 'recovery_assessment_failed';

export async function open(
  context: TestContext,
  place: Installation,
  given: GivenParts = {},
): Promise<Engine> {
  const engine = await place.host(given);
  context.after(() => engine.stop(0));
  return engine;
}

/** What an older version or an import may have left: no path of this version writes it. */
export async function plant(place: Installation, ...writes: readonly Write[]): Promise<void> {
  const unit = { name: 'test.plant', reads: {}, decide: () => ({ verdict: undefined, writes }) };
  assert.equal((await place.store.commit(unit)).kind, 'done');
}

/** A task that asked a question, as its record becomes with these fields. */
export async function planted(
  place: Installation,
  engine: Engine,
  fields: Partial<TaskRecord>,
  address = 'here',
): Promise<TaskRecord> {
  place.model.answer = () => asks(['task_wait', { for: 'answer', question: 'Which?' }]);
  const conversationId = await talkTo(engine, address);
  await say(engine, conversationId, `Sort the papers of ${address}`);
  const task = await taskIn(engine, conversationId, 'waiting');
  const row = { ...task, waitUntil: null, dueAt: null, ...fields, version: task.version + 1 };
  await plant(place, { write: 'task.save', row });
  return row;
}

export const SILENT = { state: 'blocked', reason: null, waitKind: null, waitId: null } as const;
export const HELD = { ...SILENT, reason: 'held_legacy', enrollment: 'held-legacy' } as const;

export function of(found: readonly Finding[], code: string): readonly Finding[] {
  return found.filter((finding) => finding.code === code);
}

export async function codesOf(engine: Engine): Promise<readonly string[]> {
  return (await engine.examine()).map(({ code }) => code);
}

export async function noticesOf(
  { id, conversationId }: TaskRecord,
  { store }: Engine,
): Promise<readonly OutboxRecord[]> {
  const args = { conversationId, state: '', before: '~', limit: 100 };
  const entries = await store.query('outbox.list', args);
  return entries.filter(({ code, subjectId }) => code === REASON && subjectId === id);
}
