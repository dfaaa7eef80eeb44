import type { OpenExport } from '../engine/archive/export.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { SocketEnv } from './bounds.ts';
import { route, type Call, type Door, type Route } from './call.ts';

/** Begins an export of the store as it is now. Rejects with the store's `Fault`. */
export type Exporter = () => Promise<OpenExport>;

const HEADERS = {
  'Content-Type': 'application/x-ndjson',
  'Content-Disposition': 'attachment; filename="sekisho-export.jsonl"',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const;

/**
 * Streams an export. Nothing is read before the reader takes it; one that takes nothing for
 * `exportStallMs` is left, since the state that it reads is kept for it meanwhile. What breaks off
 * lacks its last line, and the connection is cut.
 */
async function exportAll({ door, identity, request, env }: Call): Promise<Response> {
  if (request.method === 'HEAD') return new Response(null, { headers: HEADERS });
  const release = door.slots.take(identity.name);
  try {
    const reading = new Reading(door, await door.exporter(), release);
    return new Response(reading.stream(env.outgoing), { headers: HEADERS });
  } catch (error) {
    release();
    throw error;
  }
}

/** One export on its way to one reader. */
class Reading {
  readonly #door: Door;
  readonly #source: OpenExport;
  readonly #release: () => void;
  readonly #over = new AbortController();
  #watch = new AbortController();

  constructor(door: Door, source: OpenExport, release: () => void) {
    this.#door = door;
    this.#source = source;
    this.#release = release;
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** `socket` is cut when the export breaks off; without one the stream itself fails. */
  stream(socket: SocketEnv['outgoing']): ReadableStream<Uint8Array> {
    const broken = (controller: ReadableStreamDefaultController, why: string): void => {
      if (this.#isOver) return;
      void this.#end();
      if (socket === undefined) controller.error(new Error(why));
      else {
        socket.destroy();
        controller.close();
      }
    };
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const { closing } = this.#door;
          const onClosing = (): void => broken(controller, 'the host ends');
          closing.addEventListener('abort', onClosing, { once: true, signal: this.#over.signal });
          if (closing.aborted) onClosing();
        },
        pull: async (controller) => {
          this.#watch.abort('taken');
          try {
            await this.#next(controller);
          } catch (error) {
            this.#door.log.error('an export broke off', { error: String(error) });
            broken(controller, 'the export broke off');
          }
          void this.#watched(() => broken(controller, 'the reader took nothing'));
        },
        cancel: () => this.#end(),
      },
      { highWaterMark: 0 },
    );
  }

  async #next(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const piece = await this.#source.pieces.next();
    if (this.#isOver) return;
    if (piece.done !== true) {
      controller.enqueue(piece.value);
      return;
    }
    await this.#end();
    controller.close();
  }

  /** Calls back when nothing was taken for too long. */
  async #watched(onStall: () => void): Promise<void> {
    if (this.#isOver) return;
    const watch = new AbortController();
    this.#watch = watch;
    await this.#door.engine.parts.clock.sleep(LIMITS.exportStallMs, watch.signal);
    if (!watch.signal.aborted) onStall();
  }

  async #end(): Promise<void> {
    if (this.#isOver) return;
    this.#over.abort('over');
    this.#watch.abort('over');
    this.#release();
    await this.#source.close();
  }
}

export const EXPORT_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/admin/export',
    need: 'admin',
    summary: 'Everything that people own here, as one consistent state in JSON lines',
    replies: { 200: { what: 'The export; see docs/export.md', type: 'application/x-ndjson' } },
    handle: exportAll,
  }),
];
