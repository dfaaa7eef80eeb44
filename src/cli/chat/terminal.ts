import { createInterface, type Interface } from 'node:readline';
import type { Client } from '../../client/client.ts';
import { printable } from '../../kernel/printable.ts';
import { paintFor, type Paint } from '../paint.ts';
import { Above } from './above.ts';
import { Screen } from './screen.ts';
import { Talk } from './talk.ts';
import { watchHost } from './watch.ts';

/** A second Ctrl-C this soon after the first leaves. */
const LEAVE_MS = 2_000;
const COLUMNS = 80;
const LEAVE = /^\s*\/(?:exit|quit)\s*$/i;

const HINT = 'Ctrl-C stops what runs, twice at an empty prompt leaves; /help lists the commands';
const QUEUED = 'queued: it is taken up when the running one has ended; /stop ends that';
const GONE = 'The host is gone; waiting for it to come back.';
const BACK = 'The host is back.';

export interface ChatOptions {
  readonly signal: AbortSignal;
  /** From here on, by this machine's time, what the conversation heard is told at first. */
  readonly since?: number;
}

/**
 * The chat at a terminal. Ctrl-C stops what runs; at an empty prompt, twice, it leaves, as Ctrl-D,
 * `/exit` and `/quit` do. Resolves when the person leaves or `signal` aborts.
 */
export async function chatAtTerminal(client: Client, options: ChatOptions): Promise<void> {
  const talk = await Talk.open(client);
  const greeting = await talk.greeting(options.since);
  const chat = new TerminalChat(talk);
  const left = new AbortController();
  const gone = AbortSignal.any([options.signal, left.signal]);
  const reading = chat.read(gone);
  chat.greet(greeting);
  const following = talk.follow((event) => chat.show(event), gone);
  const watching = watchHost(client, (isThere) => chat.tellHost(isThere), { signal: gone });
  try {
    await Promise.race([reading, following]);
  } finally {
    left.abort();
    chat.close();
    await Promise.all([following, watching]);
  }
}

class TerminalChat {
  readonly #talk: Talk;
  readonly #paint: Paint = paintFor(process.stdout, process.env);
  readonly #screen: Screen;
  readonly #lines: Interface;
  readonly #above: Above;
  #isThere = true;
  #isClosed = false;
  #sending: Promise<void> = Promise.resolve();
  #lastBreak = Number.NEGATIVE_INFINITY;

  constructor(talk: Talk) {
    this.#talk = talk;
    const lines = createInterface({
      input: process.stdin,
      output: process.stdout,
      prompt: this.#paint.bold('› '),
      historySize: 200,
    });
    this.#lines = lines;
    this.#above = new Above({
      write: (text) => process.stdout.write(text),
      columns: () => process.stdout.columns || COLUMNS,
      cursorRow: () => lines.getCursorPos().rows,
      redraw: () => lines.prompt(true),
    });
    this.#screen = new Screen({
      write: (text) => this.#write(text),
      paint: this.#paint,
      isLive: true,
      isOwn: (id) => talk.isOwn(id),
    });
  }

  close(): void {
    this.#lines.close();
  }

  show(event: Parameters<Screen['show']>[0]): void {
    this.#screen.show(event);
  }

  greet({ missed, waiting }: Awaited<ReturnType<Talk['greeting']>>): void {
    this.#screen.greet(missed, waiting);
  }

  tellHost(isThere: boolean): void {
    this.#isThere = isThere;
    this.#screen.line(this.#paint.dim(isThere ? BACK : GONE));
  }

  async read(gone: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    gone.addEventListener('abort', () => resolve(), { once: true });
    this.#lines.on('close', () => {
      this.#isClosed = true;
      resolve();
    });
    this.#lines.on('SIGINT', () => void this.#onBreak());
    this.#lines.on('line', (line) => this.#onLine(line));
    this.#screen.line(this.#paint.dim(HINT));
    await promise;
    process.stdout.write('\n');
  }

  #write(text: string): void {
    if (this.#isClosed) process.stdout.write(text);
    else this.#above.put(text);
  }

  #onLine(line: string): void {
    this.#above.passed();
    if (LEAVE.test(line)) {
      this.#lines.close();
      return;
    }
    this.#lines.prompt();
    if (line.trim() !== '') this.#send(line);
  }

  /** One after the other, as they were typed. */
  #send(text: string): void {
    this.#sending = this.#sending.then(() => this.#say(text));
  }

  async #say(text: string): Promise<void> {
    try {
      const { isQueued } = await this.#talk.say(text);
      if (isQueued) this.#screen.line(this.#paint.dim(QUEUED));
    } catch (error) {
      this.#screen.line(printable(error instanceof Error ? error.message : String(error)));
    }
  }

  async #onBreak(): Promise<void> {
    if (this.#isThere && (this.#talk.isBusy || (await this.#talk.isRunning()))) {
      this.#send('/stop');
      return;
    }
    const now = performance.now();
    const isEmpty = this.#lines.line === '';
    if (isEmpty && now - this.#lastBreak < LEAVE_MS) {
      this.#lines.close();
      return;
    }
    this.#lastBreak = isEmpty ? now : Number.NEGATIVE_INFINITY;
    if (isEmpty) this.#screen.line(this.#paint.dim('Ctrl-C again to leave.'));
    // Ctrl-C empties the line, as in a shell.
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
  }
}
