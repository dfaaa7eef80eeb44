// The two commands as a person types them, on running hosts and on stopped ones.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Place, type RunningHost } from '../e2e/process.ts';
import { everything, fileOf, linesIn, recordsIn } from '../support/archive.ts';

const SECRET = 'a-secret-of-the-host-0123456789';

describe('the commands export and import', () => {
  const place = new Place();
  const file = join(place.folder, 'out.jsonl');
  let host: RunningHost;
  before(async () => {
    // What is sent before a secret is known is recorded as it was said.
    host = await place.start();
    await host.client().createRun({ input: `use ${SECRET} for it`, wait: 30 });
    await host.stop();
    host = await place.start({ env: { SERVICE_TOKEN: SECRET } });
  });
  after(() => place.clear());

  test('a running host exports through its API, for its owner alone and without its secrets', async () => {
    const ended = await place.run(['export', 'out.jsonl']);
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(ended.stdout, '');
    assert.match(ended.stderr, /Exported to .*out\.jsonl\.\n$/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const text = readFileSync(file, 'utf8');
    assert.ok(!text.includes(SECRET));
    assert.ok(!text.includes(place.read('api-key').trim()));
    assert.match(text, /use \[redacted\] for it/);
    const kinds = new Set(recordsIn(text).map(({ kind }) => kind));
    for (const kind of ['conversation', 'session', 'task', 'run', 'turn', 'step', 'event']) {
      assert.ok(kinds.has(kind as 'task'), kind);
    }
    assert.deepEqual(
      readdirSync(place.folder).filter((name) => name.startsWith('.')),
      [],
    );
  });

  test('a file that is there is replaced only with --force', async () => {
    writeFileSync(file, 'mine');
    const refused = await place.run(['export', 'out.jsonl']);
    assert.equal(refused.code, 3);
    assert.match(refused.stderr, /is there already\. .*--force/);
    assert.equal(readFileSync(file, 'utf8'), 'mine');
    assert.equal((await place.run(['export', 'out.jsonl', '--force'])).code, 0);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(recordsIn(readFileSync(file, 'utf8')).length > 5);
    const nowhere = await place.run(['export', 'no/such/folder.jsonl']);
    assert.equal(nowhere.code, 2);
    assert.match(nowhere.stderr, /cannot be written \(ENOENT\)/);
  });

  test('an import into an installation that runs is refused and names its process', async () => {
    const ended = await place.run(['import', 'out.jsonl']);
    assert.equal(ended.code, 6);
    assert.match(ended.stderr, new RegExp(`store_in_use: .*process ${host.child.process.pid},`));
    assert.equal(ended.stdout, '');
  });

  test('a stopped host exports the same, to stdout', async () => {
    const running = await place.run(['export']);
    await host.stop();
    const stopped = await place.run(['export'], { env: { SERVICE_TOKEN: SECRET } });
    assert.equal(stopped.code, 0, stopped.stderr);
    assert.equal(stopped.stderr, '');
    assert.ok(!stopped.stdout.includes(SECRET));
    assert.deepEqual(recordsIn(stopped.stdout), recordsIn(running.stdout));
  });

  test('an import says what came in, and that nothing of it runs yet', async () => {
    const ended = await place.run(['import', 'out.jsonl', '--data', 'fresh']);
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(
      ended.stdout,
      /^Imported \d+ records of an export of .*: 1 conversation, 1 task, /,
    );
    assert.match(ended.stdout, /Nothing of it runs until the next start has judged it/);
    assert.match(ended.stdout, /see what is held with: sekisho tasks --held\n/);
    const tasks = await place.run(['tasks', '--json', '--data', 'fresh']);
    assert.equal((JSON.parse(tasks.stdout) as { items: unknown[] }).items.length, 1);
    const again = await place.run(['import', 'out.jsonl', '--data', 'fresh']);
    assert.equal(again.code, 3);
    assert.match(again.stderr, /^out\.jsonl, line 2: .* already\. Nothing was imported\.\n$/);
  });

  test('M-15 an import says which conversations came in behind their fence', async () => {
    writeFileSync(join(place.folder, 'long.jsonl'), fileOf(everything()));
    const ended = await place.run(['import', 'long.jsonl', '--data', 'long']);
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(
      ended.stdout,
      /^1 conversation came in behind maintenance .*: sekisho maintenance --state open$/m,
    );
    const list = await place.run(['maintenance', '--state', 'open', '--json', '--data', 'long']);
    const { items } = JSON.parse(list.stdout) as { items: { state: string; failures: number }[] };
    assert.deepEqual(
      items.map(({ state, failures }) => [state, failures]),
      [['waiting', 2]],
    );
  });

  test('a file that is wrong is refused with its line, and one that is none as a slip', async () => {
    const lines = linesIn(fileOf(everything()));
    writeFileSync(join(place.folder, 'cut.jsonl'), `${lines.slice(0, 9).join('\n')}\n`);
    writeFileSync(join(place.folder, 'none.jsonl'), 'hello\n');
    for (const [name, code, said] of [
      ['cut.jsonl', 3, /^cut\.jsonl, line 10: .* was cut\. Nothing was imported\.\n$/],
      ['none.jsonl', 2, /^none\.jsonl, line 1: This is no export: .* Nothing was imported\.\n$/],
      ['missing.jsonl', 2, /^missing\.jsonl does not exist\. Nothing was imported\.\n$/],
      ['.', 2, /is no file\. Nothing was imported\.\n$/],
    ] as const) {
      const ended = await place.run(['import', name, '--data', 'nothing']);
      assert.equal(ended.code, code, ended.stderr);
      assert.match(ended.stderr, said);
      assert.equal(ended.stdout, '');
    }
    assert.ok(!existsSync(join(place.folder, 'nothing')), 'not even a store was made');
  });
});

test('an export of nothing says that nothing is recorded', async () => {
  const place = new Place();
  try {
    const ended = await place.run(['export']);
    assert.equal(ended.code, 5);
    assert.match(ended.stderr, /nothing is recorded there yet/);
    assert.equal(ended.stdout, '');
  } finally {
    await place.clear();
  }
});
