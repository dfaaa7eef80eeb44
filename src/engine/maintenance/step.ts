import type { Cut } from '../../core/maintenance/cut.ts';
import type { OperationRecord, OperationWork } from '../../core/maintenance/record.ts';
import { readWork, writeWork } from '../../core/maintenance/summary.ts';
import type { EngineParts } from '../engine.ts';
import { compactSession, linkSessions, rotateSession, seedSession } from './effects.ts';
import { done, failed, type Made } from './made.ts';
import { makeNativeStep } from './native-step.ts';
import { cutOf, fitsAfter, fitsAsItIs, seedOf, type Scene } from './scene.ts';
import { summarise } from './summarise.ts';

/** Makes the step that an operation is at, under its reserved try. */
export async function makeStep(
  parts: EngineParts,
  scene: Scene,
  operation: OperationRecord,
  signal: AbortSignal,
): Promise<Made> {
  if (scene.runtime !== undefined)
    return makeNativeStep(parts, scene, { operation, runtime: scene.runtime }, signal);
  switch (operation.step) {
    case 'compact':
      return compact(parts, scene, operation, signal);
    case 'summarise':
      return summariseWhole(parts, scene, operation, signal);
    case 'archive-link':
      return done(linkSessions, operation.work);
    case 'rotate':
      return done(rotateSession, operation.work);
    case 'seed':
      return seed(parts, scene, operation);
  }
}

async function compact(
  parts: EngineParts,
  scene: Scene,
  operation: OperationRecord,
  signal: AbortSignal,
): Promise<Made> {
  const { session } = scene;
  const { startAt } = parts.options.maintenance;
  // What was blocked for its base alone, and is admitted with a smaller one, may need no summary (M-18).
  const isMended = operation.epoch > 1 && operation.attempts === 1;
  if (isMended && (await fitsAsItIs(parts, scene, startAt))) return done(() => ({}));
  const cut = cutOf(scene, operation);
  const at: Cut = cut ?? { cutSeq: session.cutSeq, keptChars: 0 };
  const start = startOf(scene, operation, at.cutSeq);
  const written = await summarise(parts, scene, { operation, work: start }, signal);
  if (written.kind !== 'whole') return written;
  const { work, spent } = written;
  // What was planned at first holds: only there has the summary come.
  const kept = keptBehind(scene, work.cutSeq);
  const seeded = seedOf(scene, work);
  const fits = await fitsAfter(parts, scene, { seed: seeded, cut: kept });
  if (!fits) return failed('full', '', spent);
  const { cutSeq } = work;
  return done(compactSession({ seed: seeded, cutSeq }), null, spent);
}

/** How far the summary has come, or its beginning: what stood for the session before. */
function startOf(
  { session, seed: before }: Scene,
  operation: OperationRecord,
  cutSeq: number,
): OperationWork {
  const begun = readWork(operation.work);
  if (begun !== null) return { ...begun, cutSeq: Math.max(begun.cutSeq, cutSeq) };
  return {
    cutSeq,
    doneSeq: session.cutSeq,
    summary: before?.summary ?? '',
    conditions: before?.conditions ?? [],
  };
}

function keptBehind({ tail }: Scene, cutSeq: number): Cut {
  const kept = tail.filter(({ firstSeq }) => firstSeq > cutSeq);
  return { cutSeq, keptChars: kept.reduce((sum, { chars }) => sum + chars, 0) };
}

async function summariseWhole(
  parts: EngineParts,
  scene: Scene,
  operation: OperationRecord,
  signal: AbortSignal,
): Promise<Made> {
  // Behind the fence nothing is added to the session: everything in it is handed over.
  const start = startOf(scene, operation, scene.conversation.seq);
  const written = await summarise(parts, scene, { operation, work: start }, signal);
  if (written.kind !== 'whole') return written;
  return done(() => ({}), writeWork(written.work), written.spent);
}

async function seed(parts: EngineParts, scene: Scene, operation: OperationRecord): Promise<Made> {
  const work = readWork(operation.work);
  if (work === null) return failed('summary_missing');
  const seeded = seedOf(scene, work);
  const cut: Cut = { cutSeq: work.cutSeq, keptChars: 0 };
  const fits = await fitsAfter(parts, scene, { seed: seeded, cut });
  if (!fits) return failed('full');
  return done(seedSession(seeded), operation.work);
}
