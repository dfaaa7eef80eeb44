import manifest from '../../package.json' with { type: 'json' };
import { createSystemClock } from '../adapters/clock/system.ts';
import { sha256 } from '../adapters/digest/sha256.ts';
import { createIds, secureRandom } from '../adapters/ids/ids.ts';
import { holderOf } from '../adapters/store/sqlite/lock.ts';
import type { LimiterRecord } from '../core/budget/record.ts';
import type { StormRecord } from '../core/recovery/record.ts';
import type { Agent, Engine, EngineParts } from '../engine/engine.ts';
import { recoveryStatus } from '../engine/maintenance/status.ts';
import { Live } from '../engine/turn/live.ts';
import { createApi } from '../http/api.ts';
import type { Exporter } from '../http/export.ts';
import { KeyRing, newSecret, SCOPES } from '../http/keys.ts';
import { Fault } from '../kernel/fault.ts';
import type { HostId } from '../kernel/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Log } from '../ports/log.ts';
import type { Model } from '../ports/model.ts';
import type { Store } from '../ports/store.ts';
import type { Tools } from '../ports/tools.ts';
import { ONLY_AGENT } from './agents.ts';
import { exporterOf, readableSecrets } from './archive.ts';
import type { Config } from './config/load.ts';
import { engineOptions } from './options.ts';
import { openStoreToRead, storeFileOf } from './store.ts';

/** What the client needs to read the records of a stopped host as if it ran. */
export interface Reader {
  readonly url: string;
  readonly key: string;
  readonly fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

const NOWHERE = 'http://localhost';
const LIMITERS_SHOWN = 100;
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Opens the records to read and answers the API's questions from them, so that a command asks a
 * stopped host and a running one in the same way. Throws the store's `Fault`, `store_missing` among them.
 */
export async function openReader(config: Config): Promise<Reader> {
  const { clock, ids } = reading();
  const store = await openStoreToRead(config, { clock, ids });
  const parts = readingParts(store, config, ids);
  const exporter = exporterOf(config, () => readableSecrets(config, process.env));
  return readerOf(stoppedEngine(parts, await readKnown(store, ids)), 'reader', exporter);
}

/** The clock and the ids of a process that only reads. */
export function reading(): { readonly clock: Clock; readonly ids: Ids } {
  const clock = createSystemClock();
  return { clock, ids: createIds({ now: () => clock.now(), random: secureRandom }) };
}

/** The API before an engine that does not run; `close` closes its store. */
export function readerOf(engine: Engine, name = 'reader', exporter = notExported): Reader {
  const key = newSecret();
  const { clock } = engine.parts;
  const api = createApi({
    engine,
    keys: new KeyRing({ grants: [{ name, scopes: SCOPES, secret: key }], clock, log: SILENT }),
    log: SILENT,
    exporter,
    options: { version: manifest.version },
  });
  return {
    url: NOWHERE,
    key,
    fetch: (input, init) => api.fetch(new Request(input, init)),
    close: () => engine.store.close(),
  };
}

const notExported: Exporter = () => Promise.reject(notRunning());

/** What the records say of the host that had them last. */
export interface Known {
  readonly hostId: HostId;
  readonly storm: StormRecord | null;
  readonly limiters: readonly LimiterRecord[];
}

export async function readKnown(store: Store, ids: Ids): Promise<Known> {
  const [last] = await store.query('host.list', { limit: 1 });
  const storm = await store.query('storm.last', {});
  const limiters = await store.query('limiter.list', { limit: LIMITERS_SHOWN });
  return {
    hostId: last?.id ?? ids.next('host'),
    storm: storm !== undefined && storm.endedAt === null ? storm : null,
    limiters: limiters.filter(({ state }) => state !== 'open'),
  };
}

/** An engine that tells what is recorded and does nothing but what it is `given`: no host runs. */
export function stoppedEngine(
  parts: EngineParts,
  { hostId, storm, limiters }: Known,
  given: Partial<Pick<Engine, 'examine' | 'repair'>> = {},
): Engine {
  const refused = (): Promise<never> => Promise.reject(notRunning());
  return {
    store: parts.store,
    parts,
    live: new Live(),
    start: refused,
    stop: () => Promise.resolve(),
    health: () => ({
      state: 'stopped',
      reason: null,
      hostId,
      startedAt: null,
      runningTurns: 0,
      answeredBy: null,
      clock: { isTrusted: true, driftMs: 0, until: null },
      safeMode: storm,
      assessing: [],
      maintaining: [],
      limiters,
    }),
    openConversation: refused,
    acceptMessage: refused,
    acceptRun: refused,
    messageRun: refused,
    stopTask: refused,
    resumeTask: refused,
    pauseTask: refused,
    extendTask: refused,
    resetBudget: refused,
    admit: refused,
    recoveryStatus: (conversationId) => recoveryStatus(parts, conversationId),
    resumeWorker: refused,
    endSafeMode: refused,
    examine: refused,
    repair: refused,
    answerApproval: refused,
    confirmClock: refused,
    cancelRun: refused,
    ...given,
  };
}

/** Parts that read records and ask no model. */
export function readingParts(store: Store, config: Config, ids: Ids): EngineParts {
  const { values } = config;
  const model = unaskedModel(values);
  const agent = (name: string): Agent => ({
    name,
    instructions: () => Promise.resolve(''),
    tools: NO_TOOLS,
    model,
    fallbacks: [],
  });
  const [first, ...rest] = values.agents.map(({ name }) => name);
  return {
    store,
    clock: createSystemClock(),
    ids,
    digest: sha256,
    log: SILENT,
    agents: [agent(first ?? ONLY_AGENT), ...rest.map(agent)],
    models: [model],
    assessment: model,
    summary: model,
    classifier: model,
    onStoreFailed: () => {},
    isAtRest: isAtRest(values),
    options: engineOptions(values, store.traits, process.pid),
  };
}

/** An embedded store has one host at most, which holds its lock; a server's hosts have their leases. */
function isAtRest(values: Config['values']): boolean {
  return values.store === 'sqlite' && holderOf(storeFileOf(values.data)) === undefined;
}

function unaskedModel(values: Config['values']): Model {
  return {
    provider: values['model.provider'] ?? 'none',
    name: values['model.name'] ?? values['model.provider'] ?? 'none',
    price: 'unpriced',
    rates: null,
    account: 'none',
    contextWindow: values['model.contextWindow'],
    probe: () => Promise.resolve('unreachable'),
    call: () => Promise.reject(notRunning()),
  };
}

const NO_TOOLS: Tools = {
  list: [],
  examine: () => Promise.reject(notRunning()),
  run: () => Promise.reject(notRunning()),
};

function notRunning(): Fault {
  return new Fault('not_running', 'ask', 'No host runs on these records.');
}
