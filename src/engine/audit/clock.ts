import type { HostId } from '../../kernel/ids.ts';
import { principalName, type Principal } from '../../kernel/principal.ts';
import type { Unit } from '../../ports/store.ts';
import type { ClockTrust, EngineParts } from '../engine.ts';
import { settle } from '../settle.ts';
import { AUDIT_TAIL, auditWrite, type AuditTail } from './append.ts';

export interface ClockOrder {
  readonly principal: Principal;
  readonly channel: string;
  readonly hostId: HostId;
  readonly trust: ClockTrust;
}

/** Records that an admin confirms the clock of this host, before it is believed. */
export async function commitClockEntry(parts: EngineParts, order: ClockOrder): Promise<void> {
  const id = parts.ids.next('receipt');
  await settle(parts, () => entryUnit(parts, order, id));
}

function entryUnit(
  parts: EngineParts,
  { principal, channel, hostId, trust }: ClockOrder,
  id: string,
): Unit<AuditTail, void> {
  const { isTrusted, driftMs } = trust;
  return {
    name: 'clock.confirm',
    reads: AUDIT_TAIL,
    decide: ({ last }, at) => {
      // What an earlier try committed unseen.
      if (last?.after.includes(id) === true) return { verdict: undefined, writes: [] };
      const entry = {
        at: at.now,
        principal: principalName(principal),
        channel,
        action: 'clock.confirm',
        subjectId: hostId,
        before: { isTrusted, driftMs },
        after: { isTrusted: true, order: id },
      };
      return { verdict: undefined, writes: [auditWrite(parts, last, entry)] };
    },
  };
}
