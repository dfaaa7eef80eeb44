import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { OperationRecord } from './record.ts';

export interface AdmitOrderFacts {
  readonly principal: Principal;
  readonly expectedVersion: number;
  readonly as?: 'handover' | undefined;
}

/**
 * Whether an admin may open the operation as it stands (M-7): at the version that was seen, and an uncertain
 * `compact` as a handover alone. Receipts are looked at before.
 */
export function judgeAdmit(
  operation: OperationRecord,
  { principal, expectedVersion, as }: AdmitOrderFacts,
): Refusal | undefined {
  const { id, state, version } = operation;
  if (!principal.isAdmin) return refuse('forbidden', { id, who: 'admin' });
  if (expectedVersion !== version)
    return refuse('version_conflict', { id, state, version: String(version) });
  if (state !== 'blocked') return refuse('not_blocked', { id, state });
  const needsHandover = operation.reason === 'uncertain' && operation.kind === 'compact';
  if (needsHandover && as === undefined) return refuse('handover_only', { id });
  if (!needsHandover && as !== undefined) return refuse('no_handover', { id });
  return undefined;
}
