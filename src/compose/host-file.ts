import { readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onDisk } from './disk-fault.ts';

/** `DATA/host.json`: where the running host is found. It exists while the host runs. */
export interface HostFile {
  readonly url: string;
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
}

function pathOf(data: string): string {
  return join(data, 'host.json');
}

/** Whole or not at all: a reader never meets half of it. Throws the `Fault` of a disk that refuses. */
export function writeHostFile(data: string, file: HostFile): void {
  const draft = `${pathOf(data)}.new`;
  onDisk(pathOf(data), () => {
    writeFileSync(draft, `${JSON.stringify(file)}\n`, { mode: 0o600 });
    renameSync(draft, pathOf(data));
  });
}

/** Takes the file away unless another host has written its own since. Throws the `Fault` of a disk that refuses. */
export function removeHostFile(data: string, pid: number): void {
  if (readHostFile(data)?.pid === pid) onDisk(pathOf(data), () => unlinkSync(pathOf(data)));
}

/** What the file says, or undefined when there is none that makes sense. */
export function readHostFile(data: string): HostFile | undefined {
  try {
    const file: unknown = JSON.parse(readFileSync(pathOf(data), 'utf8'));
    return isHostFile(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

function isHostFile(file: unknown): file is HostFile {
  if (typeof file !== 'object' || file === null) return false;
  if (!('url' in file) || !('pid' in file) || !('startedAt' in file)) return false;
  return (
    typeof file.url === 'string' &&
    typeof file.pid === 'number' &&
    typeof file.startedAt === 'string'
  );
}
