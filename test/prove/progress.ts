// How far a long tier is, kept in a file, so that one that was stopped goes on where it was.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Range } from './ranges.ts';
import { rangesWith } from './ranges.ts';

/** What one proof has run: the ranges, and the sums over them. */
export interface Progress {
  readonly ranges: readonly Range[];
  readonly ran: number;
  readonly seconds: number;
  readonly failures: readonly string[];
  readonly sums: Readonly<Record<string, number>>;
}

const NOTHING: Progress = { ranges: [], ran: 0, seconds: 0, failures: [], sums: {} };

/** A range that was run, with what came of it. */
export interface Piece {
  readonly range: Range;
  readonly ran: number;
  readonly seconds: number;
  readonly failures: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

/** What was done before and one range more. */
export function progressWith(before: Progress, piece: Piece): Progress {
  const sums: Record<string, number> = { ...before.sums };
  for (const [name, value] of Object.entries(piece.figures)) sums[name] = (sums[name] ?? 0) + value;
  return {
    ranges: rangesWith(before.ranges, piece.range),
    ran: before.ran + piece.ran,
    seconds: before.seconds + piece.seconds,
    failures: [...before.failures, ...piece.failures],
    sums,
  };
}

type Saved = Readonly<Record<string, Progress>>;

/** The progress of a tier on one commit. What was run on another one proves nothing of this one. */
export class ProgressFile {
  readonly #path: string | null;
  readonly #commit: string;
  #saved: Saved;

  /** @param path null: nothing is kept. */
  constructor(path: string | null, commit: string) {
    this.#path = path;
    this.#commit = commit;
    this.#saved = path === null ? {} : readSaved(path, commit);
  }

  of(proof: string): Progress {
    return this.#saved[proof] ?? NOTHING;
  }

  /** Kept by a rename: a tier that is killed while it writes keeps what it had. */
  keep(proof: string, progress: Progress): void {
    this.#saved = { ...this.#saved, [proof]: progress };
    if (this.#path === null) return;
    mkdirSync(dirname(this.#path), { recursive: true });
    const text = JSON.stringify({ version: 1, commit: this.#commit, proofs: this.#saved });
    writeFileSync(`${this.#path}.new`, text);
    renameSync(`${this.#path}.new`, this.#path);
  }
}

function readSaved(path: string, commit: string): Saved {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
  const kept = JSON.parse(text) as { version: number; commit: string; proofs: Saved };
  return kept.version === 1 && kept.commit === commit ? kept.proofs : {};
}
