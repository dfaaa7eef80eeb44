import { existsSync } from 'node:fs';
import { holderOf } from '../adapters/store/sqlite/lock.ts';
import { examine } from '../engine/doctor/examine.ts';
import type { Patient } from '../engine/doctor/patient.ts';
import { repair } from '../engine/doctor/repair.ts';
import type { EngineParts } from '../engine/engine.ts';
import { Fault } from '../kernel/fault.ts';
import type { Store } from '../ports/store.ts';
import type { Config } from './config/load.ts';
import { composeModels, type HostModels } from './models.ts';
import { premisesOf } from './premises.ts';
import {
  reading,
  readerOf,
  readingParts,
  readKnown,
  stoppedEngine,
  type Known,
  type Reader,
} from './reader.ts';
import { openStore, openStoreToRead, storeFileOf } from './store.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The API before the records of a stopped host, which examines them (G-3). Records that cannot be opened
 * are what it finds then; throws `store_missing` alone.
 */
export async function openDoctor(config: Config, env: Environment): Promise<Reader> {
  const { clock, ids } = reading();
  const { store, known } = await openedOrBroken(config);
  const parts = { ...readingParts(store, config, ids), premises: premisesOf(config) };
  const engine = stoppedEngine(parts, known, {
    async examine() {
      const models = await modelsOf(config, parts, env);
      const patient = { health: engine.health(), ...livingOf(config, clock.now()) };
      return 'fault' in models
        ? examine({ ...patient, parts, modelsFault: models.fault })
        : examine({ ...patient, parts: withModels(parts, models) });
    },
  });
  return readerOf(engine);
}

/**
 * The API before the records of a stopped host, which repairs them; it has them alone meanwhile. Throws the
 * store's `Fault`, `store_in_use` among them.
 */
export async function openRepairer(config: Config): Promise<Reader> {
  const { clock, ids } = reading();
  if (config.values.store === 'sqlite' && !existsSync(storeFileOf(config.values.data)))
    throw new Fault('store_missing', 'ask', `There is no store at ${config.values.data}.`);
  const store = await openStore(config, { clock, ids });
  const parts = { ...readingParts(store, config, ids), premises: premisesOf(config) };
  const known = await readKnown(store, ids);
  const { hostId } = known;
  const engine = stoppedEngine(parts, known, {
    repair: (order) => repair(parts, { ...order, hostId }),
  });
  return readerOf(engine, 'local');
}

async function openedOrBroken(
  config: Config,
): Promise<{ readonly store: Store; readonly known: Known }> {
  const { clock, ids } = reading();
  try {
    const store = await openStoreToRead(config, { clock, ids });
    return { store, known: await readKnown(store, ids) };
  } catch (error) {
    if (!(error instanceof Fault) || error.code === 'store_missing') throw error;
    const known = { hostId: ids.next('host'), storm: null, limiters: [] };
    return { store: brokenStore(config, error), known };
  }
}

/** A store that cannot be opened, as what is found of it. */
function brokenStore({ values }: Config, fault: Fault): Store {
  const refused = (): Promise<never> => Promise.reject(fault);
  // The address of a server may hold a password.
  const description = values.store === 'sqlite' ? storeFileOf(values.data) : 'PostgreSQL';
  return {
    traits: { exclusive: false, description },
    commit: refused,
    query: refused,
    check: refused,
    close: () => Promise.resolve(),
  };
}

/** Which hosts are dead for sure: of an embedded store all of them, unless somebody has its lock. */
function livingOf({ values }: Config, now: number): Pick<Patient, 'deadBefore' | 'holder'> {
  if (values.store !== 'sqlite') return { deadBefore: now };
  const holder = holderOf(storeFileOf(values.data));
  return holder === undefined ? { deadBefore: Number.MAX_SAFE_INTEGER } : { deadBefore: 0, holder };
}

async function modelsOf(
  config: Config,
  { clock, log }: EngineParts,
  env: Environment,
): Promise<HostModels | { readonly fault: string }> {
  try {
    return await composeModels(config, { env, clock, log, mask: (model) => model });
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

function withModels(parts: EngineParts, models: HostModels): EngineParts {
  const { first: model, fallbacks, classifier, assessment, summary, all } = models;
  const [agent, ...others] = parts.agents;
  return {
    ...parts,
    agents: [
      { ...agent, model, fallbacks, ...models.ofAgents[0] },
      ...others.map((other, place) => ({ ...other, ...models.ofAgents[place + 1] })),
    ],
    models: all,
    classifier,
    assessment,
    summary,
  };
}
