import { stormEndsAt } from '../../core/recovery/storm.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { Instant } from '../../kernel/time.ts';
import type { EngineParts } from '../engine.ts';

type Reading = Pick<EngineParts, 'store' | 'clock' | 'options'>;

/** Waits that a person ends: safe mode holds nothing of them back. */
const OF_PERSONS: ReadonlySet<string> = new Set(['answer', 'approval']);

/** When safe mode, which is on, ends by itself; null while it is off. */
export async function readSafeMode({ store, clock, options }: Reading): Promise<Instant | null> {
  if (!options.recovery.safeMode) return null;
  const storm = await store.query('storm.last', {});
  if (storm === undefined || storm.endedAt !== null) return null;
  const until = stormEndsAt(storm);
  return until > clock.now() ? until : null;
}

/** Until when safe mode keeps a task from going on by itself; null where it does not. */
export async function readHolding(parts: Reading, task: TaskRecord): Promise<Instant | null> {
  const { state, waitKind, enrollment } = task;
  const isByItself = state === 'waiting' && waitKind !== null && !OF_PERSONS.has(waitKind);
  return isByItself && enrollment === 'current' ? readSafeMode(parts) : null;
}

/** A refusal to wake a task that waits for its check, with what stands against that check. */
export async function withSafeMode(parts: Reading, refused: Refusal): Promise<Refusal> {
  const until = await readSafeMode(parts);
  if (until === null) return refused;
  const holding = { safeModeUntil: String(until), way: '/safe-mode off' };
  return refuse(refused.code, { ...refused.detail, ...holding });
}
