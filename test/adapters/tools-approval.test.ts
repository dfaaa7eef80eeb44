// What a person is asked about is what runs: every byte of it, or nothing.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { builtInTools } from '../../src/adapters/tools/built-in.ts';
import type { Shown } from '../../src/core/approval/record.ts';
import { bench, clock, ENVIRONMENT, type Bench } from './tools-workbench.ts';

const NO_SANDBOX = { unavailable: 'bubblewrap is not installed' };
const posix = { skip: process.platform === 'win32' };

function sha256(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function shownFor(at: Bench, name: string, args: unknown): Promise<Shown> {
  const { shown } = await at.examine(name, args);
  assert.ok(shown !== null);
  return shown;
}

function hashesOf(shown: Shown): Record<string, string | null> {
  return Object.fromEntries(shown.files.map(({ path, hash }) => [path, hash]));
}

describe('E-4: of a command is shown', posix, () => {
  test('every byte that would run: nothing is trimmed or cut', async () => {
    await using at = await bench({ sandbox: NO_SANDBOX });
    await mkdir(join(at.workspace, 'sub'));
    const command = `  echo '${'x'.repeat(100_000)}' \t\n\n# the end \u202e `;
    const shown = await shownFor(at, 'command', { command, folder: './sub/../sub' });
    assert.deepEqual(shown.argv, ['/bin/sh', '-c', command]);
    const folder = join(at.workspace, 'sub');
    assert.equal(shown.folder, folder);
    assert.deepEqual(shown.env, { ...ENVIRONMENT, PWD: folder });
  });

  test('exactly the environment that it gets, and its folder', async () => {
    for (const options of [{}, { sandbox: NO_SANDBOX }]) {
      await using at = await bench(options);
      const shown = await shownFor(at, 'command', { command: 'env; pwd' });
      const { text } = await at.approved('command', { command: 'env; pwd' }, shown);
      const lines = Object.entries(shown.env).map(([name, value]) => `${name}=${value}`);
      const [folder, ...said] = text.trim().split('\n').toReversed();
      assert.deepEqual(said.toSorted(), lines.toSorted());
      assert.equal(folder, shown.folder);
    }
  });

  test('the shell, each program and each file of the workspace that it names', async () => {
    await using at = await bench();
    const shell = realpathSync('/bin/sh');
    await mkdir(join(at.workspace, 'sub/deep'), { recursive: true });
    const texts = {
      'a.txt': 'a',
      'sub/b.txt': 'b',
      'sub/deep/run.sh': 'run',
      'with space.txt': 'space',
      config: 'config',
      'c.h': 'c',
    };
    for (const [path, text] of Object.entries(texts))
      await writeFile(join(at.workspace, path), text);
    const command = `cat a.txt "with space.txt" --config=config -Isub >new.txt; cd sub && sh -c 'cat b.txt | sort' @c.h; ./deep/run.sh; echo \${HOME}/none`;
    const files = hashesOf(await shownFor(at, 'command', { command }));
    for (const [path, text] of Object.entries(texts)) {
      assert.equal(files[join(at.workspace, path)], sha256(text), path);
    }
    assert.equal(files[join(at.workspace, 'new.txt')], null);
    for (const program of [shell, realpathSync('/bin/cat'), realpathSync('/usr/bin/sort')]) {
      assert.equal(files[program], sha256(await readFile(program)), program);
    }
  });

  test('neither a file outside the workspace nor what only a link leads to', async () => {
    await using at = await bench();
    await writeFile(join(at.outer, 'secret.txt'), 'secret');
    await symlink(join(at.outer, 'secret.txt'), join(at.workspace, 'link.txt'));
    const shown = await shownFor(at, 'command', {
      command: `cat ../secret.txt link.txt ${at.outer}/secret.txt /etc/hostname`,
    });
    assert.ok(!JSON.stringify(shown.files).includes('secret.txt'));
  });

  test('nothing when it names more than can be shown, and then it does not run', async () => {
    await using at = await bench({ sandbox: NO_SANDBOX });
    const names = Array.from({ length: 600 }, (_, index) => `f${index}.txt`).join(' ');
    const command = `touch ${names}`;
    assert.deepEqual(await at.examine('command', { command }), {
      needsApproval: false,
      approver: 'any',
      shown: null,
    });
    const outcome = await at.call('command', { command });
    assert.equal(outcome.kind === 'error' && outcome.code, 'refused');
    assert.match(outcome.text, /more files than/);
    assert.ok(!existsSync(join(at.workspace, 'f0.txt')));
  });

  test('nothing of one that holds a secret of the host, and then it does not run', async () => {
    const secret = 'tok_0123456789abcdef';
    await using at = await bench({ sandbox: NO_SANDBOX, secrets: [secret] });
    const command = `echo ${secret} > out`;
    assert.equal((await at.examine('command', { command })).shown, null);
    const outcome = await at.call('command', { command });
    assert.equal(outcome.kind === 'error' && outcome.code, 'refused');
    assert.ok(!existsSync(join(at.workspace, 'out')) && !outcome.text.includes(secret));
  });

  for (const [name, args] of [
    ['command', { command: '' }],
    ['command', { command: 'true', folder: '..' }],
    ['command', { command: 'a\ud800b' }],
    ['nothing', {}],
    ['edit', 'no json'],
  ] as const) {
    test(`nothing of a call that cannot run: ${name} ${JSON.stringify(args)}`, async () => {
      await using at = await bench({ sandbox: NO_SANDBOX });
      const examined = await at.examine(name, args);
      assert.deepEqual(examined, { needsApproval: false, approver: 'any', shown: null });
      assert.equal((await at.call(name, args)).kind, 'error');
    });
  }
});

describe('E-4: an approved command that is no longer what was shown does not run', posix, () => {
  const command = 'tool.sh a.txt; cat missing.txt; ./run.sh; echo ran > ran';
  const changes: readonly [what: string, says: RegExp, change: (at: Bench) => Promise<void>][] = [
    ['a file', /file \S+a\.txt/, (at) => writeFile(join(at.workspace, 'a.txt'), 'other')],
    ['a file that is gone', /file \S+a\.txt/, (at) => rm(join(at.workspace, 'a.txt'))],
    [
      'a file that was not there',
      /file \S+missing\.txt/,
      (at) => writeFile(join(at.workspace, 'missing.txt'), 'new'),
    ],
    [
      'a script of the workspace',
      /file \S+run\.sh/,
      (at) => writeFile(join(at.workspace, 'run.sh'), 'echo other'),
    ],
    [
      'a file that became a link to another',
      /file \S+/,
      async (at) => {
        await rename(join(at.workspace, 'a.txt'), join(at.workspace, 'b.txt'));
        await symlink('b.txt', join(at.workspace, 'a.txt'));
      },
    ],
    [
      'a program on the search path',
      /file \S+tool\.sh/,
      (at) => writeFile(join(at.outer, 'bin/tool.sh'), '#!/bin/sh\necho other'),
    ],
    [
      'a program that now comes first on the search path',
      /file \S+tool\.sh/,
      async (at) => {
        await writeFile(join(at.outer, 'first/tool.sh'), '#!/bin/sh\n');
        await chmod(join(at.outer, 'first/tool.sh'), 0o755);
      },
    ],
  ];
  for (const [what, says, change] of changes) {
    test(what, async () => {
      await using at = await prepared();
      const shown = await shownFor(at, 'command', { command });
      await change(at);
      const outcome = await at.approved('command', { command }, shown);
      assert.equal(outcome.kind === 'error' && outcome.code, 'changed', outcome.text);
      assert.match(outcome.text, says);
      assert.ok(!existsSync(join(at.workspace, 'ran')));
    });
  }

  const others: readonly [what: string, says: RegExp, shown: (shown: Shown) => Shown][] = [
    [
      'the command',
      /since: argv\./,
      (shown) => ({ ...shown, argv: ['/bin/sh', '-c', `${command} `] }),
    ],
    ['the shell', /since: argv\./, (shown) => ({ ...shown, argv: ['/bin/bash', '-c', command] })],
    ['the folder', /since: folder\./, (shown) => ({ ...shown, folder: `${shown.folder}/sub` })],
    [
      'a value of the environment',
      /since: env LANG\./,
      (shown) => ({ ...shown, env: { ...shown.env, LANG: 'C' } }),
    ],
    [
      'a name of the environment',
      /since: env LD_PRELOAD\./,
      (shown) => ({ ...shown, env: { ...shown.env, LD_PRELOAD: '' } }),
    ],
    [
      'the order of the files',
      /since: files\./,
      (shown) => ({ ...shown, files: shown.files.toReversed() }),
    ],
    ['a file less', /since: file \S+\./, (shown) => ({ ...shown, files: shown.files.slice(1) })],
  ];
  for (const [what, says, other] of others) {
    test(`when ${what} of the approval is another`, async () => {
      await using at = await prepared();
      const shown = await shownFor(at, 'command', { command });
      const outcome = await at.approved('command', { command }, other(shown));
      assert.equal(outcome.kind === 'error' && outcome.code, 'changed', outcome.text);
      assert.match(outcome.text, says);
      assert.ok(!existsSync(join(at.workspace, 'ran')));
    });
  }

  test('but runs when nothing changed, also for an approval that was kept as JSON', async () => {
    await using at = await prepared();
    const shown = await shownFor(at, 'command', { command });
    const kept = JSON.parse(JSON.stringify(shown)) as Shown;
    const outcome = await at.approved('command', { command }, kept);
    assert.equal(outcome.kind, 'result', outcome.text);
    assert.equal(await readFile(join(at.workspace, 'ran'), 'utf8'), 'ran\n');
  });

  test('and in a sandbox too', async () => {
    await using at = await bench({ command: { approval: 'always' } });
    await writeFile(join(at.workspace, 'a.txt'), 'a');
    const args = { command: 'cat a.txt; echo ran > ran' };
    const shown = await shownFor(at, 'command', args);
    await writeFile(join(at.workspace, 'a.txt'), 'b');
    const outcome = await at.approved('command', args, shown);
    assert.equal(outcome.kind === 'error' && outcome.code, 'changed', outcome.text);
    assert.ok(!existsSync(join(at.workspace, 'ran')));
  });
});

describe('E-2: of another tool is shown', () => {
  test('its arguments, raw, and the file that they name; changed, it is not called again', async () => {
    await using at = await bench();
    const path = join(at.workspace, 'a.txt');
    await writeFile(path, 'one');
    const raw = ' {"path": "a.txt", "old": "one", "new": "two"} ';
    const shown = await shownFor(at, 'edit', raw);
    assert.deepEqual(shown, {
      argv: ['edit', raw],
      folder: at.workspace,
      env: {},
      files: [{ path, hash: sha256('one') }],
    });
    await writeFile(path, 'one!');
    const outcome = await at.approved('edit', raw, shown);
    assert.equal(outcome.kind === 'error' && outcome.code, 'changed');
    assert.equal(await readFile(path, 'utf8'), 'one!');
    await writeFile(path, 'one');
    assert.equal((await at.approved('edit', raw, shown)).kind, 'result');
    assert.equal(await readFile(path, 'utf8'), 'two');
  });
});

describe('X-8: a person is asked about a command', posix, () => {
  const sandboxed = { bwrap: '/usr/bin/bwrap', extra: [] };
  const asked: readonly [
    approval: 'always' | 'unsandboxed' | 'never',
    with_: boolean,
    without: boolean,
  ][] = [
    ['always', true, true],
    ['unsandboxed', false, true],
    ['never', false, false],
  ];
  for (const [approval, withOne, without] of asked) {
    test(`${approval}: ${withOne} with a sandbox, ${without} without`, async () => {
      for (const [sandbox, expected] of [
        [sandboxed, withOne],
        [NO_SANDBOX, without],
      ] as const) {
        await using at = await bench({ sandbox, command: { approval } });
        const examined = await at.examine('command', { command: 'true' });
        assert.equal(examined.needsApproval, expected);
        assert.equal(examined.approver, 'any');
      }
    });
  }

  test('by default only where the machine has no sandbox, and by anybody', async () => {
    await using at = await bench({ sandbox: NO_SANDBOX });
    const { needsApproval, approver } = await at.examine('command', { command: 'true' });
    assert.deepEqual([needsApproval, approver], [true, 'any']);
  });

  test('E-6: that another must answer, as configured', async () => {
    await using at = await bench({ command: { approver: 'other' } });
    assert.equal((await at.examine('command', { command: 'true' })).approver, 'other');
  });

  test('and never runs it without the answer, whoever calls', async () => {
    await using at = await bench({ sandbox: NO_SANDBOX });
    const outcome = await at.call('command', { command: 'touch started' });
    assert.equal(outcome.kind === 'error' && outcome.code, 'refused');
    assert.match(outcome.text, /a person has to approve/);
    assert.ok(!existsSync(join(at.workspace, 'started')));
  });

  test('but not about another tool', async () => {
    await using at = await bench({ sandbox: NO_SANDBOX, command: { approval: 'always' } });
    const { needsApproval } = await at.examine('write', { path: 'a', content: 'b' });
    assert.equal(needsApproval, false);
  });
});

/** A workspace, and a search path with a program that is not of the system. */
async function prepared(): Promise<Bench> {
  const at = await bench({ sandbox: NO_SANDBOX });
  for (const folder of ['bin', 'first']) await mkdir(join(at.outer, folder));
  await mkdir(join(at.workspace, 'sub'));
  await writeFile(join(at.outer, 'bin/tool.sh'), '#!/bin/sh\necho tool\n', { mode: 0o755 });
  await writeFile(join(at.workspace, 'a.txt'), 'a');
  await writeFile(join(at.workspace, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  const path = `${at.outer}/first:${at.outer}/bin:${ENVIRONMENT.PATH}`;
  const tools = builtInTools({
    workspace: at.workspace,
    clock,
    environment: { ...ENVIRONMENT, PATH: path },
    sandbox: NO_SANDBOX,
  });
  const callOf = (name: string, args: unknown) => ({
    name,
    args: JSON.stringify(args),
    stepId: 'step_1',
  });
  return {
    ...at,
    tools,
    examine: (name, args) => tools.examine(callOf(name, args)),
    approved: (name, args, shown) =>
      tools.run(callOf(name, args), new AbortController().signal, shown),
  };
}
