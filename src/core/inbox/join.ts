import { ID_PREFIX, type SessionId, type TaskId } from '../../kernel/ids.ts';
import { reasonEntry } from '../notice/reasons.ts';
import { hasEnded } from '../task/moves.ts';
import type { TaskRecord } from '../task/record.ts';
import type { MessageRecord } from './record.ts';

/** What is known of a person's message before a turn claims it. */
export interface JoinFacts {
  readonly message: Pick<MessageRecord, 'principal' | 'authority' | 'text'>;
  /** Open tasks of the conversation, newest first. */
  readonly open: readonly TaskRecord[];
  /** The task that the message replies to, or null. */
  readonly repliedTo: string | null;
}

/**
 * `keep`: it is bound to a task that stands still and that words do not wake; its next turn reads it.
 * `ask`: only the classifier can tell, among `candidates`.
 */
export type Join =
  | { readonly kind: 'new' }
  | { readonly kind: 'join'; readonly taskId: TaskId }
  | { readonly kind: 'keep'; readonly taskId: TaskId }
  | { readonly kind: 'ask'; readonly candidates: readonly TaskRecord[] };

/** Which task a message joins, as far as it needs no model (T-2). */
export function judgeJoin({ message, open, repliedTo }: JoinFacts): Join {
  const mine = open.filter((task) => mayJoin(task, message));
  const named = mine.find((task) => task.id === repliedTo) ?? onlyNamed(mine, message.text);
  if (named !== undefined) return { kind: wakes(named) ? 'join' : 'keep', taskId: named.id };
  const asking = mine.filter((task) => task.state === 'waiting' && task.waitKind === 'answer');
  const [question] = asking;
  if (question !== undefined && asking.length === 1) return { kind: 'join', taskId: question.id };
  const candidates = mine.filter(isJoinedByTopic);
  return candidates.length === 0 ? { kind: 'new' } : { kind: 'ask', candidates };
}

/** Its own principal's message, or an admin's; history is joined by nobody (T-11, B-5). */
export function mayJoin(
  task: TaskRecord,
  message: Pick<MessageRecord, 'principal' | 'authority'>,
): boolean {
  if (task.enrollment !== 'current' || hasEnded(task.state)) return false;
  return message.authority === 'admin' || message.principal === task.mandatePrincipal;
}

/** Whether words of its person make a task active: they end a wait on them, a pause, or a block that says so (W-7). */
export function wakes(task: Pick<TaskRecord, 'state' | 'waitKind' | 'reason'>): boolean {
  if (task.state === 'active' || task.state === 'paused') return true;
  if (task.state === 'blocked') return reasonEntry(task.reason)?.reply ?? false;
  return task.state === 'waiting' && !STAYS.has(task.waitKind ?? '');
}

/** Waits that no word ends: a model cannot be called, or an assessment decides. */
const STAYS: ReadonlySet<string> = new Set(['quota', 'provider', 'assessment']);

/** Blocked, paused, held and interrupted tasks are joined only by reply or id. */
function isJoinedByTopic({ state, waitKind }: TaskRecord): boolean {
  return state === 'active' || (state === 'waiting' && waitKind !== 'assessment');
}

const TASK_ID = new RegExp(`\\b${ID_PREFIX.task}[0-9A-HJKMNP-TV-Z]{16}\\b`, 'g');

/** The one task whose id stands in the text. */
function onlyNamed(tasks: readonly TaskRecord[], text: string): TaskRecord | undefined {
  const ids = new Set<string>(text.match(TASK_ID) ?? []);
  const named = tasks.filter(({ id }) => ids.has(id));
  return named.length === 1 ? named[0] : undefined;
}

/**
 * Whether a message that no task has yet would steer the running turn of `task` (T-11): from whoever may
 * join it, and about no other task by its reply or an id. `sessionId` is the one in which new tasks begin:
 * after `/new` only what names a task of the session before joins it (W-2).
 */
export function maySteer(
  task: TaskRecord,
  message: Pick<MessageRecord, 'principal' | 'authority' | 'text' | 'replyTo'>,
  sessionId: SessionId,
): boolean {
  if (!mayJoin(task, message)) return false;
  if (message.replyTo !== null && message.replyTo !== task.id) return false;
  const ids = message.text.match(TASK_ID) ?? [];
  if (ids.some((id) => id !== task.id)) return false;
  return task.sessionId === sessionId || message.replyTo !== null || ids.length > 0;
}

/** Whether a message that no task has yet is about this one: by its reply or an id, from whoever may join it (T-2). */
export function isAbout(
  task: TaskRecord,
  message: Pick<MessageRecord, 'principal' | 'authority' | 'text' | 'replyTo'>,
): boolean {
  if (!mayJoin(task, message)) return false;
  return message.replyTo === task.id || onlyNamed([task], message.text) !== undefined;
}

/** The lower of two authorities (T-11). */
export function lowest(...authorities: readonly ('admin' | 'own')[]): 'admin' | 'own' {
  return authorities.every((authority) => authority === 'admin') ? 'admin' : 'own';
}
