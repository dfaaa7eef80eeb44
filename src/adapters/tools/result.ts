// A result over the cap is cut in its middle, and the whole stands in a file of the workspace that
// the marker names (E-3).
import { unlink, type FileHandle } from 'node:fs/promises';
import { LIMITS } from '../../kernel/limits.ts';
import { createIn } from './files.ts';
import { problemOf } from './problem.ts';
import { codeOf, locate, openFolder } from './workspace-path.ts';

/** Kept whole in a file up to here; a command that writes more is ended. */
export const RESULT_FILE_BYTES_MAX = 50_000_000;
const RESULTS_FOLDER = '.sekisho/results';
/** Room for the marker, and for the line that a tool puts before its output. */
const MARKER_BYTES = 600;
const HEAD_PART = 0.6;

/** Collects one result piece by piece and keeps no more of it in memory than the model gets. */
export class ResultText {
  readonly #workspace: string;
  readonly #name: string;
  readonly #headMax: number;
  readonly #tailMax: number;
  #whole: Buffer[] | undefined = [];
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);
  #total = 0;
  #kept = 0;
  #file: FileHandle | undefined;
  #fileProblem: string | undefined;
  #queue: Promise<void> = Promise.resolve();

  constructor(workspace: string, stepId: string, capBytes: number = LIMITS.toolOutputBytesMax) {
    this.#workspace = workspace;
    this.#name = `${stepId.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 100) || '_'}.txt`;
    const room = capBytes - MARKER_BYTES;
    this.#headMax = Math.floor(room * HEAD_PART);
    this.#tailMax = room - this.#headMax;
  }

  /** More was given than is kept anywhere. */
  get isOverflowing(): boolean {
    return this.#total > RESULT_FILE_BYTES_MAX;
  }

  /** Takes the next piece; resolves when there is room for another. Never rejects. */
  add(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    this.#total += bytes.length;
    this.#queue = this.#queue.then(() => this.#take(bytes));
    return this.#queue;
  }

  /** The text for the model, when the whole is durable. Never rejects. */
  async end(): Promise<string> {
    await this.#queue;
    if (this.#whole !== undefined) return Buffer.concat(this.#whole).toString();
    await this.#close();
    return `${upToCharacter(this.#head)}\n${this.#marker()}\n${fromCharacter(this.#tail)}`;
  }

  async #take(bytes: Buffer): Promise<void> {
    if (this.#whole === undefined) {
      this.#tail = Buffer.concat([this.#tail, bytes]).subarray(-this.#tailMax);
      await this.#keep(bytes);
      return;
    }
    this.#whole.push(bytes);
    const length = this.#whole.reduce((sum, piece) => sum + piece.length, 0);
    if (length <= this.#headMax + this.#tailMax) return;
    const all = Buffer.concat(this.#whole);
    this.#whole = undefined;
    this.#head = all.subarray(0, this.#headMax);
    this.#tail = all.subarray(this.#headMax).subarray(-this.#tailMax);
    await this.#open();
    await this.#keep(all);
  }

  async #open(): Promise<void> {
    try {
      const place = await locate(this.#workspace, RESULTS_FOLDER);
      await using folder = await openFolder(place.root, place.segments, true);
      // A repeated step finds the file of its first try.
      await unlink(folder.at(this.#name)).catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error;
      });
      this.#file = await createIn(folder, this.#name);
    } catch (error) {
      this.#fileProblem = problemOf(error, RESULTS_FOLDER).message;
    }
  }

  async #keep(bytes: Buffer): Promise<void> {
    const part = bytes.subarray(0, Math.max(0, RESULT_FILE_BYTES_MAX - this.#kept));
    if (this.#file === undefined || this.#fileProblem !== undefined || part.length === 0) return;
    try {
      await this.#file.appendFile(part);
      this.#kept += part.length;
    } catch (error) {
      this.#fileProblem = problemOf(error, RESULTS_FOLDER).message;
    }
  }

  async #close(): Promise<void> {
    try {
      await this.#file?.sync();
    } catch (error) {
      this.#fileProblem ??= problemOf(error, RESULTS_FOLDER).message;
    } finally {
      await this.#file?.close().catch(() => undefined);
    }
  }

  #marker(): string {
    const cut = `[cut here: ${this.#total} bytes in all`;
    if (this.#fileProblem !== undefined) {
      return `${cut}; the whole could not be kept: ${this.#fileProblem.slice(0, 200)}]`;
    }
    const file = `${RESULTS_FOLDER}/${this.#name}`;
    return this.#kept < this.#total
      ? `${cut}; the first ${this.#kept} are in ${file}]`
      : `${cut}; the whole is in ${file}]`;
  }
}

function isInside(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Without the character that the end of the bytes cuts. */
function upToCharacter(bytes: Buffer): string {
  let start = bytes.length - 1;
  while (start > 0 && isInside(bytes[start])) start -= 1;
  const first = bytes[start] ?? 0;
  const length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return bytes.subarray(0, start + length > bytes.length ? start : bytes.length).toString();
}

function fromCharacter(bytes: Buffer): string {
  let start = 0;
  while (start < 4 && isInside(bytes[start])) start += 1;
  return bytes.subarray(start).toString();
}
