// The proof that an error of the disk is met as the specification says, at whichever call it comes.
import { failAt, type Failed } from '../crash/inject.ts';
import type { Blow } from '../crash/syscall-host.ts';
import { inLanes, pieceOf, pointsOf } from '../crash/syscall-points.ts';
import { SCENES } from '../crash/syscall-scenes.ts';
import { prepareBase, type Base } from '../crash/syscall-stage.ts';
import type { Proof, ProofOrder, ProofResult } from './proof.ts';

const NAME = 'io-errors';
/** Most of a piece is waiting for a host that shows why it ends. */
const LANES = 4;
const FATES = ['EIO', 'ENOSPC', 'EROFS'] as const;
/** Each call with each error, once and from there on. */
const WAYS = FATES.flatMap((fate) => [false, true].map((onwards) => ({ fate, onwards })));
/** The release tier has room for more calls than the scene makes. */
const CALLS = { full: 40, release: 400 };

/** Errors in the place of each call that changes a file of the data folder, in a turn with an approval. */
export const ioErrors: Proof = {
  name: NAME,
  unit: 'errors',
  counts: { full: CALLS.full * WAYS.length, release: CALLS.release * WAYS.length },
  chunk: 300,
  run,
  judge: (sums) =>
    [...FATES, 'stopped', 'outlived', 'unready']
      .filter((name) => (sums[name] ?? 0) === 0)
      .map((name) => `no error was one of ${name}`),
};

async function run(order: ProofOrder): Promise<ProofResult> {
  const scene = SCENES.find(({ name }) => name === 'approval');
  if (scene === undefined) throw new Error('the scene is missing');
  const base = await prepareBase(scene);
  try {
    const points = await pointsOf(base);
    const calls = CALLS[order.tier];
    const tally = new Tally(order, base);
    if (order.tier === 'release' && points.length > calls)
      tally.failures.push(`there are ${points.length} calls, ${calls} do not reach each`);
    await inLanes(LANES, order, async (piece) => {
      const way = WAYS[(piece - 1) % WAYS.length];
      const { call, at } = pieceOf(points, calls, Math.ceil(piece / WAYS.length));
      if (way !== undefined) await tally.fail(piece, { call, at, ...way });
    });
    return tally;
  } finally {
    base.clear();
  }
}

class Tally implements ProofResult {
  ran = 0;
  readonly failures: string[] = [];
  readonly figures: Record<string, number> = {};
  readonly #order: ProofOrder;
  readonly #base: Base;

  constructor(order: ProofOrder, base: Base) {
    this.#order = order;
    this.#base = base;
  }

  async fail(piece: number, blow: Blow): Promise<void> {
    try {
      const { fired, came } = await failAt(this.#base, blow);
      if (!fired) throw new Error('the error was never met');
      this.#add(blow, came);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const tier = this.#order.tier === 'release' ? '--release ' : '';
      const again = `npm run prove -- ${tier}--only ${NAME} --from ${piece} --count 1`;
      const from = blow.onwards === true ? ' and on' : '';
      this.failures.push(`${blow.fate} at ${blow.call} ${blow.at}${from}: ${why}; ${again}`);
    }
    this.ran += 1;
  }

  #add({ fate, call }: Blow, came: Failed['came']): void {
    for (const name of [fate, call, came]) this.figures[name] = (this.figures[name] ?? 0) + 1;
  }
}
