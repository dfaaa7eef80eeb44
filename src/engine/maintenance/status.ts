import { isOpen } from '../../core/maintenance/decide.ts';
import { waysOfOperation } from '../../core/maintenance/reasons.ts';
import type { ConversationId } from '../../kernel/ids.ts';
import type { EngineParts, RecoveryStatus } from '../engine.ts';

/** How the upkeep of a conversation's context stands (M-9); `none` where nothing of it is open. Changes nothing. */
export async function recoveryStatus(
  { store }: Pick<EngineParts, 'store'>,
  conversationId: ConversationId,
): Promise<RecoveryStatus> {
  const operation = await store.query('operation.newestOf', { conversationId });
  if (operation === undefined || !isOpen(operation))
    return { ...NONE, operation: operation ?? null };
  const { state, reason, failures, lifetimeFailures, nextAttemptAt } = operation;
  const ways = waysOfOperation(operation);
  return { state, operation, reason, failures, lifetimeFailures, nextAttemptAt, ways };
}

const NONE: Omit<RecoveryStatus, 'operation'> = {
  state: 'none',
  reason: null,
  failures: 0,
  lifetimeFailures: 0,
  nextAttemptAt: null,
  ways: [],
};
