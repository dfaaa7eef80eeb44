import type { Instant } from '../kernel/time.ts';
import type { JsonObject } from '../kernel/json.ts';

/** A call that the model wants; `args` is the raw text that it produced. */
export interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** One item of the canonical conversation that a request carries. */
export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ModelCall[] }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly name: string;
      readonly text: string;
      readonly isError: boolean;
    };

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** Asks for an answer of this shape, as JSON in the reply's text (surface: model calls). */
  readonly answer?: { readonly name: string; readonly schema: JsonObject };
}

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Millionths of a US dollar; null when no price is known. */
  readonly cost: number | null;
}

/**
 * What a call came to. A fault is a value: `refused` is permanent (key, account, model gone, input
 * refused), `transient` may pass (transport, timeout, 5xx, overload, empty or cut stream), `aborted`
 * was ended by our signal, `nonsense` is an answer that could not be read.
 */
export type ModelOutcome =
  | {
      readonly kind: 'reply';
      /** As the provider reported them, never as configured (T-9). */
      readonly provider: string;
      readonly model: string;
      readonly text: string;
      readonly calls: readonly ModelCall[];
      /** `length`: cut at the output limit. */
      readonly stop: 'end' | 'calls' | 'length';
      readonly usage: ModelUsage;
    }
  | {
      readonly kind: 'fault';
      readonly class: 'refused' | 'transient' | 'aborted' | 'nonsense';
      /**
       * The provider's or transport's own code: `http_401`, `timeout`, `connect`, `cut_stream`, `empty`.
       * `context_too_long` of every provider: refused, because the request is larger than the window (M-13).
       */
      readonly code: string;
      readonly message: string;
      /** The instant that the provider named; only of a quota or rate limit. */
      readonly retryAt: Instant | null;
      /** `account`: key, account or balance were refused, whatever the model and the request. */
      readonly scope?: 'account' | 'model' | 'request';
      readonly usage: ModelUsage | null;
    };

export type ModelReply = Extract<ModelOutcome, { readonly kind: 'reply' }>;
export type ModelFault = Extract<ModelOutcome, { readonly kind: 'fault' }>;

/** Exactly one request per call: retries are the harness's, reserved before they are made. */
export interface Model {
  /** The configured selection, for status and the ready line. */
  readonly provider: string;
  readonly name: string;
  readonly price: 'free' | 'costs-money' | 'unpriced';
  /** US dollars per million tokens; null when they are not known: cost is not counted, and that is said. */
  readonly rates: { readonly input: number; readonly output: number } | null;
  /** Whose limits its calls share (T-18): provider, address and a digest of the key. */
  readonly account: string;
  /** In tokens. */
  readonly contextWindow: number;
  /** Loads ahead what the first call would load. A hint: nothing depends on it, and it never rejects. */
  prepare?(): Promise<void>;
  /** A cheap sign of life: lists models or connects. No attempt, and it never rejects. */
  probe(signal: AbortSignal): Promise<'alive' | 'unreachable'>;
  /** Never rejects. `onText` gets live pieces of text, `onModel` the reported model as soon as it is known. */
  call(
    request: ModelRequest,
    live: {
      readonly signal: AbortSignal;
      readonly onText: (piece: string) => void;
      readonly onModel: (provider: string, model: string) => void;
    },
  ): Promise<ModelOutcome>;
}
