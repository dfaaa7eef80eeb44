import type { DoingShape, TaskReply } from '../wire/task.ts';
import { when } from './when.ts';

/** What is done for a task now, in a few words. */
export function doingText({
  kind,
  since,
  tool,
  calls,
  callsMax,
  code,
  nextAt,
}: DoingShape): string {
  const made = `call ${calls} of at most ${callsMax}`;
  const begun = when(since);
  switch (kind) {
    case 'queued':
      return `in line since ${begun}`;
    case 'tool':
      return `in ${tool} since ${begun}`;
    case 'model':
      return `the model was asked ${begun} and has not answered yet, ${made}`;
    case 'retry':
      return `the model failed (${code}), ${made}, the next ${when(nextAt ?? since)}`;
    case 'between':
      return `between two steps since ${begun}`;
    case 'cut':
      return `cut: its host stopped before the turn of ${begun} was done; a start has it checked`;
  }
}

/** How a task stands, for a column: what is done for it, what it waits for, or its state. */
export function standingText({ state, doing, waitsFor, held }: TaskReply): string {
  if (held !== null) return `held, was ${held.state}`;
  if (doing === null) return waitsFor === null ? state : `${state}: ${waitsFor.kind}`;
  const { kind, tool, calls, callsMax } = doing;
  const words = {
    queued: 'in line',
    tool: `in ${tool}`,
    model: `asking the model, call ${calls} of ${callsMax}`,
    retry: `the model failed, call ${calls} of ${callsMax}`,
    between: 'between two steps',
    cut: 'cut, checked at a start',
  } as const;
  return words[kind];
}
