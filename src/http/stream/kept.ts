import type { Engine } from '../../engine/engine.ts';
import { isId, type ConversationId, type MessageId, type OutboxId } from '../../kernel/ids.ts';
import type { StreamEvent } from '../../wire/stream.ts';
import { commandOf, subjectOf, wordsOf } from '../view/speech.ts';
import {
  orderMoments,
  referencesOf,
  tellMoment,
  type MomentPage,
  type Moment,
  type Words,
} from './timeline.ts';

/** Rows of each kind that are read at once: what a slow reader makes the host hold. */
const PAGE_ROWS = 100;

export interface KeptPage {
  readonly events: readonly StreamEvent[];
  readonly upTo: number;
  /** More is committed than this page holds. */
  readonly hasMore: boolean;
}

/** The kept events of a conversation after `after`, in order; of one run when `runId` is given. */
export async function readKept(
  engine: Engine,
  source: { readonly conversationId: ConversationId; readonly runId: string | null },
  after: number,
): Promise<KeptPage> {
  const { conversationId, runId } = source;
  const { moments, upTo, committed } = await readMoments(engine, conversationId, after);
  const events: StreamEvent[] = [];
  for (const moment of moments) {
    const told = tellMoment(moment, await lookUp(engine, moment, runId), runId);
    if (told !== undefined) events.push(told);
  }
  return { events, upTo, hasMore: upTo < committed };
}

/** The moments after `after`, whatever they are. */
export async function readMoments(
  engine: Engine,
  conversationId: ConversationId,
  after: number,
): Promise<MomentPage & { readonly committed: number }> {
  const { store } = engine;
  // First how far it is committed, then the rows: what a commit adds in between waits for the next read.
  const conversation = await store.query('conversation.byId', { id: conversationId });
  const committed = conversation?.seq ?? after;
  if (committed <= after) return { moments: [], upTo: after, committed };
  // A page of steps that all began before us would not move on; a wider one does.
  for (let limit = PAGE_ROWS; ; limit *= 2) {
    const range = { conversationId, after, limit };
    const [events, steps] = await Promise.all([
      store.query('event.after', range),
      store.query('step.after', range),
    ]);
    const page = orderMoments({ events, steps, after, committed, limit });
    if (page.upTo > after) return { ...page, committed };
  }
}

async function lookUp(
  engine: Engine,
  moment: Moment,
  runId: string | null,
): Promise<Words | undefined> {
  if (moment.kind !== 'event' || (runId !== null && moment.event.runId !== runId)) return undefined;
  const { outboxId, messageId } = referencesOf(moment);
  const { type } = moment.event;
  if (outboxId !== undefined) return wordsOfEntry(engine, outboxId as OutboxId, { type, runId });
  if (type !== 'message.accepted' || messageId === undefined) return undefined;
  const message = await engine.store.query('message.byId', { id: messageId as MessageId });
  // What the host says to the model is nobody's message.
  return message === undefined || message.kind === 'generated' ? undefined : { text: message.text };
}

async function wordsOfEntry(
  engine: Engine,
  id: OutboxId,
  { type, runId }: { readonly type: string; readonly runId: string | null },
): Promise<Words | undefined> {
  if (type === 'reply.queued' && (await isLastWord(engine, runId, id))) return undefined;
  const row = await engine.store.query('outbox.byId', { id });
  // A stop by command is told by its notice alone.
  if (row === undefined || (type === 'command.answered' && row.kind === 'notice')) return undefined;
  const { level, code } = row;
  const subjectId = subjectOf(row);
  return { text: wordsOf(engine, row), subjectId, command: commandOf(row), level, code };
}

/** Whether a run's end, which has the output, tells this reply too. */
async function isLastWord(engine: Engine, runId: string | null, id: OutboxId): Promise<boolean> {
  if (runId === null || !isId('run', runId)) return false;
  const run = await engine.store.query('run.byId', { id: runId });
  return run?.outcomeId === id;
}
