import { isOwn } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { ABOVE_ALL_IDS, type ConversationId, type TaskId } from '../../kernel/ids.ts';
import { nearestWord } from '../../kernel/nearest.ts';
import { principalName, type Principal } from '../../kernel/principal.ts';
import type { EngineParts } from '../engine.ts';

/** Who asks for a task, and where. */
export interface Asker {
  readonly conversationId: ConversationId;
  readonly principal: Principal;
}

/** Tasks that are compared with a mistyped id. */
const COMPARED = 20;

/** Whether a task may be shown to somebody: it is of this conversation, their own, or they are admin. */
export function maySee({ principal, conversationId }: Asker, task: TaskRecord): boolean {
  if (principal.isAdmin || task.conversationId === conversationId) return true;
  return isOwn(task, principalName(principal));
}

/**
 * The id that a mistyped one most likely means (W-5), among those that the asker may see: ids with
 * the same beginning or end, and the conversation's newest. Undefined when there is nothing to name.
 */
export async function nearestTask(
  { store }: Pick<EngineParts, 'store'>,
  typed: string,
  asker: Asker,
): Promise<TaskId | undefined> {
  const near = await store.query('task.nearest', { from: typed, limit: COMPARED });
  const elsewhere = await Promise.all(near.map(({ id }) => store.query('task.byId', { id })));
  const here = await store.query('task.list', {
    state: '',
    enrollment: '',
    conversationId: asker.conversationId,
    before: ABOVE_ALL_IDS,
    limit: COMPARED,
  });
  const seen = [...elsewhere, ...here].filter((task) => task !== undefined);
  const [first, ...rest] = seen.filter((task) => maySee(asker, task)).map(({ id }) => id);
  return first === undefined ? undefined : nearestWord(typed, [first, ...rest]);
}

/** The newest open task of a conversation, else its newest; undefined when it has none. */
export async function newestTask(
  { store }: Pick<EngineParts, 'store'>,
  conversationId: ConversationId,
): Promise<TaskRecord | undefined> {
  const [open] = await store.query('task.openOf', { conversationId, limit: 1 });
  if (open !== undefined) return open;
  const any = { state: '', enrollment: '', conversationId, before: ABOVE_ALL_IDS, limit: 1 };
  const [newest] = await store.query('task.list', any);
  return newest;
}
