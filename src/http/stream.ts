import type { ConversationId, RunId, TaskId } from '../kernel/ids.ts';
import type { Call } from './call.ts';
import { problem } from './problems.ts';
import { openStream } from './stream/open.ts';

export interface StreamSource {
  readonly conversationId: ConversationId;
  /** The run to which the stream is limited. */
  readonly run?: { readonly id: RunId; readonly taskId: TaskId };
}

/**
 * Answers with the events of a conversation or of one run, after `Last-Event-ID` where it is given.
 * Throws `unknown_event` for an id that this conversation never had, `slow_down` beyond the streams
 * that a key may have.
 */
export async function streamOf(call: Call, source: StreamSource): Promise<Response> {
  const { door, identity, request } = call;
  const after = await startOf(call, source);
  if (request.method === 'HEAD') return new Response(null, { headers: STREAM_HEADERS });
  const release = door.slots.take(identity.name);
  const secret = request.headers.get('authorization')?.replace(/^bearer +/i, '') ?? '';
  const stream = openStream(door, {
    conversationId: source.conversationId,
    runId: source.run?.id ?? null,
    after,
    gone: request.signal,
    isStillAllowed: () => door.keys.verify(secret) !== undefined,
    onEnd: release,
    cut: () => call.env.outgoing?.destroy(),
  });
  return new Response(stream, { headers: STREAM_HEADERS });
}

const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  // Proxies that buffer would hold live text back.
  'X-Accel-Buffering': 'no',
} as const;

async function startOf({ door, request }: Call, source: StreamSource): Promise<number> {
  const { store } = door.engine;
  const { conversationId, run } = source;
  const last = request.headers.get('last-event-id') ?? '';
  if (last !== '') {
    const place = await store.query('event.seqOf', { conversationId, id: last });
    if (place === undefined) throw problem('unknown_event');
    return place.seq;
  }
  if (run === undefined) return 0;
  const [first] = await store.query('event.ofTask', {
    conversationId,
    taskId: run.taskId,
    limit: 1,
  });
  return first === undefined ? 0 : first.seq - 1;
}
