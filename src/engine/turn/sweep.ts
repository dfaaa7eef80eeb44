import type { HostId } from '../../kernel/ids.ts';
import type { EngineParts } from '../engine.ts';
import { isFatal } from '../settle.ts';
import { closeTurn, type Closed, type CloseOrder } from './close.ts';
import type { Live } from './live.ts';
import type { Pump } from './pump.ts';

export interface SweepHost {
  readonly parts: EngineParts;
  readonly live: Live;
  readonly hostId: HostId;
  readonly pump: Pump;
  /** A task has come to wait for its assessment. */
  readonly onInterrupted: () => void;
  readonly onFault: (error: unknown, where: string) => void;
}

const BATCH = 256;

/**
 * Gives every turn without a living owner its recorded end: those of hosts that are gone, and
 * those of this host that nobody here runs. Turns that another host stopped or took over are
 * interrupted here. One that cannot be closed holds back no other and is tried again at the next sweep.
 */
export async function sweepTurns(host: SweepHost): Promise<void> {
  await sweepOwn(host);
  await sweepElsewhere(host);
}

async function sweepOwn(host: SweepHost): Promise<void> {
  const { parts, hostId, pump } = host;
  const running = pump.turns;
  const open = await parts.store.query('turn.openOf', { hostId, limit: BATCH });
  for (const turn of open) {
    if (!pump.has(turn.id)) await close(host, turn);
    else if (turn.state === 'stopping') pump.interrupt(turn.id);
  }
  const known = new Set(open.map(({ id }) => id));
  for (const id of running) {
    if (known.has(id)) continue;
    // A claim that is being committed has no row yet; one that was taken over has its end.
    const turn = await parts.store.query('turn.byId', { id });
    if (turn?.state === 'ended') pump.interrupt(id);
  }
}

async function sweepElsewhere(host: SweepHost): Promise<void> {
  const { parts, hostId } = host;
  for (;;) {
    // The lock of an exclusive store proves that no other host lives, whatever its row says.
    const deadBefore = parts.store.traits.exclusive ? Number.MAX_SAFE_INTEGER : parts.clock.now();
    const args = { except: hostId, deadBefore, limit: BATCH };
    const open = await parts.store.query('turn.openElsewhere', args);
    const closed = await Promise.all(open.map((turn) => close(host, turn)));
    const hasMore = open.length === BATCH && closed.some(hasClosed);
    if (!hasMore) return;
  }
}

function hasClosed(verdict: Closed | 'faulted'): boolean {
  return verdict === 'interrupted' || verdict === 'stopped';
}

async function close(host: SweepHost, turn: CloseOrder['turn']): Promise<Closed | 'faulted'> {
  const { parts, live, hostId, onFault } = host;
  try {
    const verdict = await closeTurn(parts, { turn, hostId });
    if (verdict !== 'alive') live.hint(turn.conversationId);
    if (verdict === 'interrupted') host.onInterrupted();
    return verdict;
  } catch (error) {
    if (isFatal(error)) throw error;
    onFault(error, 'sweep');
    return 'faulted';
  }
}
