import { Fault } from '../kernel/fault.ts';

const CODES: Readonly<Record<string, string>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EROFS: 'read_only',
};

/**
 * Does what writes beside the store. A disk that refuses it throws a `Fault` as the store does, `disk_full`,
 * `read_only` or `io`: Node's own error is a stack to whoever starts a host.
 */
export function onDisk<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    const errno = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (errno === '') throw error;
    const why = `${path} cannot be changed (${errno}). Make room or mend the disk, then start again.`;
    throw new Fault(CODES[errno] ?? 'io', 'stop', why, { cause: error });
  }
}
