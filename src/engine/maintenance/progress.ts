import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { settle } from '../settle.ts';
import type { SummarySpent } from './summarise.ts';
import { isOut } from './unit.ts';

type ProgressReads = { readonly operation: Read<'operation.byId'> };

/**
 * Saves how far the summary of an operation has come, under the try that makes it; false when that try is
 * over. Nothing that a person sees changes, so no event tells it.
 */
export async function saveWork(
  parts: EngineParts,
  reserved: OperationRecord,
  saved: { readonly work: string; readonly spent: SummarySpent },
): Promise<boolean> {
  return settle(parts, () => progressUnit(reserved, saved));
}

function progressUnit(
  reserved: OperationRecord,
  { work, spent }: { readonly work: string; readonly spent: SummarySpent },
): Unit<ProgressReads, boolean> {
  return {
    name: 'maintenance.progress',
    reads: { operation: { read: 'operation.byId', args: { id: reserved.id } } },
    decide: ({ operation }) => {
      if (!isOut(operation, reserved)) return { verdict: false, writes: [] };
      // An earlier try of this unit has saved it unseen.
      if (operation.work === work) return { verdict: true, writes: [] };
      const row = { ...addSpent(operation, spent), work, version: operation.version + 1 };
      return { verdict: true, writes: [{ write: 'operation.save', row }] };
    },
  };
}

/** The operation with what its calls have used. */
export function addSpent(
  operation: OperationRecord,
  { inputTokens, outputTokens, cost }: SummarySpent,
): OperationRecord {
  return {
    ...operation,
    inputTokens: operation.inputTokens + inputTokens,
    outputTokens: operation.outputTokens + outputTokens,
    cost: operation.cost + cost,
  };
}
