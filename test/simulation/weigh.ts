// How a provider of the simulation counts what it is sent, whatever the host has estimated.
import { LIMITS } from '../../src/kernel/limits.ts';
import type { ModelMessage, ModelRequest } from '../../src/ports/model.ts';

/**
 * Tokens of a request. What people write is counted `density` times as high as characters stand for it: how
 * much the next words take cannot be told from what the last request took.
 */
export function weigh({ system, messages, tools }: ModelRequest, density: number): number {
  const items = messages.reduce(
    (sum, message) => sum + charsOf(message) * (message.role === 'user' ? density : 1),
    0,
  );
  const chars = system.length + items + JSON.stringify(tools).length;
  return Math.ceil(chars / LIMITS.charsPerToken);
}

function charsOf(message: ModelMessage): number {
  const calls =
    message.role === 'assistant'
      ? message.calls.reduce((sum, { name, args }) => sum + name.length + args.length, 0)
      : 0;
  return message.text.length + calls;
}
