// What a traced process did to the files below a folder, and what it said meanwhile.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/** One call, in the order in which the kernel answered it. Paths are within the folder. */
export type Call =
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly offset: number;
      readonly bytes: Buffer;
    }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  | { readonly kind: 'sync'; readonly path: string }
  | { readonly kind: 'create'; readonly path: string; readonly isFolder: boolean }
  | { readonly kind: 'unlink'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'said'; readonly word: string; readonly id: string };

export interface Trace {
  readonly calls: readonly Call[];
  readonly syncs: { readonly fsync: number; readonly fdatasync: number };
}

const CALLS = 'pwrite64,fsync,fdatasync,ftruncate,unlink,rename,mkdir,openat,write';

/** Runs a child under strace and reads what it did below `folder`. */
export function traceChild(argv: readonly string[], folder: string): Trace {
  const log = join(folder, 'trace.log');
  const how = ['-f', '--seccomp-bpf', '-y', '-xx', '-s', '400000', '-e', `trace=${CALLS}`];
  execFileSync('strace', [...how, '-o', log, ...argv], {
    stdio: ['ignore', 'ignore', 'inherit'],
    maxBuffer: 1 << 28,
  });
  const text = readFileSync(log, 'latin1');
  rmSync(log);
  const lines = whole(text.split('\n'));
  const count = (name: string): number =>
    lines.filter((line) => line.startsWith(`${name}(`)).length;
  return {
    calls: lines.flatMap((line) => readCall(line, folder) ?? []),
    syncs: { fsync: count('fsync'), fdatasync: count('fdatasync') },
  };
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

function readCall(line: string, root: string): Call | undefined {
  const name = /^(\w+)\(/.exec(line)?.[1];
  if (name === undefined || /\) += -1 /.test(line)) return undefined;
  if (name === 'write') return readSaid(line);
  const path = pathOf(line);
  // What all processes share of a log lives in memory: SQLite makes it anew after a crash.
  if (path.endsWith('-shm') || isAbsolute(within(root, path))) return undefined;
  return READERS[name]?.(line, within(root, path), root);
}

/** A path as the folder sees it; one that is outside stays as it is, the folder itself is `.`. */
function within(root: string, path: string): string {
  if (path === root) return '.';
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

/** `fsync(3<path>)` as `-y` decodes a handle, `unlink("path")`, or `openat(AT_FDCWD<folder>, "path"`. */
function pathOf(line: string): string {
  const [, handle, name] =
    /^(?!openat)\w+\((?:\d+<([^>]*)>|"([^"]*)")/.exec(line) ??
    /^openat\((AT_FDCWD)[^,]*, "([^"]*)"/.exec(line)?.with(1, '') ??
    [];
  return unescape(handle || (name ?? '')).toString();
}

const READERS: Readonly<
  Record<string, (line: string, path: string, root: string) => Call | undefined>
> = {
  unlink: (_line, path) => ({ kind: 'unlink', path }),
  mkdir: (_line, path) => ({ kind: 'create', path, isFolder: true }),
  fsync: (_line, path) => ({ kind: 'sync', path }),
  fdatasync: (_line, path) => ({ kind: 'sync', path }),
  openat: (line, path) =>
    line.includes('O_CREAT') ? { kind: 'create', path, isFolder: false } : undefined,
  rename(line, path, root) {
    const [, to = ''] = partsOf(/, "([^"]*)"\) += 0/, line);
    return { kind: 'rename', path, to: within(root, unescape(to).toString()) };
  },
  ftruncate: (line, path) => ({
    kind: 'truncate',
    path,
    size: Number(partsOf(/, (\d+)\) += 0/, line)[1]),
  }),
  pwrite64(line, path) {
    const [, data = '', offset] = partsOf(/, "([^"]*)", \d+, (\d+)\) += \d+/, line);
    return { kind: 'write', path, offset: Number(offset), bytes: unescape(data) };
  },
};

/** A call that cannot be read would be left out of every image: what it wrote would count as lost. */
function partsOf(pattern: RegExp, line: string): RegExpExecArray {
  const parts = pattern.exec(line);
  if (parts === null)
    throw new Error(`the trace has a call that cannot be read: ${line.slice(-200)}`);
  return parts;
}

function readSaid(line: string): Call | undefined {
  const [, data] = /^write\(1<[^>]*>, "([^"]*)"/.exec(line) ?? [];
  if (data === undefined) return undefined;
  const [, word, id] = /^([A-Z]+) (\S+)\n$/.exec(unescape(data).toString()) ?? [];
  return word === undefined || id === undefined ? undefined : { kind: 'said', word, id };
}

function unescape(text: string): Buffer {
  return text.includes('\\x')
    ? Buffer.from(text.replaceAll('\\x', ''), 'hex')
    : Buffer.from(text, 'latin1');
}
