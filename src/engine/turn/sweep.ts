import type { HostId } from '../../kernel/ids.ts';
import type { EngineParts } from '../engine.ts';
import { closeTurn } from './close.ts';
import type { Live } from './live.ts';
import { isOrphan, type Pump } from './pump.ts';

export interface SweepHost {
  readonly parts: EngineParts;
  readonly live: Live;
  readonly hostId: HostId;
  readonly pump: Pump;
}

const BATCH = 64;

/**
 * Gives every turn without a living owner its recorded end: those of hosts that are gone, and
 * those of this host that nobody here runs. Turns that another host stopped are interrupted here.
 */
export async function sweepTurns(host: SweepHost): Promise<void> {
  await sweepOwn(host);
  await sweepElsewhere(host);
}

async function sweepOwn({ parts, live, hostId, pump }: SweepHost): Promise<void> {
  for (const turn of await parts.store.query('turn.openOf', { hostId, limit: BATCH })) {
    if (isOrphan(pump, turn)) {
      await closeTurn(parts, { turn, hostId });
      live.hint(turn.conversationId);
    } else if (turn.state === 'stopping') pump.interrupt(turn.id);
  }
}

async function sweepElsewhere({ parts, live, hostId }: SweepHost): Promise<void> {
  for (;;) {
    const open = await parts.store.query('turn.openElsewhere', { except: hostId, limit: BATCH });
    const closed = await Promise.all(open.map((turn) => closeTurn(parts, { turn, hostId })));
    for (const turn of open) live.hint(turn.conversationId);
    const isDone = open.length < BATCH || closed.every((verdict) => verdict === 'alive');
    if (isDone) return;
  }
}
