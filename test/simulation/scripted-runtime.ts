// A runtime that keeps the model's session itself: it rejects, throws, takes its time and is cut, and what it
// did then stays done or not, which the host cannot see (M-6).
import { SECOND } from '../../src/kernel/time.ts';
import type { SessionId } from '../../src/kernel/ids.ts';
import type { Runtime, RuntimeOutcome } from '../../src/ports/runtime.ts';
import type { ModelParts } from './scripted-model.ts';
import type { UpkeepCallKind } from './operation-book.ts';

/** What the runtime's own sessions are: they outlive every host. */
export class NativeSessions {
  readonly #next = new Map<SessionId, SessionId>();
  readonly #seeded = new Set<SessionId>();

  rotate(from: SessionId, next: SessionId): void {
    this.#next.set(from, next);
  }

  seed(session: SessionId): void {
    this.#seeded.add(session);
  }

  /** The last that goes on from this one, or itself. */
  currentOf(session: SessionId): SessionId {
    const next = this.#next.get(session);
    return next === undefined ? session : this.currentOf(next);
  }

  isSeeded(session: SessionId): boolean {
    return this.#seeded.has(session);
  }
}

/** What a written script lets a step come to. */
export type RuntimePlan = 'done' | 'rejected' | 'throws' | 'hangs';

export type RuntimeParts = Pick<
  ModelParts,
  'scheduler' | 'epoch' | 'upkeep' | 'weather' | 'operations' | 'dies' | 'reached'
> & {
  readonly sessions: NativeSessions;
  /** In a written order, taken from the front; without one chance decides. */
  readonly steps?: RuntimePlan[] | undefined;
};

/** The error of a disk, as a runtime throws it. */
class DiskError extends Error {
  readonly code = 'EIO';
}

export function scriptedRuntime(parts: RuntimeParts): Runtime {
  const { sessions, operations, upkeep, scheduler, epoch } = parts;
  return {
    name: 'native',
    compact: (session, signal) =>
      step(parts, { kind: 'compact', session, signal }, () => ({
        // Now and then it frees too little.
        tokens: upkeep.between(
          50,
          upkeep.chance(parts.weather.faults.runtimeRejects) ? 9_000 : 300,
        ),
      })),
    summarise: (session, signal) =>
      step(parts, { kind: 'summarise', session, signal }, () => ({
        session,
        summary: `Summary ${operations.nextWords()}.`,
      })),
    rotate: ({ from, next }, signal) =>
      step(parts, { kind: 'rotate', session: from, signal }, () => {
        sessions.rotate(from, next);
        return null;
      }),
    seed: ({ session }, signal) =>
      step(parts, { kind: 'seed', session, signal }, () => {
        sessions.seed(session);
        return null;
      }),
    look: (session, signal) =>
      scheduler.call({ epoch, label: 'runtime.look', delay: upkeep.below(20), signal }, () => {
        const current = sessions.currentOf(session);
        return { session: current, isSeeded: sessions.isSeeded(current) };
      }),
  };
}

interface Asked {
  readonly kind: UpkeepCallKind;
  readonly session: SessionId;
  readonly signal: AbortSignal;
}

async function step<T>(
  parts: RuntimeParts,
  { kind, session, signal }: Asked,
  effect: () => T,
): Promise<RuntimeOutcome<T>> {
  const { scheduler, epoch, upkeep: random, weather, operations, reached } = parts;
  const call = operations.begin(epoch.name, kind, { session });
  const { runtimeRejects, runtimeThrows, runtimeSlow, upkeepDies } = weather.faults;
  const [rejects, throws, isSlow, dies, hasEffect] = [
    random.chance(runtimeRejects),
    random.chance(runtimeThrows),
    random.chance(runtimeSlow),
    random.chance(upkeepDies),
    random.chance(0.5),
  ];
  if (dies) parts.dies(epoch.name);
  const plan = parts.steps?.shift() ?? (throws ? 'throws' : rejects ? 'rejected' : 'done');
  const isLong = isSlow || plan === 'hangs';
  const delay = isLong ? random.between(60, 400) * SECOND : random.below(3 * SECOND);
  const label = `runtime.${kind} ${call.operationId}`;
  return scheduler.call({ epoch, label, delay, signal }, () => {
    const isGone = parts.sessions.currentOf(session) !== session;
    if (isGone) {
      operations.end(call, 'failed');
      return { kind: 'rejected', code: 'unknown_session', message: 'injected: not on it any more' };
    }
    const isDone = plan === 'done' || plan === 'hangs';
    if (signal.aborted || !isDone) {
      // Rejected or cut, and perhaps it happened all the same.
      if (hasEffect) effect();
      operations.end(call, 'failed');
      reached(signal.aborted ? 'native_cut' : plan === 'throws' ? 'native_eio' : 'native_rejected');
      if (plan === 'throws') throw new DiskError('injected: input/output error');
      return { kind: 'rejected', code: 'busy', message: 'injected: rejected' };
    }
    const value = effect();
    operations.end(call, 'done');
    reached('native_done');
    return { kind: 'done', value };
  });
}
