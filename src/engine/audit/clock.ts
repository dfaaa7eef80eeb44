import type { HostId } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { ClockTrust, EngineParts } from '../engine.ts';
import { commitLoneEntry } from './entry.ts';

export interface ClockOrder {
  readonly principal: Principal;
  readonly channel: string;
  readonly hostId: HostId;
  readonly trust: ClockTrust;
}

/** Records that an admin confirms the clock of this host, before it is believed. */
export async function commitClockEntry(
  parts: EngineParts,
  { principal, channel, hostId: subjectId, trust: { isTrusted, driftMs } }: ClockOrder,
): Promise<void> {
  await commitLoneEntry(parts, {
    principal,
    channel,
    action: 'clock.confirm',
    subjectId,
    before: { isTrusted, driftMs },
    after: { isTrusted: true },
  });
}
