import type { ConfigName, ConfigValues } from './keys.ts';
import type { OtherModel } from './values.ts';

/** Where a model is configured, as `model.fallbacks` and `[0]`. */
export interface ModelPlace {
  readonly key: ConfigName;
  readonly path: readonly PropertyKey[];
}

/** One configured model, whole: what it takes from the first one is filled in. */
export interface ModelSettings extends OtherModel {
  readonly place: ModelPlace;
  /** Where its key stands: of a model that uses the first one's, there. */
  readonly keyPlace: ModelPlace;
}

/** What the configuration says about models; `first` is undefined when it names none. */
export interface ConfiguredModels {
  readonly first: ModelSettings | undefined;
  readonly fallbacks: readonly ModelSettings[];
  readonly assessment: ModelSettings | undefined;
  readonly classifier: ModelSettings | undefined;
  readonly summary: ModelSettings | undefined;
  /** Of each of `agents`, in order: undefined where it uses the first one and the fallbacks. */
  readonly ofAgents: readonly {
    readonly model: ModelSettings | undefined;
    readonly fallbacks: readonly ModelSettings[] | undefined;
  }[];
}

/** The keys of models that do a work of their own. */
type ServingModel = 'models.assessment' | 'models.classifier' | 'models.summary';

/** The one name of a place, for maps. */
export function placeName({ key, path }: ModelPlace): string {
  return [key, ...path.map(String)].join('.');
}

/** Collects the models that a configuration names. */
export function modelsIn(values: ConfigValues): ConfiguredModels {
  const first = firstIn(values);
  const other = (given: OtherModel, place: ModelPlace): ModelSettings => fill(given, place, first);
  const single = (key: ServingModel): ModelSettings | undefined => {
    const given = values[key];
    return given === undefined ? undefined : other(given, { key, path: [] });
  };
  return {
    first,
    fallbacks: values['model.fallbacks'].map((given, at) =>
      other(given, { key: 'model.fallbacks', path: [at] }),
    ),
    assessment: single('models.assessment'),
    classifier: single('models.classifier'),
    summary: single('models.summary'),
    ofAgents: values.agents.map(({ model }, at) => ({
      model: model === undefined ? undefined : other(model, { key: 'agents', path: [at, 'model'] }),
      fallbacks: model?.fallbacks?.map((given, order) =>
        other(given, { key: 'agents', path: [at, 'model', 'fallbacks', order] }),
      ),
    })),
  };
}

/** All of them, the first one first. */
export function allModels(models: ConfiguredModels): readonly ModelSettings[] {
  const ofAgents = models.ofAgents.flatMap(({ model, fallbacks = [] }) => [model, ...fallbacks]);
  const { first, fallbacks, assessment, classifier, summary } = models;
  const all = [first, ...fallbacks, assessment, classifier, summary, ...ofAgents];
  return all.filter((model) => model !== undefined);
}

function firstIn(values: ConfigValues): ModelSettings | undefined {
  const provider = values['model.provider'];
  if (provider === undefined) return undefined;
  const [input, output] = [values['model.price.input'], values['model.price.output']];
  return {
    provider,
    baseURL: values['model.baseURL'],
    name: values['model.name'],
    apiKey: values['model.apiKey'],
    contextWindow: values['model.contextWindow'],
    timeoutSeconds: values['model.timeoutSeconds'],
    price: input === undefined || output === undefined ? undefined : { input, output },
    place: { key: 'model.provider', path: [] },
    keyPlace: { key: 'model.apiKey', path: [] },
  };
}

/** Without a provider of its own it is another model behind the first one's address and key. */
function fill(
  given: OtherModel,
  place: ModelPlace,
  first: ModelSettings | undefined,
): ModelSettings {
  const own = { key: place.key, path: [...place.path, 'apiKey'] };
  if (given.provider !== undefined || first === undefined)
    return { ...given, place, keyPlace: own };
  const { provider, baseURL, apiKey } = first;
  const keyPlace = given.apiKey === undefined ? first.keyPlace : own;
  return {
    ...given,
    provider,
    baseURL: given.baseURL ?? baseURL,
    apiKey: given.apiKey ?? apiKey,
    place,
    keyPlace,
  };
}
