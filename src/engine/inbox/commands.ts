import { readCommand, type Command } from '../../core/inbox/command.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import { isId, type ConversationId, type TaskId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { principalName, type Principal } from '../../kernel/principal.ts';
import { catalogueOf } from '../../text/reader.ts';
import { renderNotice, renderRefusal } from '../../text/render.ts';
import type { EngineParts, Health, Stopped } from '../engine.ts';
import { answerUnit, wasAskedBefore } from './answer-unit.ts';
import { answerCommand } from './answers.ts';
import { settle } from '../settle.ts';
import { nearestTask } from '../task/nearest.ts';
import type { StopUnitOrder } from '../task/stop.ts';

/** What answering a command needs of the engine around it. */
export interface CommandHost {
  readonly parts: EngineParts;
  readonly stop: (order: StopUnitOrder) => Promise<Stopped | Refusal>;
  readonly health: () => Health;
}

/** Whether a person's message is a command; only ever asked of their own words (W-4). */
export function isCommandText(text: string): boolean {
  return readCommand(text) !== undefined;
}

/**
 * Answers a command that was accepted: from the store, without a model, on its own path beside the
 * turns (W-3). A second call after a crash gives the same answer or finds it given.
 */
export async function handleCommand(host: CommandHost, message: MessageRecord): Promise<void> {
  const command = readCommand(message.text);
  if (command?.kind === 'stop') return handleStop(host, message, command);
  const { parts } = host;
  const text =
    command === undefined
      ? renderRefusal(parts.options, 'unknown_command', {})
      : await answerCommand(parts, {
          command,
          conversationId: message.conversationId,
          principal: principalOf(message),
          health: host.health(),
        });
  await settle(parts, () => answerUnit(message, text, { drops: false }));
}

async function handleStop(
  host: CommandHost,
  message: MessageRecord,
  command: Extract<Command, { kind: 'stop' }>,
): Promise<void> {
  if (command.scope === 'all') return stopAll(host, message);
  const { parts } = host;
  const found =
    command.scope === 'one'
      ? await findById(parts, message, command.id)
      : await findCurrent(parts, message);
  const verdict = found.kind === 'refused' ? found : await stopFound(host, message, found);
  if (verdict === 'answered') return;
  const text =
    verdict.kind === 'refused'
      ? renderRefusal(parts.options, verdict.code, verdict.detail)
      : sayStopped(parts, verdict.task);
  await settle(parts, () => answerUnit(message, text, { drops: false }));
}

interface FoundTask {
  readonly kind: 'found';
  readonly id: TaskId;
  readonly conversationId: ConversationId;
}
type Found = FoundTask | Refusal;

// The stop answers the command in its own commit, but only where it was said (O-9).
async function stopFound(
  host: CommandHost,
  message: MessageRecord,
  { id: taskId, conversationId }: FoundTask,
): Promise<'answered' | Stopped | Refusal> {
  const order = { taskId, principal: principalOf(message), to: 'stopped' } as const;
  if (conversationId !== message.conversationId) return host.stop(order);
  const verdict = await host.stop({ ...order, commandId: message.id });
  return verdict.kind === 'refused' ? verdict : 'answered';
}

function sayStopped(parts: EngineParts, { id: taskId, mandateText: request }: TaskRecord): string {
  return renderNotice(parts.options, 'stopped', { request, taskId });
}

async function findById(parts: EngineParts, message: MessageRecord, typed: string): Promise<Found> {
  const task = isId('task', typed)
    ? await parts.store.query('task.byId', { id: typed })
    : undefined;
  if (task !== undefined) return { ...task, kind: 'found' };
  const { conversationId } = message;
  const asker = { conversationId, principal: principalOf(message) };
  const nearest = await nearestTask(parts, typed, asker);
  return refuse('not_found', { id: typed, ...(nearest === undefined ? {} : { nearest }) });
}

async function findCurrent(parts: EngineParts, message: MessageRecord): Promise<Found> {
  const { conversationId } = message;
  const turn = await parts.store.query('turn.ofConversation', { conversationId });
  if (turn?.state === 'running' && turn.firstSeq < message.seq)
    return { kind: 'found', id: turn.taskId, conversationId };
  const [newest] = await openBefore(parts, message);
  return newest === undefined ? refuse('nothing_to_stop') : { ...newest, kind: 'found' };
}

async function openBefore(
  parts: EngineParts,
  message: MessageRecord,
): Promise<readonly TaskRecord[]> {
  const { conversationId } = message;
  const open = await parts.store.query('task.openOf', { conversationId, limit: LIMITS.stopAllMax });
  return open.filter((task) => wasAskedBefore(task, message));
}

async function stopAll(host: CommandHost, message: MessageRecord): Promise<void> {
  const { parts } = host;
  const principal = principalOf(message);
  const words = catalogueOf(parts.options.locale);
  const lines: string[] = [];
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
      const verdict = await host.stop({ taskId: task.id, principal, to: 'stopped' });
      if (verdict.kind !== 'refused') lines.push(sayStopped(parts, task));
    }
    const verdict = await settle(parts, () => answerUnit(message, lines.join('\n'), drops));
    if (verdict === 'answered') return;
  }
}

/** The principal whose verified identity the message was accepted with. */
function principalOf(message: MessageRecord): Principal {
  const colon = message.principal.indexOf(':');
  const kind = message.principal.slice(0, colon) as Principal['kind'];
  const principal = {
    kind,
    id: message.principal.slice(colon + 1),
    isAdmin: message.authority === 'admin',
  };
  return principalName(principal) === message.principal
    ? principal
    : { ...principal, isAdmin: false };
}
