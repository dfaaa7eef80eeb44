import { writeLine } from '../../core/archive/line.ts';
import { ArchiveMask } from '../../core/archive/masked.ts';
import {
  ARCHIVE_KINDS,
  EXPORT_FORMAT,
  EXPORT_VERSION,
  type Archived,
  type ArchiveEnd,
  type ArchiveHeader,
} from '../../core/archive/record.ts';
import type { OpenSnapshot, RunningDigest, Snapshot } from '../../ports/archive.ts';
import type { Digest } from '../../ports/digest.ts';

export interface ExportParts {
  readonly snapshot: OpenSnapshot;
  readonly digest: Digest;
  readonly running: () => RunningDigest;
  /** Takes every known secret out of a text. */
  readonly mask: (text: string) => string;
  readonly product: string;
  /** ISO 8601, UTC. */
  readonly exportedAt: string;
}

/** An export under way: its bytes, piece by piece, each of whole lines. Close it, read to the end or not. */
export interface OpenExport {
  readonly pieces: AsyncIterator<Uint8Array, void>;
  close(): Promise<void>;
}

/** Begins an export of the state as it is now. Rejects with the store's `Fault`. */
export async function openExport(parts: ExportParts): Promise<OpenExport> {
  const snapshot = await parts.snapshot();
  return { pieces: piecesOf(snapshot, parts), close: () => snapshot.close() };
}

async function* piecesOf(snapshot: Snapshot, parts: ExportParts): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  const digest = parts.running();
  const mask = new ArchiveMask(parts);
  const written = (lines: readonly (ArchiveHeader | Archived | ArchiveEnd)[]): Uint8Array => {
    const bytes = encoder.encode(lines.map((line) => `${writeLine(line)}\n`).join(''));
    digest.add(bytes);
    return bytes;
  };
  let records = 0;
  yield written([headerOf(snapshot, parts)]);
  for (const kind of ARCHIVE_KINDS) {
    for await (const page of snapshot.records(kind)) {
      records += page.length;
      yield written(page.map((one) => mask.apply(one)));
    }
  }
  yield written([{ kind: 'end', records, sha256: digest.hex() }]);
}

function headerOf({ schema }: Snapshot, { exportedAt, product }: ExportParts): ArchiveHeader {
  return { format: EXPORT_FORMAT, version: EXPORT_VERSION, schema, exportedAt, product };
}
