import type { Command } from '../../core/inbox/command.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Catalogue } from '../../text/catalogue.ts';
import { quoteRequest } from '../../text/quote.ts';
import { catalogueOf } from '../../text/reader.ts';
import { renderNotice, renderRefusal } from '../../text/render.ts';
import type { EngineParts, Stopped } from '../engine.ts';
import { settle } from '../settle.ts';
import { answerUnit, isStoppedInBulk, wasAskedBefore } from './answer-unit.ts';
import type { CommandHost } from './order-host.ts';
import { senderOf } from './sender.ts';
import { findTask, type Subject } from './subject.ts';

type StopHost = Pick<CommandHost, 'parts' | 'orders'>;

/** Carries out `/stop`, `/stop all` and `/stop ID` (W-1) and answers them. */
export async function handleStop(
  host: StopHost,
  message: MessageRecord,
  command: Extract<Command, { kind: 'stop' }>,
): Promise<void> {
  if (command.scope === 'all') return stopAll(host, message);
  const { parts } = host;
  const found =
    command.scope === 'one'
      ? await findTask(parts, message, command.id)
      : await findCurrent(parts, message);
  const verdict = found.kind === 'refused' ? found : await stopFound(host, message, found);
  if (verdict === 'answered') return;
  const text =
    verdict.kind === 'refused'
      ? renderRefusal(parts.options, verdict.code, verdict.detail)
      : sayStopped(parts, verdict.task);
  await settle(parts, () => answerUnit(message, text, { drops: false }));
}

// The stop answers the command in its own commit, but only where it was said (O-9).
async function stopFound(
  host: StopHost,
  message: MessageRecord,
  { id: taskId, conversationId }: Subject<TaskId>,
): Promise<'answered' | Stopped | Refusal> {
  const { channel } = message;
  const order = { taskId, principal: senderOf(message), channel, to: 'stopped' } as const;
  if (conversationId !== message.conversationId)
    return host.orders.stop({ ...order, receiptId: message.id });
  const verdict = await host.orders.stop({ ...order, commandId: message.id });
  return verdict.kind === 'refused' ? verdict : 'answered';
}

function sayStopped(
  { options, clock }: EngineParts,
  { id: taskId, mandateText: request }: TaskRecord,
): string {
  return renderNotice(options, 'stopped', { request, taskId }, clock.now());
}

async function findCurrent(
  parts: EngineParts,
  message: MessageRecord,
): Promise<Subject<TaskId> | Refusal> {
  const { conversationId } = message;
  const turn = await parts.store.query('turn.ofConversation', { conversationId });
  if (turn?.state === 'running' && turn.firstSeq < message.seq) {
    const task = await parts.store.query('task.byId', { id: turn.taskId });
    // A restored turn may have no end yet: its task is history, which only its id stops (V9).
    if (task !== undefined && isStoppedInBulk(task)) return { ...task, kind: 'found' };
  }
  const [newest] = await openBefore(parts, message);
  return newest === undefined ? refuse('nothing_to_stop') : { ...newest, kind: 'found' };
}

async function openBefore(
  parts: EngineParts,
  message: MessageRecord,
): Promise<readonly TaskRecord[]> {
  const { conversationId } = message;
  const open = await parts.store.query('task.openOf', { conversationId, limit: LIMITS.stopAllMax });
  return open.filter((task) => isStoppedInBulk(task) && wasAskedBefore(task, message));
}

/** Only names them: the notice of each says the rest, in the same conversation. */
function sayAllStopped(words: Catalogue, names: readonly string[]): string {
  if (names.length === 0) return '';
  const rest = names.length - LIMITS.namedMax;
  const named = names.slice(0, LIMITS.namedMax);
  const all = rest > 0 ? [...named, words.andMore(String(rest))] : named;
  return words.answers.stoppedAll(
    new Intl.ListFormat(words.tag, { type: 'conjunction' }).format(all),
  );
}

async function stopAll(host: StopHost, message: MessageRecord): Promise<void> {
  const { parts } = host;
  const order = { principal: senderOf(message), channel: message.channel, to: 'stopped' } as const;
  const words = catalogueOf(parts.options.locale);
  const names: string[] = [];
  const seen = new Set<TaskId>();
  const drops = {
    drops: true,
    seen,
    nothing: renderRefusal(parts.options, 'nothing_to_stop', {}),
    dropped: (count: number) => words.answers.droppedMessages(String(count)),
  } as const;
  // A stop frees the conversation for what waits in it: what a turn took up meanwhile is stopped too.
  for (;;) {
    for (const task of await openBefore(parts, message)) {
      if (seen.has(task.id)) continue;
      seen.add(task.id);
      const verdict = await host.orders.stop({ ...order, taskId: task.id });
      if (verdict.kind !== 'refused') names.push(quoteRequest(words, task.mandateText));
    }
    const text = sayAllStopped(words, names);
    const verdict = await settle(parts, () => answerUnit(message, text, drops));
    if (verdict === 'answered') return;
  }
}
