import { isRepeatable, type OperationFault } from '../../core/maintenance/decide.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import { requestRoom } from '../../core/maintenance/size.ts';
import { readWork, writeWork } from '../../core/maintenance/summary.ts';
import type { SessionId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Runtime, RuntimeOutcome } from '../../ports/runtime.ts';
import { saySeed } from '../../text/session-facts.ts';
import type { EngineParts } from '../engine.ts';
import { isFatal } from '../settle.ts';
import { compactSession, linkSessions, rotateSession, seedSession } from './effects.ts';
import { heardIn } from './heard.ts';
import { done, failed, faultOf, type Made } from './made.ts';
import { seedOf, type Scene } from './scene.ts';

interface Native {
  readonly operation: OperationRecord;
  readonly runtime: Runtime;
}

type NativeStep = (
  parts: EngineParts,
  scene: Scene,
  of: Native,
  signal: AbortSignal,
) => Promise<Made>;

/**
 * Makes a step of a runtime that keeps the session itself. A rejected or thrown `compact`, `summarise` or
 * `rotate` is uncertain, and nothing makes it again (M-6); what an admission opened is looked at first (M-7).
 */
export const makeNativeStep: NativeStep = async (parts, scene, of, signal) => {
  const { step } = of.operation;
  try {
    return await STEPS[step](parts, scene, of, signal);
  } catch (error) {
    if (isFatal(error) || isRepeatable(step, 'native')) throw error;
    return { kind: 'uncertain', fault: faultOf(error) };
  }
};

const STEPS: Readonly<Record<OperationRecord['step'], NativeStep>> = {
  compact: async (parts, scene, { operation, runtime }, signal) => {
    const { session, conversation, window } = scene;
    const outcome = await runtime.compact(session.id, signal);
    if (outcome.kind === 'rejected') return rejected(outcome);
    if (outcome.value.tokens > requestRoom(window)) return failed('full');
    // The runtime holds what was said; the host goes on from here, and restates what it knows itself.
    const { seq: cutSeq } = conversation;
    const conditions = await heardIn(parts, scene, cutSeq);
    const seed = seedOf(scene, { summary: '', conditions });
    return done(compactSession({ seed, cutSeq }), operation.work);
  },
  summarise: async (parts, scene, { operation, runtime }, signal) => {
    const { session, conversation } = scene;
    if (operation.looksFirst === 'yes') {
      const current = await whereIs(runtime, session.id, signal);
      if (current !== session.id) return elsewhere(current);
    }
    const outcome = await runtime.summarise(session.id, signal);
    if (outcome.kind === 'rejected') return rejected(outcome);
    const { session: of, summary } = outcome.value;
    if (of !== session.id) return { kind: 'uncertain', fault: { code: 'other_session', said: '' } };
    if (summary.trim() === '')
      return { kind: 'uncertain', fault: { code: 'summary_empty', said: '' } };
    const { seq: cutSeq } = conversation;
    const conditions = await heardIn(parts, scene, cutSeq);
    const work = { cutSeq, doneSeq: cutSeq, summary, conditions };
    return done(() => ({}), writeWork(work));
  },
  'archive-link': async (_parts, _scene, { operation }) => done(linkSessions, operation.work),
  rotate: async (_parts, { session }, { operation, runtime }, signal) => {
    const { nextSessionId: next, work, looksFirst } = operation;
    if (next === null) return failed('internal');
    if (looksFirst === 'yes') {
      const current = await whereIs(runtime, session.id, signal);
      // It took effect before it was cut: it is recorded without a second one.
      if (current === next) return done(rotateSession, work);
      if (current !== session.id) return elsewhere(current);
    }
    const outcome = await runtime.rotate({ from: session.id, next }, signal);
    return outcome.kind === 'rejected' ? rejected(outcome) : done(rotateSession, work);
  },
  seed: async (_parts, scene, { operation, runtime }, signal) => {
    const { nextSessionId: session, work } = operation;
    const known = readWork(work);
    if (session === null || known === null) return failed('summary_missing');
    const seed = seedOf(scene, known);
    // The runtime has the summary; a request of the host's own does not carry it a second time.
    const seeded = done(seedSession({ ...seed, summary: '' }), work);
    // One that failed or was cut may have taken effect: then it is closed without another (M-6).
    if (operation.failures > 0 && (await isSeeded(runtime, session, signal))) return seeded;
    const outcome = await runtime.seed({ session, text: saySeed(seed) }, signal);
    if (outcome.kind === 'done') return seeded;
    const { code, said } = faultIn(outcome);
    return failed(code, said);
  },
};

type Rejected = Extract<RuntimeOutcome<unknown>, { readonly kind: 'rejected' }>;

function rejected(outcome: Rejected): Made {
  return { kind: 'uncertain', fault: faultIn(outcome) };
}

function faultIn({ code, message }: Rejected): OperationFault {
  return { code, said: message.slice(0, LIMITS.providerWordsMax) };
}

/** The runtime is on none of the sessions that the operation knows: a person has to look (M-7). */
function elsewhere(current: string | null): Made {
  return { kind: 'uncertain', fault: { code: 'other_session', said: current ?? '' } };
}

/** The session that the runtime is on now; null where it knows none of it. */
async function whereIs(
  runtime: Runtime,
  session: SessionId,
  signal: AbortSignal,
): Promise<SessionId | null> {
  return (await runtime.look(session, signal))?.session ?? null;
}

async function isSeeded(
  runtime: Runtime,
  session: SessionId,
  signal: AbortSignal,
): Promise<boolean> {
  const state = await runtime.look(session, signal);
  return state?.session === session && state.isSeeded;
}
