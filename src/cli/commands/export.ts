import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { link, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ask } from '../connect.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { SECOND } from '../../kernel/time.ts';
import { CommandEnd } from '../exit.ts';
import { printError } from '../print.ts';
import type { ReadOptions } from '../program.ts';
import { Progress } from '../progress.ts';

export interface ExportOptions extends ReadOptions {
  /** Replaces a file that is there. */
  readonly force?: boolean;
}

/** `export`: everything that people own here, to a file or to stdout. */
export async function exportAll(file: string | undefined, options: ExportOptions): Promise<void> {
  const path = file === undefined || file === '-' ? undefined : resolve(file);
  if (path !== undefined && options.force !== true && existsSync(path)) throw taken(path);
  await ask(options, async ({ client }) => {
    const pieces = whole(await client.exportAll());
    if (path === undefined) await toStdout(pieces);
    else await toFile(pieces, path, options);
  });
}

const NEWLINE = 0x0a;
/** The last line is shorter than this. */
const TAIL_BYTES = 200;

/** Passes bytes on and ends with an error unless the last line was among them. */
async function* whole(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const progress = new Progress('records');
  let lines = -1;
  let tail = Buffer.alloc(0);
  let stood = 0;
  try {
    for await (const piece of stream) {
      const given = performance.now();
      yield piece;
      stood = Math.max(stood, performance.now() - given);
      for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, at + 1))
        lines += 1;
      tail = Buffer.concat([tail, piece.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
      progress.count(lines);
    }
  } catch (error) {
    throw brokenOff(stood, error);
  } finally {
    progress.end();
  }
  const last = tail.toString('utf8').split('\n').at(-2) ?? '';
  if (!last.startsWith('{"kind":"end"')) throw brokenOff(stood);
}

/** `stood`: the longest that whoever reads the output took nothing of it, in milliseconds. */
function brokenOff(stood: number, cause?: unknown): CommandEnd {
  const why = 'The export broke off before its end, so what there is of it cannot be imported.';
  return new CommandEnd('failed', `${why} ${wayOf(stood)}`, { cause });
}

function wayOf(stood: number): string {
  const { exportStallMs } = LIMITS;
  if (stood < exportStallMs) return 'Run the command again.';
  return (
    `Whoever reads it took nothing for ${exportStallMs / SECOND} s, and then the host cuts it off.` +
    ' Write it to a file: sekisho export FILE'
  );
}

async function toStdout(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of pieces) {
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
  }
}

/** Whole or not at all: the file has its name once every byte of it is on the disk. */
async function toFile(
  pieces: AsyncIterable<Uint8Array>,
  path: string,
  { force = false }: ExportOptions,
): Promise<void> {
  const draft = join(dirname(path), `.${process.pid}.${Date.now()}.sekisho-export`);
  const file = await openDraft(draft, path);
  try {
    try {
      for await (const piece of pieces) await file.writeFile(piece);
      await file.sync();
    } finally {
      await file.close();
    }
    await (force ? rename(draft, path) : link(draft, path));
  } catch (error) {
    throw isTaken(error) ? taken(path) : error;
  } finally {
    await rm(draft, { force: true });
  }
  printError(`Exported to ${path}.`);
}

async function openDraft(draft: string, path: string): Promise<FileHandle> {
  try {
    return await open(draft, 'wx', 0o600);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed';
    throw new CommandEnd('usage', `${path} cannot be written (${code}).`, { cause: error });
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}

function taken(path: string): CommandEnd {
  return new CommandEnd('refused', `${path} is there already. Name another file, or say --force.`);
}
