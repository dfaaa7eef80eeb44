// How a provider of the simulation counts what it is sent, whatever the host has estimated.
import { LIMITS } from '../../src/kernel/limits.ts';
import type { ModelMessage, ModelRequest } from '../../src/ports/model.ts';

/** Tokens of a request; `density` is what the provider counts for one that characters stand for. */
export function weigh({ system, messages, tools }: ModelRequest, density: number): number {
  const items = messages.reduce((sum, message) => sum + charsOf(message), 0);
  const chars = system.length + items + JSON.stringify(tools).length;
  return Math.ceil((chars / LIMITS.charsPerToken) * density);
}

function charsOf(message: ModelMessage): number {
  const calls =
    message.role === 'assistant'
      ? message.calls.reduce((sum, { name, args }) => sum + name.length + args.length, 0)
      : 0;
  return message.text.length + calls;
}
