import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { Fault } from '../kernel/fault.ts';

const OWNER_FOLDER = 0o700;
const OWNER_FILE = 0o600;
const OTHERS = 0o077;
/** The state directory is flat: logs and the like, no trees. */
const DEPTH_MAX = 3;

/**
 * Makes the state directory and closes it and everything in it to others. Gives what was
 * looser than that. Throws a `Fault` when the path is no folder or may not be written.
 */
export function openDataFolder(path: string): readonly string[] {
  make(path, OWNER_FOLDER, 'the data directory');
  make(join(path, 'logs'), OWNER_FOLDER, 'the log directory');
  return mend(path, DEPTH_MAX);
}

function mend(path: string, depthLeft: number): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return [];
  const wanted = found.isDirectory() ? OWNER_FOLDER : OWNER_FILE;
  const isLoose = (found.mode & OTHERS) !== 0;
  if (isLoose) chmodSync(path, wanted);
  const inside = found.isDirectory() && depthLeft > 0 ? readdirSync(path) : [];
  return [
    ...(isLoose ? [path] : []),
    ...inside.flatMap((name) => mend(join(path, name), depthLeft - 1)),
  ];
}

/**
 * Makes the workspace and gives its real path. Throws a `Fault` when one of the two folders is inside
 * the other: tools must not reach the records.
 */
export function openWorkspace(path: string, data: string): string {
  make(path, 0o755, 'the workspace');
  const [workspace, records] = [realpathSync(path), realpathSync(data)];
  if (isInside(workspace, records) || isInside(records, workspace)) {
    const why = `the workspace ${path} and the data directory ${data} lie in one another`;
    throw new Fault('bad_workspace', 'stop', `${why}; choose two separate folders`);
  }
  return workspace;
}

/** True when a path is the other one or lies below it. */
export function isInside(inner: string, outer: string): boolean {
  const way = relative(outer, inner);
  return way !== '..' && !way.startsWith(`..${sep}`);
}

/** One by one: where nothing may be made, as below /proc, Node's own recursion never ends. */
function makeEach(path: string, mode: number): void {
  if (existsSync(path)) {
    if (!statSync(path).isDirectory())
      throw Object.assign(new Error('no folder'), { code: 'ENOTDIR' });
    return;
  }
  const parent = dirname(path);
  if (parent !== path) makeEach(parent, mode);
  mkdirSync(path, { mode });
}

function make(path: string, mode: number, what: string): void {
  try {
    makeEach(resolve(path), mode);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed';
    throw new Fault('bad_folder', 'stop', `${what} ${path} cannot be made (${code})`, {
      cause: error,
    });
  }
}
