import type { BlockReason, OperationRecord } from './record.ts';

/** A command that changes how a blocked operation stands; `{id}` stands for the operation's id. */
export interface OperationWay {
  readonly command: '/admit {id}' | '/admit {id} handover' | '/new';
  readonly who: 'admin';
  /** `admit` opens its next epoch, `handover` reconciles it as one, `drop` gives it up (M-21). */
  readonly effect: 'admit' | 'handover' | 'drop';
}

const ADMIT: OperationWay = { command: '/admit {id}', who: 'admin', effect: 'admit' };
const HANDOVER: OperationWay = {
  command: '/admit {id} handover',
  who: 'admin',
  effect: 'handover',
};
const NEW: OperationWay = { command: '/new', who: 'admin', effect: 'drop' };

/**
 * Why an operation is blocked, and what leaves it: the one table that notices, `/maintenance`, `why`, the
 * docs and the tests read (design principle 4). docs/reasons.md is printed from it.
 */
export const OPERATION_REASONS = {
  exhausted: { notice: 'maintenance_exhausted', ways: [ADMIT, NEW] },
  uncertain: { notice: 'maintenance_uncertain', ways: [ADMIT, NEW] },
  base_too_large: { notice: 'maintenance_too_large', ways: [ADMIT, NEW] },
} as const satisfies Record<
  BlockReason,
  { readonly notice: string; readonly ways: readonly OperationWay[] }
>;

/** A way with its command exactly as it is typed. */
export interface TypedOperationWay extends Omit<OperationWay, 'command'> {
  readonly command: string;
}

/** The commands that leave a blocked operation, in its own conversation; none for one that goes on by itself. */
export function waysOfOperation(
  operation: Pick<OperationRecord, 'id' | 'kind' | 'state' | 'reason'>,
): readonly TypedOperationWay[] {
  const { id, kind, state, reason } = operation;
  if (state !== 'blocked' || reason === null) return [];
  const isReconciled = reason === 'uncertain' && kind === 'compact';
  return OPERATION_REASONS[reason].ways.map((way) => {
    const chosen = isReconciled && way.effect === 'admit' ? HANDOVER : way;
    return { ...chosen, command: chosen.command.replace('{id}', id) };
  });
}
