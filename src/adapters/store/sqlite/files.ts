import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeFolder } from '../folder.ts';

/**
 * Makes the folder (0700) and an empty file (0600) where they are missing, whatever the umask says.
 * SQLite gives its side files the mode of the file, and syncs the folder with the first of them. An existing file is never opened here: closing
 * it would drop the locks that this process holds on it.
 */
export function makePrivateFile(path: string): void {
  const folder = dirname(resolve(path));
  if (!existsSync(folder)) {
    makeFolder(folder, 0o700);
    chmodSync(folder, 0o700);
  }
  if (existsSync(path)) return;
  closeSync(openSync(path, 'ax', 0o600));
  chmodSync(path, 0o600);
}
