import { USAGES, type Command } from '../../core/inbox/command.ts';
import { ID_PREFIX, isId, type ConversationId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Catalogue } from '../../text/catalogue.ts';
import { catalogueOf } from '../../text/reader.ts';
import { renderRefusal } from '../../text/render.ts';
import type { EngineParts, Health } from '../engine.ts';
import { maySee, nearestTask, newestTask, type Asker } from '../task/nearest.ts';
import { readTurnDoing } from '../task/doing.ts';
import { explainTask, type Explanation } from '../task/why.ts';
import { isOpen } from '../../core/maintenance/decide.ts';
import { explainOperation } from '../maintenance/why.ts';
import { sayContext } from './context-answer.ts';
import { listHeld } from './held-answer.ts';
import { sayModels } from './model-answer.ts';
import { speak } from './speaking.ts';
import { saySessions } from './session-answer.ts';
import { sayStatus } from './status-answer.ts';
import { nearestOperation } from './subject.ts';
import { taskLines } from './task-lines.ts';
import { sayUsage } from './usage-answer.ts';

/** Commands that change records; each is answered by its own unit. */
type OrderKind =
  | 'stop'
  | 'pause'
  | 'resume'
  | 'budget_reset'
  | 'extend'
  | 'approve'
  | 'deny'
  | 'admit'
  | 'fresh'
  | 'model'
  | 'clock_confirm'
  | 'safe_mode_off';
export type AskCommand = Exclude<Command, { readonly kind: OrderKind }>;

export interface CommandOrder extends Asker {
  readonly command: AskCommand;
  readonly health: Health;
}

/**
 * Answers a person's command from the store, without a model (W-3): plain lines in the host's
 * language. Rejects with a `StoreFault` only.
 */
export async function answerCommand(parts: EngineParts, order: CommandOrder): Promise<string> {
  const { command, conversationId } = order;
  if (isForm(command)) return sayForms(parts, command);
  switch (command.kind) {
    case 'tasks':
      return listTasks(parts, order, command);
    case 'why':
      return sayWhy(parts, order, command.id);
    case 'status':
      return sayStatus(parts, order);
    case 'usage':
      return sayUsage(parts, order);
    case 'session':
      return saySessions(parts, order, command.id);
    case 'context':
      return sayContext(parts, conversationId);
    case 'models':
      return sayModels(parts, conversationId);
  }
}

type Form = Extract<AskCommand, { readonly kind: 'help' | 'misused' | 'unknown' }>;

function isForm(command: AskCommand): command is Form {
  return ['help', 'misused', 'unknown'].includes(command.kind);
}

/** What can be typed, or what was meant. */
function sayForms({ options }: EngineParts, command: Form): string {
  const words = catalogueOf(options.locale);
  if (command.kind === 'help') return sayHelp(words);
  if (command.kind === 'misused') return words.answers.usage(usagesOf(command.command));
  const { word, nearest } = command;
  return renderRefusal(options, 'unknown_command', { word, nearest: `/${nearest}` });
}

function sayHelp({ answers, help }: Catalogue): string {
  const lines = USAGES.map(({ usage, key }) => `${usage}: ${help[key]}`);
  return [answers.helpHead, ...lines, answers.helpFoot].join('\n');
}

function usagesOf(command: string): string {
  const forms = USAGES.filter((form) => form.command === command);
  return forms.map(({ usage }) => `\`${usage}\``).join(', ');
}

function listTasks(
  parts: EngineParts,
  asker: Asker,
  command: Extract<AskCommand, { readonly kind: 'tasks' }>,
): Promise<string> {
  if (command.held) return listHeld(parts, asker, command.page);
  return listOpen(parts, asker.conversationId);
}

async function listOpen(parts: EngineParts, conversationId: ConversationId): Promise<string> {
  const speaking = speak(parts, parts.clock.now());
  const { answers } = speaking.words;
  const limit = LIMITS.listLimitMax;
  const open = await parts.store.query('task.openOf', { conversationId, limit });
  const turn = await parts.store.query('turn.ofConversation', { conversationId });
  const doing = turn === undefined ? null : await readTurnDoing(parts, turn);
  const current = open.filter(({ enrollment }) => enrollment === 'current');
  const held = open.length - current.length;
  return [
    ...(current.length === 0 ? [answers.noTasks] : []),
    ...taskLines(speaking, current, { turn, doing, isWhole: open.length < limit }),
    ...(held === 0 ? [] : [answers.held(String(held))]),
  ].join('\n');
}

async function sayWhy(parts: EngineParts, asker: Asker, typed: string | null): Promise<string> {
  const words = catalogueOf(parts.options.locale);
  const id = typed ?? (await newestTask(parts, asker.conversationId))?.id;
  if (id === undefined) return words.answers.noTaskYet;
  if (id.startsWith(ID_PREFIX.operation)) return sayWhyOperation(parts, asker, id);
  const task = isId('task', id) ? await parts.store.query('task.byId', { id }) : undefined;
  const isSeen = task !== undefined && maySee(asker, task);
  const told = isSeen ? await explainTask(parts, task.id, parts.options) : undefined;
  return told === undefined ? sayNotFound(parts, asker, id) : sayExplanation(words, told);
}

async function sayWhyOperation(parts: EngineParts, asker: Asker, id: string): Promise<string> {
  const { store, options } = parts;
  const words = catalogueOf(options.locale);
  const operation = isId('operation', id) ? await store.query('operation.byId', { id }) : undefined;
  const isSeen = asker.principal.isAdmin || operation?.conversationId === asker.conversationId;
  const told =
    operation && isSeen ? await explainOperation(parts, operation.id, options) : undefined;
  if (operation === undefined || told === undefined) {
    const nearest = await nearestOperation(parts, id, asker);
    return renderRefusal(options, 'not_found', nearest === undefined ? { id } : { id, nearest });
  }
  const none = isOpen(operation) ? words.maintenance.noCommand : words.answers.noCommands;
  return sayExplanation(words, told, none);
}

async function sayNotFound(parts: EngineParts, asker: Asker, id: string): Promise<string> {
  const nearest = await nearestTask(parts, id, asker);
  const detail = nearest === undefined ? { id } : { id, nearest };
  return renderRefusal(parts.options, 'not_found', detail);
}

function sayExplanation(
  { answers }: Catalogue,
  told: Explanation,
  none: string = answers.noCommands,
): string {
  const lines = told.commands.map((command) => answers.commandLine(command));
  const commands = lines.length === 0 ? [none] : [answers.commands, ...lines];
  const blocks = [[told.sentence], told.chain, commands].filter((block) => block.length > 0);
  return blocks.map((block) => block.join('\n')).join('\n\n');
}
