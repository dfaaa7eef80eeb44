import type { StreamEvent } from '../../wire/stream.ts';
import type { OutboxReply } from '../../wire/status.ts';
import { printable } from '../../kernel/printable.ts';
import type { Paint } from '../paint.ts';

const ARGS_CHARS_MAX = 100;

export interface ScreenParts {
  readonly write: (text: string) => void;
  readonly paint: Paint;
  /** Text appears as it arrives, and tools have a line; otherwise answers and notices alone. */
  readonly isLive: boolean;
  readonly isOwn: (messageId: string) => boolean;
}

/** Puts the events of a conversation on a screen, or as plain lines into a pipe. */
export class Screen {
  readonly #parts: ScreenParts;
  /** What of the running text stands there already, also where a notice came between its rows. */
  #shown = '';
  #isRowOpen = false;
  /** Whose text that is. */
  #taskId: string | null = null;

  constructor(parts: ScreenParts) {
    this.#parts = parts;
  }

  show(event: StreamEvent): void {
    if (event.type === 'message') this.#message(event);
    else if (event.type === 'notice') this.line(printable(event.sentence));
    else if (this.#parts.isLive) this.#live(event);
  }

  /** What was said before this screen was there. */
  greet(missed: readonly OutboxReply[], waiting: readonly string[]): void {
    for (const { text } of missed) this.line(printable(text));
    for (const text of waiting) this.line(printable(text));
  }

  /** A line of its own, whatever stood there before. */
  line(text: string): void {
    this.#endRow();
    this.#parts.write(`${text}\n`);
  }

  #message(event: Extract<StreamEvent, { type: 'message' }>): void {
    const { isLive, isOwn, paint } = this.#parts;
    if (event.role === 'assistant') this.#answer(event.taskId, printable(event.text));
    else if (isLive && !isOwn(event.messageId)) this.line(paint.dim(`› ${printable(event.text)}`));
  }

  #answer(taskId: string | null, text: string): void {
    const isOfText = this.#shown !== '' && taskId === this.#taskId;
    // The kept text is the truth: what streamed is only continued when it is its beginning.
    if (isOfText && text.startsWith(this.#shown)) {
      this.#text(text.slice(this.#shown.length));
      this.#endRow();
    } else {
      this.line(text);
    }
    this.#shown = '';
  }

  #live(event: StreamEvent): void {
    const { paint } = this.#parts;
    // What a stopped task left unfinished is not the beginning of another's text.
    if (event.taskId !== this.#taskId) this.#endText();
    this.#taskId = event.taskId;
    if (event.type === 'text.delta') this.#text(printable(event.text));
    else if (event.type === 'text.snapshot') this.#snapshot(printable(event.text));
    else if (event.type === 'tool.started') {
      this.line(paint.dim(toolLine(event.tool, event.args)));
      this.#shown = '';
    } else if (event.type === 'tool.finished') this.#finished(event);
  }

  /** Of a call that waits for a person the notice says what it is. */
  #finished({ tool, error }: Extract<StreamEvent, { type: 'tool.finished' }>): void {
    if (error === undefined || error.code === 'asked') return;
    this.line(this.#parts.paint.dim(`  ${oneLine(tool)}: ${oneLine(error.code)}`));
  }

  #text(piece: string): void {
    if (piece === '') return;
    this.#shown += piece;
    this.#isRowOpen = !piece.endsWith('\n');
    this.#parts.write(piece);
  }

  #snapshot(text: string): void {
    if (!text.startsWith(this.#shown)) this.#endText();
    this.#text(text.slice(this.#shown.length));
  }

  #endText(): void {
    this.#endRow();
    this.#shown = '';
  }

  #endRow(): void {
    if (this.#isRowOpen) this.#parts.write('\n');
    this.#isRowOpen = false;
  }
}

function toolLine(tool: string, args: unknown): string {
  const text = oneLine(typeof args === 'string' ? args : JSON.stringify(args));
  const cut = text.length > ARGS_CHARS_MAX ? `${text.slice(0, ARGS_CHARS_MAX)}…` : text;
  return `· ${oneLine(tool)} ${cut}`;
}

/** What a model made up must not look like a line of ours. */
function oneLine(text: string): string {
  return printable(text).replaceAll('\n', ' ');
}
