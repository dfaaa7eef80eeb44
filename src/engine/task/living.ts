import { mayHold } from '../../core/lease/record.ts';
import type { HostId } from '../../kernel/ids.ts';
import type { EngineParts } from '../engine.ts';

/**
 * Whether a host may still be at work on what its records say it runs. Where the records are read
 * with no host on them (`isAtRest`) none is: an embedded store has no lease that could tell.
 */
export async function isLiving(
  { store, clock, isAtRest = false }: Pick<EngineParts, 'store' | 'clock' | 'isAtRest'>,
  id: HostId,
): Promise<boolean> {
  return !isAtRest && mayHold(await store.query('host.byId', { id }), clock.now());
}
