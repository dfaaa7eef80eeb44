import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { StreamEvent } from '../../src/wire/stream.ts';
import { says } from '../support/host.ts';
import { SECRETS, type KeyName, type TestDoor } from './door.ts';

/** One event as it stands on the wire. */
export interface Frame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly comment: string | undefined;
  readonly data: StreamEvent | undefined;
}

export interface Line {
  readonly head: IncomingMessage;
  /** The next frame with an event or a comment; undefined at a clean end; throws when it was cut. */
  next(): Promise<Frame | undefined>;
  /** Frames up to and with the first of this type. */
  upTo(type: string): Promise<readonly Frame[]>;
  rest(): Promise<readonly Frame[]>;
  leave(): void;
}

export async function openLine(
  door: TestDoor,
  path: string,
  given: { readonly key?: KeyName; readonly after?: string } = {},
): Promise<Line> {
  const headers: Record<string, string> = {
    Authorization: `Bearer ${SECRETS[given.key ?? 'ops']}`,
  };
  if (given.after !== undefined) headers['Last-Event-ID'] = given.after;
  const request = httpRequest(`${door.url}${path}`, { headers, agent: false });
  const head = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject).end();
  });
  const frames = readFrames(head);
  const next = async (): Promise<Frame | undefined> => {
    const { value } = await frames.next();
    return value;
  };
  return {
    head,
    next,
    async upTo(type) {
      const seen: Frame[] = [];
      while (seen.at(-1)?.event !== type) {
        const frame = await next();
        assert.ok(frame !== undefined, `ended before ${type}`);
        seen.push(frame);
      }
      return seen;
    },
    async rest() {
      const seen: Frame[] = [];
      for (let frame = await next(); frame !== undefined; frame = await next()) seen.push(frame);
      return seen;
    },
    leave: () => request.destroy(),
  };
}

async function* readFrames(head: IncomingMessage): AsyncGenerator<Frame, undefined, void> {
  let text = '';
  for await (const chunk of head) {
    text += String(chunk);
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const frame = frameOf(part);
      if (frame.event !== undefined || frame.comment !== undefined) yield frame;
    }
  }
  return undefined;
}

function frameOf(part: string): Frame {
  const field = (name: string): string | undefined =>
    part
      .split('\n')
      .find((line) => line.startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim();
  const data = field('data');
  const told = data === undefined ? undefined : (JSON.parse(data) as StreamEvent);
  // Each event on the wire has the described shape and nothing beyond it.
  if (told !== undefined) assert.deepEqual(StreamEvent.parse(told), told);
  return { id: field('id'), event: field('event'), comment: field(''), data: told };
}

export const types = (frames: readonly Frame[]): (string | undefined)[] =>
  frames.map(({ event }) => event);
export const kept = (frames: readonly Frame[]): readonly Frame[] =>
  frames.filter(({ id }) => id !== undefined);

/** A model call whose text the test says piece by piece. */
export function scriptText(door: TestDoor): {
  readonly begun: Promise<void>;
  say(piece: string): void;
  end(): void;
} {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let text = '';
  let tell = (_piece: string): void => {};
  door.installation.model.call = async (_request, live) => {
    tell = live.onText;
    begun.resolve();
    await ended.promise;
    return says(text);
  };
  return {
    begun: begun.promise,
    say(piece) {
      text += piece;
      tell(piece);
    },
    end: () => ended.resolve(),
  };
}
