import { ID_PREFIX } from '../../kernel/ids.ts';
import { nearestWord } from '../../kernel/nearest.ts';

/** Every form of every command, as help prints it; `key` names its sentence in `text/`. */
export const USAGES = [
  { command: 'stop', usage: '/stop', key: 'stop' },
  { command: 'stop', usage: '/stop all', key: 'stop_all' },
  { command: 'stop', usage: '/stop ID', key: 'stop_id' },
  { command: 'tasks', usage: '/tasks', key: 'tasks' },
  { command: 'tasks', usage: '/tasks held', key: 'tasks_held' },
  { command: 'why', usage: '/why [ID]', key: 'why' },
  { command: 'status', usage: '/status', key: 'status' },
  { command: 'help', usage: '/help', key: 'help' },
] as const;
export type CommandName = (typeof USAGES)[number]['command'];

/** What a person's command asks for. Ids are normalised by `readTaskId` and need not exist. */
export type Command =
  /** `current`: the running task, else the newest open one. `all`: every open one (W-1). */
  | { readonly kind: 'stop'; readonly scope: 'current' | 'all' }
  | { readonly kind: 'stop'; readonly scope: 'one'; readonly id: string }
  | { readonly kind: 'tasks'; readonly held: boolean }
  /** `null`: the conversation's newest open task, else its newest. */
  | { readonly kind: 'why'; readonly id: string | null }
  | { readonly kind: 'status' }
  | { readonly kind: 'help' }
  /** A known command with words that it does not take; nothing is guessed. */
  | { readonly kind: 'misused'; readonly command: CommandName }
  /** `word` without its slash; `nearest` is the closest real command. */
  | { readonly kind: 'unknown'; readonly word: string; readonly nearest: CommandName };

/**
 * `/` and a word of letters and hyphens, at the very start and whole: a phone may write it large and
 * end it with a full stop. `/etc/hosts is broken`, `/ home`, `/2` and ` /stop` are ordinary text.
 */
const COMMAND = /^\/([a-z][a-z-]*)[.,:;!?]*(?=\s|$)/i;
/** What surrounds an id that was copied out of a sentence. */
const AROUND_ID = /^[`'"“”„(<[]+|[`'"“”)>\].,:;!?]+$/g;
const WORD_CHARS_MAX = 40;
/** No command is longer; a message may be, and is not searched whole. */
const LINE_CHARS_MAX = 200;

/**
 * Reads the command of a person's own message, or undefined when it is ordinary text. Only the first
 * line counts. Never throws. Whoever calls it has made sure that a person wrote the text (W-4).
 */
export function readCommand(text: string): Command | undefined {
  const line = text.slice(0, LINE_CHARS_MAX).split(/[\r\n]/, 1)[0] ?? '';
  const match = COMMAND.exec(line);
  if (match?.[1] === undefined) return undefined;
  const word = match[1].toLowerCase();
  const words = line
    .slice(match[0].length)
    .split(/\s+/)
    .filter((rest) => rest !== '');
  return isCommand(word) ? readWords(word, words) : unknown(word);
}

/**
 * An id as a person types it, as the store has it: upper case, its prefix added when it is missing,
 * Crockford's look-alikes read as digits (I and L as 1, O as 0), hyphens and quotation marks left out.
 */
export function readTaskId(typed: string): string {
  const bare = typed.slice(0, LINE_CHARS_MAX).replaceAll(AROUND_ID, '').slice(0, WORD_CHARS_MAX);
  const low = bare.toLowerCase();
  const prefix = Object.values(ID_PREFIX).find((known) => low.startsWith(known));
  const body = bare
    .slice(prefix?.length ?? 0)
    .toUpperCase()
    .replaceAll('-', '')
    .replaceAll(/[IL]/g, '1')
    .replaceAll('O', '0');
  return `${prefix ?? ID_PREFIX.task}${body}`;
}

function readWords(command: CommandName, words: readonly string[]): Command {
  const [first] = words;
  if (first === undefined) return BARE[command];
  const misused: Command = { kind: 'misused', command };
  return words.length > 1 ? misused : (readWord(command, first) ?? misused);
}

const BARE: Readonly<Record<CommandName, Command>> = {
  stop: { kind: 'stop', scope: 'current' },
  tasks: { kind: 'tasks', held: false },
  why: { kind: 'why', id: null },
  status: { kind: 'status' },
  help: { kind: 'help' },
};

function readWord(command: CommandName, word: string): Command | undefined {
  const plain = word.toLowerCase().replaceAll(AROUND_ID, '');
  if (command === 'stop') {
    return plain === 'all'
      ? { kind: 'stop', scope: 'all' }
      : { kind: 'stop', scope: 'one', id: readTaskId(word) };
  }
  if (command === 'why') return { kind: 'why', id: readTaskId(word) };
  return command === 'tasks' && plain === 'held' ? { kind: 'tasks', held: true } : undefined;
}

function isCommand(word: string): word is CommandName {
  return USAGES.some(({ command }) => command === word);
}

function unknown(word: string): Command {
  const names = USAGES.map(({ command }) => command);
  const [first = 'help', ...rest] = names;
  const cut = word.slice(0, WORD_CHARS_MAX);
  return { kind: 'unknown', word: cut, nearest: nearestWord(cut, [first, ...rest]) };
}
