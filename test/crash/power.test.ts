import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { seededRandom } from '../../src/testing/sim-random.ts';
import { imagesAt, judgeImage, traceChild } from './power-cut.ts';

const IMAGES = 240;
const MESSAGES = 30;
const CHILD = join(import.meta.dirname, 'power-child.ts');
const hasStrace = spawnSync('strace', ['-V']).status === 0;

interface Tally {
  readonly images: number;
  readonly withLoss: number;
  readonly corrupt: number;
  readonly acked: number;
  readonly syncs: number;
}

function cutPower(pragma?: string): Tally {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-power-'));
  try {
    const argv = [process.execPath, CHILD, join(folder, 'store.db'), String(MESSAGES)];
    const trace = traceChild(pragma === undefined ? argv : [...argv, pragma], folder);
    const stream = seededRandom(7, 'power');
    const acked = trace.calls.filter((call) => call.kind === 'ack').length;
    let withLoss = 0;
    let corrupt = 0;
    const cuts = Array.from({ length: IMAGES }, () => 1 + stream.below(trace.calls.length));
    const images = imagesAt(
      trace,
      cuts.toSorted((a, b) => a - b),
      () => stream.next(),
    );
    for (const image of images) {
      const judged = judgeImage(join(folder, 'image'), image, 'store.db');
      if (judged.lost.length > 0) withLoss += 1;
      if (judged.corrupt) corrupt += 1;
    }
    return {
      images: IMAGES,
      withLoss,
      corrupt,
      acked,
      syncs: trace.syncs.fsync + trace.syncs.fdatasync,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const reason = hasStrace ? '' : ' (skipped: strace is not installed)';

test(
  `T-1 I-1 a power cut at any point loses no acknowledged message${reason}`,
  { skip: !hasStrace },
  (t) => {
    const tally = cutPower();
    t.diagnostic(JSON.stringify(tally));
    assert.equal(tally.acked, MESSAGES * 3);
    assert.ok(tally.syncs > MESSAGES, 'the trace must hold the syncs that it is about');
    assert.equal(tally.withLoss, 0);
    assert.equal(tally.corrupt, 0);
  },
);

test(
  `a store that syncs less loses messages in the same test${reason}`,
  { skip: !hasStrace },
  (t) => {
    const tally = cutPower('synchronous = normal');
    t.diagnostic(JSON.stringify(tally));
    assert.ok(
      tally.withLoss > IMAGES / 4,
      `${tally.withLoss} of ${tally.images} images lost a message`,
    );
  },
);
