import { closeSync, fchmodSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

/** One older file is kept, so a log takes at most twice this. */
const FILE_BYTES_MAX = 10_000_000;
const OWNER_ONLY = 0o600;

export interface LogFile {
  /** Appends a line; a write that fails is dropped, since there is nowhere to report it. */
  write(line: string): void;
  close(): void;
}

/** Opens `path` for appending, readable by its owner alone; a full one becomes `path.1`. */
export function openLogFile(path: string, bytesMax = FILE_BYTES_MAX): LogFile {
  let fd: number | undefined;
  let bytes = 0;
  const open = (): void => {
    fd = openSync(path, 'a', OWNER_ONLY);
    fchmodSync(fd, OWNER_ONLY);
    bytes = fstatSync(fd).size;
  };
  const turnOver = (): void => {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
    renameSync(path, `${path}.1`);
  };
  return {
    write(line) {
      try {
        if (bytes > 0 && bytes + line.length > bytesMax) turnOver();
        if (fd === undefined) open();
        if (fd !== undefined) bytes += writeSync(fd, line);
      } catch {
        // A full disk is the store's to report.
      }
    },
    close() {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}
