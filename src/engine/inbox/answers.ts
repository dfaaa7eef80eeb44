import { USAGES, type Command } from '../../core/inbox/command.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import { isId, type ConversationId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { SIGNS, type Catalogue } from '../../text/catalogue.ts';
import { quoteRequest } from '../../text/quote.ts';
import { catalogueOf, type Reader } from '../../text/reader.ts';
import { renderRefusal } from '../../text/render.ts';
import { sayInstant, sayWhen } from '../../text/when.ts';
import type { EngineParts, Health } from '../engine.ts';
import { maySee, nearestTask, newestTask, type Asker } from '../task/nearest.ts';
import { standingOf } from '../task/standing-sentence.ts';
import { explainTask, type Explanation } from '../task/why.ts';

export interface CommandOrder extends Asker {
  /** A stop changes records and is answered by its own unit. */
  readonly command: Exclude<Command, { readonly kind: 'stop' }>;
  readonly health: Health;
}

/** Lines of a list; the rest is counted. */
const TASKS_SHOWN = 12;

/**
 * Answers a person's command from the store, without a model (W-3): plain lines in the host's
 * language. Rejects with a `StoreFault` only.
 */
export async function answerCommand(parts: EngineParts, order: CommandOrder): Promise<string> {
  const { command, conversationId } = order;
  const words = catalogueOf(parts.options.locale);
  switch (command.kind) {
    case 'tasks':
      return command.held ? listHeld(parts, conversationId) : listOpen(parts, conversationId);
    case 'why':
      return sayWhy(parts, order, command.id);
    case 'status':
      return sayStatus(parts, order);
    case 'help':
      return sayHelp(words);
    case 'misused':
      return words.answers.usage(usagesOf(command.command));
    case 'unknown': {
      const { word, nearest } = command;
      return renderRefusal(parts.options, 'unknown_command', { word, nearest: `/${nearest}` });
    }
  }
}

/** What a speaker of the host's own language and zone reads with. */
interface Speaking {
  readonly words: Catalogue;
  readonly reader: Reader;
  readonly now: number;
}

function speak({ options, clock }: EngineParts): Speaking {
  const { locale, timeZone } = options;
  return { words: catalogueOf(locale), reader: { locale, timeZone }, now: clock.now() };
}

function sayHelp({ answers, help }: Catalogue): string {
  const lines = USAGES.map(({ usage, key }) => `${usage}: ${help[key]}`);
  return [answers.helpHead, ...lines, answers.helpFoot].join('\n');
}

function usagesOf(command: string): string {
  const forms = USAGES.filter((form) => form.command === command);
  return forms.map(({ usage }) => `\`${usage}\``).join(', ');
}

async function listOpen(parts: EngineParts, conversationId: ConversationId): Promise<string> {
  const speaking = speak(parts);
  const { answers } = speaking.words;
  const limit = LIMITS.listLimitMax;
  const open = await parts.store.query('task.openOf', { conversationId, limit });
  const turn = await parts.store.query('turn.ofConversation', { conversationId });
  const current = open.filter(({ enrollment }) => enrollment === 'current');
  const held = open.length - current.length;
  return [
    ...(current.length === 0 ? [answers.noTasks] : []),
    ...taskLines(speaking, current, { turn, isWhole: open.length < limit }),
    ...(held === 0 ? [] : [answers.held(String(held))]),
  ].join('\n');
}

async function listHeld(parts: EngineParts, conversationId: ConversationId): Promise<string> {
  const speaking = speak(parts);
  const limit = LIMITS.listLimitMax;
  const open = await parts.store.query('task.openOf', { conversationId, limit });
  const held = open.filter(({ enrollment }) => enrollment === 'held-legacy');
  const isWhole = open.length < limit;
  const lines = taskLines(speaking, held, { turn: undefined, isWhole });
  return lines.length === 0 ? speaking.words.answers.noHeldTasks : lines.join('\n');
}

function taskLines(
  speaking: Speaking,
  tasks: readonly TaskRecord[],
  read: { readonly turn: TurnRecord | undefined; readonly isWhole: boolean },
): readonly string[] {
  const { answers } = speaking.words;
  const shown = tasks.slice(0, TASKS_SHOWN).map((task) => taskLine(speaking, task, read.turn));
  const rest = String(tasks.length - shown.length);
  if (rest === '0') return shown;
  return [...shown, read.isWhole ? answers.more(rest) : answers.moreThan(rest)];
}

function taskLine(
  { words, reader, now }: Speaking,
  task: TaskRecord,
  turn: TurnRecord | undefined,
): string {
  const sign = task.state === 'waiting' || task.state === 'blocked' ? task.state : 'info';
  const line = words.answers.taskLine({
    request: quoteRequest(words, task.mandateText),
    id: task.id,
    state: stateInWords(words, task, turn),
    since: sayInstant(reader, words.tag, task.changedAt, now),
  });
  return `${SIGNS[sign]} ${line}`;
}

function stateInWords(words: Catalogue, task: TaskRecord, turn: TurnRecord | undefined): string {
  const standing = standingOf(task, turn);
  if (standing === 'queued') return words.answers.queued;
  if (standing === 'running' || standing === 'stopping') return words.answers.running;
  if (task.waitKind !== null) return words.answers.waitingFor(words.waits[task.waitKind]);
  return words.states[standing];
}

async function sayWhy(parts: EngineParts, asker: Asker, typed: string | null): Promise<string> {
  const { words } = speak(parts);
  const id = typed ?? (await newestTask(parts, asker.conversationId))?.id;
  if (id === undefined) return words.answers.noTaskYet;
  const task = isId('task', id) ? await parts.store.query('task.byId', { id }) : undefined;
  const isSeen = task !== undefined && maySee(asker, task);
  const told = isSeen ? await explainTask(parts, task.id, parts.options) : undefined;
  return told === undefined ? sayNotFound(parts, asker, id) : sayExplanation(words, told);
}

async function sayNotFound(parts: EngineParts, asker: Asker, id: string): Promise<string> {
  const nearest = await nearestTask(parts, id, asker);
  const detail = nearest === undefined ? { id } : { id, nearest };
  return renderRefusal(parts.options, 'not_found', detail);
}

function sayExplanation({ answers }: Catalogue, told: Explanation): string {
  const lines = told.commands.map((command) => answers.commandLine(command));
  const commands = lines.length === 0 ? [answers.noCommands] : [answers.commands, ...lines];
  const blocks = [[told.sentence], told.chain, commands].filter((block) => block.length > 0);
  return blocks.map((block) => block.join('\n')).join('\n\n');
}

async function sayStatus(parts: EngineParts, order: CommandOrder): Promise<string> {
  const speaking = speak(parts);
  const open = await parts.store.query('task.open', { limit: LIMITS.listLimitMax });
  return [
    ...sayHost(speaking, order.health),
    ...sayModel(speaking, parts.model, order.health),
    sayCounts(speaking.words, open),
    await sayHere(parts, speaking.words, order.conversationId),
  ].join('\n');
}

function sayHost({ words, reader, now }: Speaking, health: Health): readonly string[] {
  const { state, startedAt, reason } = health;
  const when = startedAt === null ? null : sayWhen(reader, words, startedAt, now);
  const host = words.answers.host(words.hostStates[state], when);
  return reason === null ? [host] : [host, words.answers.hostReason(reason)];
}

/** The configured model and, apart from it, the one that a provider last reported (T-9). */
function sayModel(
  { words, reader, now }: Speaking,
  { provider, name }: EngineParts['model'],
  { answeredBy }: Health,
): readonly string[] {
  const { answers } = words;
  const configured = answers.modelConfigured(`${provider}/${name}`);
  if (answeredBy === null) return [configured, answers.modelSilent];
  const when = sayWhen(reader, words, answeredBy.at, now);
  return [configured, answers.modelAnswered(`${answeredBy.provider}/${answeredBy.model}`, when)];
}

function sayCounts({ answers, states }: Catalogue, open: readonly TaskRecord[]): string {
  if (open.length === 0) return answers.openNone;
  const counts = Map.groupBy(open, ({ state }) => state);
  const said = [...counts].map(([state, tasks]) =>
    answers.openCount(String(tasks.length), states[state]),
  );
  const isWhole = open.length < LIMITS.listLimitMax;
  return (isWhole ? answers.open : answers.openAtLeast)(said.join(', '));
}

async function sayHere(
  { store }: EngineParts,
  words: Catalogue,
  conversationId: ConversationId,
): Promise<string> {
  const turn = await store.query('turn.ofConversation', { conversationId });
  const task = turn === undefined ? undefined : await store.query('task.byId', { id: turn.taskId });
  if (task === undefined) return words.answers.hereNothing;
  return words.answers.here(quoteRequest(words, task.mandateText), task.id);
}
