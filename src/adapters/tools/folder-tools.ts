import { lstat, readdir } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import { z } from 'zod';
import { LIMITS } from '../../kernel/limits.ts';
import { SECOND } from '../../kernel/time.ts';
import type { Clock } from '../../ports/clock.ts';
import { readWhole, textOf } from './files.ts';
import { Literal } from './literal.ts';
import { about } from './problem.ts';
import { define, type BuiltIn } from './tool.ts';
import { ToolProblem } from './tool-problem.ts';
import {
  codeOf,
  locate,
  openFileIn,
  openFolder,
  openFolderIn,
  type Folder,
  type Place,
} from './workspace-path.ts';

const ENTRIES_MAX = 10_000;
const MATCHES_MAX = 300;
const FILES_MAX = 50_000;
/** Each level holds one open folder. */
const DEPTH_MAX = 64;
const SEARCH_MS_MAX = 30 * SECOND;
const SHOWN_CHARS = 240;
const SHOWN_BEFORE = 80;
/** Not searched unless asked for by path: they hold copies and machine output. */
const PASSED_OVER: ReadonlySet<string> = new Set(['.git', '.sekisho', 'node_modules']);

export interface SearchHost {
  readonly clock: Clock;
  readonly mask: (text: string) => string;
}

/** `list` and `search`, on the folders of one workspace. */
export function folderTools(workspace: string, host: SearchHost): readonly BuiltIn[] {
  return [listTool(workspace), searchTool(workspace, host)];
}

function listTool(workspace: string): BuiltIn {
  return define({
    name: 'list',
    description: 'List a folder of the workspace, sorted; folders end with a slash.',
    repeatable: 'yes',
    changes: 'no',
    args: z.strictObject({ path: z.string().min(1).optional() }),
    run: ({ path = '.' }) =>
      about(path, async () => {
        const place = await locate(workspace, path);
        await using folder = await openFolder(place.root, place.segments);
        const entries = await sortedEntries(folder);
        const names = entries.slice(0, ENTRIES_MAX).map((entry) => nameOf(entry));
        const more = entries.length - names.length;
        if (more > 0) names.push(`[${more} more entries are not shown]`);
        return names.length === 0 ? `${place.shown}: an empty folder` : names.join('\n');
      }),
  });
}

async function sortedEntries(folder: Folder): Promise<Dirent[]> {
  const entries = await readdir(folder.self, { withFileTypes: true });
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function nameOf(entry: Dirent): string {
  return `${printable(entry.name)}${entry.isDirectory() ? '/' : ''}`;
}

/** A name with a line break must not pass for two. */
function printable(name: string): string {
  return /\p{Cc}/u.test(name) ? JSON.stringify(name) : name;
}

function searchTool(workspace: string, host: SearchHost): BuiltIn {
  return define({
    name: 'search',
    description:
      'Find lines that contain a literal text (no regular expression, case-sensitive) in the files below a folder, or in one file. Skips binary files, .git and node_modules.',
    repeatable: 'yes',
    changes: 'no',
    args: z.strictObject({
      pattern: z
        .string()
        .min(1)
        .max(1_000)
        .regex(/^[^\n]*$/, 'must be one line'),
      path: z.string().min(1).optional(),
    }),
    run: ({ pattern, path = '.' }, { signal }) =>
      about(path, async () => {
        const place = await locate(workspace, path);
        const until = host.clock.now() + SEARCH_MS_MAX;
        const mayGoOn = (): boolean => {
          if (signal.aborted) throw new ToolProblem('ended', 'ended before all was searched');
          return host.clock.now() < until;
        };
        const search = new Search(pattern, { mayGoOn, mask: host.mask });
        await search.at(place);
        return search.report(place.shown);
      }),
  });
}

interface SearchContext {
  /** False when the time is up; throws when the call was ended. */
  readonly mayGoOn: () => boolean;
  readonly mask: (text: string) => string;
}

class Search {
  readonly #pattern: Literal;
  readonly #context: SearchContext;
  readonly #found: string[] = [];
  #files = 0;
  #large = 0;
  #stopped: string | undefined;

  constructor(pattern: string, context: SearchContext) {
    this.#pattern = new Literal(pattern);
    this.#context = context;
  }

  async at(place: Place): Promise<void> {
    const name = place.segments.at(-1);
    if (name === undefined) {
      await using root = await openFolder(place.root, []);
      return await this.#inFolder(root, '', 0);
    }
    await using parent = await openFolder(place.root, place.segments.slice(0, -1));
    if (!(await lstat(parent.at(name))).isDirectory())
      return await this.#inFile(parent, name, place.shown);
    await using folder = await openFolderIn(parent, name);
    await this.#inFolder(folder, `${place.shown}/`, 0);
  }

  report(shown: string): string {
    const notes = [
      ...(this.#stopped === undefined ? [] : [`stopped: ${this.#stopped}; search a narrower path`]),
      ...(this.#large === 0 ? [] : [`${this.#large} files over the size limit were not searched`]),
    ];
    const found = this.#found.length === 0 ? [`nothing found in ${shown}`] : this.#found;
    return [...found, ...notes.map((note) => `[${note}]`)].join('\n');
  }

  async #inFolder(folder: Folder, prefix: string, depth: number): Promise<void> {
    for (const entry of await sortedEntries(folder)) {
      if (this.#isOver(depth)) return;
      if (entry.isFile()) await this.#inFile(folder, entry.name, `${prefix}${entry.name}`);
      if (!entry.isDirectory() || PASSED_OVER.has(entry.name)) continue;
      await using inner = await openIfThere(folder, entry.name);
      if (inner !== undefined) await this.#inFolder(inner, `${prefix}${entry.name}/`, depth + 1);
    }
  }

  #isOver(depth: number): boolean {
    if (!this.#context.mayGoOn()) this.#stopped ??= 'it took too long';
    if (depth > DEPTH_MAX) this.#stopped ??= `folders over ${DEPTH_MAX} deep`;
    if (this.#files >= FILES_MAX) this.#stopped ??= `over ${FILES_MAX} files`;
    return this.#stopped !== undefined;
  }

  async #inFile(folder: Folder, name: string, shown: string): Promise<void> {
    this.#files += 1;
    const text = await this.#textOf(folder, name);
    if (text === undefined) return;
    let line = 1;
    let counted = 0;
    for (let at = this.#pattern.find(text); at !== -1;) {
      if (this.#found.length === MATCHES_MAX) {
        this.#stopped = `over ${MATCHES_MAX} matches`;
        return;
      }
      line += linesBetween(text, counted, at);
      counted = at;
      this.#found.push(`${printable(shown)}:${line}: ${excerpt(text, at, this.#context.mask)}`);
      const end = text.indexOf('\n', at);
      at = end === -1 ? -1 : this.#pattern.find(text, end + 1);
    }
  }

  /** Undefined for what cannot be searched: gone meanwhile, unreadable, large, binary. */
  async #textOf(folder: Folder, name: string): Promise<string | undefined> {
    try {
      await using handle = await openFileIn(folder, name);
      if ((await handle.stat()).size > LIMITS.toolFileBytesMax) {
        this.#large += 1;
        return undefined;
      }
      return textOf(await readWhole(handle, name));
    } catch (error) {
      if (error instanceof ToolProblem || codeOf(error) !== undefined) return undefined;
      throw error;
    }
  }
}

async function openIfThere(folder: Folder, name: string): Promise<Folder | undefined> {
  try {
    return await openFolderIn(folder, name);
  } catch {
    return undefined;
  }
}

function linesBetween(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) {
    count += 1;
  }
  return count;
}

/** The line around a match, cut to what helps; masked before it is cut, as half a secret is not found. */
function excerpt(text: string, at: number, mask: (text: string) => string): string {
  const lineStart = text.lastIndexOf('\n', at) + 1;
  const lineEnd = text.indexOf('\n', at);
  const line = text.slice(lineStart, lineEnd === -1 ? text.length : lineEnd);
  const masked = mask(line);
  const start = masked === line ? Math.max(0, at - lineStart - SHOWN_BEFORE) : 0;
  return masked.slice(start, start + SHOWN_CHARS).toWellFormed();
}
