import { chmodSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { Fault } from '../kernel/fault.ts';
import { makeFolder } from '../adapters/store/folder.ts';
import type { LooseFile } from '../ports/premises.ts';
import { assertWritable } from './writable.ts';

const OWNER_FOLDER = 0o700;
const OWNER_FILE = 0o600;
const OTHERS = 0o077;
const PERMISSIONS = 0o777;
/** The state directory is flat: logs and the like, no trees. */
const DEPTH_MAX = 3;

/**
 * Makes the state directory and closes it and everything in it to others. Gives what was
 * looser than that. Throws a `Fault` when the path is no folder or may not be written.
 */
export function openDataFolder(path: string): readonly string[] {
  assertWritable(path);
  make(path, OWNER_FOLDER, 'the data directory');
  make(join(path, 'logs'), OWNER_FOLDER, 'the log directory');
  return mendFolder(path);
}

/** Closes a folder and everything in it to others; gives the paths that were open. */
export function mendFolder(path: string): readonly string[] {
  const { loose } = findLoose(path);
  for (const { path: open, wanted } of loose) chmodSync(open, wanted);
  return loose.map(({ path: open }) => open);
}

/** Which paths of a folder are open to others, itself included, and how many there are. */
export function findLoose(path: string): {
  readonly files: number;
  readonly loose: readonly LooseFile[];
} {
  const all = modesIn(path, DEPTH_MAX);
  return { files: all.length, loose: all.filter(({ mode }) => (mode & OTHERS) !== 0) };
}

/** Links are nobody's business here: where they lead is closed or not by itself. */
function modesIn(path: string, depthLeft: number): readonly LooseFile[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return [];
  const isFolder = found.isDirectory();
  const mode = found.mode & PERMISSIONS;
  const own = { path, mode, wanted: isFolder ? OWNER_FOLDER : OWNER_FILE };
  const inside = isFolder && depthLeft > 0 ? readdirSync(path) : [];
  return [own, ...inside.flatMap((name) => modesIn(join(path, name), depthLeft - 1))];
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

function make(path: string, mode: number, what: string): void {
  try {
    makeFolder(resolve(path), mode);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed';
    throw new Fault('bad_folder', 'stop', `${what} ${path} cannot be made (${code})`, {
      cause: error,
    });
  }
}
