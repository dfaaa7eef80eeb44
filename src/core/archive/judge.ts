import { verifyChain } from '../audit/chain.ts';
import type { AuditRecord } from '../audit/record.ts';
import { WHOLE_MAX, type AnyField } from './field.ts';
import {
  ARCHIVE_KINDS,
  noRecords,
  type Archived,
  type ArchiveCounts,
  type ArchiveKind,
} from './record.ts';
import { keyOf, linksOf, unlinked } from './keys.ts';
import { factsOf, readFacts, relationProblem, type Look } from './relations.ts';
import { ARCHIVE_KEYS, ARCHIVE_SHAPES } from './shape.ts';
import { standingProblem } from './standing.ts';

/** SHA-256 of a text, as lower-case hex. */
type Digest = (text: string) => string;

/** What is remembered of a record of the file. */
export interface Known {
  readonly line: number;
  /** Its conversation; empty when it has none. */
  readonly home: string;
  /** Of a conversation its `seq`, else 0. */
  readonly top: number;
  /** What later records are held against (`factsOf`). */
  readonly facts: string;
}

/** A reference to a record that stands further down. */
export interface Need {
  readonly line: number;
  readonly key: string;
  readonly home: string;
}

/** Remembers the keys of a whole file without holding it in memory. */
export interface KeyIndex {
  /** The one that had the key before, which stays; undefined when the key was free. */
  add(key: string, known: Known): Known | undefined;
  get(key: string): Known | undefined;
  /** To be asked for at the end. */
  later(need: Need): void;
  /** The first of those whose record is not there, or in another conversation. */
  unmet(): Need | undefined;
}

/** One sentence on what is wrong with a line; undefined when nothing is. */
type Objection = string | undefined;

/**
 * Holds the records of a file against one another, in the order of its lines: kinds in their order, no
 * key twice, nothing that refers to what is not there or to another conversation, no record that could not
 * be as it says or does not fit those that stood before it, mandates whose hash is that of their words, and
 * a whole log of admin actions.
 */
export class ArchiveJudge {
  readonly #digest: Digest;
  readonly #index: KeyIndex;
  readonly #counts = noRecords();
  #place = 0;
  #total = 0;
  #lastEntry: Pick<AuditRecord, 'seq' | 'hash'> | undefined;
  /** Tokens and money of all calls together, as they are summed when they are asked for. */
  #used = 0;
  readonly #look: Look = {
    record: (kind, id) => {
      const known = this.#index.get(keyOf(kind, ['id'], [id]));
      return known === undefined ? undefined : readFacts(kind, known.facts);
    },
    made: (channel, externalId) =>
      this.#index.get(keyOf('message', ['channel', 'externalId'], [channel, externalId]))?.line,
  };

  constructor({ digest, index }: { readonly digest: Digest; readonly index: KeyIndex }) {
    this.#digest = digest;
    this.#index = index;
  }

  get counts(): ArchiveCounts {
    return { ...this.#counts };
  }

  get total(): number {
    return this.#total;
  }

  /** Takes up the record of a line. */
  take(archived: Archived, line: number): Objection {
    const { kind } = archived;
    const objection =
      this.#outOfOrder(kind) ??
      this.#astray(archived, line) ??
      this.#twice(archived, line) ??
      this.#linked(archived, line) ??
      mandateProblem(archived, this.#digest) ??
      standingProblem(archived) ??
      relationProblem(archived, this.#look) ??
      this.#tooMuch(archived) ??
      this.#brokenChain(archived);
    this.#counts[kind] += 1;
    this.#total += 1;
    return objection;
  }

  /** What is wrong with the references to what stood further down. */
  end(): { readonly line: number; readonly problem: string } | undefined {
    const need = this.#index.unmet();
    if (need === undefined) return undefined;
    return { line: need.line, problem: missing(need.key, this.#index.get(need.key)) };
  }

  #outOfOrder(kind: ArchiveKind): Objection {
    const place = ARCHIVE_KINDS.indexOf(kind);
    const before = ARCHIVE_KINDS[this.#place] ?? kind;
    if (place < this.#place) return `A ${kind} may not stand behind a ${before}.`;
    this.#place = place;
    return undefined;
  }

  #twice(archived: Archived, line: number): Objection {
    const { kind, record } = archived;
    const known = knownOf(archived, line);
    for (const fields of ARCHIVE_KEYS[kind] as readonly (readonly string[])[]) {
      const values = valuesOf(record, fields);
      const earlier = this.#index.add(keyOf(kind, fields, values), known);
      if (earlier === undefined) continue;
      return `The ${kind} has the ${fields.join(' and ')} of line ${earlier.line}.`;
    }
    return undefined;
  }

  /** What it says of another session is remembered, and asked of that one at the end. */
  #linked(archived: Archived, line: number): undefined {
    const { given, wanted } = linksOf(
      archived,
      (id) => this.#look.record('conversation', id)?.sessionId,
    );
    for (const key of given) this.#index.add(key, knownOf(archived, line));
    const home = homeOf(archived);
    for (const key of wanted) this.#index.later({ line, key, home });
  }

  /** Something that it refers to is not there, or is of another conversation. */
  #astray(archived: Archived, line: number): Objection {
    const { kind, record } = archived;
    const home = homeOf(archived);
    const values = record as unknown as Readonly<Record<string, unknown>>;
    for (const [name, to] of [...REFERENCES[kind], ...waitedFor(archived)]) {
      const value = values[name];
      if (typeof value !== 'string') continue;
      const key = keyOf(to, ['id'], [value]);
      if (ARCHIVE_KINDS.indexOf(to) > ARCHIVE_KINDS.indexOf(kind)) {
        this.#index.later({ line, key, home });
        continue;
      }
      const found = this.#index.get(key);
      if (found === undefined || (home !== '' && found.home !== home)) return missing(key, found);
    }
    return this.#tooFar(values, home);
  }

  #tooFar(values: Readonly<Record<string, unknown>>, home: string): Objection {
    const top = this.#index.get(keyOf('conversation', ['id'], [home]))?.top;
    if (top === undefined) return undefined;
    const far = PLACES.find((name) => Number(values[name] ?? 0) > top);
    return far === undefined ? undefined : `The ${far} lies beyond the ${top} of its conversation.`;
  }

  #tooMuch({ kind, record }: Archived): Objection {
    if (kind !== 'step' && kind !== 'operation') return undefined;
    const { inputTokens, outputTokens, cost } = record;
    this.#used += (inputTokens ?? 0) + (outputTokens ?? 0) + (cost ?? 0);
    return this.#used > WHOLE_MAX
      ? `Up to this ${kind} more tokens and money than can be counted were used.`
      : undefined;
  }

  #brokenChain(archived: Archived): Objection {
    if (archived.kind !== 'audit') return undefined;
    const verdict = verifyChain([archived.record], this.#digest, this.#lastEntry);
    if (verdict.kind === 'whole') {
      this.#lastEntry = verdict.last;
      return undefined;
    }
    return `The log of admin actions is broken here: this is not its entry ${verdict.seq} as it was written.`;
  }
}

/** Fields that are a place in the order of their conversation. */
const PLACES = ['seq', 'firstSeq', 'claimedSeq', 'finishedSeq', 'cutSeq'];

/** The fields of each kind that name a record of the file. */
const REFERENCES = Object.fromEntries(
  Object.entries(ARCHIVE_SHAPES).map(([kind, shape]) => [
    kind,
    Object.entries(shape as Readonly<Record<string, AnyField>>).flatMap(([name, field]) =>
      field.is === 'id' && field.to !== null ? [[name, field.to] as const] : [],
    ),
  ]),
) as unknown as Readonly<
  Record<ArchiveKind, readonly (readonly [name: string, to: ArchiveKind])[]>
>;

/** The conversation that a record lies in; empty when it has none. */
function homeOf({ kind, record }: Archived): string {
  if (kind === 'conversation') return record.id;
  return 'conversationId' in record ? (record.conversationId ?? '') : '';
}

/** A task that waits for an approval names it in a field that others use for other things. */
function waitedFor({ kind, record }: Archived): readonly (readonly [string, ArchiveKind])[] {
  return kind === 'task' && record.waitKind === 'approval' ? [['waitId', 'approval']] : [];
}

function valuesOf(record: object, fields: readonly string[]): readonly unknown[] {
  const values = record as Readonly<Record<string, unknown>>;
  return fields.map((name) => values[name]);
}

function knownOf(archived: Archived, line: number): Known {
  const { kind, record } = archived;
  const top = kind === 'conversation' ? record.seq : 0;
  return { line, home: homeOf(archived), top, facts: factsOf(archived) };
}

function missing(key: string, found: Known | undefined): string {
  const [kind = '', , id = ''] = key.split('\0');
  if (found !== undefined)
    return `It refers to the ${kind} ${id}, which is of another conversation.`;
  return unlinked(key) ?? `It refers to the ${kind} ${id}, which is not in the file.`;
}

function mandateProblem({ kind, record }: Archived, digest: Digest): Objection {
  return kind === 'task' && digest(record.mandateText) !== record.mandateHash
    ? 'The mandateHash of the task is not the SHA-256 of its mandateText.'
    : undefined;
}
