// Runs a tier: each proof in its turn, chunk by chunk, and one judgement at the end.
import type { Proof, Tier } from './proof.ts';
import { progressWith, type Progress, type ProgressFile } from './progress.ts';
import { chunksLeft, type Range } from './ranges.ts';

export interface TierOrder {
  readonly tier: Tier;
  readonly proofs: readonly Proof[];
  /** The least that has to have run, by proof (`.ci/floor.json`). A proof without one is red. */
  readonly floors: Readonly<Record<string, number>>;
  readonly progress: ProgressFile;
  /** Only these pieces, of every proof that is run: for a tier that several machines share. */
  readonly range?: Range | undefined;
  readonly say: (line: string) => void;
}

export interface ProofReport {
  readonly unit: string;
  readonly ran: number;
  readonly floor: number;
  readonly seconds: number;
  readonly failed: number;
  readonly figures: Readonly<Record<string, number>>;
}

export interface TierReport {
  readonly proofs: Readonly<Record<string, ProofReport>>;
  /** One line each; a tier with one is red. */
  readonly problems: readonly string[];
}

/** Runs what is left of a tier and judges the whole of it. */
export async function runTier(order: TierOrder): Promise<TierReport> {
  const problems: string[] = [];
  const proofs: Record<string, ProofReport> = {};
  for (const proof of order.proofs) {
    // oxlint-disable-next-line no-await-in-loop -- one proof at a time has the machine
    const progress = await runProof(order, proof);
    const floor = floorOf(order, proof);
    problems.push(...judge(order, proof, progress, floor));
    proofs[proof.name] = {
      unit: proof.unit,
      ran: progress.ran,
      floor,
      seconds: Math.round(progress.seconds),
      failed: progress.failures.length,
      figures: progress.sums,
    };
  }
  if (order.proofs.length === 0) problems.push('no proof ran');
  return { proofs, problems };
}

/** A part of a tier that is run by itself owes its own pieces only. */
function floorOf({ floors, range, tier }: TierOrder, { name, counts }: Proof): number {
  if (range !== undefined) return range.count;
  return tier === 'release' ? counts.release : (floors[name] ?? Infinity);
}

async function runProof(order: TierOrder, proof: Proof): Promise<Progress> {
  const { tier, progress: kept, say } = order;
  let progress = kept.of(proof.name);
  const wanted = order.range ?? { from: 1, count: proof.counts[tier] };
  // Only the long tier is cut: it alone is resumed, and each cut costs a warm machine.
  const chunk = tier === 'release' ? proof.chunk : wanted.count;
  for (const range of chunksLeft(wanted, progress.ranges, chunk)) {
    say(`${proof.name}: ${range.from} to ${range.from + range.count - 1} of ${proof.counts[tier]}`);
    const began = performance.now();
    // oxlint-disable-next-line no-await-in-loop -- one chunk at a time, noted when it is done
    const { ran, failures: broken, figures = {} } = await proof.run({ tier, ...range, say });
    const few = `${ran} of ${range.count} from ${range.from} on ran to their end`;
    const failures = ran < range.count ? [...broken, few] : broken;
    const seconds = (performance.now() - began) / 1_000;
    progress = progressWith(progress, { range, ran, seconds, failures, figures });
    kept.keep(proof.name, progress);
    for (const failure of failures) say(`${proof.name} FAILED: ${failure}`);
    say(`${proof.name}: ${ran} ${proof.unit} in ${seconds.toFixed(1)} s`);
  }
  return progress;
}

function judge(
  { tier, range }: TierOrder,
  proof: Proof,
  progress: Progress,
  floor: number,
): readonly string[] {
  const few = `${proof.name} ran ${progress.ran} ${proof.unit}, its floor is ${floor}`;
  // What is reached over a whole tier says nothing of a part of it.
  const sums = range === undefined ? (proof.judge?.(progress.sums, tier) ?? []) : [];
  return [
    ...progress.failures.map((failure) => `${proof.name}: ${failure}`),
    ...sums.map((problem) => `${proof.name}: ${problem}`),
    ...(progress.ran >= floor ? [] : [few]),
  ];
}
