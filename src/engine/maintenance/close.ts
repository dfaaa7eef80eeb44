import { failStep, isRepeatable, leaveUncertain } from '../../core/maintenance/decide.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import { mayHold } from '../../core/lease/record.ts';
import type { HostId } from '../../kernel/ids.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { agentOf } from '../session/agent.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { settleOperation } from './settle-operation.ts';
import { isOut, operationReads, type OperationReads } from './unit.ts';

type CloseReads = OperationReads & { readonly host?: Read<'host.byId'> };

/**
 * Ends a try whose host is gone, or that no runner of this host has: it was cut. One failure of a repeatable
 * step; of an uncertain one nobody knows what it has done (M-6). False while its host may still be alive.
 */
export async function closeTry(
  parts: EngineParts,
  found: OperationRecord,
  hostId: HostId,
): Promise<boolean> {
  return settle(parts, () => closeUnit(parts, found, hostId));
}

function closeUnit(
  parts: EngineParts,
  found: OperationRecord,
  hostId: HostId,
): Unit<CloseReads, boolean> {
  const isForeign = found.hostId !== hostId && !parts.store.traits.exclusive;
  return {
    name: 'maintenance.close',
    reads: {
      ...operationReads(found),
      ...(isForeign && found.hostId !== null
        ? { host: { read: 'host.byId', args: { id: found.hostId } } }
        : {}),
    },
    decide: ({ conversation, operation, runs, host }, at) => {
      if (conversation === undefined || !isOut(operation, found))
        return { verdict: true, writes: [] };
      if (isForeign && mayHold(host, at.now)) return { verdict: false, writes: [] };
      const runtime = agentOf(parts, conversation.agent).runtime;
      const kind = runtime === undefined ? 'built-in' : 'native';
      const fault = { code: 'interrupted', said: '' };
      const after = isRepeatable(operation.step, kind)
        ? failStep(operation, fault, parts.options.maintenance, at.now)
        : leaveUncertain(operation, fault, at.now);
      const ledger = new Ledger(conversation, at, hostName(hostId));
      settleOperation(ledger, { before: operation, after }, { runs });
      return { verdict: true, writes: ledger.close() };
    },
  };
}
