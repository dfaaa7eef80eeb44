import { LIMITS } from '../../kernel/limits.ts';
import type { Millis } from '../../kernel/time.ts';
import { isWithin, programNamed, type Surroundings } from './command-files.ts';
import { simpleWords } from './command-words.ts';

/** When a person is asked before a command runs (E-4, X-8), and how long it may run. */
export interface CommandPolicy {
  /** `unsandboxed`: only where the machine has no sandbox. */
  readonly approval: 'always' | 'unsandboxed' | 'never';
  /** Commands that begin with exactly these words are never asked about. */
  readonly allow: readonly (readonly string[])[];
  readonly approver: 'any' | 'other';
  /** When the call names no time of its own. */
  readonly timeoutMs: Millis;
}

export const COMMAND_POLICY: CommandPolicy = {
  approval: 'unsandboxed',
  allow: [],
  approver: 'any',
  timeoutMs: LIMITS.toolCommandMs,
};

/** Whether a person must be asked before this command runs here. */
export async function needsApproval(
  command: string,
  policy: CommandPolicy,
  here: Surroundings & { readonly isSandboxed: boolean },
): Promise<boolean> {
  const asks = policy.approval === 'always' || (policy.approval !== 'never' && !here.isSandboxed);
  return asks && !(await isAllowed(command, policy.allow, here));
}

/**
 * An allowed beginning says nothing of what a shell would make of the rest, so it counts only for a command
 * that no shell reads otherwise; and a name says nothing of a program that the model could have put there.
 */
async function isAllowed(
  command: string,
  allow: CommandPolicy['allow'],
  around: Surroundings,
): Promise<boolean> {
  const words = simpleWords(command);
  const program = words?.[0];
  if (words === undefined || program === undefined) return false;
  const isListed = allow.some(
    (prefix) => prefix.length > 0 && prefix.every((word, index) => words[index] === word),
  );
  if (!isListed || program.includes('/')) return isListed;
  const found = await programNamed(program, around);
  return found === undefined || !isWithin(around.root, found);
}
