import { arrive, isUnanswered } from '../../core/archive/arrive.ts';
import { readLine } from '../../core/archive/line.ts';
import type { Archived, ArchiveCounts, ArchiveHeader } from '../../core/archive/record.ts';
import { nextEntry } from '../../core/audit/chain.ts';
import { isOpen } from '../../core/maintenance/decide.ts';
import { principalName, type Principal } from '../../kernel/principal.ts';
import type { Filling, OpenFilling } from '../../ports/archive.ts';
import {
  brokenLine,
  checkExport,
  PROGRESS_RECORDS,
  refused,
  type CheckedExport,
  type CheckParts,
  type ImportRefusal,
} from './check.ts';
import { BrokenLine, linesOf } from './lines.ts';

export interface ImportParts extends CheckParts {
  readonly filling: OpenFilling;
  /** Who imports, for the log of admin actions. */
  readonly principal: Principal;
  readonly channel: string;
}

/** What was imported. */
export interface Imported {
  readonly kind: 'imported';
  readonly header: ArchiveHeader;
  readonly counts: ArchiveCounts;
  readonly records: number;
  readonly sha256: string;
  /** Outbox entries that had not left: they may have since, and are not sent by themselves. */
  readonly unsent: number;
  /** Commands that had not been answered: they are not carried out. */
  readonly unanswered: number;
  /** Conversations behind a fence: their maintenance goes on, or waits for an admin, with its counts (M-15). */
  readonly fenced: number;
}

/** Records of one insert, and characters of lines: what is held in memory. */
const BATCH_RECORDS = 500;
const BATCH_CHARS = 1_000_000;

/**
 * Brings an export into a store on which no host runs, whole or not at all: the file is read to its end
 * and judged, then read again into one transaction (B-2). Rejects with the store's `Fault`, among them
 * `store_in_use`; nothing was stored then.
 */
export async function importExport(parts: ImportParts): Promise<Imported | ImportRefusal> {
  const checked = await checkExport(parts);
  if (checked.kind === 'refused') return checked;
  const filling = await parts.filling();
  try {
    return await new Import(parts, checked, filling).run();
  } catch (error) {
    if (error instanceof BrokenLine) return brokenLine(error);
    throw error;
  } finally {
    await filling.close();
  }
}

class Import {
  readonly #parts: ImportParts;
  readonly #checked: CheckedExport;
  readonly #filling: Filling;
  #batch: Archived[] = [];
  #lines: number[] = [];
  #chars = 0;
  #stored = 0;
  #unsent = 0;
  #unanswered = 0;
  #fenced = 0;
  #isSame = false;

  constructor(parts: ImportParts, checked: CheckedExport, filling: Filling) {
    this.#parts = parts;
    this.#checked = checked;
    this.#filling = filling;
  }

  async run(): Promise<Imported | ImportRefusal> {
    const refusal = (await this.#refuseSecondLog()) ?? (await this.#fill());
    if (refusal !== undefined) return refusal;
    await this.#note();
    await this.#filling.keep();
    const { header, counts, records, sha256 } = this.#checked;
    const [unsent, unanswered, fenced] = [this.#unsent, this.#unanswered, this.#fenced];
    return { kind: 'imported', header, counts, records, sha256, unsent, unanswered, fenced };
  }

  /** Two chains of admin actions cannot become one. */
  async #refuseSecondLog(): Promise<ImportRefusal | undefined> {
    const { counts, records } = this.#checked;
    if (counts.audit === 0 || (await this.#filling.lastEntry()) === undefined) return undefined;
    // The log is the last kind of a file, between its first line and its last.
    const line = 1 + records - counts.audit + 1;
    return refused(
      line,
      'The export has a log of admin actions and so has this installation; import into an empty one.',
    );
  }

  async #fill(): Promise<ImportRefusal | undefined> {
    for await (const { number, text, before } of linesOf(
      this.#parts.bytes(),
      this.#parts.running(),
    )) {
      if (number === 1) continue;
      const read = readLine(text, this.#checked.header.version);
      if ('problem' in read) return changed(number);
      if (read.kind === 'end') {
        this.#isSame = before() === this.#checked.sha256;
        break;
      }
      if (isUnanswered(read)) this.#unanswered += 1;
      const arrived = arrive(read, this.#filling.now);
      const refusal = await this.#take(arrived, number, text.length);
      if (refusal !== undefined) return refusal;
    }
    const refusal = await this.#insert();
    if (refusal !== undefined) return refusal;
    return this.#isSame ? undefined : changed(1);
  }

  async #take(record: Archived, line: number, chars: number): Promise<ImportRefusal | undefined> {
    this.#batch.push(record);
    this.#lines.push(line);
    this.#chars += chars;
    if (record.kind === 'outbox' && record.record.state === 'uncertain') this.#unsent += 1;
    if (record.kind === 'operation' && isOpen(record.record)) this.#fenced += 1;
    const isFull = this.#batch.length >= BATCH_RECORDS || this.#chars >= BATCH_CHARS;
    return isFull ? this.#insert() : undefined;
  }

  async #insert(): Promise<ImportRefusal | undefined> {
    const taken = await this.#filling.insert(this.#batch);
    if (taken !== undefined) {
      const kind = this.#batch[taken]?.kind ?? 'record';
      return refused(this.#lines[taken] ?? 0, `The ${kind} is in this installation already.`);
    }
    const before = this.#stored;
    this.#stored += this.#batch.length;
    const step = (count: number): number => Math.floor(count / PROGRESS_RECORDS);
    if (step(before) < step(this.#stored)) this.#parts.onProgress(this.#stored);
    this.#batch = [];
    this.#lines = [];
    this.#chars = 0;
    return undefined;
  }

  /** The entry of the import itself. */
  async #note(): Promise<void> {
    const { header, records, sha256 } = this.#checked;
    const { principal, channel, digest } = this.#parts;
    const entry = nextEntry(
      await this.#filling.lastEntry(),
      {
        at: this.#filling.now,
        principal: principalName(principal),
        channel,
        action: 'import',
        subjectId: sha256,
        before: {},
        after: { records, exportedAt: header.exportedAt, product: header.product },
      },
      digest,
    );
    await this.#filling.insert([{ kind: 'audit', record: entry }]);
  }
}

function changed(line: number): ImportRefusal {
  return refused(line, 'The file was changed while it was read; nothing was stored.');
}
