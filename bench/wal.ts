import { readFileSync } from 'node:fs';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_SIZE_AT = 8;
const SALT_AT = 16;

/** What the write-ahead log of a SQLite store holds since it was last begun anew. */
export interface Wal {
  /** Changes when the log is begun anew: counts before and after cannot be compared then. */
  readonly salt: string;
  /** Pages that were written. */
  readonly frames: number;
  readonly commits: number;
  readonly bytes: number;
}

/** Counts commits from outside, by the file format: the last frame of a commit says how long the database is. */
export function readWal(path: string): Wal {
  const file = readFileSync(path);
  const salt = file.subarray(SALT_AT, SALT_AT + 8);
  const frameBytes = FRAME_HEADER_BYTES + file.readUInt32BE(PAGE_SIZE_AT);
  let frames = 0;
  let commits = 0;
  for (let at = HEADER_BYTES; at + frameBytes <= file.length; at += frameBytes) {
    if (!file.subarray(at + 8, at + 16).equals(salt)) break;
    frames += 1;
    if (file.readUInt32BE(at + 4) !== 0) commits += 1;
  }
  return { salt: salt.toString('hex'), frames, commits, bytes: file.length };
}
