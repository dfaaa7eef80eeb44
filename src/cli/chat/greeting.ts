import type { Client } from '../../client/client.ts';
import { SIGNS } from '../../text/catalogue.ts';
import type { OutboxReply } from '../../wire/status.ts';

const SHOWN_MOST = 5;
const HELD = 'held_legacy';

export interface Greeting {
  /** What the conversation heard meanwhile, oldest first. */
  readonly missed: readonly OutboxReply[];
  /** What waits for a person, wherever it began; each once, and none that `missed` tells already. */
  readonly waiting: readonly string[];
}

/**
 * What a person who comes back must see: what was said in the conversation since `since` (a time of
 * this machine; nothing without it), and what waits for them. `isNew`: the conversation has no past.
 */
export async function readGreeting(
  client: Client,
  conversation: string,
  { since, isNew }: { readonly since: number | undefined; readonly isNew: boolean },
): Promise<Greeting> {
  const missed = since === undefined ? [] : await readMissed(client, conversation, since);
  const told = new Set(missed.flatMap(({ taskId, subjectId }) => [taskId, subjectId]));
  const { items } = await client.attention();
  const open = items.filter(
    ({ code, subjectId, taskId, command }) =>
      !told.has(subjectId) &&
      !told.has(taskId ?? subjectId) &&
      // A report of this start names it with its way out (R-13).
      (command === null || missed.every(({ text }) => !text.includes(command))) &&
      // Told once for all, by a notice, to whoever has been here before (B-10).
      (isNew || code !== HELD),
  );
  const lines = open.map(({ level, sentence, command }) => {
    const sign = sentence.startsWith(SIGNS[level]) ? '' : `${SIGNS[level]} `;
    const isSaid = command === null || sentence.includes(command);
    return `${sign}${sentence}${isSaid ? '' : `\n  ${command}`}`;
  });
  return { missed, waiting: atMost(lines) };
}

async function readMissed(
  client: Client,
  conversation: string,
  since: number,
): Promise<readonly OutboxReply[]> {
  const { items } = await client.outbox({ conversation });
  return items.filter(({ at }) => Date.parse(at) >= since).toReversed();
}

/** The first few, and how many there are beside them. */
export function atMost(lines: readonly string[]): readonly string[] {
  if (lines.length <= SHOWN_MOST) return lines;
  return [...lines.slice(0, SHOWN_MOST), `and ${lines.length - SHOWN_MOST} more: /tasks`];
}
