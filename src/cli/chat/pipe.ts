import { createInterface } from 'node:readline';
import type { Client } from '../../client/client.ts';
import { paintFor } from '../paint.ts';
import { printError } from '../print.ts';
import { Screen } from './screen.ts';
import { Talk } from './talk.ts';

/**
 * The chat from a pipe: each line is a message, answers and notices go to stdout. Resolves once the
 * input has ended and everything was answered; when `signal` aborts it resolves at once.
 */
export async function chatFromPipe(client: Client, signal: AbortSignal): Promise<void> {
  const talk = await Talk.open(client);
  const screen = new Screen({
    write: (text) => process.stdout.write(text),
    paint: paintFor({}, {}),
    isLive: false,
    isOwn: (id) => talk.isOwn(id),
  });
  const over = new AbortController();
  const following = talk.follow(
    (event) => screen.show(event),
    AbortSignal.any([signal, over.signal]),
  );
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
  signal.addEventListener('abort', () => lines.close(), { once: true });
  try {
    await Promise.race([sendAll(talk, lines), following]);
    await Promise.race([talk.idle(), following]);
  } finally {
    over.abort();
    await following;
  }
}

async function sendAll(talk: Talk, lines: AsyncIterable<string>): Promise<void> {
  for await (const line of lines) {
    if (line.trim() === '') continue;
    try {
      await talk.say(line);
    } catch (error) {
      // One line that was refused must not keep the others from being said.
      printError(error instanceof Error ? error.message : String(error));
    }
  }
}
