import { isOwn } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import {
  ABOVE_ALL_IDS,
  ID_PREFIX,
  isId,
  type ConversationId,
  type IdKind,
  type TaskId,
} from '../../kernel/ids.ts';
import { nearestWord } from '../../kernel/nearest.ts';
import { principalName, type Principal } from '../../kernel/principal.ts';
import type { EngineParts } from '../engine.ts';

/** Who asks for a task, and where. */
export interface Asker {
  readonly conversationId: ConversationId;
  readonly principal: Principal;
}
/** An asker who may be in no conversation. */
interface Seeker {
  readonly conversationId: ConversationId | null;
  readonly principal: Principal;
}

/** Tasks that are compared with a mistyped id. */
const COMPARED = 20;

/** Whether a task may be shown to somebody: it is of this conversation, their own, or they are admin. */
export function maySee({ principal, conversationId }: Seeker, task: TaskRecord): boolean {
  if (principal.isAdmin || task.conversationId === conversationId) return true;
  return isOwn(task, principalName(principal));
}

/**
 * The id that a mistyped one most likely means (W-5), among those that the asker may see: ids with
 * the same beginning or end, and the conversation's newest. Undefined when there is nothing to name.
 */
export async function nearestTask(
  parts: Pick<EngineParts, 'store'>,
  typed: string,
  asker: Seeker,
): Promise<TaskId | undefined> {
  return nearestOf(typed, await candidates(parts, typed, asker));
}

/**
 * Why an id that no task has orders nothing: a part of several ids is `ambiguous_id` and names some of
 * them, a part of one is no id either, since an order is about exactly the task that it names (B-8).
 */
export async function refuseUnknown(
  parts: Pick<EngineParts, 'store'>,
  id: string,
  asker: Seeker,
): Promise<Refusal> {
  if (isOther(id)) return refuse('not_a_task', { id });
  const near = await candidates(parts, id, asker);
  const fitting = near.filter((one) => isPartOf(id, one));
  if (fitting.length > 1)
    return refuse('ambiguous_id', { id, nearest: fitting.slice(0, NAMED).join('`, `') });
  const nearest = fitting[0] ?? nearestOf(id, near);
  return refuse('not_found', { id, ...(nearest === undefined ? {} : { nearest }) });
}

/** Ids that are named where a part fits several. */
const NAMED = 3;
/** A shorter part is a guess. */
const PART_CHARS_MIN = 4;
const PREFIX = ID_PREFIX.task;

function isOther(id: string): boolean {
  return Object.keys(ID_PREFIX).some((kind) => kind !== 'task' && isId(kind as IdKind, id));
}

/** Whether this much of an id was typed: its beginning or its last characters. */
function isPartOf(typed: string, id: TaskId): boolean {
  const part = typed.slice(PREFIX.length);
  if (!typed.startsWith(PREFIX) || part.length < PART_CHARS_MIN) return false;
  return id.startsWith(typed) || id.endsWith(part);
}

function nearestOf(typed: string, [first, ...rest]: readonly TaskId[]): TaskId | undefined {
  return first === undefined ? undefined : nearestWord(typed, [first, ...rest]);
}

async function candidates(
  { store }: Pick<EngineParts, 'store'>,
  typed: string,
  asker: Seeker,
): Promise<readonly TaskId[]> {
  const slipped = await store.query('task.nearest', { from: typed, limit: COMPARED });
  // With four characters behind it, the read looks for ids that begin with all that was typed.
  const begun = await store.query('task.nearest', { from: `${typed}____`, limit: COMPARED });
  const ids = [...new Set([...slipped, ...begun].map(({ id }) => id))];
  const elsewhere = await Promise.all(ids.map((id) => store.query('task.byId', { id })));
  const here = await newestOf(store, asker.conversationId);
  const seen = [...elsewhere, ...here].filter((task) => task !== undefined);
  return [...new Set(seen.filter((task) => maySee(asker, task)).map(({ id }) => id))];
}

async function newestOf(
  store: EngineParts['store'],
  conversationId: ConversationId | null,
): Promise<readonly TaskRecord[]> {
  if (conversationId === null) return [];
  const any = { state: '', enrollment: '', before: ABOVE_ALL_IDS, limit: COMPARED };
  return store.query('task.list', { ...any, conversationId });
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
