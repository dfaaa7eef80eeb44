import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, link, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { LIMITS } from '../../src/kernel/limits.ts';
import { bench } from './tools-workbench.ts';

describe('read', () => {
  test('gives the lines asked for and says how to go on', async () => {
    await using at = await bench();
    await writeFile(join(at.workspace, 'a.txt'), 'one\ntwo\nthree\nfour\n');
    const lines = async (args: object): Promise<string> =>
      (await at.call('read', { path: 'a.txt', ...args })).text;
    assert.equal(await lines({}), 'one\ntwo\nthree\nfour');
    assert.equal(await lines({ offset: 3 }), 'three\nfour');
    assert.equal(
      await lines({ offset: 2, limit: 2 }),
      'two\nthree\n[lines 2-3 of a.txt: more follows; go on with offset 4]',
    );
    assert.equal(await lines({ offset: 9 }), 'a.txt: has only 4 lines');
  });

  const contents: readonly [what: string, bytes: Buffer, text: RegExp][] = [
    ['an empty file', Buffer.from(''), /: an empty file$/],
    ['a file with a NUL', Buffer.from('a\0b'), /: a binary file of 3 bytes$/],
    ['a file that is no UTF-8', Buffer.from([0x61, 0xe4, 0x0a]), /: a binary file of 3 bytes$/],
    [
      'a file that ends within a character',
      Buffer.from([0x61, 0xc3]),
      /: a binary file of 2 bytes$/,
    ],
    ['a file without a last line end', Buffer.from('a\nb'), /^a\nb$/],
  ];
  for (const [what, bytes, text] of contents) {
    test(`tells ${what}`, async () => {
      await using at = await bench();
      await writeFile(join(at.workspace, 'a'), bytes);
      assert.match((await at.call('read', { path: 'a' })).text, text);
    });
  }

  test('E-3: a file over the cap comes in pages that make up the whole', async () => {
    await using at = await bench();
    const whole = Array.from({ length: 9_000 }, (_, line) => `line ${line} äöü`);
    await writeFile(join(at.workspace, 'big.txt'), whole.join('\n'));
    const got: string[] = [];
    for (let offset: number | undefined = 1, pages = 0; offset !== undefined; pages += 1) {
      assert.ok(pages < 20);
      const { text } = await at.call('read', { path: 'big.txt', offset, limit: 100_000 });
      assert.ok(Buffer.byteLength(text) <= LIMITS.toolOutputBytesMax);
      const next: RegExpExecArray | null = /\n\[lines .* of big\.txt: .*offset (\d+)\]$/.exec(text);
      got.push(next === null ? text : text.slice(0, next.index));
      offset = next === null ? undefined : Number(next[1]);
    }
    assert.ok(got.length > 1);
    assert.equal(got.join('\n'), whole.join('\n'));
  });

  test('cuts a line that no page can hold and says so', async () => {
    await using at = await bench();
    await writeFile(join(at.workspace, 'long.json'), `${'x'.repeat(3_000_000)}\nlast`);
    const { text } = await at.call('read', { path: 'long.json' });
    assert.ok(Buffer.byteLength(text) <= LIMITS.toolOutputBytesMax);
    assert.equal(
      text.replace(/^x+/, 'x'),
      'x\nlast\n[lines 1-2 of long.json: a line is too long and was cut]',
    );
    assert.equal((await at.call('read', { path: 'long.json', offset: 2 })).text, 'last');
  });

  test('of what is not there says so', async () => {
    await using at = await bench();
    const outcome = await at.call('read', { path: 'no/such' });
    assert.deepEqual(outcome, {
      kind: 'error',
      code: 'not_found',
      text: 'no/such: no such file or folder',
    });
  });
});

describe('write', () => {
  test('makes the folders and the file, whole', async () => {
    await using at = await bench();
    const { text } = await at.call('write', { path: 'a/b/c.txt', content: 'ä\n' });
    assert.equal(text, 'wrote 3 bytes to a/b/c.txt');
    assert.equal(await readFile(join(at.workspace, 'a/b/c.txt'), 'utf8'), 'ä\n');
    assert.deepEqual(await readdir(join(at.workspace, 'a/b')), ['c.txt']);
  });

  test('keeps the permissions of what it replaces', async () => {
    await using at = await bench();
    await writeFile(join(at.workspace, 'run.sh'), 'old');
    await chmod(join(at.workspace, 'run.sh'), 0o750);
    await at.call('write', { path: 'run.sh', content: 'new' });
    assert.equal((await stat(join(at.workspace, 'run.sh'))).mode & 0o777, 0o750);
  });

  test('leaves a second name of the file alone', async () => {
    await using at = await bench();
    await writeFile(join(at.outer, 'kept'), 'outside');
    await link(join(at.outer, 'kept'), join(at.workspace, 'name'));
    await at.call('write', { path: 'name', content: 'inside' });
    assert.equal(await readFile(join(at.outer, 'kept'), 'utf8'), 'outside');
  });

  test('never shows a torn file to a reader, however often it is replaced', async () => {
    await using at = await bench();
    const content = (index: number): string => `${index}`.repeat(200_000);
    const known = new Set(Array.from({ length: 10 }, (_, i) => hashOf(content(i))));
    await at.call('write', { path: 'a', content: content(0) });
    let reads = 0;
    const written = new AbortController();
    const reader = (async () => {
      while (!written.signal.aborted) {
        assert.ok(known.has(hashOf(await readFile(join(at.workspace, 'a'), 'utf8'))));
        reads += 1;
      }
    })();
    for (let i = 0; i < 30; i += 1) await at.call('write', { path: 'a', content: content(i % 10) });
    written.abort();
    await reader;
    assert.ok(reads > 0);
  });

  test('refuses what it could not read back', async () => {
    await using at = await bench();
    for (const content of ['a\ud800', 'ä'.repeat(LIMITS.toolFileBytesMax / 2 + 1)]) {
      const outcome = await at.call('write', { path: 'a', content });
      assert.equal(outcome.kind === 'error' && outcome.code, 'refused');
    }
    assert.deepEqual(await readdir(at.workspace), []);
  });

  test('that fails leaves the old content and nothing beside it', async () => {
    await using at = await bench();
    await mkdir(join(at.workspace, 'folder'));
    const outcome = await at.call('write', { path: 'folder', content: 'x' });
    assert.equal(outcome.kind === 'error' && outcome.code, 'refused');
    assert.deepEqual(await readdir(at.workspace), ['folder']);
  });
});

describe('edit', () => {
  test('replaces the one place, whatever the new text contains', async () => {
    await using at = await bench();
    await writeFile(join(at.workspace, 'a'), '\u{feff}x = 1\ny = 2\n');
    const { text } = await at.call('edit', { path: 'a', old: 'y = 2', new: "$& $' $1" });
    assert.equal(text, 'edited a at line 2');
    assert.equal(await readFile(join(at.workspace, 'a'), 'utf8'), "\u{feff}x = 1\n$& $' $1\n");
  });

  const refused: readonly [what: string, content: string | Buffer, says: RegExp][] = [
    ['that is not there', 'abc', /0 times/],
    ['that is there twice', 'aXbX', /2 times/],
    ['that overlaps itself', 'aXX', /2 times/],
    ['in a binary file', Buffer.from([0x58, 0xff]), /binary/],
  ];
  for (const [what, content, says] of refused) {
    test(`of text ${what} changes nothing`, async () => {
      await using at = await bench();
      await writeFile(join(at.workspace, 'a'), content);
      const outcome = await at.call('edit', { path: 'a', old: 'X', new: 'Y' });
      if (what === 'that overlaps itself') {
        await writeFile(join(at.workspace, 'a'), 'XXX');
        const overlapping = await at.call('edit', { path: 'a', old: 'XX', new: 'Y' });
        assert.match(overlapping.text, says);
      }
      assert.equal(outcome.kind === 'error' && outcome.code, 'refused');
      assert.match(outcome.text, says);
    });
  }
});

describe('list', () => {
  test('sorts, marks folders and keeps a name in one line', async () => {
    await using at = await bench();
    for (const name of ['b', 'a\nc', 'Z']) await writeFile(join(at.workspace, name), '');
    await mkdir(join(at.workspace, 'aa'));
    assert.equal((await at.call('list', {})).text, 'Z\n"a\\nc"\naa/\nb');
    assert.equal((await at.call('list', { path: 'aa' })).text, 'aa: an empty folder');
  });

  test('E-3: that is over the cap names the file that has all of it', async () => {
    await using at = await bench();
    await mkdir(join(at.workspace, 'many'));
    const names = Array.from({ length: 800 }, (_, i) => `${i}-${'n'.repeat(60)}`).toSorted();
    for (const name of names) await writeFile(join(at.workspace, 'many', name), '');
    const { text } = await at.call('list', { path: 'many' });
    assert.ok(Buffer.byteLength(text) <= LIMITS.toolOutputBytesMax);
    const file = /\[cut here: .*; the whole is in (.*)\]/.exec(text)?.[1] ?? '';
    assert.equal(file, '.sekisho/results/step_1.txt');
    assert.equal(await readFile(join(at.workspace, file), 'utf8'), names.join('\n'));
  });
});

describe('search', () => {
  test('finds literal text below a folder or in a file, and names its line', async () => {
    await using at = await bench();
    await mkdir(join(at.workspace, 'src/deep'), { recursive: true });
    await mkdir(join(at.workspace, 'node_modules'));
    await writeFile(join(at.workspace, 'src/a.ts'), 'one\nf(x.*)\n\nf(x.*) f(x.*)\n');
    await writeFile(join(at.workspace, 'src/deep/b.ts'), 'f(x.*)');
    await writeFile(join(at.workspace, 'src/c.bin'), 'f(x.*)\0');
    await writeFile(join(at.workspace, 'node_modules/d.ts'), 'f(x.*)');
    const found = 'src/a.ts:2: f(x.*)\nsrc/a.ts:4: f(x.*) f(x.*)\nsrc/deep/b.ts:1: f(x.*)';
    const search = async (args: object): Promise<string> => (await at.call('search', args)).text;
    assert.equal(await search({ pattern: 'f(x.*)' }), found);
    assert.equal(await search({ pattern: 'f(x.*)', path: 'src/deep' }), 'src/deep/b.ts:1: f(x.*)');
    assert.equal(
      await search({ pattern: 'f(x.*)', path: 'src/deep/b.ts' }),
      'src/deep/b.ts:1: f(x.*)',
    );
    assert.equal(await search({ pattern: 'F(X' }), 'nothing found in .');
    assert.match(await search({ pattern: 'x', path: 'gone' }), /^gone: no such file/);
  });

  test('does not follow links', async () => {
    await using at = await bench();
    await writeFile(join(at.outer, 'secret'), 'needle');
    await symlink(at.outer, join(at.workspace, 'out'));
    await symlink(join(at.outer, 'secret'), join(at.workspace, 'file'));
    await symlink(at.workspace, join(at.workspace, 'circle'));
    assert.equal((await at.call('search', { pattern: 'needle' })).text, 'nothing found in .');
  });

  test('X-9: a pattern that would drive an expression mad costs nothing', async () => {
    await using at = await bench();
    await writeFile(join(at.workspace, 'a'), `${'a'.repeat(100_000)}!\n`);
    const began = performance.now();
    const { text } = await at.call('search', { pattern: '(a+)+$' });
    assert.equal(text, 'nothing found in .');
    assert.ok(performance.now() - began < 2_000);
  });

  test('stops at its bound and says so', async () => {
    await using at = await bench();
    await writeFile(join(at.workspace, 'a'), 'hit\n'.repeat(5_000));
    const { text } = await at.call('search', { pattern: 'hit' });
    assert.match(text, /\n\[stopped: over 300 matches; search a narrower path\]$/);
  });

  test('shows the match of a long line, not the line', async () => {
    await using at = await bench();
    await writeFile(join(at.workspace, 'a'), `${'x'.repeat(5_000)}needle${'y'.repeat(5_000)}`);
    const { text } = await at.call('search', { pattern: 'needle' });
    assert.ok(text.includes('xneedley') && text.length < 400);
  });
});

describe('X-6: a known secret', () => {
  const secret = 'tok_0123456789abcdef';

  test('is masked in every result, error and kept file', async () => {
    await using at = await bench({ secrets: [secret] });
    await writeFile(join(at.workspace, secret), `key: ${secret}\n`);
    for (const [name, args] of [
      ['read', { path: secret }],
      ['list', {}],
      ['search', { pattern: 'key' }],
      ['read', { path: `no-${secret}` }],
      [secret, {}],
    ] as const) {
      const { text } = await at.call(name, args);
      assert.ok(text.includes('[redacted]') && !text.includes(secret), text);
    }
  });

  test('is masked before an excerpt cuts it in half', async () => {
    await using at = await bench({ secrets: [secret] });
    await writeFile(join(at.workspace, 'a'), `${secret}${'-'.repeat(70)}needle`);
    const { text } = await at.call('search', { pattern: 'needle' });
    assert.ok(!text.includes('abcdef') && text.includes('needle'), text);
  });
});

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

test('a file that is no file holds nobody up', { skip: process.platform === 'win32' }, async () => {
  await using at = await bench();
  assert.equal(spawnSync('sh', ['-c', 'mkfifo "$0"', join(at.workspace, 'fifo')]).status, 0);
  await symlink('/dev/zero', join(at.workspace, 'zero'));
  for (const [name, args] of [
    ['read', { path: 'fifo' }],
    ['edit', { path: 'fifo', old: 'a', new: 'b' }],
    ['write', { path: 'fifo', content: 'x' }],
    ['read', { path: 'zero' }],
  ] as const) {
    const outcome = await at.call(name, args);
    assert.equal(outcome.kind === 'error' && outcome.code, 'refused', outcome.text);
  }
  assert.equal((await at.call('search', { pattern: 'x' })).text, 'nothing found in .');
});
