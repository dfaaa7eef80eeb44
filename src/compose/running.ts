import { existsSync } from 'node:fs';
import { holderOf, type Holder } from '../adapters/store/sqlite/lock.ts';
import { readHostFile, type HostFile } from './host-file.ts';
import { storeFileOf } from './store.ts';

/**
 * The host that runs on this state directory, or undefined. The file of a host that was killed stays
 * behind, and somebody else may listen at its address by now: on an exclusive store the lock proves
 * that the process which wrote it lives, before any key is sent there.
 */
export function runningHost(data: string): HostFile | undefined {
  const file = readHostFile(data);
  const store = storeFileOf(data);
  if (file === undefined || !existsSync(store)) return file;
  return holderOf(store)?.pid === file.pid ? file : undefined;
}

/** The process that has an embedded store's records now, ready or not. */
export function holderIn(data: string): Holder | undefined {
  const store = storeFileOf(data);
  return existsSync(store) ? holderOf(store) : undefined;
}
