import { createInterface, type Interface } from 'node:readline';
import type { Client } from '../../client/client.ts';
import { printable } from '../../kernel/printable.ts';
import { paintFor, type Paint } from '../paint.ts';
import { Screen } from './screen.ts';
import { Talk } from './talk.ts';

/** A second Ctrl-C this soon after the first leaves. */
const LEAVE_MS = 2_000;
const CLEAR_LINE = '\r\u001B[K';

/**
 * The chat at a terminal. Ctrl-C stops what runs; at an empty prompt, twice, it leaves, as Ctrl-D
 * does. Resolves when the person leaves or `signal` aborts.
 */
export async function chatAtTerminal(client: Client, signal: AbortSignal): Promise<void> {
  const talk = await Talk.open(client);
  const chat = new TerminalChat(talk);
  const left = new AbortController();
  const gone = AbortSignal.any([signal, left.signal]);
  const following = talk.follow((event) => chat.show(event), gone);
  try {
    await Promise.race([chat.read(gone), following]);
  } finally {
    left.abort();
    chat.close();
    await following;
  }
}

class TerminalChat {
  readonly #talk: Talk;
  readonly #paint: Paint = paintFor(process.stdout, process.env);
  readonly #screen: Screen;
  readonly #lines: Interface;
  #isPrompting = false;
  #lastBreak = Number.NEGATIVE_INFINITY;

  constructor(talk: Talk) {
    this.#talk = talk;
    this.#lines = createInterface({
      input: process.stdin,
      output: process.stdout,
      prompt: this.#paint.bold('› '),
      historySize: 200,
    });
    this.#screen = new Screen({
      write: (text) => process.stdout.write(text),
      paint: this.#paint,
      isLive: true,
      isOwn: (id) => talk.isOwn(id),
    });
  }

  close(): void {
    this.#lines.close();
  }

  /** Whatever comes while a prompt stands there goes above it. */
  show(event: Parameters<Screen['show']>[0]): void {
    this.#above(() => this.#screen.show(event));
  }

  #above(write: () => void): void {
    if (!this.#isPrompting) {
      write();
      return;
    }
    process.stdout.write(CLEAR_LINE);
    write();
    this.#lines.prompt(true);
  }

  async read(gone: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    gone.addEventListener('abort', () => resolve(), { once: true });
    this.#lines.on('close', resolve);
    this.#lines.on('SIGINT', () => this.#onBreak());
    this.#lines.on('line', (line) => void this.#onLine(line));
    this.#screen.line(
      this.#paint.dim(
        'Ctrl-C stops what runs, twice at an empty prompt leaves. /help lists the commands.',
      ),
    );
    this.#prompt();
    await promise;
    process.stdout.write('\n');
  }

  #prompt(): void {
    this.#isPrompting = true;
    this.#lines.prompt();
  }

  async #onLine(line: string): Promise<void> {
    this.#isPrompting = false;
    if (line.trim() !== '') await this.#say(line);
    if (!this.#isPrompting) this.#prompt();
  }

  async #say(text: string): Promise<void> {
    try {
      await this.#talk.say(text);
      await this.#talk.idle();
    } catch (error) {
      this.#screen.line(printable(error instanceof Error ? error.message : String(error)));
    }
  }

  #onBreak(): void {
    if (this.#talk.isBusy) {
      void this.#say('/stop');
      return;
    }
    const now = performance.now();
    const isEmpty = this.#lines.line === '';
    if (isEmpty && now - this.#lastBreak < LEAVE_MS) {
      this.#lines.close();
      return;
    }
    this.#lastBreak = isEmpty ? now : Number.NEGATIVE_INFINITY;
    process.stdout.write('\n');
    if (isEmpty) this.#screen.line(this.#paint.dim('Ctrl-C again to leave.'));
    // Ctrl-C empties the line, as in a shell.
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
    this.#prompt();
  }
}
