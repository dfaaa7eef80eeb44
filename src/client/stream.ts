import type { StreamEvent } from '../wire/stream.ts';

export interface StreamOptions {
  /** Kept events after this `evt_` id alone. */
  readonly after?: string;
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal;
}

export interface StreamParts extends StreamOptions {
  readonly key: string;
  readonly fetch: typeof globalThis.fetch;
  readonly problemFrom: (response: Response) => Promise<Error>;
}

/** Between two attempts: doubling from the first to the last; a host that restarts is back by then. */
const RETRY_MS = { first: 250, most: 5_000 };
/** A line is dropped when nothing, not even a comment, came for this long: comments come each 15 s. */
const SILENCE_MS = 45_000;

/**
 * The events of a stream, each kept one once and in order. A connection that breaks is taken up after
 * the last kept event; one that cannot be made at first, and an answer that says no, is thrown. A run's
 * stream ends after the run's end.
 */
export async function* followStream(
  url: string,
  parts: StreamParts,
): AsyncGenerator<StreamEvent, void, void> {
  const { signal } = parts;
  const place: Place = { after: parts.after, hasBegun: false, pause: RETRY_MS.first };
  for (;;) {
    const line = new AbortController();
    try {
      yield* readOnce({ url, parts, place, line });
      // Only the end of its run closes a stream; everything else breaks it.
      return;
    } catch (error) {
      if (signal?.aborted === true) return;
      if (!(error instanceof LostLine)) throw error;
      if (!place.hasBegun) throw error.cause;
    } finally {
      line.abort();
    }
    await sleep(place.pause, signal);
    place.pause = Math.min(place.pause * 2, RETRY_MS.most);
  }
}

/** How far the reader is. */
interface Place {
  after: string | undefined;
  hasBegun: boolean;
  pause: number;
}

interface Line {
  readonly url: string;
  readonly parts: StreamParts;
  readonly place: Place;
  readonly line: AbortController;
}

class LostLine extends Error {
  override readonly name = 'LostLine';
}

async function* readOnce(line: Line): AsyncGenerator<StreamEvent, void, void> {
  const { place } = line;
  for await (const frame of readFrames(await connect(line), line.line)) {
    const event = eventOf(frame);
    if (event === undefined) continue;
    place.pause = RETRY_MS.first;
    if ('id' in event) place.after = event.id;
    yield event;
  }
}

async function connect({ url, parts, place, line }: Line): Promise<ReadableStream<Uint8Array>> {
  const { key, fetch, signal, problemFrom } = parts;
  const stop = signal === undefined ? line.signal : AbortSignal.any([signal, line.signal]);
  const headers: Record<string, string> = { Authorization: `Bearer ${key}` };
  if (place.after !== undefined) headers['Last-Event-ID'] = place.after;
  const response = await orLost(() => fetch(url, { headers, signal: stop, redirect: 'error' }));
  if (!response.ok) throw await problemFrom(response);
  place.hasBegun = true;
  if (response.body === null) throw new LostLine('the answer has no body');
  return response.body;
}

async function* readFrames(
  body: ReadableStream<Uint8Array>,
  line: AbortController,
): AsyncGenerator<string, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await orLost(() => withinSilence(reader.read(), line));
    if (done) return;
    const frames = (rest + decoder.decode(value, { stream: true })).split('\n\n');
    rest = frames.pop() ?? '';
    yield* frames;
  }
}

async function withinSilence<T>(reading: Promise<T>, line: AbortController): Promise<T> {
  const timer = setTimeout(() => line.abort(), SILENCE_MS);
  try {
    return await reading;
  } finally {
    clearTimeout(timer);
  }
}

async function orLost<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw new LostLine('the connection was lost', { cause: error });
  }
}

function eventOf(frame: string): StreamEvent | undefined {
  const data = frame
    .split('\n')
    .filter((text) => text.startsWith('data:'))
    .map((text) => text.slice('data:'.length).trimStart());
  return data.length === 0 ? undefined : (JSON.parse(data.join('\n')) as StreamEvent);
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener('abort', wake);
  });
}
