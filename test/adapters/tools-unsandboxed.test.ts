// A command on a machine without a sandbox: weaker walls, the same bounds.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { appears, bench, processesWith, uniqueSleep, type Bench } from './tools-workbench.ts';

const HOST = join(import.meta.dirname, 'tools-host.ts');
const OTHER = 54_322;
const linux = { skip: process.platform === 'linux' ? false : 'the table of processes is Linux' };
const closed: string | false = isOpenTo(OTHER) ? false : 'this checkout is closed to other users';

function open(): Promise<Bench> {
  return bench({
    sandbox: { unavailable: 'bubblewrap is not installed' },
    command: { approval: 'never' },
  });
}

describe('without a sandbox, a command', { skip: process.platform === 'win32' }, () => {
  const ends: readonly [command: string, text: string][] = [
    ['echo out; echo err >&2; echo out', 'out\nerr\nout\n'],
    ['true', '(no output)'],
    ['echo no; exit 3', '[exit code 3]\nno\n'],
    ['kill -9 $$', '[exit code 137]'],
    ['exec /no/such/program', '[exit code 127]'],
  ];
  for (const [command, text] of ends) {
    test(`tells how it ended: ${command}`, async () => {
      await using at = await open();
      const outcome = await at.call('command', { command });
      assert.equal(outcome.kind, 'result');
      assert.ok(outcome.text.startsWith(text), outcome.text);
    });
  }

  test('X-8: finds nothing of the host in its environment', async () => {
    await using at = await open();
    process.env['SEKISHO_API_KEY'] = 'canary-0123456789';
    try {
      const { text } = await at.call('command', { command: 'env | cut -d= -f1 | sort | xargs' });
      assert.equal(text.trim(), 'LANG PATH PWD');
    } finally {
      delete process.env['SEKISHO_API_KEY'];
    }
  });

  test('that writes without end is ended at the bound of its output', async () => {
    await using at = await open();
    const mark = uniqueSleep();
    const outcome = await at.call('command', { command: `yes ${mark}` });
    assert.match(outcome.text, /^\[ended at 50000000 bytes of output/);
    assert.equal(processesWith(mark), 0);
  });

  test('over its time ends with everything it started', linux, async () => {
    await using at = await open();
    const mark = uniqueSleep();
    const command = `echo begun; (sleep ${mark} &); setsid sleep ${mark} & sleep ${mark}`;
    const outcome = await at.call('command', { command, timeoutSeconds: 1 });
    assert.equal(outcome.kind === 'error' && outcome.code, 'timeout');
    assert.match(outcome.text, /^\[ended after 1 s, with everything it started\]\nbegun\n/);
    assert.equal(processesWith(mark), 0);
  });
});

describe('without a sandbox, what a command started has ended', linux, () => {
  const stubborn: readonly [what: string, command: (mark: string) => string][] = [
    [
      'one that ignores SIGTERM',
      (mark) => `trap '' TERM HUP INT; touch ready; sleep ${mark}; sleep ${mark}`,
    ],
    ['a grandchild in the background', (mark) => `(sleep ${mark} & touch ready; wait)`],
    [
      'one in its own session, without its outputs',
      (mark) =>
        `setsid sh -c "trap '' TERM; exec >/dev/null 2>&1 </dev/null; sleep ${mark} & touch ready; wait" & sleep ${mark}`,
    ],
    ['one that stops itself', (mark) => `sleep ${mark} & touch ready; kill -STOP $$`],
  ];
  for (const [what, command] of stubborn) {
    test(`W-1: ${what}, within 10 s of the stop`, { timeout: 30_000 }, async () => {
      await using at = await open();
      const mark = uniqueSleep();
      const stop = new AbortController();
      const running = at.call('command', { command: command(mark) }, stop.signal);
      await appears(join(at.workspace, 'ready'));
      const began = performance.now();
      stop.abort();
      const outcome = await running;
      assert.equal(outcome.kind === 'error' && outcome.code, 'ended');
      assert.equal(processesWith(mark), 0);
      assert.ok(performance.now() - began < LIMITS.stopToolsMs);
    });
  }

  test('W-1: one that cleans up is given the time to', async () => {
    await using at = await open();
    const stop = new AbortController();
    const command = `trap 'echo cleaned > cleaned; exit' TERM; touch ready; while true; do sleep 0.05; done`;
    const running = at.call('command', { command }, stop.signal);
    await appears(join(at.workspace, 'ready'));
    stop.abort();
    await running;
    assert.equal(await readFile(join(at.workspace, 'cleaned'), 'utf8'), 'cleaned\n');
  });

  for (const [what, daemon] of [
    ['in its group, holding its output', (mark: string) => `sleep ${mark} &`],
    ['in its group', (mark: string) => `sleep ${mark} >/dev/null 2>&1 &`],
    [
      'in a session of its own',
      (mark: string) => `setsid sleep ${mark} >/dev/null 2>&1 & sleep 0.5;`,
    ],
  ] as const) {
    test(`when the command has ended and left one behind ${what}`, async () => {
      await using at = await open();
      const mark = uniqueSleep();
      const outcome = await at.call('command', { command: `${daemon(mark)} echo left` });
      assert.deepEqual(outcome, { kind: 'result', text: 'left\n' });
      assert.equal(processesWith(mark), 0);
    });
  }
});

describe('X-8: without a sandbox, a command cannot fill the machine with processes', linux, () => {
  const forks = (mark: string): string =>
    `i=0; while [ $i -lt 1500 ]; do sleep ${mark} & i=$((i+1)); done; echo all`;

  test('of this host', { timeout: 60_000 }, async () => {
    await using at = await open();
    const mark = uniqueSleep();
    const { text } = await at.call('command', { command: forks(mark) });
    assert.ok(!text.includes('all'), text);
    assert.equal(processesWith(mark), 0);
  });

  test('of a host that is not root', { skip: closed, timeout: 60_000 }, async () => {
    await using at = await open();
    for (const folder of [at.outer, at.workspace]) await chown(folder, OTHER, OTHER);
    const mark = uniqueSleep();
    const args = [HOST, at.workspace, forks(mark), 'unsandboxed'];
    const host = spawnSync(process.execPath, args, { uid: OTHER, gid: OTHER, encoding: 'utf8' });
    const { text } = JSON.parse(host.stdout) as { text: string };
    assert.ok(!text.includes('all'), text);
    assert.equal(processesWith(mark), 0);
  });

  test('and works as whoever owns the workspace', { skip: closed }, async () => {
    await using at = await open();
    for (const folder of [at.outer, at.workspace]) await chown(folder, OTHER, OTHER);
    await mkdir(join(at.outer, 'roots'), { mode: 0o700 });
    await writeFile(join(at.outer, 'roots/secret'), 'secret');
    const command = `id -u; cat ../roots/secret; touch ${at.outer}/roots/x; true`;
    const { text } = await at.call('command', { command });
    assert.ok(text.startsWith(`${OTHER}\n`) && !text.includes('secret\n'), text);
    assert.ok(!existsSync(join(at.outer, 'roots/x')));
  });
});

function isOpenTo(uid: number): boolean {
  if (process.getuid?.() !== 0) return false;
  const look = `require('node:fs').accessSync(process.argv[1])`;
  return spawnSync(process.execPath, ['-e', look, HOST], { uid, gid: uid, cwd: '/' }).status === 0;
}
