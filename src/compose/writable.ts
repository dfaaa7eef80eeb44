import { accessSync, constants } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Fault } from '../kernel/fault.ts';

/**
 * Asks before anything is touched whether the disk of a folder may be written, whether the folder is there
 * yet or not. Each writer after it would fail in words of its own. Throws the `Fault` `read_only`.
 */
export function assertWritable(folder: string): void {
  if (accessCode(resolve(folder)) !== 'EROFS') return;
  const why = `the disk of the data folder ${folder} is mounted read-only, so nothing could be recorded`;
  const way = 'Mount it to be written, or name another folder with --data, then start again';
  throw new Fault('read_only', 'stop', `${why}. ${way}.`);
}

/** What the system says of the folder; of one that is missing, what it says of where it would be made. */
function accessCode(folder: string): string | undefined {
  try {
    accessSync(folder, constants.W_OK);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const above = dirname(folder);
    return code === 'ENOENT' && above !== folder ? accessCode(above) : code;
  }
}
