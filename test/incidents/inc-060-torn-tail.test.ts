import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { builtInTools } from '../../src/adapters/tools/built-in.ts';
import { createSystemClock } from '../../src/adapters/clock/system.ts';
import { writeHostFile, type HostFile } from '../../src/compose/host-file.ts';
import { dump } from '../../src/testing/store-dump.ts';
import { restOf, say, talkTo } from '../support/acts.ts';
import { Installation, OPTIONS } from '../support/host.ts';
import { createEngine } from '../../src/engine/create.ts';

const CHILD = join(import.meta.dirname, 'acking-child.ts');
const MESSAGES = 6;
/** Of the end that is cut: the last commits of the log, at places that no page or frame begins at. */
const TAIL_BYTES = 80_000;
const STEP_BYTES = 659;

interface Killed {
  readonly folder: string;
  /** Each acknowledged message, with how long the log was when it was acknowledged. */
  readonly acked: readonly { readonly id: string; readonly logBytes: number }[];
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-inc-060-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A store whose host was killed while it answered messages. */
async function killedStore(folder: string): Promise<Killed> {
  const file = join(folder, 'sekisho.db');
  const child = spawn(process.execPath, [CHILD, file, String(MESSAGES)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const acked: { id: string; logBytes: number }[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const [, id = '', bytes] = /^ACK (\S+) (\d+)$/.exec(line) ?? [];
    if (id !== '') acked.push({ id, logBytes: Number(bytes) });
    if (acked.length === MESSAGES) break;
  }
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  return { folder, acked };
}

/** The killed store as it would be with its log cut to so many bytes. */
function cutCopy({ folder }: Killed, to: string, bytes: number): string {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to);
  const file = join(to, 'sekisho.db');
  copyFileSync(join(folder, 'sekisho.db'), file);
  copyFileSync(join(folder, 'sekisho.db-wal'), `${file}-wal`);
  truncateSync(`${file}-wal`, bytes);
  return file;
}

test('INC-060 a log torn anywhere in its last commits opens with all that was acknowledged before, and writes go on', async (t) => {
  const root = folderOf(t);
  mkdirSync(join(root, 'killed'));
  const killed = await killedStore(join(root, 'killed'));
  const whole = statSync(join(killed.folder, 'sekisho.db-wal')).size;
  const first = Math.max(0, whole - TAIL_BYTES);
  let images = 0;
  for (let bytes = first; bytes <= whole; bytes += STEP_BYTES) {
    const where = `${bytes} of ${whole} bytes`;
    const file = cutCopy(killed, join(root, 'image'), bytes);
    const place = new Installation();
    const store = openSqlite({ path: file, clock: place.clock, ids: place.ids });
    const before = new Set((await dump(store))['message']?.map((row) => row['id']));
    const owed = killed.acked.filter(({ logBytes }) => logBytes <= bytes);
    assert.deepEqual(
      owed.filter(({ id }) => !before.has(id)),
      [],
      where,
    );
    if (images % 12 === 0) await writeOn(place, store, { file, where, known: before.size });
    else await store.close();
    images += 1;
  }
  assert.ok(images > 100, `${images} images`);
  const kept = killed.acked.filter(({ logBytes }) => logBytes <= first).length;
  assert.ok(kept < MESSAGES, 'the cut end holds acknowledged messages');
});

/** A message is accepted and answered on the torn store, and all of it is there at the next opening. */
async function writeOn(
  place: Installation,
  store: ReturnType<typeof openSqlite>,
  { file, where, known }: { readonly file: string; readonly where: string; readonly known: number },
): Promise<void> {
  const engine = createEngine(place.parts({ store, options: { ...OPTIONS, pid: 2 } }));
  await engine.start();
  await restOf(engine);
  const id = await say(engine, await talkTo(engine), 'after the cut');
  await restOf(engine);
  await engine.stop(0);
  await store.close();
  const db = new DatabaseSync(file);
  assert.equal(db.prepare('pragma integrity_check').get()?.['integrity_check'], 'ok', where);
  const row = db.prepare('select state from message where id = ?').get(id);
  assert.equal(row?.['state'], 'done', where);
  assert.equal(db.prepare('select count(*) as n from message').get()?.['n'], known + 1, where);
  db.close();
}

test('INC-060 a file that the host or a tool writes stands for the old content or the new, never for a part', async (t) => {
  const folder = folderOf(t);
  const replaced: HostFile = { url: 'http://127.0.0.1:1', pid: 1, startedAt: 'x'.repeat(5_000) };
  writeHostFile(folder, replaced);
  const stand = watchFile(join(folder, 'host.json'));
  writeHostFile(folder, { ...replaced, startedAt: 'short' });
  assert.match(stand.read(), /x{5000}/, 'whoever had the old file open has all of it');
  assert.match(readFileSync(join(folder, 'host.json'), 'utf8'), /"short"/);
  assert.deepEqual(readdirSync(folder), ['host.json']);

  const workspace = join(folder, 'workspace');
  mkdirSync(workspace);
  const tools = builtInTools({
    workspace,
    clock: createSystemClock(),
    environment: {},
    sandbox: { unavailable: 'not needed' },
    secrets: [],
    hidden: [],
  });
  const write = async (content: string) => {
    const args = JSON.stringify({ path: 'notes.txt', content });
    const signal = new AbortController().signal;
    const outcome = await tools.run({ name: 'write', args, stepId: 'evt_1' }, signal);
    assert.equal(outcome.kind, 'result', outcome.text);
  };
  await write('old '.repeat(5_000));
  const notes = watchFile(join(workspace, 'notes.txt'));
  await write('new');
  assert.equal(notes.read(), 'old '.repeat(5_000));
  assert.equal(readFileSync(join(workspace, 'notes.txt'), 'utf8'), 'new');
  assert.deepEqual(readdirSync(workspace), ['notes.txt']);
});

/** Keeps a file open: what is written in place would show through the old handle. */
function watchFile(path: string): { readonly read: () => string } {
  const handle = openSync(path, 'r');
  return {
    read: () => {
      const text = readFileSync(handle, 'utf8');
      closeSync(handle);
      return text;
    },
  };
}
