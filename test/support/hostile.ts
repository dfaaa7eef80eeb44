// A real export with every kind of record in it, and what becomes of an installation that takes such a file.
import { sqliteSnapshots } from '../../src/adapters/store/archive-sqlite.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import type { Archived } from '../../src/core/archive/record.ts';
import { createEngine } from '../../src/engine/create.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { explainTask } from '../../src/engine/task/why.ts';
import type { ConversationId, TaskId } from '../../src/kernel/ids.ts';
import { HOUR, SECOND } from '../../src/kernel/time.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import { executionRow } from '../../src/testing/store-rows.ts';
import { EN, order, pass, restOf, say, talkTo, wordsOf } from './acts.ts';
import { bring, fileOf, recordsIn, take, type Place } from './archive.ts';
import { ADMIN, ANNA, asks, Installation, judges, says } from './host.ts';
import { openFences, talkLong } from './hostile-upkeep.ts';
import { ShakyStore } from './store-faults.ts';

type Note = (what: string, detail?: object) => void;
type FilePlace = Place & { readonly path: string };

/** Two hosts that work, wait, ask and die; what they leave behind is exported. */
export async function lived({ path }: FilePlace): Promise<readonly Archived[]> {
  const place = new Installation();
  const sqlite = openSqlite({ path, clock: place.clock, ids: place.ids });
  const first = await openMortal(place, sqlite);
  await workOf(place, first.engine);
  first.kill();
  place.model.answer = () => says('done');
  const second = await openMortal(place, sqlite);
  await second.engine.pauseTask({
    taskId: (await order(second.engine, 'wait for me')).taskId,
    principal: ANNA,
    channel: 'api',
  });
  await restOf(second.engine);
  await talkLong(place, second.engine, sqlite);
  await hang(place, second.engine, 'also busy');
  const tasks = await second.engine.store.query('task.open', { limit: 100 });
  for (const [at, task] of tasks.entries()) {
    const { id: taskId, conversationId, mandateHash } = task;
    const id = place.ids.next('execution');
    const row = executionRow({ id, taskId, conversationId, mandateHash, endedAt: null });
    await mustPut(sqlite, { write: 'execution.insert', row: { ...row, version: at + 1 } });
  }
  second.kill();
  await sqlite.close();
  return recordsIn(await take({ snapshot: sqliteSnapshots(path) }));
}

async function openMortal(place: Installation, sqlite: ReturnType<typeof openSqlite>) {
  const store = new ShakyStore(sqlite);
  const engine = createEngine(place.parts({ store }));
  await engine.start();
  return {
    engine,
    kill: () => {
      store.mishap = () => 'hangs';
      store.onQuery = () => new Promise(() => {});
    },
  };
}

async function workOf(place: Installation, engine: Engine): Promise<void> {
  place.tools.asked.add('note');
  place.model.answer = ({ messages }) => {
    const words = messages.findLast(({ role }) => role === 'user')?.text ?? '';
    if (messages.at(-1)?.role === 'tool') return says('it is done');
    if (words.includes('look')) return asks(['look', { at: 1 }]);
    if (words.includes('ask')) return asks(['task_wait', { for: 'answer', question: 'Which?' }]);
    if (words.includes('later')) return asks(['task_wait', { for: 'instant', seconds: 7_200 }]);
    if (words.includes('approve')) return asks(['note', { text: 'x' }]);
    return says('yes');
  };
  const here = await talkTo(engine);
  await say(engine, here, 'look at it');
  await restOf(engine);
  await say(engine, here, '/status');
  for (const words of ['ask me', 'later', 'please approve']) {
    await say(engine, await talkTo(engine, words), words);
    await restOf(engine);
  }
  const run = await order(engine, 'ask me of the run');
  await restOf(engine);
  const given = { taskId: run.taskId, channel: 'api' };
  await engine.extendTask({ ...given, grant: { turns: 5 }, principal: ADMIN, receiptId: 'r1' });
  const other = await order(engine, 'ask me again');
  await restOf(engine);
  await engine.stopTask({ taskId: other.taskId, channel: 'api', principal: ANNA, receiptId: 'r2' });
  await hang(place, engine, 'busy');
}

/** A turn that never ends, and words that wait for it. */
async function hang(place: Installation, engine: Engine, address: string): Promise<void> {
  const hangs = Promise.withResolvers<void>();
  const { perform } = place.tools;
  place.tools.perform = (call, signal) => {
    if (!call.args.includes('hang')) return perform(call, signal);
    hangs.resolve();
    return new Promise(() => {});
  };
  place.model.answer = () => asks(['pay', { how: 'hang' }]);
  const busy = await talkTo(engine, address);
  await say(engine, busy, 'hang');
  await hangs.promise;
  await say(engine, busy, 'and this');
  await pass();
}

/** What an imported installation could not do; empty when it did all of it. */
export async function liveOn(
  records: readonly Archived[],
  target: FilePlace,
): Promise<{ readonly refused: string } | { readonly troubles: readonly string[] }> {
  const outcome = await bring(fileOf(records), target.filling);
  if (outcome.kind === 'refused') return { refused: `line ${outcome.line}: ${outcome.problem}` };
  const place = new Installation();
  const { clock } = place;
  clock.jump(300 * HOUR);
  const troubles: string[] = [];
  const note: Note = (what, detail) => {
    troubles.push(`${what} ${JSON.stringify(detail ?? {}).slice(0, 300)}`);
  };
  const sqlite = openSqlite({ path: target.path, clock, ids: place.ids });
  try {
    place.assessor.answer = () => judges('continue');
    // Records of the future make a host doubt its clock, as they do where they were written.
    const warn = (what: string, detail?: object): void => {
      if (!what.includes('clock')) note(what, detail);
    };
    const log = { debug() {}, info() {}, warn, error: note };
    const engine = createEngine(place.parts({ store: sqlite, log }));
    await engine.start();
    const homes = await sqlite.inspect('select id from conversation');
    const homesOpen = [...homes.map(({ id }) => id as ConversationId), await talkTo(engine, 'new')];
    const said = [];
    for (const home of homesOpen)
      said.push(await say(engine, home, 'and now?', { principal: ADMIN }));
    for (let looks = 0; looks < 10; looks += 1) {
      await pass(6);
      clock.advance(10 * SECOND);
    }
    await pass(20);
    await look(engine, sqlite, { said, note });
    await openFences(engine, note);
    await engine.stop(0);
  } catch (error) {
    troubles.push(String(error));
  } finally {
    await sqlite.close();
  }
  return { troubles };
}

/** Whatever a person may read is read, and what was said now is no longer where it lay. */
async function look(
  engine: ReturnType<typeof createEngine>,
  sqlite: ReturnType<typeof openSqlite>,
  { said, note }: { readonly said: readonly string[]; readonly note: Note },
): Promise<void> {
  const lying = await sqlite.inspect(`select id, kind, task_id from message
    where state = 'unclaimed' and (kind = 'command' or (task_id is null and conversation_id in
      (select id from conversation where fence in ('none', 'passed'))))`);
  for (const row of lying)
    if (row['kind'] === 'command' || said.includes(String(row['id']))) note('it lies', row);
  const fresh = await sqlite.inspect(
    `select state, answer_id from message where id = '${said.at(-1)}'`,
  );
  if (fresh[0]?.['state'] !== 'done' || fresh[0]['answer_id'] === null)
    note('a new conversation is not answered', fresh[0]);
  const unmarked = `enrollment = 'unmarked' and ended_at is null`;
  for (const row of await sqlite.inspect(`select id from task where ${unmarked}`))
    note('it was not judged', row);
  for (const row of await sqlite.inspect('select * from outbox')) wordsOf(row);
  for (const { id } of await sqlite.inspect('select id from task'))
    await explainTask(engine.parts, id as TaskId, EN);
  await engine.examine();
}
