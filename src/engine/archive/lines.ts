import { LIMITS } from '../../kernel/limits.ts';
import type { RunningDigest } from '../../ports/archive.ts';

/** A line of a file, without its end. */
export interface Line {
  readonly number: number;
  readonly text: string;
  /** SHA-256 of every byte before it; to be asked while this line is the newest. */
  readonly before: () => string;
}
export type LineFault = 'cut' | 'too_long' | 'not_utf8';

/** A line that cannot be read. */
export class BrokenLine extends Error {
  override readonly name = 'BrokenLine';
  readonly line: number;
  readonly fault: LineFault;
  constructor(line: number, fault: LineFault) {
    super(`line ${line}: ${fault}`);
    this.line = line;
    this.fault = fault;
  }
}

const NEWLINE = 0x0a;

/**
 * The lines of a file that comes in pieces, each at most `archiveLineBytes` long. Throws a `BrokenLine`
 * for a longer one, for one that is no UTF-8, and for a last one that has no end.
 */
export async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
  digest: RunningDigest,
): AsyncGenerator<Line> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const before = (): string => digest.hex();
  let held: Uint8Array[] = [];
  let size = 0;
  let number = 1;
  for await (const piece of bytes) {
    let start = 0;
    for (;;) {
      const end = piece.indexOf(NEWLINE, start);
      const part = piece.subarray(start, end === -1 ? undefined : end + 1);
      size += part.length;
      if (size > LIMITS.archiveLineBytes) throw new BrokenLine(number, 'too_long');
      if (part.length > 0) held.push(part);
      if (end === -1) break;
      const whole = joined(held, size);
      yield { number, text: decoded(decoder, whole, number), before };
      digest.add(whole);
      start = end + 1;
      held = [];
      size = 0;
      number += 1;
    }
  }
  if (size > 0) throw new BrokenLine(number, 'cut');
}

function decoded(
  decoder: { decode(bytes: Uint8Array): string },
  line: Uint8Array,
  number: number,
): string {
  try {
    return decoder.decode(line.subarray(0, -1));
  } catch {
    throw new BrokenLine(number, 'not_utf8');
  }
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const whole = new Uint8Array(size);
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}
