import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { findSandbox } from '../../src/adapters/tools/sandbox.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { ToolOutcome } from '../../src/ports/tools.ts';
import {
  appears,
  bench,
  noSandbox,
  processesWith,
  sandbox,
  uniqueSleep,
  type Bench,
} from './tools-workbench.ts';

const HOST = join(import.meta.dirname, 'tools-host.ts');
const IS_ROOT = process.getuid?.() === 0;
const notRoot: string | false = IS_ROOT ? noSandbox : 'only root can become somebody else';
const OTHER = 54_322;
const closedToOthers: string | false =
  notRoot === false && !isReadableBy(OTHER) ? 'this checkout is closed to other users' : notRoot;

describe(title('a command'), { skip: noSandbox }, () => {
  test('runs in the workspace and gives both outputs in their order', async () => {
    await using at = await bench();
    await at.call('write', { path: 'sub/a.txt', content: 'hi' });
    const outcome = await at.call('command', {
      command: 'cat a.txt; echo " err" >&2; echo out; pwd; echo made > b.txt',
      folder: 'sub',
    });
    const folder = join(at.workspace, 'sub');
    assert.deepEqual(outcome, { kind: 'result', text: `hi err\nout\n${folder}\n` });
    assert.equal(await readFile(join(folder, 'b.txt'), 'utf8'), 'made\n');
  });

  const ends: readonly [command: string, text: string][] = [
    ['true', '(no output)'],
    ['exit 3', '[exit code 3]'],
    ['echo no; exit 1', '[exit code 1]\nno\n'],
    ['kill -9 $$', '[exit code 137]'],
    ['exec /no/such/program', '[exit code 127]'],
  ];
  for (const [command, text] of ends) {
    test(`tells how it ended: ${command}`, async () => {
      await using at = await bench();
      const outcome = await at.call('command', { command });
      assert.equal(outcome.kind, 'result');
      assert.ok(outcome.text.startsWith(text), outcome.text);
    });
  }

  const folders: readonly [folder: string, code: string][] = [
    ['..', 'refused'],
    ['/etc', 'refused'],
    ['out', 'refused'],
    ['file', 'refused'],
    ['gone', 'not_found'],
  ];
  for (const [folder, code] of folders) {
    test(`is not started in ${folder}`, async () => {
      await using at = await bench();
      await symlink(at.outer, join(at.workspace, 'out'));
      await writeFile(join(at.workspace, 'file'), '');
      const outcome = await at.call('command', { command: 'touch started', folder });
      assert.equal(outcome.kind === 'error' && outcome.code, code);
      assert.ok(!existsSync(join(at.workspace, 'started')));
    });
  }

  test('E-3: output over the cap is cut in its middle, and the file that is named has all of it', async () => {
    await using at = await bench();
    const { kind, text } = await at.call('command', { command: 'seq -f "line %.0f ä" 1 50000' });
    assert.equal(kind, 'result');
    assert.ok(Buffer.byteLength(text) <= LIMITS.toolOutputBytesMax);
    assert.ok(text.startsWith('line 1 ä\n') && text.endsWith('line 50000 ä\n'));
    assert.ok(text.isWellFormed() && !text.includes('\ufffd'));
    const file = /\n\[cut here: \d+ bytes in all; the whole is in (\S+)\]\n/.exec(text)?.[1] ?? '';
    const whole = await readFile(join(at.workspace, file), 'utf8');
    assert.equal(whole, Array.from({ length: 50_000 }, (_, i) => `line ${i + 1} ä\n`).join(''));
    const page = await at.call('read', { path: file, offset: 25_000, limit: 1 });
    assert.ok(page.text.startsWith('line 25000 ä'));
  });

  test('E-3: a file of results that leads out is not written, and that is said', async () => {
    await using at = await bench();
    mkdirSync(join(at.outer, 'trap'));
    await symlink(join(at.outer, 'trap'), join(at.workspace, '.sekisho'));
    const { text } = await at.call('command', { command: 'seq 1 50000' });
    assert.match(text, /the whole could not be kept: .*outside the workspace/);
    assert.deepEqual(readdirSync(join(at.outer, 'trap')), []);
  });

  test(
    'that writes without end is ended at the bound of its output',
    { timeout: 60_000 },
    async () => {
      await using at = await bench();
      const mark = uniqueSleep();
      const outcome = await at.call('command', { command: `yes ${mark}` });
      assert.equal(outcome.kind === 'error' && outcome.code, 'failed');
      assert.match(outcome.text, /^\[ended at 50000000 bytes of output/);
      const kept = statSync(join(at.workspace, '.sekisho/results/step_1.txt')).size;
      assert.equal(kept, 50_000_000);
      assert.equal(processesWith(mark), 0);
    },
  );

  test('E-5: over its time ends with everything it started, and its output is kept', async () => {
    await using at = await bench();
    const mark = uniqueSleep();
    const command = `echo begun; sleep ${mark} & sleep ${mark}`;
    const outcome = await at.call('command', { command, timeoutSeconds: 1 });
    assert.equal(outcome.kind === 'error' && outcome.code, 'timeout');
    assert.match(outcome.text, /^\[ended after 1 s, with everything it started\]\nbegun\n/);
    assert.equal(processesWith(mark), 0);
  });
});

describe(title('what a command started has ended'), { skip: noSandbox }, () => {
  const stubborn: readonly [what: string, command: (mark: string) => string][] = [
    ['one that ends when asked', (mark) => `touch ready; sleep ${mark}`],
    [
      'one that ignores SIGTERM',
      (mark) => `trap '' TERM HUP INT; touch ready; sleep ${mark}; sleep ${mark}`,
    ],
    [
      'a grandchild in the background',
      (mark) => `(sleep ${mark} & sleep ${mark} & touch ready; wait)`,
    ],
    [
      'a daemon in its own session, without its outputs',
      (mark) =>
        `setsid sh -c "trap '' TERM; exec >/dev/null 2>&1 </dev/null; sleep ${mark} & sleep ${mark}" & touch ready; sleep ${mark}`,
    ],
    ['one that stops itself', (mark) => `sleep ${mark} & touch ready; kill -STOP $$`],
  ];
  for (const [what, command] of stubborn) {
    test(`W-1: ${what}, within 10 s of the stop`, { timeout: 30_000 }, async () => {
      await using at = await bench();
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
    await using at = await bench();
    const stop = new AbortController();
    const command = `trap 'echo cleaned > cleaned; exit' TERM; touch ready; while true; do sleep 0.05; done`;
    const running = at.call('command', { command }, stop.signal);
    await appears(join(at.workspace, 'ready'));
    stop.abort();
    await running;
    assert.equal(await readFile(join(at.workspace, 'cleaned'), 'utf8'), 'cleaned\n');
  });

  test('W-1: one that was stopped as it was started', async () => {
    await using at = await bench();
    const mark = uniqueSleep();
    const stop = new AbortController();
    const running = at.call('command', { command: `sleep ${mark}` }, stop.signal);
    setImmediate(() => stop.abort());
    const outcome = await running;
    assert.equal(outcome.kind === 'error' && outcome.code, 'ended');
    assert.equal(processesWith(mark), 0);
  });

  test('when the command itself has ended and left a daemon behind', async () => {
    await using at = await bench();
    const mark = uniqueSleep();
    const daemon = `setsid sh -c "exec >/dev/null 2>&1 </dev/null; touch ready; sleep ${mark}" &`;
    const command = `${daemon} while [ ! -e ready ]; do sleep 0.01; done; echo left`;
    assert.deepEqual(await at.call('command', { command }), { kind: 'result', text: 'left\n' });
    assert.equal(processesWith(mark), 0);
  });

  test('when the host was killed', { timeout: 30_000 }, async () => {
    await using at = await bench();
    const mark = uniqueSleep();
    const command = `sleep ${mark} & touch ready; sleep ${mark}`;
    const host = spawn(process.execPath, [HOST, at.workspace, command], { stdio: 'ignore' });
    await appears(join(at.workspace, 'ready'));
    assert.ok(processesWith(mark) > 0);
    host.kill('SIGKILL');
    await once(host, 'exit');
    // Nobody is left who could say when; the timeout of the test is the bound.
    while (processesWith(mark) > 0) await new Promise(setImmediate);
    // The next start clears away the groups that counted its processes.
    while (groupsOf(host.pid).length > 0) await findSandbox();
  });
});

describe(title('X-8: a command'), { skip: noSandbox }, () => {
  test('finds no secret of the host in its environment, its files or its processes', async () => {
    const canary = `canary-${process.pid}-0123456789`;
    process.env['SEKISHO_API_KEY'] = canary;
    try {
      await using at = await bench();
      mkdirSync(join(at.outer, 'data'));
      await writeFile(join(at.outer, 'data/api-key'), canary);
      const command = `env; ls -la ${at.outer} ; cat ${at.outer}/data/api-key; cat /proc/[0-9]*/environ | tr '\\0' '\\n'; ls /root /home /var /etc/shadow /etc/ssl/private /proc/1/root/root`;
      const { text } = await at.call('command', { command });
      assert.ok(text.includes('PATH=') && !text.includes(canary), text);
      assert.match(text, /api-key: No such file/);
      for (const place of ['/root', '/home', '/var', '/etc/shadow', '/etc/ssl/private']) {
        assert.ok(text.includes(`'${place}': No such file`), `${place}: ${text}`);
      }
    } finally {
      delete process.env['SEKISHO_API_KEY'];
    }
  });

  test('has the environment that was given and nothing else', async () => {
    await using at = await bench();
    const { text } = await at.call('command', {
      command: 'env | cut -d= -f1 | sort | tr "\\n" " "',
    });
    assert.equal(text.trim(), 'HOME LANG PATH PWD TMPDIR');
  });

  test('finds a hidden folder empty, though the workspace contains it', async () => {
    await using outer = await bench();
    const state = join(outer.workspace, 'state');
    mkdirSync(state);
    writeFileSync(join(state, 'host.db'), 'state');
    await using at = await bench({ hidden: [state] });
    const inside = await at.call('command', { command: `ls -A ${state}` });
    assert.ok(!inside.text.includes('host.db'));
    const tools = await import('../../src/adapters/tools/built-in.ts');
    const { clock, ENVIRONMENT } = await import('./tools-workbench.ts');
    const own = tools.builtInTools({
      workspace: outer.workspace,
      clock,
      environment: ENVIRONMENT,
      sandbox,
      hidden: [state],
    });
    const call = { name: 'command', args: '{"command":"ls -A state | wc -l"}', stepId: 's' };
    assert.equal((await own.run(call, new AbortController().signal)).text, '0\n');
  });

  test('has no rights beyond the workspace and no network', async () => {
    await using at = await bench();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const command = `grep CapEff /proc/self/status; for f in /usr/x /x /etc/x ${at.outer}/x; do echo no > $f; done; bash -c 'echo > /dev/tcp/127.0.0.1/${port}' || echo unreachable; unshare -U true || echo single`;
    const { text } = await at.call('command', { command });
    server.close();
    assert.match(text, /CapEff:\s+0000000000000000/);
    assert.match(text, /unreachable/);
    for (const file of ['/usr/x', '/x', '/etc/x', join(at.outer, 'x')]) {
      assert.ok(!existsSync(file), file);
    }
  });

  test('cannot fill the machine with processes', { timeout: 60_000 }, async () => {
    await using at = await bench();
    const mark = uniqueSleep();
    const command = `i=0; while [ $i -lt 1500 ]; do sleep ${mark} & i=$((i+1)); done; echo all`;
    const { text } = await at.call('command', { command });
    assert.ok(!text.includes('all'), text);
    assert.equal(processesWith(mark), 0);
  });

  test('X-6: shows no known secret, in its result or in the file of the whole', async () => {
    const secret = 'tok_0123456789abcdef';
    await using at = await bench({ secrets: [secret] });
    const half = `tok_0123; sleep 0.05; printf 456789abcdef`;
    const encoded = Buffer.from(`me:${secret}`).toString('base64');
    const command = `printf ${half}; echo; seq 1 20000; echo ${encoded}`;
    const { text } = await at.call('command', { command });
    const whole = await readFile(join(at.workspace, '.sekisho/results/step_1.txt'), 'utf8');
    for (const shown of [text, whole]) {
      assert.ok(shown.startsWith('[redacted]\n1\n'), shown.slice(0, 100));
      assert.ok(!shown.includes(encoded.slice(6, -4)));
    }
  });

  test('works on the files of whoever owns the workspace', { skip: notRoot }, async () => {
    await using at = await bench();
    const owner = 54_321;
    chownSync(at.outer, owner, owner);
    chownSync(at.workspace, owner, owner);
    await at.call('write', { path: 'new/a.txt', content: 'a' });
    const outcome = await at.call('command', {
      command: 'echo b >> new/a.txt; touch new/b; id -u',
    });
    assert.deepEqual(outcome, { kind: 'result', text: `${owner}\n` });
    for (const path of ['new', 'new/a.txt', 'new/b']) {
      assert.equal(statSync(join(at.workspace, path)).uid, owner, path);
    }
  });

  test(
    'runs for a host that is not root, within the same bounds',
    { skip: closedToOthers, timeout: 60_000 },
    async () => {
      await using at = await bench();
      const owner = OTHER;
      chownSync(at.outer, owner, owner);
      chownSync(at.workspace, owner, owner);
      const mark = uniqueSleep();
      const command = `touch made; i=0; while [ $i -lt 1500 ]; do sleep ${mark} & i=$((i+1)); done; echo all`;
      const outcome = await outcomeOfHost(at, command, owner);
      assert.ok(outcome.kind === 'result' && !outcome.text.includes('all'), outcome.text);
      assert.equal(statSync(join(at.workspace, 'made')).uid, owner);
      assert.equal(processesWith(mark), 0);
    },
  );
});

describe('where there is no sandbox', () => {
  test('the look for one says why there is none', async () => {
    await using at = await bench();
    const found = await findSandbox({ searchPath: at.workspace });
    assert.match('unavailable' in found ? found.unavailable : '', /not installed/);
  });

  test(
    'a bubblewrap that fails counts as none, with what it said',
    { skip: process.platform === 'win32' },
    async () => {
      await using at = await bench();
      const fake = join(at.workspace, 'bwrap');
      writeFileSync(fake, '#!/bin/sh\necho "bwrap: No permissions" >&2\nexit 1\n', { mode: 0o755 });
      const found = await findSandbox({ searchPath: dirname(fake) });
      assert.match(
        'unavailable' in found ? found.unavailable : '',
        /cannot .* here: bwrap: No perm/,
      );
    },
  );
});

function isReadableBy(uid: number): boolean {
  const look = `require('node:fs').accessSync(process.argv[1])`;
  return spawnSync(process.execPath, ['-e', look, HOST], { uid, gid: uid, cwd: '/' }).status === 0;
}

function title(what: string): string {
  return noSandbox === false ? what : `${what} (skipped: ${noSandbox})`;
}

function groupsOf(pid: number | undefined): string[] {
  const folder = '/sys/fs/cgroup/pids';
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => name.startsWith(`sekisho-${pid}-`));
}

async function outcomeOfHost(at: Bench, command: string, uid: number): Promise<ToolOutcome> {
  const host = spawn(process.execPath, [HOST, at.workspace, command], {
    stdio: ['ignore', 'pipe', 'inherit'],
    uid,
    gid: uid,
  });
  let text = '';
  host.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  await once(host, 'close');
  return JSON.parse(text);
}
