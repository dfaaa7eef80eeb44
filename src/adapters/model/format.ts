import type { AssistantMessageEventStream, Context, StreamOptions } from '@earendil-works/pi-ai';
import type { JsonObject } from '../../kernel/json.ts';
import type { Millis } from '../../kernel/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ModelRequest } from '../../ports/model.ts';
import type { ModelFetch } from './keep-alive-fetch.ts';
import type { Price } from './price.ts';

/** A model of somebody else's, behind HTTP. */
export interface RemoteModelOptions {
  /** The configured name; it is also what a reply reports, since no server names its operator. */
  readonly provider: string;
  /** Up to and without the path of a call. */
  readonly baseURL: string;
  readonly name: string;
  readonly apiKey?: string | undefined;
  /** In tokens. */
  readonly contextWindow: number;
  /** In tokens, where the format makes us say so. Absent: a number that every model takes. */
  readonly outputTokensMax?: number | undefined;
  readonly timeouts: {
    /** From the request to the first text, thought or call. */
    readonly firstTokenMs: Millis;
    readonly callMs: Millis;
  };
  /** Absent: the cost is not counted. */
  readonly price?: Price | undefined;
  readonly clock: Clock;
  /** Default: one over node:http that keeps its connections. */
  readonly fetch?: ModelFetch | undefined;
}

/** A shape that an answer must have. */
export type Answer = NonNullable<ModelRequest['answer']>;

/** Asks through the library: makes at most one request with the `fetch` of the options. */
export type Ask = (
  model: RemoteModelOptions,
  context: Context,
  options: StreamOptions,
) => AssistantMessageEventStream;

/** What differs between the wire formats, and nothing else. */
export interface WireFormat {
  /** The library's name for it. */
  readonly api: string;
  /** `plain`: ids of calls must be plain and none may come twice; `given`: a server gets its own back. */
  readonly callIds: 'plain' | 'given';
  /** Each message is one of the body's, the same whatever stands around it: what was made once need not be again. */
  readonly isOneByOne: boolean;
  /** Loads what speaks it. Loading takes as long as the start of the host, so it is done after. */
  readonly load: () => Promise<Ask>;
  /** Where a call goes, and where the models are listed. */
  readonly address: (baseURL: string, what: 'call' | 'models') => string;
  /** The headers of this format, with the key where there is one. */
  readonly headers: (apiKey: string | undefined) => Readonly<Record<string, string>>;
  /** The fields of a request that ask for an answer of a shape. */
  readonly answerFields: (answer: Answer) => JsonObject;
  /** A reply in one document as the events of a stream; undefined when it is none. */
  readonly streamFromJson: (text: string) => string | undefined;
  /** The last event of a stream, where the library waits for the end of the body instead. */
  readonly lastEvent?: RegExp;
}
