// The one place where a path that a model wrote becomes a place on the disk.
//
// Checking a path and then opening it loses the race against whoever swaps a folder for a link in
// between. So the links are resolved first, and then the resolved path is walked from the root, one
// folder at a time, each opened relative to the last without following anything.
import { constants, existsSync, type Stats } from 'node:fs';
import { lstat, mkdir, open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ToolProblem } from './tool-problem.ts';

const PATH_BYTES_MAX = 4_096;
const CONTROL = /\p{Cc}/u;

/** `/proc/self/fd/N/name` is `name` in exactly the folder that was opened, wherever it is by now. */
const HANDLES = '/proc/self/fd';
const CAN_PIN = existsSync(HANDLES);

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Windows has no such flags. */
const NO_FOLLOW = O_NOFOLLOW ?? 0;
/** A FIFO would hold us at its opening. */
const NO_WAIT = O_NONBLOCK ?? 0;

export interface Place {
  /** The real path of the workspace. */
  readonly root: string;
  /** Below the root, with every link resolved; empty for the root itself. */
  readonly segments: readonly string[];
  /** How it is named to the model. */
  readonly shown: string;
}

/**
 * Says where in the workspace `path` lies, by its text alone.
 * Throws `ToolProblem` when it is malformed or lies outside.
 */
export function pathInside(workspace: string, path: string): string {
  const wrong = malformed(path);
  if (wrong !== undefined) throw new ToolProblem('refused', `path: ${wrong}`);
  const inner = relative(workspace, resolve(workspace, path));
  if (isOutside(inner)) throw outside(path);
  return inner;
}

function malformed(path: string): string | undefined {
  if (CONTROL.test(path)) return 'has a control character';
  if (!path.isWellFormed()) return 'is no well-formed text';
  return Buffer.byteLength(path) > PATH_BYTES_MAX ? `over ${PATH_BYTES_MAX} bytes` : undefined;
}

function isOutside(inner: string): boolean {
  return inner === '..' || inner.startsWith(`..${sep}`) || isAbsolute(inner);
}

function outside(path: string): ToolProblem {
  return new ToolProblem('refused', `${path}: outside the workspace`);
}

/**
 * Resolves the links of a path; what does not exist yet is allowed at its end.
 * Throws `ToolProblem` when it leads out of the workspace.
 */
export async function locate(workspace: string, path: string): Promise<Place> {
  const configured = resolve(workspace);
  const root = await realpath(configured);
  // The model may know the workspace by its real path too, as a command's `pwd` prints it.
  const base = isOutside(relative(root, resolve(configured, path))) ? configured : root;
  const wanted = join(root, pathInside(base, path));
  const real = await realOf(wanted, path);
  const inner = relative(root, real);
  if (isOutside(inner)) throw outside(path);
  const segments = inner === '' ? [] : inner.split(sep);
  return { root, segments, shown: inner === '' ? '.' : segments.join('/') };
}

async function realOf(wanted: string, path: string): Promise<string> {
  const missing: string[] = [];
  let at = wanted;
  while (true) {
    try {
      return join(await realpath(at), ...missing);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
    if (await isThere(at)) throw new ToolProblem('refused', `${path}: a link that leads nowhere`);
    missing.unshift(basename(at));
    at = dirname(at);
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

/** A folder that was reached without following a link. Dispose of it. */
export class Folder implements AsyncDisposable {
  readonly path: string;
  readonly #handle: FileHandle | undefined;

  constructor(path: string, handle: FileHandle | undefined) {
    this.path = path;
    this.#handle = handle;
  }

  /** A path that names `name` in this very folder. */
  at(name: string): string {
    return join(this.self, name);
  }

  /** A path that names this very folder. */
  get self(): string {
    return this.#handle === undefined ? this.path : `${HANDLES}/${this.#handle.fd}`;
  }

  stat(): Promise<Stats> {
    return this.#handle === undefined ? stat(this.path) : this.#handle.stat();
  }

  async chown(uid: number, gid: number): Promise<void> {
    await this.#handle?.chown(uid, gid);
  }

  /** Makes names in it durable; not every system can. */
  async sync(): Promise<void> {
    await this.#handle?.sync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
  }
}

/** Opens `folder/name` as a folder. Throws the system's error when it is a link or no folder. */
export async function openFolderIn(folder: Folder, name: string): Promise<Folder> {
  return openFolderAt(folder.at(name), join(folder.path, name));
}

async function openFolderAt(at: string, path: string): Promise<Folder> {
  if (!CAN_PIN) return openByName(path);
  return new Folder(path, await open(at, O_RDONLY | O_DIRECTORY | NO_FOLLOW));
}

/** Weaker: without handles to walk by, each part is looked at just before it is used. */
export async function openByName(path: string): Promise<Folder> {
  if (!(await lstat(path)).isDirectory()) throw new ToolProblem('refused', `${path}: no folder`);
  return new Folder(path, undefined);
}

/** Walks to the folder of these segments; `create` makes the ones that are missing. */
export async function openFolder(
  root: string,
  segments: readonly string[],
  create = false,
): Promise<Folder> {
  let folder = await openFolderAt(root, root);
  for (const segment of segments) {
    await using parent = folder;
    if (create) await makeFolder(parent, segment);
    folder = await openFolderIn(parent, segment);
  }
  return folder;
}

async function makeFolder(parent: Folder, name: string): Promise<void> {
  try {
    await mkdir(parent.at(name));
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    throw error;
  }
  await using made = await openFolderIn(parent, name);
  await ownLike(parent, (uid, gid) => made.chown(uid, gid));
}

/** A host that runs as root leaves what it makes to the owner of the workspace, whom commands run as. */
export async function ownLike(
  parent: Folder,
  change: (uid: number, gid: number) => Promise<void>,
): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await parent.stat();
  if (uid !== 0 || gid !== 0) await change(uid, gid);
}

/**
 * Opens `folder/name` for reading, judged by the handle and never again by name.
 * Throws `ToolProblem` for anything but a regular file that is where it was asked for.
 */
export async function openFileIn(folder: Folder, name: string): Promise<FileHandle> {
  const handle = await open(folder.at(name), O_RDONLY | NO_FOLLOW | NO_WAIT);
  try {
    const found = await handle.stat();
    if (found.isDirectory()) throw new ToolProblem('refused', `${name}: a folder, not a file`);
    if (!found.isFile()) throw new ToolProblem('refused', `${name}: not a regular file`);
    if (!(await isAt(handle, join(folder.path, name)))) {
      throw new ToolProblem('refused', `${name}: moved while it was opened`);
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  return CAN_PIN ? (await readlink(`${HANDLES}/${handle.fd}`)) === path : isNamed(handle, path);
}

/** Weaker: the same file, reached by no link when it was looked at. */
export async function isNamed(handle: FileHandle, path: string): Promise<boolean> {
  const [here, there] = await Promise.all([handle.stat(), stat(path)]);
  return here.dev === there.dev && here.ino === there.ino && (await realpath(path)) === path;
}

/** Opens the file of a place. Throws as `openFileIn`, and the system's errors. */
export async function openFile(place: Place): Promise<FileHandle> {
  const name = place.segments.at(-1);
  if (name === undefined) throw new ToolProblem('refused', `${place.shown}: a folder, not a file`);
  await using folder = await openFolder(place.root, place.segments.slice(0, -1));
  return await openFileIn(folder, name);
}

/** The system's name of an error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
