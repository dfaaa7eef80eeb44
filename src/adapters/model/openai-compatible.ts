import type { Model as LibraryModel } from '@earendil-works/pi-ai';
import type { Model } from '../../ports/model.ts';
import { responseFormat } from './answer.ts';
import type { Ask, RemoteModelOptions, WireFormat } from './format.ts';
import { streamFromJson } from './json-reply.ts';
import { remoteModel } from './remote.ts';

/** A model behind `POST {baseURL}/chat/completions`, streamed; see `remoteModel`. */
export function openAiCompatible(options: RemoteModelOptions): Model {
  return remoteModel(FORMAT, options);
}

const API = 'openai-completions';

const FORMAT: WireFormat = {
  api: API,
  callIds: 'given',
  isOneByOne: true,
  load,
  address: (baseURL, what) =>
    `${baseURL.replace(/\/+$/, '')}/${what === 'call' ? 'chat/completions' : 'models'}`,
  headers: (apiKey) => (apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  answerFields: responseFormat,
  streamFromJson,
};

let loaded: Ask | undefined;

async function load(): Promise<Ask> {
  if (loaded !== undefined) return loaded;
  // Its client would print what it cannot parse on the host's stderr; for us that is an outcome.
  process.env['OPENAI_LOG'] ??= 'off';
  const [{ stream }, { normalizeContext }] = await Promise.all([
    import('@earendil-works/pi-ai/api/openai-completions'),
    import('@earendil-works/pi-ai/utils/transcript'),
  ]);
  loaded = (model, context, options) =>
    stream(libraryModel(model), normalizeContext(context), options);
  return loaded;
}

function libraryModel(model: RemoteModelOptions): LibraryModel<typeof API> {
  return {
    id: model.name,
    name: model.name,
    api: API,
    provider: model.provider,
    baseUrl: model.baseURL,
    reasoning: false,
    input: ['text'],
    // Counted by us: the library knows no price of a model that was only named.
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: model.contextWindow,
    maxTokens: model.contextWindow,
    // Strict servers refuse a field that only OpenAI has.
    compat: { supportsStore: new URL(model.baseURL).hostname === 'api.openai.com' },
  };
}
