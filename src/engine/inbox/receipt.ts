import type { ReceiptRecord } from '../../core/inbox/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { Id } from '../../kernel/ids.ts';
import { readObject, type JsonObject } from '../../kernel/json.ts';
import { principalName } from '../../kernel/principal.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Read } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import type { Ledger } from '../session/ledger.ts';

/** One giving of an order under its receipt (M-7). */
export interface ReceiptUse {
  /** This giving: what an earlier, unseen try of it committed is told from an earlier order. */
  readonly id: Id<'receipt'>;
  readonly scope: string;
  /** `task.extend`, `task.resume`, … */
  readonly order: string;
  readonly subjectId: string;
  /** The digest of what is ordered, where the caller gave one. */
  readonly fingerprint: string | null;
}

export type ReceiptReads = { readonly receipt: Read<'receipt.byScope'> };

/** The receipt that an order is given under: the caller's within its principal, else one of its own. */
export function receiptUse(
  parts: Pick<EngineParts, 'ids'>,
  order: {
    readonly principal: Principal;
    readonly receiptId?: string | undefined;
    readonly fingerprint?: string | undefined;
  },
  about: { readonly order: string; readonly subjectId: string },
): ReceiptUse {
  const id = parts.ids.next('receipt');
  const scope = `${principalName(order.principal)} ${order.receiptId ?? id}`;
  return { id, scope, ...about, fingerprint: order.fingerprint ?? null };
}

export function receiptReads({ scope }: ReceiptUse): ReceiptReads {
  return { receipt: { read: 'receipt.byScope', args: { scope } } };
}

/**
 * What a used receipt says, looked at before everything else: the first outcome of the same order, or
 * that it was used for another (`receipt_used`). Undefined when it is new.
 */
export function judgeReceipt(
  use: ReceiptUse,
  row: ReceiptRecord | undefined,
):
  | { readonly kind: 'used'; readonly outcome: JsonObject; readonly repeated: boolean }
  | Refusal
  | undefined {
  if (row === undefined) return undefined;
  const { id, fingerprint, outcome } = readObject(row.outcome);
  const isSame =
    row.order === use.order &&
    row.subjectId === use.subjectId &&
    (fingerprint ?? null) === use.fingerprint;
  if (!isSame) return refuse('receipt_used', { id: use.subjectId });
  return {
    kind: 'used',
    outcome: readObject(JSON.stringify(outcome ?? {})),
    repeated: id !== use.id,
  };
}

/** Keeps the outcome of an order in the commit that carries it out. */
export function addReceipt(ledger: Ledger, use: ReceiptUse, outcome: JsonObject): void {
  const { id, scope, order, subjectId, fingerprint } = use;
  const row: ReceiptRecord = {
    scope,
    order,
    subjectId,
    outcome: JSON.stringify({ id, fingerprint, outcome }),
    at: ledger.at.now,
  };
  ledger.add({ write: 'receipt.insert', row });
}
