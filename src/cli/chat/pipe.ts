import { createInterface } from 'node:readline';
import type { Client } from '../../client/client.ts';
import { paintFor } from '../paint.ts';
import { printError } from '../print.ts';
import type { Greeting } from './greeting.ts';
import { Screen } from './screen.ts';
import { KEPT, Talk } from './talk.ts';
import type { ChatOptions } from './terminal.ts';

/**
 * The chat from a pipe: each line is a message, answers and notices go to stdout; with `since` the
 * answers since then too, and to stderr the notices since then and what waits. Resolves once the
 * input has ended and everything was answered that no paused conversation keeps; when `signal` aborts it
 * resolves at once.
 */
export async function chatFromPipe(client: Client, options: ChatOptions): Promise<void> {
  const { signal, since } = options;
  const talk = await Talk.open(client);
  const screen = new Screen({
    write: (text) => process.stdout.write(text),
    paint: paintFor({}, {}),
    isLive: false,
    isOwn: (id) => talk.isOwn(id),
  });
  if (since !== undefined) greet(await talk.greeting(since), screen);
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

/** Answers are what a pipe is for; what a person must know stays out of them. */
function greet({ missed, waiting }: Greeting, screen: Screen): void {
  const notices = missed.filter(({ kind }) => kind === 'notice');
  for (const text of [...notices.map((notice) => notice.text), ...waiting]) printError(text);
  screen.greet(
    missed.filter(({ kind }) => kind !== 'notice'),
    [],
  );
}

async function sendAll(talk: Talk, lines: AsyncIterable<string>): Promise<void> {
  for await (const line of lines) {
    if (line.trim() === '') continue;
    try {
      const { isKept } = await talk.say(line);
      if (isKept) printError(KEPT);
    } catch (error) {
      // One line that was refused must not keep the others from being said.
      printError(error instanceof Error ? error.message : String(error));
    }
  }
}
