import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';

/** What one benchmark found; `met` says whether its goal holds. */
export interface Figures {
  readonly met: boolean;
  readonly [figure: string]: unknown;
}

/** Linux counts a process's time in hundredths of a second. */
const TICK_MS = 10;
/** Fields of `/proc/PID/stat` after the name, which alone may hold blanks. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** What another process has used since it began. */
export interface Used {
  readonly cpuMs: number;
  /** Bytes that reached the block layer: whole pages, whatever the size of the write. */
  readonly writtenBytes: number;
}

/** Reads `/proc`: Linux alone has these counters. */
export function usedBy(pid: number): Used {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const io = readFileSync(`/proc/${pid}/io`, 'utf8');
  return {
    cpuMs: (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * TICK_MS,
    writtenBytes: Number(/^write_bytes: (\d+)$/m.exec(io)?.[1]),
  };
}

/** Resident memory of a process now and at its most, in MiB. */
export function residentOf(pid: number): { readonly now: number; readonly most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (name: string): number =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024);
  return { now: mebibytes('VmRSS'), most: mebibytes('VmHWM') };
}

/** The value below which this share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function round(value: number, digits = 0): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}

/** Runnable tasks in the last minute: above the number of processors a figure is not the product's. */
export function load(): number {
  return round(loadavg()[0] ?? 0, 1);
}

/** A folder on the disk that is measured, removed afterwards. `SEKISHO_BENCH_DIR` says where. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(process.env['SEKISHO_BENCH_DIR'] ?? tmpdir(), 'sekisho-bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
