// What `npm run prove` is made of: each proof counts what it ran, so that one that ran nothing is red.

/** The full tier runs with every change; the release tier is long and may be split and resumed. */
export type Tier = 'full' | 'release';

export interface ProofOrder {
  readonly tier: Tier;
  /** The first of the numbered pieces to run: seeds, cycles, images, points. */
  readonly from: number;
  /** How many pieces, from `from` on. */
  readonly count: number;
  /** A line about how far it is, for whoever watches. */
  readonly say: (line: string) => void;
}

export interface ProofResult {
  /** Pieces that ran to their judgement, failed ones included. */
  readonly ran: number;
  /** One line each: what was broken and the command that shows it again. */
  readonly failures: readonly string[];
  /** Sums that are worth keeping: they are added over the pieces of a tier. */
  readonly figures?: Readonly<Record<string, number>>;
}

/** One proof: its pieces are numbered from 1 and independent, so that any range can be run alone. */
export interface Proof {
  readonly name: string;
  /** What one piece is, in the plural. */
  readonly unit: string;
  /** How many pieces each tier runs. One that runs fewer is red. */
  readonly counts: Readonly<Record<Tier, number>>;
  /** Pieces after which the release tier notes how far it is. */
  readonly chunk: number;
  run(order: ProofOrder): Promise<ProofResult>;
  /** Judges the sums of all pieces: what was reached too seldom, which fault never fired. */
  judge?(sums: Readonly<Record<string, number>>, tier: Tier): readonly string[];
}
