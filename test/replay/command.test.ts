// The command as a person types it, over a store of a stopped host and over an export of it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Place } from '../e2e/process.ts';

describe('the command replay', () => {
  const place = new Place();
  const archive = join(place.folder, 'out.jsonl');
  let id = '';
  before(async () => {
    const host = await place.start();
    const client = host.client();
    const { conversationId } = await client.createRun({ input: 'say hello', wait: 30 });
    id = conversationId;
    await host.stop();
    const ended = await place.run(['export', archive]);
    assert.equal(ended.code, 0, ended.stderr);
  });
  after(() => place.clear());

  const replay = (...more: readonly string[]): ReturnType<Place['run']> =>
    place.run(['replay', '--conversation', id, ...more]);
  const digest = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(join(place.data, name)))
      .digest('hex');

  test('says that this version decides as recorded, and leaves the store as it is', async () => {
    const untouched = digest('sekisho.db');
    const { code, stdout, stderr } = await replay();
    assert.equal(code, 0, stderr + stdout);
    assert.match(stdout, /^1\. run\.accept {2}.*\n {3} {4}1 conversation\.created/);
    assert.match(stdout, /model\.finished: finished, "/);
    assert.match(stdout, /This version decides as recorded: \d+ decisions, \d+ events\.\n$/);
    assert.equal(digest('sekisho.db'), untouched);
  });

  test('says the same of an export, and as lines of JSON', async () => {
    const [store, file] = [await replay('--json'), await replay('--json', '--archive', archive)];
    assert.equal(file.code, 0, file.stderr);
    assert.equal(file.stdout, store.stdout);
    const lines = store.stdout.trim().split('\n');
    const kinds = lines.map((line) => (JSON.parse(line) as { readonly kind: string }).kind);
    assert.deepEqual(new Set(kinds.slice(0, -1)), new Set(['decision']));
    assert.equal(kinds.at(-1), 'same');
  });

  test('shows both sides of a decision that is another one, with exit code 1', async () => {
    const other = changed((line) => line.replace('"toState":"completed"', '"toState":"blocked"'));
    const { code, stdout } = await replay('--archive', other);
    assert.equal(code, 1, stdout);
    assert.match(stdout, /This version decides differently at event \d+, after \d+ decisions/);
    assert.match(stdout, /Recorded:\n[^]* → +\d+ task\.moved: active → blocked/);
    assert.match(
      stdout,
      /This version \(turn\.end\):\n[^]* → +\d+ task\.moved: active → completed/,
    );
    assert.match(stdout, /to: recorded "blocked", now "completed"/);
  });

  test('says what is missing, with exit code 3', async () => {
    const other = changed((line) => (line.includes('"type":"turn.started"') ? '' : line));
    const { code, stdout } = await replay('--archive', other);
    assert.equal(code, 3, stdout);
    assert.match(stdout, /cannot be replayed from event \d+ on: it is missing in the records\./);
  });

  test('takes one conversation that is there, out of a file that is whole', async () => {
    const none = await place.run(['replay', '--conversation', 'conv_0000000000000000']);
    assert.equal(none.code, 4, none.stderr);
    const nothing = await place.run(['replay']);
    assert.equal(nothing.code, 2, nothing.stderr);
    const cut = join(place.folder, 'cut.jsonl');
    writeFileSync(cut, readFileSync(archive, 'utf8').slice(0, -200));
    assert.equal((await replay('--archive', cut)).code, 2);
    const missing = await replay('--archive', join(place.folder, 'none.jsonl'));
    assert.match(missing.stderr, /none\.jsonl: it does not exist\./);
  });

  /** A copy of the export with changed lines, whole by its last one. */
  function changed(change: (line: string) => string): string {
    const lines = readFileSync(archive, 'utf8').trimEnd().split('\n').slice(0, -1).map(change);
    const kept = lines.filter((line) => line !== '');
    const text = kept.map((line) => `${line}\n`).join('');
    const sha256 = createHash('sha256').update(text).digest('hex');
    const path = join(place.folder, 'changed.jsonl');
    const end = { kind: 'end', records: kept.length - 1, sha256 };
    writeFileSync(path, `${text}${JSON.stringify(end)}\n`);
    return path;
  }
});
