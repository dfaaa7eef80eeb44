import type { Millis } from '../../kernel/time.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ModelFetch, ModelResponse } from './keep-alive-fetch.ts';

/** What was seen on the wire of one call. The library shows only parts of it, and in its own words. */
export interface WireRecord {
  requestBytes: number;
  /** Null until an answer began. */
  status: number | null;
  /** A header of the answer; null before it began. */
  header: (name: string) => string | null;
  /** The beginning of the body of an answer that is an error. */
  errorText: string;
  /** The transport's failure: before the answer began, or in its body. */
  failure: { readonly stage: 'connect' | 'body'; readonly error: unknown } | null;
  /** True when the body is neither server-sent events nor a reply as JSON. */
  isUnreadable: boolean;
  /** The last piece of the body: an error inside a stream stands there. */
  lastPiece: Uint8Array | null;
}

export interface WireSettings {
  /** Where the one request goes, whatever address the library makes of it. */
  readonly url: string;
  readonly fetch: ModelFetch;
  /** All that are sent but those of the body. */
  readonly headers: Record<string, string>;
  /** A reply in one document as the events of a stream; undefined when it is none. */
  readonly streamFromJson: (text: string) => string | undefined;
  /** Found in the events once the last of them is there; what follows is not waited for. */
  readonly lastEvent?: RegExp | undefined;
  readonly clock: Clock;
  /** Ends the request. Aborting it after the end of the answer does nothing. */
  readonly signal: AbortSignal;
  /** Called once when the body is larger than any reply can be. */
  readonly onTooLarge: () => void;
}

/** Events of a stream are many times larger than their text: about 250 bytes for a token. */
const STREAM_BYTES_MAX = 32 * LIMITS.modelReplyBytesMax;
const ERROR_BYTES_MAX = 16_384;
/** What may follow `[DONE]` until the connection is given up instead of kept. */
const TAIL_BYTES_MAX = 65_536;
const TAIL_MS: Millis = 1_000;
const LAST_EVENT_CHARS_MAX = 2_048;
const BODY_HEADERS = {
  accept: 'text/event-stream, application/json',
  'content-type': 'application/json',
};
const SNIFFED_BYTES = 16;
const EVENT_STREAM_START = /^\uFEFF?\s*(?:data|event|id|retry)?:/;

/**
 * A fetch for the library, good for one request, that notes what it sees. It sends our headers
 * alone, drops the signal that the library gives (which it aborts after each complete answer, and
 * would take the kept connection with it) and turns a JSON reply into the stream that was asked for.
 */
export function openWire(settings: WireSettings): {
  readonly record: WireRecord;
  readonly fetch: typeof globalThis.fetch;
} {
  const record: WireRecord = {
    requestBytes: 0,
    status: null,
    header: () => null,
    errorText: '',
    failure: null,
    isUnreadable: false,
    lastPiece: null,
  };
  let isUsed = false;
  return {
    record,
    async fetch(_url, init) {
      if (isUsed) throw new Error('one request per call');
      isUsed = true;
      const response = await ask(settings, record, init?.body);
      return response.status >= 200 && response.status < 300
        ? readable(settings, record, response)
        : refused(record, response);
    },
  };
}

async function ask(
  settings: WireSettings,
  record: WireRecord,
  given: unknown,
): Promise<ModelResponse> {
  const body = typeof given === 'string' ? given : '';
  record.requestBytes = Buffer.byteLength(body);
  try {
    const response = await settings.fetch(settings.url, {
      method: 'POST',
      headers: { ...BODY_HEADERS, ...settings.headers },
      body,
      signal: settings.signal,
      redirect: 'manual',
    });
    record.status = response.status;
    record.header = (name) => response.headers.get(name);
    return response;
  } catch (error) {
    record.failure = { stage: 'connect', error };
    throw error;
  }
}

/** The library only has to stop; the status and the text are in the record. */
async function refused(record: WireRecord, response: ModelResponse): Promise<Response> {
  try {
    const { text } = await readText(response.body, ERROR_BYTES_MAX);
    record.errorText = text;
  } catch {
    // The status says enough; that its explanation broke off changes nothing.
  }
  return new Response('{}', { status: 500 });
}

async function readable(
  settings: WireSettings,
  record: WireRecord,
  response: ModelResponse,
): Promise<Response> {
  const headers = { 'content-type': 'text/event-stream' };
  if (response.body === null) return new Response('', { headers });
  const body = observe(settings, record, response.body);
  if (response.headers.get('content-type')?.includes('text/event-stream') === true) {
    return new Response(body, { headers });
  }
  const [start, whole] = await sniff(body);
  if (start === '' || EVENT_STREAM_START.test(start)) return new Response(whole, { headers });
  const events = start.trimStart().startsWith('{')
    ? await asStream(settings, record, whole)
    : undefined;
  if (events !== undefined) return new Response(events, { headers });
  record.isUnreadable = true;
  await whole.cancel();
  throw new Error('neither an event stream nor a reply as JSON');
}

async function asStream(
  settings: WireSettings,
  record: WireRecord,
  body: ReadableStream<Uint8Array>,
): Promise<string | undefined> {
  const { text, isWhole } = await readText(body, LIMITS.modelReplyBytesMax);
  const events = isWhole ? settings.streamFromJson(text) : undefined;
  if (events !== undefined) record.lastPiece = new TextEncoder().encode(events);
  return events;
}

/** Passes the body on, counts it, and reads its tail when the reader has seen enough. */
function observe(
  settings: WireSettings,
  record: WireRecord,
  body: ReadableStream<Uint8Array>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const hasEnded = endFinder(settings.lastEvent);
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(sink) {
        try {
          const { done, value } = await reader.read();
          if (done) return sink.close();
          bytes += value.byteLength;
          record.lastPiece = value;
          if (bytes > STREAM_BYTES_MAX) settings.onTooLarge();
          sink.enqueue(value);
          if (!hasEnded(value)) return;
          sink.close();
          void readTail(reader, settings.clock);
        } catch (error) {
          record.failure = { stage: 'body', error };
          sink.error(error);
        }
      },
      cancel() {
        void readTail(reader, settings.clock);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Tells whether the last event has come with this piece; it may lie across two. */
function endFinder(lastEvent: RegExp | undefined): (piece: Uint8Array) => boolean {
  if (lastEvent === undefined) return () => false;
  const decoder = new TextDecoder();
  let tail = '';
  return (piece) => {
    const text = tail + decoder.decode(piece, { stream: true });
    tail = text.slice(-LAST_EVENT_CHARS_MAX);
    return lastEvent.test(text);
  };
}

/** A connection can be used again only once its answer was read to the end. */
async function readTail(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  clock: Clock,
): Promise<void> {
  const over = new AbortController();
  void clock.sleep(TAIL_MS, over.signal).then(() => reader.cancel().catch(() => undefined));
  try {
    for (let bytes = 0; bytes <= TAIL_BYTES_MAX;) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.byteLength;
    }
  } catch {
    // The reply is complete; a connection that breaks now is only not kept.
  }
  // A reason of our own: without one an error with its stack is made.
  over.abort('over');
}

async function sniff(
  body: ReadableStream<Uint8Array>,
): Promise<readonly [start: string, whole: ReadableStream<Uint8Array>]> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const seen: Uint8Array[] = [];
  let start = '';
  while (start.trimStart().length < SNIFFED_BYTES && start.length < ERROR_BYTES_MAX) {
    const { done, value } = await reader.read();
    if (done) break;
    seen.push(value);
    start += decoder.decode(value, { stream: true });
  }
  const whole = new ReadableStream<Uint8Array>(
    {
      async pull(sink) {
        const early = seen.shift();
        if (early !== undefined) return sink.enqueue(early);
        const { done, value } = await reader.read();
        return done ? sink.close() : sink.enqueue(value);
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  );
  return [start, whole];
}

/** The text of a body, as much as the bound allows. Rejects when the transport fails. */
export async function readText(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  if (body === null) return { text: '', isWhole: true };
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; bytes <= bytesMax;) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode(), isWhole: true };
    bytes += value.byteLength;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return { text, isWhole: false };
}
