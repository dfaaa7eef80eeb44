import { isFenced } from '../../core/maintenance/decide.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { ConversationId } from '../../kernel/ids.ts';
import type { EngineParts } from '../engine.ts';

/** The fence of a conversation in which no turn begins, with its operation (M-8). */
export interface Fence {
  readonly isBlocked: boolean;
  readonly operation: OperationRecord;
}

/** The fence of a conversation; undefined where turns may begin. */
export async function readFence(
  { store }: Pick<EngineParts, 'store'>,
  conversationId: ConversationId,
): Promise<Fence | undefined> {
  const conversation = await store.query('conversation.byId', { id: conversationId });
  const id = conversation?.operationId ?? null;
  if (conversation === undefined || id === null || !isFenced(conversation)) return undefined;
  const operation = await store.query('operation.byId', { id });
  if (operation === undefined) return undefined;
  return { isBlocked: conversation.fence === 'blocked', operation };
}
