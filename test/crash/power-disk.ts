// A disk that loses its power: what was synced is there, of the rest whatever luck leaves. A file's bytes are
// durable after a sync of the file, its entry after a sync of the folder it lies in. Entries of one folder come
// back in their order, as every journalled file system keeps it; bytes come back by the sector, in none.
import { dirname } from 'node:path';
import type { Random } from '../../src/testing/sim-random.ts';
import type { Call, Trace } from './power-trace.ts';

const SECTOR = 512;

export interface Image {
  readonly files: ReadonlyMap<string, Buffer>;
  /** What was said before the cut: the ids by their word. */
  readonly said: ReadonlyMap<string, readonly string[]>;
}

/** The disk after power was cut at each of `cuts`, which ascend. */
export function* imagesAt(
  trace: Trace,
  cuts: readonly { readonly at: number; readonly random: Random }[],
): Generator<Image> {
  const disk = new Disk();
  const said = new Map<string, string[]>();
  let place = 0;
  for (const { at, random } of cuts) {
    for (; place < at; place += 1) {
      const call = trace.calls[place];
      if (call === undefined) continue;
      if (call.kind === 'said') said.set(call.word, [...(said.get(call.word) ?? []), call.id]);
      else disk.follow(call);
    }
    yield { files: disk.afterCut(random), said: new Map(said) };
  }
}

type Change = Extract<Call, { readonly kind: 'write' | 'truncate' }>;
type Entry = Extract<Call, { readonly kind: 'create' | 'unlink' | 'rename' }>;

/** A file, or a folder, apart from its name. */
interface File {
  readonly isFile: boolean;
  readonly durable: Content;
  readonly pending: Change[];
}

class Disk {
  /** As the running system sees them. */
  readonly #files = new Map<string, File>();
  readonly #durable = new Map<string, File>();
  /** Changes of the entries of each folder that were not synced. */
  readonly #pending = new Map<string, { readonly entry: Entry; readonly file: File }[]>();

  follow(call: Exclude<Call, { readonly kind: 'said' }>): void {
    if (call.kind === 'sync') this.#sync(call.path);
    else if (call.kind === 'write' || call.kind === 'truncate')
      this.#files.get(call.path)?.pending.push(call);
    else this.#enter(call);
  }

  #enter(entry: Entry): void {
    // Opened to be made if it is not there, and it is.
    if (entry.kind === 'create' && this.#files.has(entry.path)) return;
    const file = this.#files.get(entry.path) ?? freshFile(entry);
    const folder = dirname(entry.path);
    this.#pending.set(folder, [...(this.#pending.get(folder) ?? []), { entry, file }]);
    enter(this.#files, entry, file);
  }

  #sync(path: string): void {
    const file = this.#files.get(path);
    for (const change of file?.pending.splice(0) ?? []) file?.durable.apply(change);
    for (const { entry, file: of } of this.#pending.get(path) ?? [])
      enter(this.#durable, entry, of);
    this.#pending.delete(path);
  }

  afterCut(random: Random): ReadonlyMap<string, Buffer> {
    const entries = new Map(this.#durable);
    for (const pending of this.#pending.values()) {
      const kept = random.below(pending.length + 1);
      for (const { entry, file } of pending.slice(0, kept)) enter(entries, entry, file);
    }
    const files = [...entries].filter(([path, { isFile }]) => isFile && isReached(entries, path));
    return new Map(files.map(([path, file]) => [path, bytesOf(file, random)]));
  }
}

function freshFile(entry: Entry): File {
  const isFile = entry.kind !== 'create' || !entry.isFolder;
  return { isFile, durable: new Content(), pending: [] };
}

function enter(entries: Map<string, File>, entry: Entry, file: File): void {
  if (entry.kind === 'create') entries.set(entry.path, file);
  else entries.delete(entry.path);
  if (entry.kind === 'rename') entries.set(entry.to, file);
}

/** A file whose folder has no entry is nowhere. */
function isReached(entries: ReadonlyMap<string, File>, path: string): boolean {
  const folder = dirname(path);
  return folder === '.' || (entries.has(folder) && isReached(entries, folder));
}

/** Of each change that was not synced all, nothing, or some of its sectors. */
function bytesOf({ durable, pending }: File, random: Random): Buffer {
  const content = durable.copy();
  for (const change of pending) {
    const luck = random.below(3);
    if (luck === 0) continue;
    if (luck === 1 || change.kind === 'truncate') content.apply(change);
    else for (const piece of sectorsOf(change, random)) content.apply(piece);
  }
  return content.bytes;
}

/** Of a write those sectors that luck leaves. */
function* sectorsOf(
  change: Extract<Change, { readonly kind: 'write' }>,
  random: Random,
): Generator<Change> {
  const end = change.offset + change.bytes.length;
  for (let at = change.offset; at < end;) {
    const next = Math.min(end, (Math.floor(at / SECTOR) + 1) * SECTOR);
    const bytes = change.bytes.subarray(at - change.offset, next - change.offset);
    if (random.chance(0.5)) yield { ...change, offset: at, bytes };
    at = next;
  }
}

/** A file's bytes that grow without being copied each time. */
class Content {
  #bytes = Buffer.alloc(1 << 16);
  #size = 0;

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  copy(): Content {
    const twin = new Content();
    twin.#write(0, this.bytes);
    return twin;
  }

  apply(change: Change): void {
    if (change.kind === 'truncate') this.#resize(change.size);
    else this.#write(change.offset, change.bytes);
  }

  #resize(size: number): void {
    if (size > this.#bytes.length) {
      const wider = Buffer.alloc(size * 2);
      this.#bytes.copy(wider);
      this.#bytes = wider;
    }
    if (size < this.#size) this.#bytes.fill(0, size, this.#size);
    this.#size = size;
  }

  #write(offset: number, bytes: Buffer): void {
    if (offset + bytes.length > this.#size) this.#resize(offset + bytes.length);
    bytes.copy(this.#bytes, offset);
  }
}
