import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** One traced call, in the order in which the kernel answered it. */
type Call =
  | {
      readonly kind: 'write';
      readonly file: string;
      readonly offset: number;
      readonly bytes: Buffer;
    }
  | { readonly kind: 'truncate'; readonly file: string; readonly size: number }
  | { readonly kind: 'sync'; readonly file: string }
  | { readonly kind: 'unlink'; readonly file: string }
  | { readonly kind: 'ack'; readonly id: string };

export interface Trace {
  readonly calls: readonly Call[];
  readonly syncs: { readonly fsync: number; readonly fdatasync: number };
}

const CALLS = 'pwrite64,fsync,fdatasync,ftruncate,unlink,write';

/** Runs a child under strace and reads what it did to the files of `folder`. */
export function traceChild(argv: readonly string[], folder: string): Trace {
  const log = join(folder, 'trace.log');
  execFileSync(
    'strace',
    ['-f', '-y', '-xx', '-s', '400000', '-e', `trace=${CALLS}`, '-o', log, ...argv],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      maxBuffer: 1 << 28,
    },
  );
  const text = readFileSync(log, 'latin1');
  rmSync(log);
  const lines = whole(text.split('\n'));
  const calls = lines.flatMap((line) => readCall(line, folder) ?? []);
  const count = (name: string): number =>
    lines.filter((line) => line.startsWith(`${name}(`)).length;
  return { calls, syncs: { fsync: count('fsync'), fdatasync: count('fdatasync') } };
}

/** Joins calls that another thread's line cut in two. */
function whole(lines: readonly string[]): readonly string[] {
  const open = new Map<string, string>();
  const joined: string[] = [];
  for (const line of lines) {
    const match = /^(\d+) +(.*)$/.exec(line);
    if (match === null) continue;
    const [, pid = '', call = ''] = match;
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(call);
    if (call.endsWith('<unfinished ...>'))
      open.set(pid, call.slice(0, -'<unfinished ...>'.length).trimEnd());
    else if (resumed === null) joined.push(call);
    else joined.push(`${open.get(pid) ?? ''}${resumed[1] ?? ''}`);
  }
  return joined;
}

function readCall(line: string, folder: string): Call | undefined {
  const name = /^(\w+)\(/.exec(line)?.[1];
  if (name === undefined || / = -1 /.test(line)) return undefined;
  if (name === 'write') return readAck(line);
  const path = pathOf(line);
  if (!path.startsWith(folder) || path.endsWith('-shm')) return undefined;
  return READERS[name]?.(line, basename(path));
}

/** `fsync(3<path>)` as `-y` decodes a handle, or `unlink("path")`. */
function pathOf(line: string): string {
  const [, handle, name] = /^\w+\((?:\d+<([^>]*)>|"([^"]*)")/.exec(line) ?? [];
  return unescape(handle ?? name ?? '').toString();
}

const READERS: Readonly<Record<string, (line: string, file: string) => Call>> = {
  unlink: (_line, file) => ({ kind: 'unlink', file }),
  fsync: (_line, file) => ({ kind: 'sync', file }),
  fdatasync: (_line, file) => ({ kind: 'sync', file }),
  ftruncate: (line, file) => ({
    kind: 'truncate',
    file,
    size: Number(partsOf(/, (\d+)\) = 0/, line)[1]),
  }),
  pwrite64(line, file) {
    const [, data = '', offset] = partsOf(/, "([^"]*)", \d+, (\d+)\) = \d+/, line);
    return { kind: 'write', file, offset: Number(offset), bytes: unescape(data) };
  },
};

/** A call that cannot be read would be left out of every image: what it wrote would count as lost. */
function partsOf(pattern: RegExp, line: string): RegExpExecArray {
  const parts = pattern.exec(line);
  if (parts === null)
    throw new Error(`the trace has a call that cannot be read: ${line.slice(-200)}`);
  return parts;
}

function readAck(line: string): Call | undefined {
  const [, data] = /^write\(1<[^>]*>, "([^"]*)"/.exec(line) ?? [];
  if (data === undefined) return undefined;
  const [, id] = /^ACK (\S+)\n$/.exec(unescape(data).toString()) ?? [];
  return id === undefined ? undefined : { kind: 'ack', id };
}

function unescape(text: string): Buffer {
  return text.includes('\\x')
    ? Buffer.from(text.replaceAll('\\x', ''), 'hex')
    : Buffer.from(text, 'latin1');
}

export interface Image {
  readonly files: ReadonlyMap<string, Content>;
  readonly acked: readonly string[];
}

/**
 * The files as a disk that lost power at each of `cuts` (ascending) may hold them: what was synced and
 * a random half of what was not, and which messages were acknowledged by then.
 */
export function* imagesAt(
  trace: Trace,
  cuts: readonly number[],
  random: () => number,
): Generator<Image> {
  const durable = new Map<string, Content>();
  const pending = new Map<string, Call[]>();
  const acked: string[] = [];
  let place = 0;
  for (const cut of cuts) {
    for (; place < cut; place += 1) {
      const call = trace.calls[place];
      if (call !== undefined) follow(call, { durable, pending, acked });
    }
    const files = new Map([...durable].map(([name, content]) => [name, content.copy()]));
    const luck = [...pending.values()].flat().filter(() => random() < 0.5);
    for (const call of luck) apply(files, call);
    yield { files, acked: [...acked] };
  }
}

interface Disk {
  readonly durable: Map<string, Content>;
  readonly pending: Map<string, Call[]>;
  readonly acked: string[];
}

function follow(call: Call, { durable, pending, acked }: Disk): void {
  if (call.kind === 'ack') acked.push(call.id);
  else if (call.kind === 'unlink') {
    durable.delete(call.file);
    pending.delete(call.file);
  } else if (call.kind === 'sync') {
    for (const one of pending.get(call.file) ?? []) apply(durable, one);
    pending.delete(call.file);
  } else {
    const calls = pending.get(call.file) ?? [];
    calls.push(call);
    pending.set(call.file, calls);
  }
}

function apply(files: Map<string, Content>, call: Call): void {
  if (call.kind !== 'write' && call.kind !== 'truncate') return;
  const content = files.get(call.file) ?? new Content();
  files.set(call.file, content);
  if (call.kind === 'truncate') content.resize(call.size);
  else content.write(call.offset, call.bytes);
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
    twin.write(0, this.bytes);
    return twin;
  }

  resize(size: number): void {
    if (size > this.#bytes.length) {
      const wider = Buffer.alloc(size * 2);
      this.#bytes.copy(wider);
      this.#bytes = wider;
    }
    if (size < this.#size) this.#bytes.fill(0, size, this.#size);
    this.#size = size;
  }

  write(offset: number, bytes: Buffer): void {
    if (offset + bytes.length > this.#size) this.resize(offset + bytes.length);
    bytes.copy(this.#bytes, offset);
  }
}

export interface Judged {
  readonly lost: readonly string[];
  readonly corrupt: boolean;
}

/** Opens an image as a restarted host would and looks for each acknowledged message. */
export function judgeImage(folder: string, image: Image, store: string): Judged {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, { bytes }] of image.files) writeFileSync(join(folder, name), bytes);
  const db = new DatabaseSync(join(folder, store));
  try {
    const corrupt = db.prepare('pragma integrity_check').get()?.['integrity_check'] !== 'ok';
    if (db.prepare("select 1 from sqlite_schema where name = 'message'").get() === undefined) {
      return { lost: image.acked, corrupt };
    }
    const known = db.prepare('select 1 from message where id = ?');
    return { lost: image.acked.filter((id) => known.get(id) === undefined), corrupt };
  } catch {
    return { lost: image.acked, corrupt: true };
  } finally {
    db.close();
  }
}
