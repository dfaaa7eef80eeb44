import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RunId, ConversationId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { RUN_END_EVENTS, type StreamEvent } from '../../wire/stream.ts';
import { iso, type Door } from '../call.ts';
import { readKept } from './kept.ts';
import { LiveQueue, type Heard } from './live-queue.ts';

export interface StreamOrder {
  readonly conversationId: ConversationId;
  /** One run alone, and the stream ends with it. */
  readonly runId: RunId | null;
  /** Kept events with a higher seq are sent. */
  readonly after: number;
  /** Aborts when the reader is gone. */
  readonly gone: AbortSignal;
  /** Whether the key still opens this door; asked at each comment. */
  readonly isStillAllowed: () => boolean;
  /** Called once, whatever ended the stream. */
  readonly onEnd: () => void;
  /** Breaks the connection, so that the reader does not take what it has for the whole. */
  readonly cut: () => void;
}

/**
 * A stream of server-sent events: the kept ones from the store, in order, each once, and live text in
 * between. Nothing is read before the reader takes it, so a slow one costs a page and a bounded queue.
 */
export function openStream(door: Door, order: StreamOrder): ReadableStream<Uint8Array> {
  const frames = new Frames(door, order);
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const text = await frames.next();
          if (text !== undefined) {
            controller.enqueue(encoder.encode(text));
            return;
          }
        } catch (error) {
          door.log.error('a stream could not be read on', { error: String(error) });
        }
        frames.end();
        // A stream that ends tells that its run has ended; every other one breaks, and is resumed.
        if (!frames.isOver) order.cut();
        controller.close();
      },
      cancel() {
        frames.end();
      },
    },
    { highWaterMark: 0 },
  );
}

class Frames {
  readonly #door: Door;
  readonly #order: StreamOrder;
  readonly #over = new AbortController();
  readonly #stop: AbortSignal;
  readonly #queue: LiveQueue;
  readonly #unsubscribe: () => void;
  readonly #onStop = (): void => this.#leave();
  #after: number;
  #hasMore = false;
  #isFirst = true;
  #isAllowed = true;
  #isOver = false;
  #lastSent: number;

  constructor(door: Door, order: StreamOrder) {
    this.#door = door;
    this.#order = order;
    this.#stop = AbortSignal.any([order.gone, door.closing, this.#over.signal]);
    this.#after = order.after;
    this.#lastSent = door.engine.parts.clock.now();
    const { live } = door.engine;
    // Subscribed before the first read: what is committed while we read is hinted and read again.
    this.#queue = new LiveQueue(order.runId, live.textInProgress(order.conversationId));
    this.#unsubscribe = live.subscribe(order.conversationId, (event) => this.#queue.push(event));
    this.#stop.addEventListener('abort', this.#onStop, { once: true });
    if (this.#stop.aborted) this.#leave();
  }

  /** The run has ended and its end was sent, now or before. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The next text to send, or undefined at the end. */
  async next(): Promise<string | undefined> {
    if (this.#isFirst) {
      this.#isFirst = false;
      return 'retry: 1000\n\n';
    }
    while (!this.#isOver && this.#isAllowed && !this.#stop.aborted) {
      const text = await this.#step();
      if (text !== '') {
        this.#lastSent = this.#now();
        return text;
      }
      // Pages that hold nothing for this reader must not keep the others waiting.
      if (this.#hasMore) await nextTurn();
    }
    return undefined;
  }

  end(): void {
    this.#over.abort();
  }

  #leave(): void {
    this.#unsubscribe();
    this.#order.onEnd();
  }

  async #step(): Promise<string> {
    if (this.#hasMore) return this.#readPage();
    const heard = this.#queue.shift();
    return heard === undefined ? this.#rest() : this.#tell(heard);
  }

  async #tell(heard: Heard): Promise<string> {
    if (heard.kind === 'hint') return this.#readPage();
    const at = iso(this.#now());
    if (heard.kind === 'delta') {
      const { isAnew, ...piece } = heard.piece;
      const { taskId, runId } = piece;
      // What is empty again goes on with nothing.
      const emptied = isAnew ? frame({ type: 'text.snapshot', at, taskId, runId, text: '' }) : '';
      return emptied + frame({ type: 'text.delta', at, ...piece });
    }
    const text = this.#door.engine.live.textInProgress(this.#order.conversationId);
    if (text === undefined) return '';
    const { taskId, runId } = text;
    return frame({ type: 'text.snapshot', at, taskId, runId, text: text.text });
  }

  async #readPage(): Promise<string> {
    const { engine } = this.#door;
    const { runId } = this.#order;
    // The run is looked at before its events: an end that it has is among them or lies behind us.
    const run = runId === null ? undefined : await engine.store.query('run.byId', { id: runId });
    const page = await readKept(engine, this.#order, this.#after);
    this.#after = page.upTo;
    this.#hasMore = page.hasMore;
    const isSeenWhole = run !== undefined && run.state !== 'open' && !page.hasMore;
    this.#isOver = runId !== null && (isSeenWhole || page.events.some(isRunEnd));
    return page.events.map((event) => frame(event)).join('');
  }

  /** Waits for news. A comment keeps the line alive; a shared store is also polled. */
  async #rest(): Promise<string> {
    const { engine } = this.#door;
    const untilComment = this.#lastSent + LIMITS.httpKeepAliveCommentMs - this.#now();
    if (untilComment <= 0) {
      this.#isAllowed = this.#order.isStillAllowed();
      return this.#isAllowed ? ': still here\n\n' : '';
    }
    const { exclusive } = engine.store.traits;
    const pause = exclusive ? untilComment : Math.min(untilComment, LIMITS.tickMsShared);
    const awake = new AbortController();
    const slept = engine.parts.clock.sleep(pause, AbortSignal.any([awake.signal, this.#stop]));
    await Promise.race([this.#queue.filled(), slept]);
    // A reason of our own: without one an error with its stack is made.
    awake.abort('news');
    if (!exclusive) this.#queue.push({ kind: 'hint' });
    return '';
  }

  #now(): number {
    return this.#door.engine.parts.clock.now();
  }
}

function isRunEnd({ type }: StreamEvent): boolean {
  return RUN_END_EVENTS.includes(type);
}

function frame(event: StreamEvent): string {
  const id = 'id' in event ? `id: ${event.id}\n` : '';
  return `${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
