// The path rule without a race: what each look at the disk finds, told apart.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs';
import {
  chown,
  link,
  mkdir,
  open,
  readdir,
  stat,
  symlink,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { ToolProblem } from './tool-problem.ts';
import {
  codeOf,
  Folder,
  isNamed,
  locate,
  openByName,
  openFile,
  openFileIn,
  openFolder,
  openFolderIn,
  ownLike,
  pathInside,
  type Place,
} from './workspace-path.ts';

const skip = process.platform === 'win32';

/** The real path of a new folder that goes with the test. */
function folder(t: TestContext): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'path-')));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function refusal(act: () => unknown): Promise<unknown> {
  try {
    await act();
    return 'taken';
  } catch (error) {
    return error instanceof ToolProblem ? `${error.code}: ${error.message}` : codeOf(error);
  }
}

describe('X-8: by its text', () => {
  test('a path inside is named from the workspace', () => {
    for (const [path, inner] of [
      ['a/b', 'a/b'],
      ['/w/s/a', 'a'],
      ['a/../b', 'b'],
      ['.', ''],
      ['..a', '..a'],
      ['..a/b', '..a/b'],
    ] as const)
      assert.equal(pathInside('/w/s', path), inner);
  });

  test('one that leads out is refused, and says so', async () => {
    for (const path of ['..', '../x', '/w', '/w/s2', '/', 'a/../../x', '../s2'])
      assert.equal(
        await refusal(() => pathInside('/w/s', path)),
        `refused: ${path}: outside the workspace`,
      );
  });

  test('one that is malformed is refused for that', async () => {
    for (const [path, why] of [
      ['a\0b', 'has a control character'],
      ['a\u0085b', 'has a control character'],
      ['a\ud800', 'is no well-formed text'],
      ['x'.repeat(4_097), 'over 4096 bytes'],
      ['ü'.repeat(2_049), 'over 4096 bytes'],
    ] as const)
      assert.equal(await refusal(() => pathInside('/w/s', path)), `refused: path: ${why}`);
    assert.equal(pathInside('/w/s', 'x'.repeat(4_096)).length, 4_096);
  });
});

describe('X-8: with every link resolved', { skip }, () => {
  test('a place is named below the real workspace, whatever its path was', async (t) => {
    const outer = folder(t);
    const root = join(outer, 'real');
    await mkdir(join(root, 'in'), { recursive: true });
    await symlink(root, join(outer, 'linked'));
    await symlink('in', join(root, 'other'));
    await writeFile(join(root, 'in/a'), 'x');
    const placed = (...segments: string[]): Place => {
      return { root, segments, shown: segments.length === 0 ? '.' : segments.join('/') };
    };
    for (const workspace of [root, join(outer, 'linked')]) {
      assert.deepEqual(await locate(workspace, 'in/a'), placed('in', 'a'));
      assert.deepEqual(await locate(workspace, 'other/a'), placed('in', 'a'));
      assert.deepEqual(await locate(workspace, join(root, 'in/a')), placed('in', 'a'));
      assert.deepEqual(await locate(workspace, join(workspace, 'in/a')), placed('in', 'a'));
      assert.deepEqual(await locate(workspace, '.'), placed());
      assert.deepEqual(await locate(workspace, 'new/one/b'), placed('new', 'one', 'b'));
      assert.deepEqual(await locate(workspace, 'other/new'), placed('in', 'new'));
    }
  });

  test('a link that leads out or nowhere is refused, at the end and on the way', async (t) => {
    const outer = folder(t);
    const root = join(outer, 'w');
    await mkdir(root);
    await mkdir(join(outer, 'outside'));
    await symlink('../outside', join(root, 'out'));
    await symlink('not-there', join(root, 'lost'));
    await writeFile(join(root, 'file'), 'x');
    for (const path of ['out', 'out/x', 'out/new/x'])
      assert.equal(
        await refusal(() => locate(root, path)),
        `refused: ${path}: outside the workspace`,
      );
    for (const path of ['lost', 'lost/x'])
      assert.equal(
        await refusal(() => locate(root, path)),
        `refused: ${path}: a link that leads nowhere`,
      );
    assert.equal(await refusal(() => locate(root, 'file/x')), 'ENOTDIR');
    assert.equal(await refusal(() => locate(join(outer, 'absent'), 'x')), 'ENOENT');
  });
});

describe('X-8: a folder', { skip }, () => {
  test('is walked to without following a link', async (t) => {
    const root = folder(t);
    await mkdir(join(root, 'a/b'), { recursive: true });
    await writeFile(join(root, 'a/file'), 'x');
    await symlink('a', join(root, 'linked'));
    await using deep = await openFolder(root, ['a', 'b']);
    assert.equal(deep.path, join(root, 'a/b'));
    assert.equal((await deep.stat()).ino, (await stat(join(root, 'a/b'))).ino);
    await deep.sync();
    for (const [segments, code] of [
      [['linked'], 'ENOTDIR'],
      [['linked', 'b'], 'ENOTDIR'],
      [['a', 'file'], 'ENOTDIR'],
      [['absent'], 'ENOENT'],
    ] as const)
      assert.equal(await refusal(() => openFolder(root, segments)), code, segments.join('/'));
    assert.deepEqual((await readdir(root)).toSorted(), ['a', 'linked'], 'and makes none');
  });

  test('is made where it is missing, and taken where it is there', async (t) => {
    const root = folder(t);
    for (let twice = 0; twice < 2; twice += 1) {
      await using made = await openFolder(root, ['a', 'b'], true);
      assert.equal(made.path, join(root, 'a/b'));
    }
    await writeFile(join(root, 'file'), 'x');
    assert.equal(await refusal(() => openFolder(root, ['file'], true)), 'ENOTDIR');
    assert.equal(await refusal(() => openFolder(root, ['x'.repeat(300)], true)), 'ENAMETOOLONG');
    const why = await refusal(() => openFolder('/sys', ['new-folder'], true));
    assert.ok(['EPERM', 'EACCES', 'EROFS'].includes(String(why)), String(why));
  });

  test('stays the very folder that was opened, wherever it is by now', async (t) => {
    const root = folder(t);
    await mkdir(join(root, 'a'));
    await using held = await openFolder(root, ['a']);
    renameSync(join(root, 'a'), join(root, 'moved'));
    mkdirSync(join(root, 'a'));
    await mkdir(held.at('new'));
    assert.deepEqual(await readdir(join(root, 'moved')), ['new']);
    assert.deepEqual(await readdir(join(root, 'a')), []);
    assert.deepEqual(await readdir(held.self), ['new']);
    assert.equal((await held.stat()).ino, (await stat(join(root, 'moved'))).ino);
    await using inner = await openFolderIn(held, 'new');
    assert.equal(inner.path, join(root, 'a/new'), 'is known by the name that it was opened by');
  });

  test('is closed with its use, and so is each on the way', async (t) => {
    const root = folder(t);
    const before = (await readdir('/proc/self/fd')).length;
    {
      await using deep = await openFolder(root, ['a', 'b', 'c'], true);
      assert.equal((await readdir('/proc/self/fd')).length, before + 1, deep.path);
    }
    assert.equal((await readdir('/proc/self/fd')).length, before);
  });

  test('is flushed by its handle', async () => {
    let flushed = 0;
    const sync = (): Promise<void> => Promise.resolve(void (flushed += 1));
    await new Folder('/', { sync } as FileHandle).sync();
    assert.equal(flushed, 1);
  });

  test('without a handle is known by its name alone', async (t) => {
    const root = folder(t);
    await mkdir(join(root, 'a'));
    await symlink('a', join(root, 'linked'));
    await using held = await openByName(join(root, 'a'));
    assert.deepEqual([held.self, held.at('x')], [join(root, 'a'), join(root, 'a/x')]);
    assert.equal((await held.stat()).ino, (await stat(join(root, 'a'))).ino);
    await held.sync();
    await held.chown(1, 1);
    const linked = join(root, 'linked');
    assert.equal(await refusal(() => openByName(linked)), `refused: ${linked}: no folder`);
  });
});

describe('X-8: a file', { skip }, () => {
  const placeOf = (root: string, ...segments: readonly string[]): Place => {
    return { root, segments, shown: segments.join('/') || '.' };
  };

  test('is opened when it is one, and where it was asked for', async (t) => {
    const root = folder(t);
    await mkdir(join(root, 'a'));
    await writeFile(join(root, 'a/file'), 'text');
    await using file = await openFile(placeOf(root, 'a', 'file'));
    assert.equal(await file.readFile('utf8'), 'text');
    assert.equal(await refusal(() => openFile(placeOf(root))), 'refused: .: a folder, not a file');
    assert.equal(
      await refusal(() => openFile(placeOf(root, 'a'))),
      'refused: a: a folder, not a file',
    );
    assert.equal(await refusal(() => openFile(placeOf(root, 'a', 'b'))), 'ENOENT');
  });

  test('is no link, no pipe, and holds nobody up', async (t) => {
    const root = folder(t);
    await writeFile(join(root, 'file'), 'x');
    await symlink('file', join(root, 'linked'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    assert.equal(await refusal(() => openFile(placeOf(root, 'linked'))), 'ELOOP');
    assert.equal(
      await refusal(() => openFile(placeOf(root, 'pipe'))),
      'refused: pipe: not a regular file',
    );
  });

  test('is refused when it was moved while it was opened, and nothing stays open', async (t) => {
    const root = folder(t);
    await mkdir(join(root, 'a'));
    await writeFile(join(root, 'a/file'), 'x');
    await using held = await openFolder(root, ['a']);
    renameSync(join(root, 'a'), join(root, 'moved'));
    const before = (await readdir('/proc/self/fd')).length;
    assert.equal(
      await refusal(() => openFileIn(held, 'file')),
      'refused: file: moved while it was opened',
    );
    assert.equal((await readdir('/proc/self/fd')).length, before);
  });

  test('by its name alone is the one that lies there, and not by way of a link', async (t) => {
    const root = folder(t);
    await mkdir(join(root, 'a'));
    await writeFile(join(root, 'a/file'), 'x');
    await writeFile(join(root, 'a/other'), 'x');
    await link(join(root, 'a/file'), join(root, 'a/second'));
    await symlink('a', join(root, 'linked'));
    await using file = await open(join(root, 'a/file'));
    const named = (name: string): Promise<boolean> => isNamed(file, join(root, name));
    assert.deepEqual(
      await Promise.all(['a/file', 'a/second', 'a/other', 'linked/file'].map(named)),
      [true, true, false, false],
    );
  });
});

describe('X-8: what a host makes that runs as root', { skip }, () => {
  test('belongs to the owner of the workspace, when that is somebody else', async (t) => {
    const asked: unknown[] = [];
    const change = (...owner: readonly number[]): Promise<void> => {
      asked.push(owner);
      return Promise.resolve();
    };
    const parent = (uid: number, gid: number): Folder => {
      const one = new Folder('/', undefined);
      t.mock.method(one, 'stat', () => Promise.resolve({ uid, gid }));
      return one;
    };
    const { getuid } = process;
    t.after(() => Object.assign(process, { getuid }));
    Object.assign(process, { getuid: () => 0 });
    for (const [uid, gid] of [
      [0, 0],
      [7, 0],
      [0, 8],
      [7, 8],
    ] as const)
      await ownLike(parent(uid, gid), change);
    assert.deepEqual(asked, [
      [7, 0],
      [0, 8],
      [7, 8],
    ]);
    Object.assign(process, { getuid: () => 9 });
    await ownLike(parent(7, 8), change);
    assert.equal(asked.length, 3);
  });

  test('is made so', { skip: process.getuid?.() !== 0 }, async (t) => {
    const root = folder(t);
    await chown(root, 1_234, 1_235);
    await using made = await openFolder(root, ['a', 'b'], true);
    const { uid, gid } = await made.stat();
    assert.deepEqual([uid, gid], [1_234, 1_235]);
    await chown(join(root, 'a'), 0, 0);
    await using again = await openFolder(root, ['a'], true);
    assert.equal((await again.stat()).uid, 0, 'what was there keeps its owner');
  });
});

test('an error is known by the code that the system gave it', () => {
  assert.equal(codeOf(Object.assign(new Error('x'), { code: 'EIO' })), 'EIO');
  for (const other of [
    new Error('x'),
    { code: 'EIO' },
    undefined,
    Object.assign(new Error('x'), { code: 5 }),
  ])
    assert.equal(codeOf(other), undefined);
});
