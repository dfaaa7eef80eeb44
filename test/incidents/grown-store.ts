// A store that many conversations have filled: one is really talked in, the rest are its copies.
import { DatabaseSync } from 'node:sqlite';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { restOf, say, talkTo } from '../support/acts.ts';
import { Installation, says } from '../support/host.ts';

/** Tables whose rows belong to a conversation. */
const COPIED = ['conversation', 'session', 'message', 'task', 'turn', 'step', 'event', 'outbox'];
/** Columns of text in which no id stands. */
const UNNAMED: ReadonlySet<string> = new Set(
  [
    'output',
    'text',
    'mandate_text',
    'body_hash',
    'mandate_hash',
    'state',
    'kind',
    'type',
    'by',
  ].concat(['channel', 'principal', 'authority', 'agent', 'reason', 'from_state', 'to_state']),
);
/** The part of each id that says when it was made: the clock of the one conversation stands still. */
const TIME_CHARS = 9;
const KEPT_CHARS = 3;
const TASKS = 10;

export interface Grown {
  readonly conversations: number;
  readonly tasks: number;
}

/** Fills the file with so many conversations of ten ended tasks each, with `chars` of text in each task. */
export async function growStore(
  path: string,
  conversations: number,
  chars: number,
): Promise<Grown> {
  await talkOnce(path, chars);
  const db = new DatabaseSync(path);
  db.exec(
    'pragma synchronous = off; pragma journal_mode = off; pragma locking_mode = exclusive; pragma cache_size = -200000',
  );
  const first = db.prepare('select id from conversation').get();
  const time = String(first?.['id']).slice('conv_'.length, 'conv_'.length + TIME_CHARS);
  db.exec('begin');
  for (const table of COPIED) copy(db, { table, time, copies: conversations - 1 });
  db.exec('commit');
  db.exec('pragma journal_mode = wal');
  db.close();
  return { conversations, tasks: conversations * TASKS };
}

async function talkOnce(path: string, chars: number): Promise<void> {
  const place = new Installation();
  const { clock, ids } = place;
  const store = openSqlite({ path, clock, ids, exclusive: false });
  const traits = { exclusive: true, description: 'the only one' };
  place.model.answer = () => says('what it said '.repeat(chars / 13));
  const engine = await place.host({
    store: {
      traits,
      commit: (unit) => store.commit(unit),
      query: (read, args) => store.query(read, args),
      close: () => store.close(),
    },
  });
  const conversationId = await talkTo(engine);
  for (let count = 0; count < TASKS; count += 1) {
    await say(engine, conversationId, `order ${count}`);
    await restOf(engine);
  }
  await engine.stop(0);
  await store.close();
}

/** Copies every row as often, with the copy's number in the place of the time in all that holds an id. */
function copy(
  db: DatabaseSync,
  {
    table,
    time,
    copies,
  }: { readonly table: string; readonly time: string; readonly copies: number },
): void {
  const columns = db.prepare(`select name, type from pragma_table_info('${table}')`).all();
  const values = columns.map(({ name, type }) => {
    if (name === 'address') return `'copy ' || copies.number`;
    if (type !== 'TEXT' || UNNAMED.has(String(name))) return `"${String(name)}"`;
    return `replace("${String(name)}", '${time}', copies.time)`;
  });
  const names = columns.map(({ name }) => `"${String(name)}"`).join(', ');
  // Of the events only what made a task and ended it: they are most of the rows, and no list reads them.
  const kept = table === 'event' ? `where type in ('task.created', 'task.moved')` : '';
  db.exec(`
    with recursive numbers (number) as (
      select 1 union all select number + 1 from numbers where number < ${copies}),
    copies as materialized (
      select number, '${time.slice(0, KEPT_CHARS)}' || printf('%06d', number) as time from numbers)
    insert into "${table}" (${names})
    select ${values.join(', ')} from copies cross join "${table}" ${kept}
    order by copies.number`);
}
