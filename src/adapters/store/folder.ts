import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** A disk that knows no such sync, or a folder that may be written and not read: nothing to be done. */
const UNSYNCABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP', 'EISDIR']);

/**
 * Makes a folder and what is missing above it, each durable before the next. Does nothing for one that is
 * there; throws what the disk throws.
 */
export function makeFolder(path: string, mode: number): void {
  if (existsSync(path)) {
    if (!statSync(path).isDirectory())
      throw Object.assign(new Error('no folder'), { code: 'ENOTDIR' });
    return;
  }
  const parent = dirname(path);
  // One by one: where nothing may be made, as below /proc, Node's own recursion never ends.
  if (parent !== path) makeFolder(parent, mode);
  mkdirSync(path, { mode });
  syncFolder(parent);
}

/** Makes the names in a folder durable: without it a file may be gone after a power cut, synced as it was. */
export function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!UNSYNCABLE.has(code)) throw error;
  }
}
