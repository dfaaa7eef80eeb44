import { ArchiveJudge } from '../../core/archive/judge.ts';
import { readHeader, readLine } from '../../core/archive/line.ts';
import type {
  Archived,
  ArchiveCounts,
  ArchiveEnd,
  ArchiveHeader,
} from '../../core/archive/record.ts';
import type { OpenIndex, RunningDigest } from '../../ports/archive.ts';
import type { Digest } from '../../ports/digest.ts';
import { BrokenLine, linesOf, type Line, type LineFault } from './lines.ts';

/** Why a file is not imported; nothing of it was stored. */
export interface ImportRefusal {
  readonly kind: 'refused';
  /** `no_export`: it never was one. */
  readonly code: 'no_export' | 'bad_export';
  readonly line: number;
  /** One sentence. */
  readonly problem: string;
}

/** What a file holds that may be imported. */
export interface CheckedExport {
  readonly kind: 'checked';
  readonly header: ArchiveHeader;
  readonly counts: ArchiveCounts;
  readonly records: number;
  readonly sha256: string;
}

export interface CheckParts {
  /** The bytes of the file, from its first. */
  readonly bytes: () => AsyncIterable<Uint8Array>;
  readonly digest: Digest;
  readonly running: () => RunningDigest;
  readonly index: () => OpenIndex;
  /** Told of how many records were looked at, now and then. */
  readonly onProgress: (records: number) => void;
}

/** Records between two tellings. */
export const PROGRESS_RECORDS = 2_000;

/** Reads a file to its end and holds all of it against the format; no store is touched. */
export async function checkExport(parts: CheckParts): Promise<CheckedExport | ImportRefusal> {
  const index = parts.index();
  try {
    return await new Checking(parts, index).run();
  } catch (error) {
    if (error instanceof BrokenLine) return brokenLine(error);
    throw error;
  } finally {
    index.close();
  }
}

class Checking {
  readonly #parts: CheckParts;
  readonly #judge: ArchiveJudge;
  #header: ArchiveHeader | undefined;
  #end: ArchiveEnd | undefined;
  #last = 0;

  constructor(parts: CheckParts, index: OpenIndex) {
    this.#parts = parts;
    this.#judge = new ArchiveJudge({ digest: parts.digest, index });
  }

  async run(): Promise<CheckedExport | ImportRefusal> {
    for await (const line of linesOf(this.#parts.bytes(), this.#parts.running())) {
      this.#last = line.number;
      const refusal = this.#look(line);
      if (refusal !== undefined) return refusal;
    }
    return this.#whole();
  }

  #look(line: Line): ImportRefusal | undefined {
    if (this.#header === undefined) return this.#first(line);
    if (this.#end !== undefined) {
      return refused(line.number, 'The line stands behind the last line of the export.');
    }
    const read = readLine(line.text, this.#header.version);
    if ('problem' in read) return refused(line.number, read.problem);
    if (read.kind === 'end') return this.#ends(read, line);
    return this.#take(read, line.number);
  }

  #first({ text }: Line): ImportRefusal | undefined {
    const header = readHeader(text);
    if ('problem' in header) {
      const { problem, isOther } = header;
      return { kind: 'refused', code: isOther ? 'no_export' : 'bad_export', line: 1, problem };
    }
    this.#header = header;
    return undefined;
  }

  #take(archived: Archived, line: number): ImportRefusal | undefined {
    const objection = this.#judge.take(archived, line);
    if (objection !== undefined) return refused(line, objection);
    const { total } = this.#judge;
    if (total % PROGRESS_RECORDS === 0) this.#parts.onProgress(total);
    return undefined;
  }

  #ends(end: ArchiveEnd, { number, before }: Line): ImportRefusal | undefined {
    this.#end = end;
    const { total } = this.#judge;
    if (end.records !== total) {
      return refused(number, `The last line counts ${end.records} records and there are ${total}.`);
    }
    if (end.sha256 === before()) return undefined;
    return refused(number, 'The SHA-256 of the last line is not that of the lines before it.');
  }

  #whole(): CheckedExport | ImportRefusal {
    const [header, end] = [this.#header, this.#end];
    if (header === undefined) {
      return { kind: 'refused', code: 'no_export', line: 1, problem: 'The file is empty.' };
    }
    if (end === undefined) {
      return refused(this.#last + 1, 'The last line of the export is not there: the file was cut.');
    }
    const objection = this.#judge.end();
    if (objection !== undefined) return refused(objection.line, objection.problem);
    const { counts, total: records } = this.#judge;
    return { kind: 'checked', header, counts, records, sha256: end.sha256 };
  }
}

export function refused(line: number, problem: string): ImportRefusal {
  return { kind: 'refused', code: 'bad_export', line, problem };
}

const BROKEN: Readonly<Record<LineFault, string>> = {
  cut: 'The line has no end: the file was cut.',
  too_long: 'The line is longer than any record.',
  not_utf8: 'The line is no UTF-8.',
};

/** What is wrong with bytes that are no line; of a first one nobody can say that it was an export. */
export function brokenLine({ line, fault }: BrokenLine): ImportRefusal {
  if (line > 1) return refused(line, BROKEN[fault]);
  return {
    kind: 'refused',
    code: 'no_export',
    line,
    problem: 'This is no export: its first line cannot be read.',
  };
}
