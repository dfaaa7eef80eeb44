import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { LIMITS } from '../../kernel/limits.ts';
import { chunksOf, readText, writeWhole } from './files.ts';
import { Literal } from './literal.ts';
import { about } from './problem.ts';
import { define, type BuiltIn } from './tool.ts';
import { ToolProblem } from './tool-problem.ts';
import { locate, openFile, type Place } from './workspace-path.ts';

const LINES_DEFAULT = 2_000;
/** What one page may hold, below the cap of a result so that its last line still fits. */
const PAGE_BYTES_MAX = LIMITS.toolOutputBytesMax - 2_000;
/** How far into a file a page may begin. */
const SCAN_BYTES_MAX = 200_000_000;

/** How far the places of what is to be replaced are counted. */
const TIMES_MAX = 1_000;

const path = z.string().min(1);
const content = z.string().max(LIMITS.toolFileBytesMax);

/** `read`, `write` and `edit`, on the files of one workspace. */
export function fileTools(workspace: string, mask: (text: string) => string): readonly BuiltIn[] {
  return [readTool(workspace, mask), writeTool(workspace), editTool(workspace)];
}

function readTool(workspace: string, mask: (text: string) => string): BuiltIn {
  return define({
    name: 'read',
    description: `Read lines of a text file in the workspace. Paths are relative to the workspace. offset is the first line (from 1), limit the number of lines (default ${LINES_DEFAULT}).`,
    repeatable: 'yes',
    changes: 'no',
    args: z.strictObject({
      path,
      offset: z.int().min(1).optional(),
      limit: z.int().min(1).max(100_000).optional(),
    }),
    run: (args, { signal }) =>
      about(args.path, async () => {
        const place = await locate(workspace, args.path);
        return page(place, {
          first: args.offset ?? 1,
          limit: args.limit ?? LINES_DEFAULT,
          mask,
          signal,
        });
      }),
  });
}

function writeTool(workspace: string): BuiltIn {
  return define({
    name: 'write',
    description: 'Write a whole file in the workspace, replacing it or making it and its folders.',
    repeatable: 'yes',
    changes: 'yes',
    args: z.strictObject({ path, content }),
    paths: (args) => [args.path],
    run: (args) =>
      about(args.path, async () => {
        const place = await locate(workspace, args.path);
        await writeWhole(place, args.content);
        return `wrote ${Buffer.byteLength(args.content)} bytes to ${place.shown}`;
      }),
  });
}

function editTool(workspace: string): BuiltIn {
  return define({
    name: 'edit',
    description: 'Replace text in a file. old must match exactly and occur exactly once.',
    repeatable: 'no',
    changes: 'yes',
    args: z.strictObject({ path, old: z.string().min(1), new: content }),
    paths: (args) => [args.path],
    run: (args) =>
      about(args.path, async () => {
        const place = await locate(workspace, args.path);
        const text = await readText(place);
        const at = onlyPlaceOf(args.old, text);
        if (typeof at !== 'number') throw new ToolProblem('refused', `${place.shown}: ${at.why}`);
        await writeWhole(place, text.slice(0, at) + args.new + text.slice(at + args.old.length));
        return `edited ${place.shown} at line ${text.slice(0, at).split('\n').length}`;
      }),
  });
}

function onlyPlaceOf(old: string, text: string): number | { readonly why: string } {
  let first = -1;
  let times = 0;
  for (const at of new Literal(old).in(text)) {
    if (times === 0) first = at;
    times += 1;
    if (times === TIMES_MAX) break;
  }
  if (times === 0) return { why: 'old does not occur (0 times); it must match exactly' };
  return times === 1 ? first : { why: `old occurs ${times} times; give more of what is around it` };
}

interface PageRequest {
  readonly first: number;
  readonly limit: number;
  readonly mask: (text: string) => string;
  readonly signal: AbortSignal;
}

async function page(place: Place, request: PageRequest): Promise<string> {
  await using handle = await openFile(place);
  const lines = new PageLines(request);
  const isText = await readInto(lines, handle, { place, signal: request.signal });
  return isText
    ? lines.end(place.shown)
    : `${place.shown}: a binary file of ${(await handle.stat()).size} bytes`;
}

/** False when what was read is no text. */
async function readInto(
  lines: PageLines,
  handle: FileHandle,
  { place, signal }: { readonly place: Place; readonly signal: AbortSignal },
): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let scanned = 0;
  for await (const chunk of chunksOf(handle)) {
    if (signal.aborted) throw new ToolProblem('ended', 'ended before it was read');
    const text = chunk.includes(0) ? undefined : decoded(decoder, chunk);
    if (text === undefined) return false;
    lines.add(text);
    if (lines.isFull) return true;
    scanned += chunk.length;
    if (scanned > SCAN_BYTES_MAX) {
      throw new ToolProblem('refused', `${place.shown}: goes on after ${SCAN_BYTES_MAX} bytes`);
    }
  }
  return decoded(decoder, undefined) !== undefined;
}

/** The next piece, or with none the check that the last character was whole. */
function decoded(
  decoder: InstanceType<typeof TextDecoder>,
  chunk: Uint8Array | undefined,
): string | undefined {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined });
  } catch {
    return undefined;
  }
}

/** Picks the wanted lines out of text that comes in pieces. */
class PageLines {
  readonly #request: PageRequest;
  readonly #taken: string[] = [];
  #bytes = 0;
  #line = 1;
  #partial = '';
  #isLong = false;
  /** Set once a line is there that does not go on this page. */
  isFull = false;

  constructor(request: PageRequest) {
    this.#request = request;
  }

  add(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
    if (this.#partial.length > PAGE_BYTES_MAX) this.#shorten();
  }

  end(shown: string): string {
    if (this.#partial !== '') this.#take(this.#partial);
    const last = this.#request.first + this.#taken.length - 1;
    const text = this.#taken.join('\n');
    if (this.#taken.length === 0) return this.#nothing(shown);
    const notes = [
      ...(this.#isLong ? ['a line is too long and was cut'] : []),
      ...(this.isFull ? [`more follows; go on with offset ${last + 1}`] : []),
    ];
    if (notes.length === 0) return text;
    return `${text}\n[lines ${this.#request.first}-${last} of ${shown}: ${notes.join('; ')}]`;
  }

  #nothing(shown: string): string {
    const lines = this.#line - 1;
    return lines === 0 ? `${shown}: an empty file` : `${shown}: has only ${lines} lines`;
  }

  #take(line: string): void {
    if (this.isFull) return;
    const isWanted = this.#line >= this.#request.first;
    if (isWanted && !this.#put(line)) this.isFull = true;
    else this.#line += 1;
  }

  #put(line: string): boolean {
    if (this.#taken.length === this.#request.limit) return false;
    let text = this.#request.mask(line);
    if (Buffer.byteLength(text) > PAGE_BYTES_MAX) {
      if (this.#taken.length > 0) return false;
      this.#isLong = true;
      // A character has at most 4 bytes.
      text = text.slice(0, PAGE_BYTES_MAX / 4).toWellFormed();
    }
    const bytes = Buffer.byteLength(text) + 1;
    if (this.#taken.length > 0 && this.#bytes + bytes > PAGE_BYTES_MAX) return false;
    this.#bytes += bytes;
    this.#taken.push(text);
    return true;
  }

  /** A line without an end must not fill the memory; its beginning is all that a page shows. */
  #shorten(): void {
    this.#partial = this.#partial.slice(0, 2 * PAGE_BYTES_MAX);
  }
}
