import { readHeader, readLine } from '../../core/archive/line.ts';
import type { Archived, ArchiveEnd, ArchiveHeader } from '../../core/archive/record.ts';
import type { RunningDigest } from '../../ports/archive.ts';
import { linesOf } from '../archive/lines.ts';

/**
 * Reads an export through and gives each record of it. Gives a sentence when it is none, or not whole; throws a
 * `BrokenLine` for a line that cannot be read.
 */
export async function readArchive(
  bytes: AsyncIterable<Uint8Array>,
  digest: RunningDigest,
  take: (record: Archived) => void,
): Promise<string | undefined> {
  let header: ArchiveHeader | undefined;
  let end: ArchiveEnd | undefined;
  for await (const { number, text, before } of linesOf(bytes, digest)) {
    if (header === undefined) {
      const read = readHeader(text);
      if ('problem' in read) return read.problem;
      header = read;
      continue;
    }
    const read = readLine(text, header.version);
    if ('problem' in read) return `line ${number}: ${read.problem}`;
    if (read.kind !== 'end') take(read);
    else if (read.sha256 === before()) end = read;
    else return `line ${number}: its SHA-256 is not that of the lines before it.`;
  }
  return end === undefined ? 'it has no last line: it was cut off.' : undefined;
}
