import { hashEntry } from '../audit/chain.ts';
import type { AnyField } from './field.ts';
import type { Archived } from './record.ts';
import { ARCHIVE_SHAPES } from './shape.ts';

type Text = (text: string) => string;

/**
 * Masks the texts of records on their way out. A text that a hash was made of gets the hash of what
 * is left, and so do workers that name a mandate by it; from an entry of the admin log that held a secret
 * on, the log is chained anew: what is exported is whole in itself. Give the records in their order.
 */
export class ArchiveMask {
  readonly #mask: Text;
  readonly #digest: Text;
  /** Hashes of mandates that were masked, by what they were. */
  readonly #mandates = new Map<string, string>();
  #entryHash: string | undefined;

  constructor({ mask, digest }: { readonly mask: Text; readonly digest: Text }) {
    this.#mask = mask;
    this.#digest = digest;
  }

  /** The record without secrets; the same one where it held none. */
  apply(archived: Archived): Archived {
    const masked = this.#texts(archived);
    if (masked.kind === 'audit') return this.#chained(archived, masked);
    if (masked.kind === 'execution') return this.#ofMandate(masked);
    return masked === archived ? archived : this.#hashed(archived, masked);
  }

  #texts(archived: Archived): Archived {
    const values = archived.record as unknown as Readonly<Record<string, unknown>>;
    const changed: [string, string][] = [];
    for (const name of TEXTS[archived.kind]) {
      const value = values[name];
      if (typeof value !== 'string') continue;
      const masked = this.#mask(value);
      if (masked !== value) changed.push([name, masked]);
    }
    if (changed.length === 0) return archived;
    const { kind, record } = archived;
    return { kind, record: { ...record, ...Object.fromEntries(changed) } } as Archived;
  }

  #hashed(was: Archived, now: Archived): Archived {
    if (was.kind === 'task' && now.kind === 'task') {
      if (was.record.mandateText === now.record.mandateText) return now;
      const mandateHash = this.#digest(now.record.mandateText);
      this.#mandates.set(was.record.mandateHash, mandateHash);
      return { kind: 'task', record: { ...now.record, mandateHash } };
    }
    if (was.kind === 'message' && now.kind === 'message') {
      if (was.record.text === now.record.text) return now;
      return {
        kind: 'message',
        record: { ...now.record, bodyHash: this.#digest(now.record.text) },
      };
    }
    return now;
  }

  #ofMandate(execution: Extract<Archived, { kind: 'execution' }>): Archived {
    const { record } = execution;
    const mandateHash = this.#mandates.get(record.mandateHash ?? '');
    return mandateHash === undefined
      ? execution
      : { kind: 'execution', record: { ...record, mandateHash } };
  }

  #chained(was: Archived, { record }: Extract<Archived, { kind: 'audit' }>): Archived {
    if (this.#entryHash === undefined && record === was.record) return was;
    const previousHash = this.#entryHash ?? record.previousHash;
    const entry = { ...record, previousHash };
    const hash = hashEntry(entry, this.#digest);
    this.#entryHash = hash;
    return { kind: 'audit', record: { ...entry, hash } };
  }
}

/** The fields of each kind that hold somebody's words. */
const TEXTS = Object.fromEntries(
  Object.entries(ARCHIVE_SHAPES).map(([kind, shape]) => [
    kind,
    Object.entries(shape as Readonly<Record<string, AnyField>>).flatMap(([name, { is }]) =>
      (is === 'text' && name !== 'previousHash') || is === 'json' ? [name] : [],
    ),
  ]),
) as unknown as Readonly<Record<Archived['kind'], readonly string[]>>;
