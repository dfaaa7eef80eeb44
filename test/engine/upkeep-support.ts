// Tasks that wait, hosts that die, and what is left of them in the store.
import assert from 'node:assert/strict';
import type { Engine } from '../../src/engine/engine.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import type { ModelOutcome } from '../../src/ports/model.ts';
import { askedIn, eventually, say, talkTo } from '../support/acts.ts';
import { asks, says, taskIn, type GivenParts, type Installation } from '../support/host.ts';
import { ShakyStore } from '../support/store-faults.ts';

type Row = Readonly<Record<string, unknown>>;

/** Waits as the first words of a request ask for it, and answers everything else. */
export function waitsAsAsked(
  place: Installation,
  goOn: () => ModelOutcome = () => says('done'),
): void {
  place.model.answer = (request) => {
    const asked = askedIn(request);
    const [, seconds] = /^in (\d+) s/.exec(asked) ?? [];
    if (seconds !== undefined)
      return asks(['task_wait', { for: 'instant', seconds: Number(seconds) }]);
    if (asked === 'ask me') return asks(['task_wait', { for: 'answer', question: 'What?' }]);
    return goOn();
  };
}

/** Says something and gives its task once it waits. */
export async function waiting(
  engine: Engine,
  text: string,
  address = text,
): Promise<TaskRecord & { readonly here: ConversationId }> {
  const here = await talkTo(engine, address);
  await say(engine, here, text);
  return { ...(await taskIn(engine, here, 'waiting')), here };
}

export interface Mortal {
  readonly engine: Engine;
  readonly store: ShakyStore;
  /** From here nothing of it reaches the store: as after `kill -9`. */
  readonly kill: () => void;
}

export async function mortal(place: Installation, given: GivenParts = {}): Promise<Mortal> {
  const store = new ShakyStore(place.store);
  const engine = await place.host({ store, ...given });
  return {
    engine,
    store,
    kill: () => {
      store.mishap = () => 'hangs';
      store.onQuery = () => new Promise(() => {});
    },
  };
}

export async function taskRow(place: Installation, id: string): Promise<Row> {
  const row = (await place.rows('task')).find((task) => task['id'] === id);
  assert.ok(row !== undefined);
  return row;
}

/** Resolves once the task is in this state. */
export async function becomes(place: Installation, id: string, state: string): Promise<Row> {
  await eventually(async () => (await taskRow(place, id))['state'] === state);
  return taskRow(place, id);
}

/** Codes of the notices about this task, in order. */
export async function noticesOf(place: Installation, id: string): Promise<readonly unknown[]> {
  const rows = (await place.rows('outbox')).filter(
    (row) => row['task_id'] === id && row['kind'] === 'notice',
  );
  return rows
    .toSorted((one, other) => Number(one['seq']) - Number(other['seq']))
    .map(({ code }) => code);
}

/** What woke this task by itself. */
export async function wakesOf(place: Installation, id: string): Promise<readonly Row[]> {
  return (await place.rows('message')).filter(
    (row) => row['task_id'] === id && ['wake', 'return', 'scout'].includes(String(row['channel'])),
  );
}
