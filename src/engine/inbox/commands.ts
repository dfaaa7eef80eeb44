import { readCommand, type Command } from '../../core/inbox/command.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import { isId, type TaskId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { principalName, type Principal } from '../../kernel/principal.ts';
import { catalogueOf } from '../../text/reader.ts';
import { renderNotice, renderRefusal } from '../../text/render.ts';
import type { EngineParts, Health, Stopped } from '../engine.ts';
import { answerUnit } from './answer-unit.ts';
import { answerCommand } from './answers.ts';
import { settle } from '../settle.ts';
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
    command.scope === 'one' ? await findById(parts, command.id) : await findCurrent(parts, message);
  const principal = principalOf(message);
  const verdict =
    found.kind === 'refused'
      ? found
      : await host.stop({ taskId: found.id, principal, to: 'stopped', commandId: message.id });
  if (verdict.kind !== 'refused') return;
  const text = renderRefusal(parts.options, verdict.code, verdict.detail);
  await settle(parts, () => answerUnit(message, text, { drops: false }));
}

type Found = { readonly kind: 'found'; readonly id: TaskId } | Refusal;

async function findById(parts: EngineParts, typed: string): Promise<Found> {
  const task = isId('task', typed)
    ? await parts.store.query('task.byId', { id: typed })
    : undefined;
  if (task !== undefined) return { kind: 'found', id: task.id };
  const [nearest] = await parts.store.query('task.nearest', { from: typed, limit: 1 });
  return refuse('not_found', {
    id: typed,
    ...(nearest === undefined ? {} : { nearest: nearest.id }),
  });
}

async function findCurrent(parts: EngineParts, message: MessageRecord): Promise<Found> {
  const { conversationId } = message;
  const turn = await parts.store.query('turn.ofConversation', { conversationId });
  if (turn?.state === 'running') return { kind: 'found', id: turn.taskId };
  const [newest] = await openBefore(parts, message);
  return newest === undefined ? refuse('nothing_to_stop') : { kind: 'found', id: newest.id };
}

// What was asked for after the command is not what the command meant, also when a crash repeats it.
async function openBefore(
  parts: EngineParts,
  message: MessageRecord,
): Promise<readonly TaskRecord[]> {
  const { conversationId } = message;
  const open = await parts.store.query('task.openOf', { conversationId, limit: LIMITS.stopAllMax });
  return open.filter((task) => task.mandateAt <= message.at);
}

async function stopAll(host: CommandHost, message: MessageRecord): Promise<void> {
  const { parts } = host;
  const principal = principalOf(message);
  const words = catalogueOf(parts.options.locale);
  const lines: string[] = [];
  for (const task of await openBefore(parts, message)) {
    const verdict = await host.stop({ taskId: task.id, principal, to: 'stopped' });
    if (verdict.kind !== 'refused') {
      lines.push(
        renderNotice(parts.options, 'stopped', { request: task.mandateText, taskId: task.id }),
      );
    }
  }
  await settle(parts, () =>
    answerUnit(message, lines.join('\n'), {
      drops: true,
      nothing: renderRefusal(parts.options, 'nothing_to_stop', {}),
      dropped: (count) => words.answers.droppedMessages(String(count)),
    }),
  );
}

/** The principal whose verified identity the message was accepted with. */
export function principalOf(message: MessageRecord): Principal {
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
