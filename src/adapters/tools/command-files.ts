// What a command names, with its bytes: the shell, the programs and the files of the workspace.
import { createHash } from 'node:crypto';
import { createReadStream, type BigIntStats } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { delimiter, join, resolve, sep } from 'node:path';
import { looksLikePath, partsOf, wordsIn } from './command-words.ts';
import { hashOf, pathOf, type ShownFile } from './shown.ts';
import { ToolProblem } from './tool-problem.ts';
import { codeOf, locate, type Place } from './workspace-path.ts';

export const SHELL = '/bin/sh';
const FILES_MAX = 500;
const FOLDERS_MAX = 8;
const BYTES_MAX = 2_000_000_000n;
const EXECUTABLE = 0o111n;
const KEPT_HASHES = 64;

export interface Surroundings {
  /** The folder that the tools work in, as configured. */
  readonly workspace: string;
  /** Real path of the workspace. */
  readonly root: string;
  /** Real path of the folder that the command runs in. */
  readonly folder: string;
  /** `PATH` of the command's environment. */
  readonly searchPath: string;
}

/**
 * The shell and all that the words of a command name: programs by name or path, and files of the
 * workspace, also those below a folder that the command names. A path with nothing there has null.
 * Throws `ToolProblem` when it is more than a person can be shown whole.
 */
export async function filesNamed(command: string, around: Surroundings): Promise<ShownFile[]> {
  const found = new Files(around);
  await found.addProgram(SHELL);
  const programs = await programsOn(around);
  const words = wordsIn(command);
  for (const word of words) {
    const program = await programs.find(word);
    if (program !== undefined) await found.addProgram(program);
    await found.addPath(word, looksLikePath(word));
    for (const part of partsOf(word)) await found.addPath(part, false);
  }
  for (const folder of found.folders) {
    for (const word of words) await found.addPath(join(folder, word), false);
  }
  return found.all();
}

/** The real path of the program that the shell finds by this name; undefined when it finds none. */
export async function programNamed(
  name: string,
  around: Surroundings,
): Promise<string | undefined> {
  return (await programsOn(around)).find(name);
}

/** True for the root and all below it. */
export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

class Files {
  readonly #around: Surroundings;
  readonly #hashes = new Map<string, string | null>();
  readonly #folders = new Set<string>();
  #bytes = 0n;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Named folders of the workspace other than the one that the command runs in. */
  get folders(): readonly string[] {
    return [...this.#folders].slice(0, FOLDERS_MAX);
  }

  all(): ShownFile[] {
    return [...this.#hashes].map(([path, hash]) => ({ path, hash }));
  }

  async addProgram(path: string): Promise<void> {
    const real = await realpath(path).catch(() => path);
    const found = await statOf(real);
    if (found === undefined || this.#hashes.has(real)) return;
    await (isWithin(this.#around.root, real)
      ? this.addPath(real, false)
      : this.#put(real, found.size, () => hashOfProgram(real, found)));
  }

  /** A missing file is put down when `isSurely` says that the word can be nothing but its path. */
  async addPath(word: string, isSurely: boolean): Promise<void> {
    const path = resolve(this.#around.folder, word);
    // Most words are no paths, and a long command has thousands.
    if (!isSurely && !(await isThere(path))) return;
    const place = await this.#placeOf(path);
    await (place === undefined ? this.#addOutside(path) : this.#addPlace(place, isSurely));
  }

  async #addPlace(place: Place, isSurely: boolean): Promise<void> {
    const real = pathOf(place);
    if (this.#hashes.has(real)) return;
    const found = await statOf(real);
    if (found === undefined) {
      if (isSurely) await this.#put(real, 0n, async () => null);
    } else if (!found.isDirectory()) await this.#put(real, found.size, () => hashOf(place));
    else if (real !== this.#around.folder) this.#folders.add(real);
  }

  async #placeOf(path: string): Promise<Place | undefined> {
    try {
      return await locate(this.#around.workspace, path);
    } catch (error) {
      if (error instanceof ToolProblem || codeOf(error) !== undefined) return undefined;
      throw error;
    }
  }

  async #addOutside(path: string): Promise<void> {
    if (isProgram(await statOf(path))) await this.addProgram(path);
  }

  async #put(path: string, bytes: bigint, hash: () => Promise<string | null>): Promise<void> {
    this.#bytes += bytes;
    if (this.#hashes.size >= FILES_MAX || this.#bytes > BYTES_MAX) {
      throw new ToolProblem('refused', 'it names more files than a person can be shown');
    }
    this.#hashes.set(path, await hash());
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

async function statOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch {
    return undefined;
  }
}

/** Looks into the folders of the search path once. */
async function programsOn(around: Surroundings): Promise<Programs> {
  const places = new Map<string, string[]>();
  // An empty part of a search path stands for the folder that the command runs in.
  const folders = around.searchPath.split(delimiter).map((part) => resolve(around.folder, part));
  for (const folder of new Set(folders)) {
    for (const name of await readdir(folder).catch(() => [])) {
      places.set(name, [...(places.get(name) ?? []), join(folder, name)]);
    }
  }
  return new Programs(places);
}

class Programs {
  readonly #places: ReadonlyMap<string, readonly string[]>;

  constructor(places: ReadonlyMap<string, readonly string[]>) {
    this.#places = places;
  }

  /** The real path of the one that a shell takes for this name. */
  async find(name: string): Promise<string | undefined> {
    for (const path of this.#places.get(name) ?? []) {
      if (isProgram(await statOf(path))) return realpath(path);
    }
    return undefined;
  }
}

function isProgram(found: BigIntStats | undefined): boolean {
  return found?.isFile() === true && (found.mode & EXECUTABLE) !== 0n;
}

const kept = new Map<string, string>();

/** Programs lie outside the workspace, are large, and are asked for again and again. */
async function hashOfProgram(path: string, found: BigIntStats): Promise<string | null> {
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  const key = [path, dev, ino, size, mtimeNs, ctimeNs].join(' ');
  const known = kept.get(key);
  if (known !== undefined) return known;
  try {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) hash.update(chunk);
    const digest = hash.digest('hex');
    if (kept.size >= KEPT_HASHES) kept.delete(kept.keys().next().value ?? '');
    kept.set(key, digest);
    return digest;
  } catch {
    return null;
  }
}
