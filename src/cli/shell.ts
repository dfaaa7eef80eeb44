/** The chat's commands that a shell has too, by their names there. */
const SHELL: Readonly<Record<string, string>> = {
  stop: 'stop',
  pause: 'pause',
  'task-resume': 'resume',
  'budget-reset': 'budget-reset',
  extend: 'extend',
  approve: 'approve',
  deny: 'deny',
  why: 'why',
  admit: 'admit',
  session: 'session',
};

/** With its id behind it, or `ID` where any is meant: `/stop` alone is about a conversation, which a shell is not in. */
const COMMAND = /^\/([a-z-]+)( (?:(?:task|appr|mop|sess)_\w+|ID)(?: [^\s`]+)*)$/;
/** Without an id behind them. */
const LISTS: Readonly<Record<string, string>> = {
  '/tasks held': 'sekisho tasks --held',
  '/tasks': 'sekisho tasks',
  '/status': 'sekisho status',
  '/safe-mode off': 'sekisho safe-mode off',
};
/** What the chat says in a word, and a shell in an option. */
const OPTIONS: Readonly<Record<string, string>> = { late: '--late', handover: '--as handover' };
/** Quoted commands of a sentence; what would run stands on lines of its own, behind blanks. */
const QUOTED = /^ {4}.*$|`(\/[^`\n]+)`/gm;

/** A command of the chat as a shell types it; one that only the chat has says so. */
export function shellCommand(command: string): string {
  return typed(command) ?? `${command} (in the chat)`;
}

/** A sentence of the host with its commands as a shell types them. */
export function shellSentence(text: string): string {
  return text.replaceAll(QUOTED, (whole, command?: string) => {
    const found = command === undefined ? undefined : typed(command);
    return found === undefined ? whole : `\`${found}\``;
  });
}

function typed(command: string): string | undefined {
  if (command.startsWith('sekisho ')) return command;
  if (Object.hasOwn(LISTS, command)) return LISTS[command];
  const [, name = '', rest = ''] = COMMAND.exec(command) ?? [];
  if (!Object.hasOwn(SHELL, name)) return undefined;
  const words = rest
    .split(' ')
    .map((word) => (Object.hasOwn(OPTIONS, word) ? OPTIONS[word] : word));
  return `sekisho ${SHELL[name]}${words.join(' ')}`;
}
