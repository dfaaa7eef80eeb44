import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import { mayOrder } from '../../core/task/decide.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import {
  ABOVE_ALL_IDS,
  isId,
  type ApprovalId,
  type ConversationId,
  type OperationId,
  type TaskId,
} from '../../kernel/ids.ts';
import { nearestWord } from '../../kernel/nearest.ts';
import type { EngineParts } from '../engine.ts';
import { refuseUnknown, type Asker } from '../task/nearest.ts';
import { senderOf } from './sender.ts';

/** What a command is about, and where it lives. */
export interface Subject<I> {
  readonly kind: 'found';
  readonly id: I;
  readonly conversationId: ConversationId;
}

/** The task of a typed id, else a refusal that names the nearest (W-5). */
export async function findTask(
  parts: EngineParts,
  message: MessageRecord,
  typed: string,
): Promise<Subject<TaskId> | Refusal> {
  const task = isId('task', typed)
    ? await parts.store.query('task.byId', { id: typed })
    : undefined;
  if (task !== undefined) return found(task);
  const { conversationId } = message;
  return refuseUnknown(parts, typed, { conversationId, principal: senderOf(message) });
}

/** Open approvals that are compared with a mistyped id. */
const COMPARED = 50;

/** The approval of a typed id, else a refusal that names the nearest that the sender could answer (W-5). */
export async function findApproval(
  parts: EngineParts,
  message: MessageRecord,
  typed: string,
): Promise<Subject<ApprovalId> | Refusal> {
  const approval = isId('approval', typed)
    ? await parts.store.query('approval.byId', { id: typed })
    : undefined;
  if (approval !== undefined) return found(approval);
  return notFound(typed, await nearestApproval(parts, message, typed));
}

async function nearestApproval(
  { store }: EngineParts,
  message: MessageRecord,
  typed: string,
): Promise<ApprovalId | undefined> {
  const { conversationId } = message;
  const open = { state: 'open', before: ABOVE_ALL_IDS, limit: COMPARED };
  const here = await store.query('approval.list', { ...open, conversationId });
  const sender = senderOf(message);
  const all = sender.isAdmin
    ? await store.query('approval.list', { ...open, conversationId: '' })
    : [];
  const answerable: ApprovalRecord[] = [];
  for (const approval of [...here, ...all]) {
    const task = await store.query('task.byId', { id: approval.taskId });
    if (task !== undefined && mayOrder(task, sender)) answerable.push(approval);
  }
  const [first, ...rest] = answerable.map(({ id }) => id);
  return first === undefined ? undefined : nearestWord(typed, [first, ...rest]);
}

/** Operations that are compared with a mistyped id. */
const OPERATIONS_COMPARED = 20;

/** The operation of a typed id, else a refusal that names the nearest that the sender could admit (W-5). */
export async function findOperation(
  parts: EngineParts,
  message: MessageRecord,
  typed: string,
): Promise<Subject<OperationId> | Refusal> {
  const operation = isId('operation', typed)
    ? await parts.store.query('operation.byId', { id: typed })
    : undefined;
  if (operation !== undefined) return found(operation);
  const { conversationId } = message;
  const asker = { conversationId, principal: senderOf(message) };
  return notFound(typed, await nearestOperation(parts, typed, asker));
}

/** The id of the operation that a mistyped one most likely means, among those that the asker may see. */
export async function nearestOperation(
  { store }: Pick<EngineParts, 'store'>,
  typed: string,
  { conversationId, principal }: Asker,
): Promise<OperationId | undefined> {
  const newest = { before: ABOVE_ALL_IDS, limit: OPERATIONS_COMPARED };
  const here = await store.query('operation.list', { ...newest, state: '', conversationId });
  const open = principal.isAdmin
    ? await store.query('operation.list', { ...newest, state: 'open', conversationId: '' })
    : [];
  const [first, ...rest] = [...open, ...here].map(({ id }) => id);
  return first === undefined ? undefined : nearestWord(typed, [first, ...rest]);
}

function found<I>({
  id,
  conversationId,
}: {
  readonly id: I;
  readonly conversationId: ConversationId;
}): Subject<I> {
  return { kind: 'found', id, conversationId };
}

function notFound(id: string, nearest: string | undefined): Refusal {
  return refuse('not_found', { id, ...(nearest === undefined ? {} : { nearest }) });
}
