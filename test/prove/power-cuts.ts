// The proof that a cut of power takes nothing that was acknowledged.
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '../../src/testing/sim-random.ts';
import { imagesAt, type Image } from '../crash/power-disk.ts';
import { judgeImage, restoreImage, reviveImage, STORE, type Judged } from '../crash/power-judge.ts';
import { traceChild, type Trace } from '../crash/power-trace.ts';
import type { Proof, ProofOrder, ProofResult } from './proof.ts';

const NAME = 'power-cuts';
const CHILD = join(import.meta.dirname, '../crash/power-child.ts');
/** Images of one traced process. */
const IMAGES_A_TRACE = 250;
const MESSAGES = 10;
/** A host is started on each image of which this is a divisor. */
const REVIVED_EACH = 10;
/** Images of a store that syncs less. */
const LAX_IMAGES = 50;

/** Images of the disk of a host whose power is cut, each opened, judged, and some of them worked on. */
export const powerCuts: Proof = {
  name: NAME,
  unit: 'images',
  counts: { full: 2_000, release: 20_000 },
  chunk: 2_000,
  run: (order) => Promise.resolve(runRange(order)),
  judge: (sums) =>
    ['acked', 'ran', 'answered', 'revived', 'laxLoses']
      .filter((name) => (sums[name] ?? 0) === 0)
      .map((name) => `no image was one of ${name}`),
};

/** How often the log is copied into the file: by default, and so often that each life does it many times. */
const CHECKPOINTS = [4_000, 40, 200];

async function runRange(order: ProofOrder): Promise<ProofResult> {
  const tally = new Tally(order);
  const last = order.from + order.count - 1;
  for (let from = order.from; from <= last;) {
    const seed = Math.ceil(from / IMAGES_A_TRACE);
    const to = Math.min(seed * IMAGES_A_TRACE, last);
    await cutTrace(seed, { from, to }, tally);
    from = to + 1;
  }
  cutLax(order.from, tally);
  return tally;
}

interface Pieces {
  readonly from: number;
  readonly to: number;
}

async function cutTrace(seed: number, { from, to }: Pieces, tally: Tally): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-power-'));
  try {
    const every = CHECKPOINTS[seed % CHECKPOINTS.length] ?? 0;
    const trace = traced(folder, seed, `wal_autocheckpoint=${every}`);
    const pieces = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    const cuts = cutsOf(trace, pieces);
    let place = 0;
    for (const image of imagesAt(trace, cuts)) {
      await tally.image(cuts[place]?.piece ?? 0, image, join(folder, 'image'));
      place += 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function traced(folder: string, seed: number, pragma: string): Trace {
  const argv = [process.execPath, CHILD, join(folder, STORE), String(seed), String(MESSAGES)];
  return traceChild([...argv, pragma], folder);
}

function cutsOf(trace: Trace, pieces: readonly number[]) {
  const cut = (piece: number) => {
    const random = seededRandom(piece, 'power');
    return { piece, at: 1 + random.below(trace.calls.length), random };
  };
  return pieces.map(cut).toSorted((a, b) => a.at - b.at);
}

/** The same with a store that does not sync each commit: a test that finds nothing there finds nothing at all. */
function cutLax(seed: number, tally: Tally): void {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-power-lax-'));
  try {
    const trace = traced(folder, seed, 'synchronous=normal');
    const pieces = Array.from({ length: LAX_IMAGES }, (_, index) => index);
    const into = join(folder, 'image');
    for (const image of imagesAt(trace, cutsOf(trace, pieces))) {
      restoreImage(into, image);
      tally.lax(judgeImage(into, image));
    }
    tally.endLax();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

class Tally implements ProofResult {
  ran = 0;
  readonly failures: string[] = [];
  readonly figures = { acked: 0, ran: 0, answered: 0, revived: 0, laxImages: 0, laxLoses: 0 };
  readonly #order: ProofOrder;

  constructor(order: ProofOrder) {
    this.#order = order;
  }

  async image(piece: number, image: Image, folder: string): Promise<void> {
    restoreImage(folder, image);
    const judged = judgeImage(folder, image);
    const found = problemsOf(judged);
    if (found.length === 0 && piece % REVIVED_EACH === 0) {
      this.figures.revived += 1;
      found.push(...(await reviveImage(folder)));
    }
    this.figures.acked += image.said.get('ACK')?.length ?? 0;
    this.figures.ran += image.said.get('RAN')?.length ?? 0;
    this.figures.answered += image.said.get('DONE')?.length ?? 0;
    this.ran += 1;
    if (found.length > 0) this.#fail(piece, found, { image, folder });
  }

  lax({ lost }: Judged): void {
    this.figures.laxImages += 1;
    if (lost.length > 0) this.figures.laxLoses += 1;
  }

  endLax(): void {
    const { laxLoses } = this.figures;
    if (laxLoses < LAX_IMAGES / 4)
      this.failures.push(`only ${laxLoses} of ${LAX_IMAGES} images without a sync each lose`);
  }

  /** A trace is made anew each time, so the image is kept as it was. */
  #fail(piece: number, found: readonly string[], at: { image: Image; folder: string }): void {
    const kept = mkdtempSync(join(tmpdir(), 'sekisho-power-kept-'));
    restoreImage(at.folder, at.image);
    mkdirSync(kept, { recursive: true });
    renameSync(at.folder, join(kept, 'image'));
    const tier = this.#order.tier === 'release' ? '--release ' : '';
    const again = `npm run prove -- ${tier}--only ${NAME} --from ${piece} --count 1`;
    this.failures.push(
      `image ${piece}: ${found.slice(0, 3).join('; ')}; kept in ${kept}; ${again}`,
    );
  }
}

function problemsOf({ lost, corrupt, broken }: Judged): string[] {
  return [
    ...(lost.length > 0 ? [`${lost.length} lost, first ${lost[0] ?? ''}`] : []),
    ...(corrupt ? ['the store is corrupt'] : []),
    ...broken,
  ];
}
