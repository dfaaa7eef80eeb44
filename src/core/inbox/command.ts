import { ID_PREFIX, type IdKind } from '../../kernel/ids.ts';
import { nearestWord } from '../../kernel/nearest.ts';
import type { Grant } from '../budget/extend.ts';
import { readGrant } from './grant-words.ts';

/** Every form of every command, as help prints it; `key` names its sentence in `text/`. */
export const USAGES = [
  { command: 'stop', usage: '/stop', key: 'stop' },
  { command: 'stop', usage: '/stop all', key: 'stop_all' },
  { command: 'stop', usage: '/stop ID', key: 'stop_id' },
  { command: 'pause', usage: '/pause ID', key: 'pause' },
  { command: 'task-resume', usage: '/task-resume ID', key: 'task_resume' },
  { command: 'task-resume', usage: '/task-resume ID late', key: 'task_resume_late' },
  { command: 'budget-reset', usage: '/budget-reset ID', key: 'budget_reset' },
  {
    command: 'extend',
    usage: '/extend ID turns=+N tokens=+N cost=+N continuations=+N deadline=+T',
    key: 'extend',
  },
  { command: 'approve', usage: '/approve ID', key: 'approve' },
  { command: 'deny', usage: '/deny ID', key: 'deny' },
  { command: 'tasks', usage: '/tasks', key: 'tasks' },
  { command: 'tasks', usage: '/tasks held [N]', key: 'tasks_held' },
  { command: 'why', usage: '/why [ID]', key: 'why' },
  { command: 'new', usage: '/new', key: 'new' },
  { command: 'reset', usage: '/reset', key: 'reset' },
  { command: 'model', usage: '/model', key: 'model' },
  { command: 'model', usage: '/model NAME', key: 'model_name' },
  { command: 'context', usage: '/context', key: 'context' },
  { command: 'usage', usage: '/usage', key: 'usage' },
  { command: 'session', usage: '/session', key: 'session' },
  { command: 'session', usage: '/session ID', key: 'session_id' },
  { command: 'admit', usage: '/admit OPERATION', key: 'admit' },
  { command: 'admit', usage: '/admit OPERATION handover', key: 'admit_handover' },
  { command: 'clock', usage: '/clock confirm', key: 'clock_confirm' },
  { command: 'safe-mode', usage: '/safe-mode off', key: 'safe_mode_off' },
  { command: 'status', usage: '/status', key: 'status' },
  { command: 'help', usage: '/help', key: 'help' },
] as const;
export type CommandName = (typeof USAGES)[number]['command'];

/** What a person's command asks for. Ids are normalised by `readId` and need not exist. */
export type Command =
  /** `current`: the running task, else the newest open one. `all`: every open one (W-1). */
  | { readonly kind: 'stop'; readonly scope: 'current' | 'all' }
  | { readonly kind: 'stop'; readonly scope: 'one'; readonly id: string }
  | { readonly kind: 'pause' | 'budget_reset'; readonly id: string }
  /** `late`: though the order's own time has passed (T-15). */
  | { readonly kind: 'resume'; readonly id: string; readonly late: boolean }
  | { readonly kind: 'extend'; readonly id: string; readonly grant: Grant }
  | { readonly kind: 'approve' | 'deny'; readonly id: string }
  /** Opens the next epoch of a blocked maintenance operation, or reconciles it as a handover (M-7). */
  | { readonly kind: 'admit'; readonly id: string; readonly as: 'handover' | undefined }
  /** `null`: the sessions of the conversation, the newest first. */
  | { readonly kind: 'session'; readonly id: string | null }
  /** `/new` and `/reset` (W-2). */
  | { readonly kind: 'fresh' }
  /** What is in use, and what can be chosen (T-20). */
  | { readonly kind: 'models' }
  /** `default` goes back to the agent's own. */
  | { readonly kind: 'model'; readonly name: string }
  | { readonly kind: 'clock_confirm' }
  /** Lets the host start work by itself again. */
  | { readonly kind: 'safe_mode_off' }
  | { readonly kind: 'tasks'; readonly held: false }
  /** A page of the held ones, from 1. */
  | { readonly kind: 'tasks'; readonly held: true; readonly page: number }
  /** `null`: the conversation's newest open task, else its newest. */
  | { readonly kind: 'why'; readonly id: string | null }
  | { readonly kind: 'context' }
  | { readonly kind: 'usage' }
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
/** What surrounds a word that was copied out of a sentence. */
const AROUND_WORD = /^[`'"“”„(<[]+|[`'"“”)>\].,:;!?]+$/g;
const WORD_CHARS_MAX = 40;
/** A model's name may be a path. */
const NAME_CHARS_MAX = 128;
/** No command is longer; a message may be, and is not searched whole. */
const LINE_CHARS_MAX = 200;

/**
 * Reads the command of a person's own message, or undefined when it is ordinary text. Only the first
 * line counts. Never throws. Whoever calls it has made sure that a person wrote the text (W-4).
 */
export function readCommand(text: string): Command | undefined {
  const [head = ''] = text.slice(0, LINE_CHARS_MAX + 1).split(/[\r\n]/, 1);
  const line = head.slice(0, LINE_CHARS_MAX);
  const match = COMMAND.exec(line);
  if (match?.[1] === undefined) return undefined;
  const word = match[1].toLowerCase();
  const words = line
    .slice(match[0].length)
    .split(/\s+/)
    .filter((rest) => rest !== '');
  if (!isCommand(word)) return unknown(word);
  // Half a grant is another grant, and half a word may be `late` or `handover`.
  const isCut = head.length > LINE_CHARS_MAX && TAKES_WORDS.has(word);
  return isCut ? { kind: 'misused', command: word } : readWords(word, words);
}

const TAKES_WORDS: ReadonlySet<CommandName> = new Set(['extend', 'task-resume', 'admit']);

/**
 * An id as a person types it, as the store has it: upper case, its prefix added when it is missing,
 * Crockford's look-alikes read as digits (I and L as 1, O as 0), hyphens and quotation marks left out.
 */
export function readId(kind: IdKind, typed: string): string {
  const bare = typed.slice(0, LINE_CHARS_MAX).replaceAll(AROUND_WORD, '').slice(0, WORD_CHARS_MAX);
  const low = bare.toLowerCase();
  const prefix = Object.values(ID_PREFIX).find((known) => low.startsWith(known));
  const body = bare
    .slice(prefix?.length ?? 0)
    .toUpperCase()
    .replaceAll('-', '')
    .replaceAll(/[IL]/g, '1')
    .replaceAll('O', '0');
  return `${prefix ?? ID_PREFIX[kind]}${body}`;
}

function readWords(command: CommandName, words: readonly string[]): Command {
  const [first, second, ...further] = words;
  if (command === 'extend' && first !== undefined) return readExtend(first, words.slice(1));
  const read = [
    () => BARE[command],
    () => WITH_WORD[command]?.(first ?? ''),
    () => WITH_TWO[command]?.(first ?? '', second ?? ''),
  ];
  const isLong = further.length > 0;
  return (isLong ? undefined : read[words.length]?.()) ?? { kind: 'misused', command };
}

function readExtend(id: string, words: readonly string[]): Command {
  const grant = readGrant(words);
  if (grant === undefined) return { kind: 'misused', command: 'extend' };
  return { kind: 'extend', id: readId('task', id), grant };
}

/** What a command means without a word; one that needs a word is not among them. */
const BARE: Readonly<Partial<Record<CommandName, Command>>> = {
  stop: { kind: 'stop', scope: 'current' },
  tasks: { kind: 'tasks', held: false },
  why: { kind: 'why', id: null },
  new: { kind: 'fresh' },
  reset: { kind: 'fresh' },
  model: { kind: 'models' },
  session: { kind: 'session', id: null },
  context: { kind: 'context' },
  usage: { kind: 'usage' },
  status: { kind: 'status' },
  help: { kind: 'help' },
};

/** What a command means with exactly one word. */
const WITH_WORD: Readonly<Partial<Record<CommandName, (word: string) => Command | undefined>>> = {
  stop: (word) =>
    plain(word) === 'all'
      ? { kind: 'stop', scope: 'all' }
      : { kind: 'stop', scope: 'one', id: readId('task', word) },
  pause: (word) => ({ kind: 'pause', id: readId('task', word) }),
  // There is no bulk form (B-8).
  'task-resume': (word) =>
    plain(word) === 'all' ? undefined : { kind: 'resume', id: readId('task', word), late: false },
  'budget-reset': (word) =>
    plain(word) === 'all' ? undefined : { kind: 'budget_reset', id: readId('task', word) },
  approve: (word) => ({ kind: 'approve', id: readId('approval', word) }),
  deny: (word) => ({ kind: 'deny', id: readId('approval', word) }),
  // There is no bulk form: an admission is of exactly one operation (M-7).
  admit: (word) =>
    plain(word) === 'all'
      ? undefined
      : { kind: 'admit', id: readId('operation', word), as: undefined },
  session: (word) => ({ kind: 'session', id: readId('session', word) }),
  why: (word) => ({ kind: 'why', id: readId('task', word) }),
  tasks: (word) => (plain(word) === 'held' ? { kind: 'tasks', held: true, page: 1 } : undefined),
  clock: (word) => (plain(word) === 'confirm' ? { kind: 'clock_confirm' } : undefined),
  'safe-mode': (word) => (plain(word) === 'off' ? { kind: 'safe_mode_off' } : undefined),
  model: (word) => {
    const name = word.replaceAll(AROUND_WORD, '').slice(0, NAME_CHARS_MAX);
    return name === '' ? undefined : { kind: 'model', name };
  },
};

/** What a command means with exactly two words. */
const WITH_TWO: Readonly<
  Partial<Record<CommandName, (first: string, second: string) => Command | undefined>>
> = {
  'task-resume': (first, second) =>
    plain(second) === 'late'
      ? { kind: 'resume', id: readId('task', first), late: true }
      : undefined,
  admit: (first, second) =>
    plain(second) === 'handover' && plain(first) !== 'all'
      ? { kind: 'admit', id: readId('operation', first), as: 'handover' }
      : undefined,
  tasks: (first, second) =>
    plain(first) === 'held' && /^[1-9]\d{0,3}$/.test(plain(second))
      ? { kind: 'tasks', held: true, page: Number(plain(second)) }
      : undefined,
};

function plain(word: string): string {
  return word.toLowerCase().replaceAll(AROUND_WORD, '');
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
