// The proof that a host may die at any of its calls to the disk.
import { killAt, type Killed } from '../crash/syscall-kill.ts';
import { inLanes, pieceOf, pointsOf, type Point } from '../crash/syscall-points.ts';
import { SCENES } from '../crash/syscall-scenes.ts';
import { prepareBase } from '../crash/syscall-stage.ts';
import type { Proof, ProofOrder, ProofResult } from './proof.ts';

const NAME = 'syscall-kills';
/** Processes at a time. */
const LANES = 2;
/** More than there are points: the release tier strikes at each. */
const COUNTS = { full: 120, release: 1_600 };

/** `kill -9` of the real host at each call that changes a file of its data folder, in three scenes. */
export const syscallKills: Proof = {
  name: NAME,
  unit: 'kills',
  counts: COUNTS,
  chunk: 400,
  run,
  judge: (sums) =>
    [...SCENES.map(({ name }) => name), ...STRUCK, 'interrupted', 'assessments', 'handovers']
      .filter((name) => (sums[name] ?? 0) === 0)
      .map((name) => `no kill was of ${name}`),
};

/** SQLite as it is built here calls fsync, never fdatasync. */
const STRUCK = ['pwrite64', 'write', 'fsync', 'ftruncate', 'unlink', 'rename'];

async function run(order: ProofOrder): Promise<ProofResult> {
  const bases = await Promise.all(SCENES.map(prepareBase));
  try {
    const points: Point[] = [];
    for (const base of bases) points.push(...(await pointsOf(base)));
    const tally = new Tally(order);
    const count = COUNTS[order.tier];
    if (order.tier === 'release' && points.length > count)
      tally.failures.push(`there are ${points.length} points, ${count} pieces do not reach each`);
    await inLanes(LANES, order, (piece) => tally.strike(piece, pieceOf(points, count, piece)));
    return tally;
  } finally {
    for (const base of bases) base.clear();
  }
}

class Tally implements ProofResult {
  ran = 0;
  readonly failures: string[] = [];
  readonly figures: Record<string, number> = {};
  readonly #order: ProofOrder;

  constructor(order: ProofOrder) {
    this.#order = order;
  }

  async strike(piece: number, { base, call, at }: Point): Promise<void> {
    const { name } = base.scene;
    try {
      const killed = await killAt(base, { call, at });
      if (!killed.fired) throw new Error('the kill never came');
      this.#add(name, call, killed);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const tier = this.#order.tier === 'release' ? '--release ' : '';
      const again = `npm run prove -- ${tier}--only ${NAME} --from ${piece} --count 1`;
      this.failures.push(`${name}: ${call} ${at}: ${why}; ${again}`);
    }
    this.ran += 1;
  }

  #add(scene: string, call: string, killed: Killed): void {
    const more = {
      [scene]: 1,
      [call]: 1,
      interrupted: killed.interrupted,
      assessments: killed.assessments,
      handovers: killed.shortened,
    };
    for (const [name, value] of Object.entries(more))
      this.figures[name] = (this.figures[name] ?? 0) + value;
  }
}
