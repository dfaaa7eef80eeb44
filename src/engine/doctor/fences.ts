import { fenceOf, isOpen } from '../../core/maintenance/decide.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { ConversationRecord, FenceState } from '../../core/session/record.ts';
import { ABOVE_ALL_IDS, type ConversationId, type OperationId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { principalName } from '../../kernel/principal.ts';
import type { Read, Store, Unit } from '../../ports/store.ts';
import { AUDIT_TAIL, auditWrite, type AuditTail } from '../audit/append.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import type { RepairOrder } from './repair.ts';

/** Fences and open operations that are looked through, each. */
const LOOK_MAX = 1_000;

/**
 * Conversations whose fence does not fit their maintenance (M-8): one that nothing opens any more, or an open
 * operation without one. No path of this version leaves either.
 */
export async function findAstray(store: Store): Promise<readonly ConversationRecord[]> {
  const found = new Map<ConversationId, ConversationRecord>();
  for (const conversation of await store.query('conversation.fenced', { limit: LOOK_MAX })) {
    const { id, operationId } = conversation;
    const operation =
      operationId === null ? undefined : await store.query('operation.byId', { id: operationId });
    if (!fits(conversation, operation)) found.set(id, conversation);
  }
  const any = { conversationId: '', before: ABOVE_ALL_IDS, limit: LOOK_MAX };
  for (const operation of await store.query('operation.list', { ...any, state: 'open' })) {
    const { conversationId: id } = operation;
    const conversation = await store.query('conversation.byId', { id });
    if (conversation !== undefined && !fits(conversation, operation)) found.set(id, conversation);
  }
  return [...found.values()];
}

/** Whether the fence is that of this open operation. */
function fits(
  { id, fence, operationId }: ConversationRecord,
  operation: OperationRecord | undefined,
): boolean {
  if (operation === undefined || !isOpen(operation)) return false;
  const isOf = operation.conversationId === id && operation.id === operationId;
  return isOf && fence === fenceOf(operation.state);
}

/**
 * Gives each of them the fence of its open operation, or none where it has no such one, each in a commit of its
 * own with its entry in the log of admin actions.
 */
export async function mendFences(
  parts: EngineParts,
  order: RepairOrder,
): Promise<readonly ConversationId[]> {
  const mended: ConversationId[] = [];
  for (const { id } of await findAstray(parts.store)) {
    if (!(await settle(parts, () => mendUnit(parts, order, id)))) continue;
    mended.push(id);
    order.onTold?.(id);
  }
  return mended;
}

type MendReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly open: Read<'operation.list'>;
} & AuditTail;

function mendUnit(
  parts: EngineParts,
  { principal, channel }: RepairOrder,
  id: ConversationId,
): Unit<MendReads, boolean> {
  const open = { state: 'open', conversationId: id, before: ABOVE_ALL_IDS, limit: 1 };
  return {
    name: 'fence.mend',
    reads: {
      conversation: { read: 'conversation.byId', args: { id } },
      open: { read: 'operation.list', args: open },
      ...AUDIT_TAIL,
    },
    decide: ({ conversation, open: [operation], last }, at) => {
      if (conversation === undefined) return { verdict: false, writes: [] };
      const wanted = standOf(operation);
      // Somebody has done it since, or an earlier try of this commit has.
      if (isSame(conversation, wanted)) return { verdict: true, writes: [] };
      const by = principalName(principal);
      const ledger = new Ledger(conversation, at, by);
      ledger.fence(wanted.fence, wanted.operationId);
      const entry = { at: at.now, principal: by, channel, action: 'fence.mend', subjectId: id };
      const change = { before: shown(conversation), after: shown(wanted) };
      ledger.add(auditWrite(parts, last, { ...entry, ...change }));
      return { verdict: true, writes: ledger.close() };
    },
  };
}

interface Standing {
  readonly fence: FenceState;
  readonly operationId: OperationId | null;
}

function standOf(operation: OperationRecord | undefined): Standing {
  return operation === undefined
    ? { fence: 'none', operationId: null }
    : { fence: fenceOf(operation.state), operationId: operation.id };
}

function isSame(one: Standing, other: Standing): boolean {
  return one.fence === other.fence && one.operationId === other.operationId;
}

function shown({ fence, operationId }: Standing): JsonObject {
  return { fence, operationId };
}
