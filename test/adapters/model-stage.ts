// What the tests of the model adapters share: a clock that the test moves, a request, a listener.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { anthropic } from '../../src/adapters/model/anthropic.ts';
import type { RemoteModelOptions } from '../../src/adapters/model/format.ts';
import { openAiCompatible } from '../../src/adapters/model/openai-compatible.ts';
import type { Millis } from '../../src/kernel/time.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Model, ModelMessage, ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import type { ModelAnswer } from '../../src/testing/model-answer.ts';
import { startModelServer, type ModelServer } from '../../src/testing/model-server.ts';

export const NOW = Date.UTC(2026, 10, 30, 12, 0, 0);

export interface ManualClock extends Clock {
  /** Ends every sleep of at most this length. */
  pass(ms: Millis): void;
  /** The lengths of the sleeps that still wait. */
  readonly waiting: readonly Millis[];
}

export function manualClock(): ManualClock {
  const sleeps = new Map<() => void, Millis>();
  return {
    now: () => NOW,
    uptime: () => NOW,
    sleep(ms, signal) {
      if (ms <= 0) return new Promise((resolve) => setImmediate(resolve));
      if (signal?.aborted === true) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = (): void => {
        sleeps.delete(wake);
        resolve();
      };
      sleeps.set(wake, ms);
      signal?.addEventListener('abort', wake, { once: true });
      return promise;
    },
    pass(ms) {
      for (const [wake, length] of sleeps) if (length <= ms) wake();
    },
    get waiting() {
      return [...sleeps.values()];
    },
  };
}

export interface Heard {
  readonly texts: string[];
  readonly models: string[];
}

export interface Stage {
  readonly server: ModelServer;
  readonly clock: ManualClock;
  readonly model: Model;
  readonly heard: Heard;
  readonly ask: (request?: Partial<ModelRequest>, signal?: AbortSignal) => Promise<ModelOutcome>;
}

export const FIRST_TOKEN_MS = 1_000;
export const CALL_MS = 5_000;
export const KEY = 'sk-very-secret-0123';

/** How a server of each format says what no scripted answer says. */
export interface Spoken {
  readonly format: Format;
  /** An error inside a stream that began well. */
  readonly errorEvent: (error: object) => string;
  /** An event that is no JSON. */
  readonly nonsense: string;
  /** The text of a document up to where its own text begins. */
  readonly document: string;
}

type Format = (options: RemoteModelOptions) => Model;
/** Every wire format: what a call comes to must not depend on which one it is. */
export const FORMATS: Readonly<Record<string, Spoken>> = {
  'openai-compatible': {
    format: openAiCompatible,
    errorEvent: (error) => `data: ${JSON.stringify({ error })}\n\n`,
    nonsense: 'data: {"choices": oops\n\n',
    document: '{"choices":[{"message":{"content":"',
  },
  anthropic: {
    format: anthropic,
    errorEvent: (error) => `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`,
    nonsense: 'event: message_start\ndata: [1, oops\n\n',
    document: '{"content":[{"type":"text","text":"',
  },
};

/** A server with a script and a model that asks it; it is closed after the test's file. */
export async function stageOf(
  script: readonly ModelAnswer[] = [],
  options: Partial<RemoteModelOptions> = {},
  format: Format = openAiCompatible,
): Promise<Stage> {
  const server = await startModelServer(script);
  after(() => server.close());
  const clock = manualClock();
  const heard: Heard = { texts: [], models: [] };
  const model = format({
    provider: 'house',
    baseURL: server.url,
    name: 'configured-1',
    apiKey: KEY,
    contextWindow: 128_000,
    timeouts: { firstTokenMs: FIRST_TOKEN_MS, callMs: CALL_MS },
    clock,
    ...options,
  });
  return {
    server,
    clock,
    model,
    heard,
    ask: (request, signal) => askOf(model, heard, request, signal),
  };
}

export function askOf(
  model: Model,
  heard: Heard,
  request: Partial<ModelRequest> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelOutcome> {
  return model.call(
    { system: 'You help.', messages: [user('hello')], tools: [], ...request },
    {
      signal,
      onText: (piece) => heard.texts.push(piece),
      onModel: (provider, name) => heard.models.push(`${provider}/${name}`),
    },
  );
}

export function user(text: string): ModelMessage {
  return { role: 'user', text };
}

/** Class and code of a fault in one word; the whole outcome in words when it is a reply. */
export function verdict(outcome: ModelOutcome): string {
  return outcome.kind === 'fault'
    ? `${outcome.class} ${outcome.code}`
    : `reply ${outcome.stop}: ${outcome.text}`;
}

export function replyOf(outcome: ModelOutcome): Extract<ModelOutcome, { kind: 'reply' }> {
  assert.ok(outcome.kind === 'reply', verdict(outcome));
  return outcome;
}

export function faultOf(outcome: ModelOutcome): Extract<ModelOutcome, { kind: 'fault' }> {
  assert.ok(outcome.kind === 'fault', verdict(outcome));
  return outcome;
}
