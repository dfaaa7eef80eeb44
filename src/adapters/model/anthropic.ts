import type { Model as LibraryModel } from '@earendil-works/pi-ai';
import type { Model } from '../../ports/model.ts';
import type { Ask, RemoteModelOptions, WireFormat } from './format.ts';
import { anthropicStreamFromJson } from './json-reply-anthropic.ts';
import { remoteModel } from './remote.ts';

export const ANTHROPIC_URL = 'https://api.anthropic.com';

/** A model behind `POST {baseURL}/v1/messages`, streamed; see `remoteModel`. */
export function anthropic(options: RemoteModelOptions): Model {
  return remoteModel(FORMAT, options);
}

const API = 'anthropic-messages';
const VERSION = '2023-06-01';
/** The format makes every request name its longest answer. Every model takes this one. */
const OUTPUT_TOKENS = 8_192;
/** More than this in one answer is a run-away: longer work is done in steps. */
const OUTPUT_TOKENS_MAX = 32_000;
const WINDOW_SHARE_MAX = 0.25;

const FORMAT: WireFormat = {
  api: API,
  callIds: 'plain',
  isOneByOne: false,
  load,
  // Both ways to write the address are common.
  address: (baseURL, what) =>
    `${baseURL.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/${what === 'call' ? 'messages' : 'models'}`,
  headers: (apiKey) => ({
    'anthropic-version': VERSION,
    ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
  }),
  answerFields: ({ schema }) => ({ output_config: { format: { type: 'json_schema', schema } } }),
  streamFromJson: anthropicStreamFromJson,
  // No text of a model can look like it: within the data a line break is escaped.
  lastEvent: /(?:^|\n)event: ?message_stop\r?\n(?:data:.*\r?\n)?\r?\n/,
};

let loaded: Ask | undefined;

async function load(): Promise<Ask> {
  if (loaded !== undefined) return loaded;
  const [{ stream }, { normalizeContext }] = await Promise.all([
    import('@earendil-works/pi-ai/api/anthropic-messages'),
    import('@earendil-works/pi-ai/utils/transcript'),
  ]);
  loaded = (model, context, options) =>
    stream(libraryModel(model), normalizeContext(context), options);
  return loaded;
}

function libraryModel(model: RemoteModelOptions): LibraryModel<typeof API> {
  const isTheirs = new URL(model.baseURL).hostname === 'api.anthropic.com';
  return {
    id: model.name,
    name: model.name,
    api: API,
    // Another name would have the library add what belongs to that operator.
    provider: 'anthropic',
    baseUrl: model.baseURL,
    // Thoughts are not kept, and what is not kept cannot be sent back: the model's own default holds.
    reasoning: false,
    input: ['text'],
    // Counted by us: the library knows no price of a model that was only named.
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: model.contextWindow,
    maxTokens: outputTokensOf(model),
    // One request is one call, and says all: no thread is continued. Strict servers refuse a field
    // that only Anthropic has.
    compat: { supportsMessageThreads: false, supportsEagerToolInputStreaming: isTheirs },
  };
}

function outputTokensOf({
  outputTokensMax = OUTPUT_TOKENS,
  contextWindow,
}: RemoteModelOptions): number {
  const share = Math.floor(contextWindow * WINDOW_SHARE_MAX);
  return Math.min(outputTokensMax, OUTPUT_TOKENS_MAX, share);
}
