import { readDeadline } from '../kernel/deadline.ts';
import type { TaskExtendBody } from '../wire/task.ts';
import { CommandEnd } from './exit.ts';

/** What `extend` takes as options. */
export interface GrantOptions {
  readonly turns?: string;
  readonly tokens?: string;
  readonly cost?: string;
  readonly continuations?: string;
  readonly deadline?: string;
}

type Grant = Pick<TaskExtendBody, 'turns' | 'tokens' | 'costUsd' | 'continuations' | 'deadline'>;

const NAMES = ['turns', 'tokens', 'cost', 'continuations', 'deadline'] as const;
type Name = (typeof NAMES)[number];

/**
 * The grant of options and of words like `turns=+20`, as a notice writes them. Ends the command for an
 * unknown or repeated name, for what is no amount, and when nothing is granted.
 */
export function readGrantOptions(options: GrantOptions, words: readonly string[]): Grant {
  const given = new Map<Name, string>();
  for (const name of NAMES) {
    const value = options[name];
    if (value !== undefined) given.set(name, value);
  }
  for (const word of words) {
    const { name, value } = readWord(word);
    if (given.has(name)) throw slip(`${name} is granted twice`);
    given.set(name, value);
  }
  if (given.size === 0)
    throw slip(`say what to grant: --turns 20, or turns=+20 (${NAMES.join(', ')})`);
  return Object.assign({}, ...[...given].map(([name, value]) => readValue(name, value))) as Grant;
}

function readWord(word: string): { readonly name: Name; readonly value: string } {
  const border = word.indexOf('=');
  const name = NAMES.find((known) => known === word.slice(0, Math.max(0, border)).toLowerCase());
  if (name === undefined) throw slip(`"${word}" is no grant: ${NAMES.join(', ')}, as turns=+20`);
  return { name, value: word.slice(border + 1) };
}

function readValue(name: Name, value: string): Grant {
  if (name === 'deadline') {
    if (readDeadline(value) !== undefined) return { deadline: value };
    throw slip('deadline takes an addition like +2d, or an instant like 2026-12-24T18:00:00Z');
  }
  const isWhole = name !== 'cost';
  const form = isWhole ? /^\+?\d{1,12}$/ : /^\+?\d{1,9}(?:\.\d{1,6})?$/;
  const amount = form.test(value) ? Number(value) : 0;
  if (amount <= 0) throw slip(`${name} takes ${isWhole ? 'a whole number' : 'US dollars'} above 0`);
  return { [isWhole ? name : 'costUsd']: amount };
}

function slip(what: string): CommandEnd {
  return new CommandEnd('usage', `sekisho: ${what}`);
}
