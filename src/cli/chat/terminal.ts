import { createInterface, type Interface } from 'node:readline';
import type { Client } from '../../client/client.ts';
import { printable } from '../../kernel/printable.ts';
import type { StreamEvent } from '../../wire/stream.ts';
import { paintFor, type Paint } from '../paint.ts';
import { callBlock } from '../shown.ts';
import { Above, wrapRows } from './above.ts';
import { Asking, type Question, type Taken } from './asking.ts';
import type { LogLines } from './log-lines.ts';
import { Screen } from './screen.ts';
import { KEPT, Talk } from './talk.ts';
import { watchHost } from './watch.ts';

/** A second Ctrl-C this soon after the first leaves. */
const LEAVE_MS = 2_000;
const COLUMNS = 80;
const PROMPT = '› ';
/** The command of a notice that asks for an approval. */
const APPROVE = /^\/approve (appr_\w+)$/;
const LEAVE = /^\s*\/(?:exit|quit)\s*$/i;

const HINT = 'Ctrl-C stops what runs, twice at an empty prompt leaves; /help lists the commands';
const QUEUED = 'queued: what runs reads it at its next step, or it follows after; /stop ends that';
const NOT_TYPED =
  'Not taken: only a y or an n that is typed here, key by key, answers. Type it again.';
const ANSWERED = 'Not taken: what was asked has its answer or is no longer open.';
/** Asks the terminal to set pastes apart, so that none is taken for typing. */
const PASTES = { on: '\u001B[?2004h', off: '\u001B[?2004l' } as const;
const GONE = 'The host is gone; waiting for it to come back.';
const BACK = 'The host is back.';

export interface Terminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  /** Milliseconds that are never set back. */
  readonly now: () => number;
}

const OF_PROCESS: Terminal = {
  input: process.stdin,
  output: process.stdout,
  now: () => performance.now(),
};

export interface ChatOptions {
  readonly signal: AbortSignal;
  /** From here on, by this machine's time, what the conversation heard is told at first. */
  readonly since?: number;
  /** Of a host in the same process: what it logs for a person is shown above the input. */
  readonly log?: LogLines;
}

/**
 * The chat at a terminal. A call that waits for a person is asked at the prompt, where it is answered
 * by a typed `y` or `n` alone (E-4). Ctrl-C stops what runs; at an empty prompt, twice, it leaves, as Ctrl-D,
 * `/exit` and `/quit` do. Resolves when the person leaves or `signal` aborts.
 */
export async function chatAtTerminal(
  client: Client,
  options: ChatOptions,
  terminal: Terminal = OF_PROCESS,
): Promise<void> {
  const talk = await Talk.open(client);
  const greeting = await talk.greeting(options.since);
  const chat = new TerminalChat(talk, terminal);
  const left = new AbortController();
  const gone = AbortSignal.any([options.signal, left.signal]);
  const reading = chat.read(gone);
  const unhear = options.log?.showIn((text) => chat.tellLog(text));
  chat.greet(greeting);
  for (const approval of await talk.openApprovals()) chat.ask(approval);
  const following = talk.follow((event) => chat.show(event), gone);
  const watching = watchHost(client, (isThere) => chat.tellHost(isThere), { signal: gone });
  try {
    await Promise.race([reading, following]);
  } finally {
    left.abort();
    unhear?.();
    chat.close();
    await Promise.all([following, watching]);
  }
}

class TerminalChat {
  readonly #talk: Talk;
  readonly #terminal: Terminal;
  readonly #paint: Paint;
  readonly #screen: Screen;
  readonly #lines: Interface;
  readonly #above: Above;
  readonly #asking: Asking;
  readonly #onData = (piece: Buffer | string): void => this.#asking.heard(String(piece));
  /** The approval whose notice was shown last: what it asks stands above the prompt. */
  #told: string | undefined;
  #isThere = true;
  #isClosed = false;
  #sending: Promise<void> = Promise.resolve();
  #lastBreak = Number.NEGATIVE_INFINITY;

  constructor(talk: Talk, terminal: Terminal) {
    this.#talk = talk;
    this.#terminal = terminal;
    const { input, output, now } = terminal;
    this.#asking = new Asking(now);
    this.#paint = paintFor(output, process.env);
    const prompt = this.#paint.bold(PROMPT);
    const lines = createInterface({ input, output, prompt, historySize: 200 });
    this.#lines = lines;
    this.#above = new Above({
      write: (text) => output.write(text),
      columns: () => output.columns || COLUMNS,
      cursorRow: () => lines.getCursorPos().rows,
      redraw: () => lines.prompt(true),
    });
    this.#screen = new Screen({
      write: (text) => this.#write(text),
      paint: this.#paint,
      isLive: true,
      isOwn: (id) => talk.isOwn(id),
    });
    // Before the line is made of it: a line that came in one piece was not typed.
    input.prependListener('data', this.#onData);
  }

  close(): void {
    this.#terminal.input.off('data', this.#onData);
    this.#lines.close();
  }

  show(event: StreamEvent): void {
    this.#screen.show(event);
    if (event.type === 'notice') {
      const [, id] = APPROVE.exec(event.command ?? '') ?? [];
      this.#told = id;
      if (id !== undefined) this.ask({ id });
    } else if (event.type === 'approval.decided') this.#withdraw(event.approvalId);
  }

  /** Asks about an approval at the prompt, as soon as nothing is half typed there. */
  ask({ id }: Pick<Question, 'id'>): void {
    this.#asking.add(id);
    void this.#askNext();
  }

  greet({ missed, waiting }: Awaited<ReturnType<Talk['greeting']>>): void {
    this.#screen.greet(missed, waiting);
  }

  tellHost(isThere: boolean): void {
    this.#isThere = isThere;
    this.#hint(isThere ? BACK : GONE);
    if (isThere) void this.#askNext();
  }

  tellLog(text: string): void {
    this.#hint(printable(text));
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
    this.#terminal.output.write(PASTES.on);
    this.#hint(HINT);
    await promise;
    this.#terminal.output.write(`${PASTES.off}\n`);
  }

  #write(text: string): void {
    if (this.#isClosed) this.#terminal.output.write(text);
    else this.#above.put(text);
  }

  #onLine(line: string): void {
    this.#above.passed();
    if (LEAVE.test(line)) {
      this.#lines.close();
      return;
    }
    const taken = this.#asking.take(line);
    this.#prompt();
    this.#lines.prompt();
    this.#act(taken, line);
    void this.#askNext();
  }

  #act(taken: Taken, line: string): void {
    if (taken.kind === 'message' && line.trim() !== '') this.#send(line);
    else if (taken.kind === 'order') this.#answer(taken);
    else if (taken.kind === 'show') void this.#showCall(taken.id);
    else if (taken.kind === 'later')
      this.#hint(`Left open: /approve ${taken.id} or /deny ${taken.id}`);
    else if (taken.kind === 'not_typed') this.#hint(NOT_TYPED);
    else if (taken.kind === 'gone') this.#hint(ANSWERED);
  }

  /** Broken into rows before it is painted: a painted line is not broken any more. */
  #hint(text: string): void {
    const width = Math.max((this.#terminal.output.columns || COLUMNS) - 1, 1);
    const { rows, rest } = wrapRows(text, width);
    for (const row of [...rows, rest]) this.#screen.line(this.#paint.dim(row));
  }

  #answer({ id, text }: Extract<Taken, { kind: 'order' }>): void {
    this.#hint(`› ${text}`);
    this.#sending = this.#sending.then(() => this.#sayAnswer(id, text));
  }

  async #sayAnswer(id: string, text: string): Promise<void> {
    // What nobody took is asked again.
    if (!(await this.#say(text))) this.#asking.add(id);
  }

  async #showCall(id: string): Promise<void> {
    const found = await this.#talk.approval(id).catch(() => undefined);
    this.#screen.line(found === undefined ? GONE : callBlock(found.shown));
  }

  async #askNext(): Promise<void> {
    const id = this.#mayAsk ? this.#asking.next : undefined;
    if (id === undefined) return;
    const found = await this.#talk.approval(id).catch(() => undefined);
    // A host that is gone is asked again with the next line.
    if (found === undefined) return;
    if (!found.mayAnswer) {
      this.#asking.withdraw(id);
      void this.#askNext();
      return;
    }
    const isAgain = found.kind === 'uncertain';
    if (this.#mayAsk && this.#asking.show({ id, tool: found.tool, isAgain })) {
      // What a `y` would let run is what stands right above it.
      if (this.#told !== id) this.#screen.line(`${id}:\n${callBlock(found.shown)}`);
      this.#told = id;
      this.#prompt();
      this.#lines.prompt(true);
    }
  }

  /** Only at a real terminal do keys come one by one. */
  get #mayAsk(): boolean {
    return this.#lines.terminal && !this.#isClosed && this.#lines.line === '';
  }

  #withdraw(id: string): void {
    if (!this.#asking.withdraw(id, this.#lines.line !== '')) return;
    this.#prompt();
    this.#lines.prompt(true);
    void this.#askNext();
  }

  #prompt(): void {
    const { current } = this.#asking;
    this.#lines.setPrompt(this.#paint.bold(current === undefined ? PROMPT : promptOf(current)));
  }

  /** One after the other, as they were typed. */
  #send(text: string): void {
    this.#sending = this.#sending.then(async () => void (await this.#say(text)));
  }

  /** Whether a host took it. */
  async #say(text: string): Promise<boolean> {
    try {
      const { isQueued, isKept } = await this.#talk.say(text);
      if (isQueued) this.#hint(QUEUED);
      if (isKept) this.#hint(KEPT);
      return true;
    } catch (error) {
      this.#screen.line(printable(error instanceof Error ? error.message : String(error)));
      return false;
    }
  }

  async #onBreak(): Promise<void> {
    if (this.#isThere && (this.#talk.isBusy || (await this.#talk.isRunning()))) {
      this.#send('/stop');
      return;
    }
    const now = this.#terminal.now();
    const isEmpty = this.#lines.line === '';
    if (isEmpty && now - this.#lastBreak < LEAVE_MS) {
      this.#lines.close();
      return;
    }
    this.#lastBreak = isEmpty ? now : Number.NEGATIVE_INFINITY;
    if (isEmpty) this.#hint('Ctrl-C again to leave.');
    // Ctrl-C empties the line, as in a shell.
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
  }
}

/** Enter decides nothing, so no letter is set apart as its meaning. */
function promptOf({ id, tool, isAgain }: Question): string {
  const call = printable(tool).replaceAll('\n', ' ');
  return `approve ${call}${isAgain ? ' once more' : ''} ${id}? [y/n/?, Enter: later] `;
}
