import { isOpen } from '../../core/maintenance/decide.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { HostId } from '../../kernel/ids.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { releaseNotice } from '../outbox/queue.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { waitingParams } from './settle-operation.ts';
import { operationReads, type OperationReads } from './unit.ts';

/** Lets the notice leave that an operation waits, once it has waited long enough to be worth it (M-10). */
export async function releaseWaiting(
  parts: EngineParts,
  operation: OperationRecord,
  hostId: HostId,
): Promise<void> {
  await settle(parts, () => releaseUnit(operation, hostId));
}

function releaseUnit(found: OperationRecord, hostId: HostId): Unit<OperationReads, void> {
  return {
    name: 'maintenance.tell',
    reads: operationReads(found),
    decide: ({ conversation, operation, runs }, at) => {
      const isGone = conversation === undefined || operation === undefined || !isOpen(operation);
      if (isGone || operation.noticeId === null || operation.noticeAt === null) return NOTHING;
      if (operation.noticeAt > at.now) return NOTHING;
      const ledger = new Ledger(conversation, at, hostName(hostId));
      const { noticeId: id } = operation;
      const params = waitingParams(operation);
      releaseNotice(ledger, { id, level: 'waiting', code: 'maintenance_waiting', params }, runs);
      const version = operation.version + 1;
      const row = { ...operation, version, noticeAt: null, isTold: 'yes' } as const;
      ledger.add({ write: 'operation.save', row });
      return { verdict: undefined, writes: ledger.close() };
    },
  };
}

const NOTHING = { verdict: undefined, writes: [] } as const;
