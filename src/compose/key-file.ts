import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { onDisk } from './disk-fault.ts';
import { syncFolder } from '../adapters/store/folder.ts';
import { ensureKeyFile, putKeyFile } from '../http/keys.ts';

/** `DATA/api-key`: the generated key while none is configured. */
export function keyFileOf(data: string): string {
  return join(data, 'api-key');
}

/** The generated key, or undefined when there is none. */
export function readGeneratedKey(data: string): string | undefined {
  try {
    return readFileSync(keyFileOf(data), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Makes the generated key unless it is there; gives it. Throws the `Fault` of a disk that refuses. */
export function openGeneratedKey(data: string): string {
  onDisk(keyFileOf(data), () => {
    ensureKeyFile(keyFileOf(data));
    syncFolder(data);
  });
  return readFileSync(keyFileOf(data), 'utf8').trim();
}

/** Once keys are configured the generated one opens nothing, so it does not lie about either. */
export function dropGeneratedKey(data: string): boolean {
  const was = existsSync(keyFileOf(data));
  rmSync(keyFileOf(data), { force: true });
  return was;
}

/** Puts a new key in the place of the generated one, whole or not at all. Gives its file. */
export function rotateGeneratedKey(data: string): string {
  const path = keyFileOf(data);
  putKeyFile(path);
  syncFolder(data);
  return path;
}

/** When the generated key was made, or undefined when there is none. */
export function generatedKeyAt(data: string): Date | undefined {
  return statSync(keyFileOf(data), { throwIfNoEntry: false })?.mtime;
}
