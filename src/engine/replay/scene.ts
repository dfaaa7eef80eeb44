import { readObject, type Json } from '../../kernel/json.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Log } from '../../ports/log.ts';
import type { Digest } from '../../ports/digest.ts';
import type { Model } from '../../ports/model.ts';
import type { Store } from '../../ports/store.ts';
import { createEngine } from '../create.ts';
import type { Engine, EngineOptions, EngineParts } from '../engine.ts';
import type { ReplayClock } from './clock.ts';
import { mayPass } from './answers.ts';
import { HeldStore } from './held-store.ts';
import { dataIn, wordIn, type Entry } from './entry.ts';
import type { Names } from './names.ts';
import { Outside, recordedModel, RecordedTools } from './outside.ts';
import type { Recording } from './recording.ts';

/** What a replay is made of; the store is empty and dies with it. */
export interface SceneParts {
  readonly store: Store;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly clock: ReplayClock;
  /** As the installation is configured; what the record knows better is taken from there. */
  readonly options: EngineOptions;
  /** Tokens of the model's window, where neither configuration nor record says it better. */
  readonly window: number;
  /** Changes the parts of each host: a test plants a version that decides differently. */
  readonly change?: ((parts: EngineParts) => EngineParts) | undefined;
}

/** One host of the replay: its engine, what it wants to commit, what it asks of the outside. */
export interface Actor {
  readonly engine: Engine;
  readonly store: HeldStore;
  readonly outside: Outside;
  /** What it could not handle. */
  readonly troubles: string[];
  /** The record's name of it; null until it is known by what it writes. */
  readonly recorded: string;
}

/** Makes a host that has the conversation's models and tools from the record. */
export function makeActor(
  parts: SceneParts,
  of: {
    readonly recording: Recording;
    readonly names: Names;
    readonly options: EngineOptions;
    readonly lastSeq: () => number;
    readonly recorded: string;
  },
): Actor {
  const { recording, names, options, lastSeq, recorded } = of;
  const store = new HeldStore(parts.store);
  const outside = new Outside();
  const troubles: string[] = [];
  const contextWindow = windowOf(recording, parts.window);
  const tools = new RecordedTools(outside, { recording, names, lastSeq });
  const [model, ...others] = modelsOf(recording, outside, contextWindow);
  const aside = (role: 'classifier' | 'assessment' | 'summary'): Model =>
    recordedModel(outside, role, { provider: 'recorded', name: role, contextWindow });
  const { agent } = recording.conversation;
  const made: EngineParts = {
    store,
    clock: parts.clock.ofHost(),
    ids: parts.ids,
    digest: parts.digest,
    log: logTo(troubles),
    agents: [
      {
        name: agent,
        instructions: () => Promise.resolve(''),
        tools,
        model,
        fallbacks: others.filter((other) => !isChosen(recording, other)),
      },
    ],
    models: [model, ...others],
    classifier: aside('classifier'),
    assessment: aside('assessment'),
    summary: aside('summary'),
    onStoreFailed: (reason) => troubles.push(reason),
    options,
  };
  const engine = createEngine(parts.change?.(made) ?? made);
  return { engine, store, outside, troubles, recorded };
}

/** The window that an operation worked against says more than a configuration of today. */
function windowOf({ operation }: Recording, configured: number): number {
  return operation[0]?.window ?? configured;
}

/** The conversation's own model first, then whatever else was asked or chosen. */
function modelsOf(
  recording: Recording,
  outside: Outside,
  contextWindow: number,
): readonly [Model, ...Model[]] {
  const retried = recording.event
    .filter(({ type }) => type === 'model.retried')
    .map(({ data }) => readObject(data));
  // A second try after what may pass is of the model that was asked first.
  const first = retried.find(
    ({ tries, code }) => tries === 2 && mayPass(typeof code === 'string' ? code : ''),
  );
  const own = {
    provider: wordIn(first, 'provider') || 'recorded',
    name: wordIn(first, 'model') || 'own',
  };
  const asked = retried.map((data) => ({
    provider: wordIn(data, 'provider'),
    name: wordIn(data, 'model'),
  }));
  const chosen = chosenIn(recording).map(readName);
  const known = new Map([own, ...asked, ...chosen].map((one) => [one.name, one]));
  const [head, ...rest] = [...known.values()].map((as) =>
    recordedModel(outside, 'turn', { ...as, contextWindow }),
  );
  return [head as Model, ...rest];
}

function chosenIn({ event }: Recording): readonly string[] {
  return event
    .filter(({ type }) => type === 'conversation.model')
    .map(({ data }) => wordIn(readObject(data), 'model'))
    .filter((model) => model !== '');
}

function isChosen(
  recording: Recording,
  { provider, name }: Pick<Model, 'provider' | 'name'>,
): boolean {
  const chosen = chosenIn(recording);
  return chosen.includes(name) || chosen.includes(`${provider}/${name}`);
}

/** A name of a model, with its provider before it where the record has that. */
function readName(chosen: string): Pick<Model, 'provider' | 'name'> {
  const place = chosen.indexOf('/');
  if (place === -1) return { provider: 'recorded', name: chosen };
  return { provider: chosen.slice(0, place), name: chosen.slice(place + 1) };
}

/** What the log says of work that failed; nobody reads the rest. */
function logTo(troubles: string[]): Log {
  return {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (message, fields) =>
      void troubles.push(`${message}: ${JSON.stringify(fields?.['error'] ?? '')}`),
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The options of a replay: bounds and windows change with the record, as its configuration did. */
export class RecordedOptions {
  readonly options: Mutable<EngineOptions>;

  constructor(given: EngineOptions) {
    // The record has no starts that only other conversations saw, and so no storm of them.
    this.options = { ...given, recovery: { ...given.recovery, safeMode: false } };
  }

  /** Takes over what the next task and the next approval of the record were given. */
  follow(entries: readonly Entry[], place: number): void {
    const ahead = entries.slice(place, place + AHEAD);
    const created = ahead.find(({ type }) => type === 'task.created');
    if (created !== undefined) this.#take(created);
    const asked = ahead.find(({ type }) => type === 'approval.asked');
    const { expiresAt } = dataIn(asked);
    if (asked !== undefined && typeof expiresAt === 'number')
      this.options.approvalMs = expiresAt - asked.at;
  }

  #take(created: Entry): void {
    const { deadline, ...limits } = dataIn(created);
    const { turnsLimit, tokensLimit, costLimit, continuationsLimit } = limits;
    const { options } = this;
    options.turnsLimit = number(turnsLimit, options.turnsLimit);
    options.tokensLimit = number(tokensLimit, options.tokensLimit);
    options.costLimitMicroUsd = number(costLimit, options.costLimitMicroUsd);
    options.continuationsLimit = number(continuationsLimit, options.continuationsLimit);
    options.deadlineMs = typeof deadline === 'number' ? deadline - created.at : null;
  }
}

/** Entries of one commit, and those between a message and its task. */
const AHEAD = 64;

function number(value: Json | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
