import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { createSystemClock } from '../adapters/clock/system.ts';
import { sha256 } from '../adapters/digest/sha256.ts';
import { createIds, secureRandom } from '../adapters/ids/ids.ts';
import { createLog, type LogOptions, type OpenLog } from '../adapters/log/log.ts';
import { createEngine } from '../engine/create.ts';
import type { Agent, Engine, EngineParts } from '../engine/engine.ts';
import { createClient, type Client } from '../client/client.ts';
import { createApi, type Api } from '../http/api.ts';
import { KeyRing, newSecret, SCOPES, type KeyGrant } from '../http/keys.ts';
import { serveApi } from '../http/serve.ts';
import { redactor } from '../kernel/redact.ts';
import { SECOND, type Millis } from '../kernel/time.ts';
import type { Model } from '../ports/model.ts';
import type { Store } from '../ports/store.ts';
import { exporterOf } from './archive.ts';
import { composeAgents, planAgents, sandboxFor, type AgentParts } from './agents.ts';
import { closeAll, type Closer } from './closers.ts';
import type { Config } from './config/load.ts';
import { openDataFolder } from './folders.ts';
import { removeHostFile, writeHostFile } from './host-file.ts';
import { dropGeneratedKey, keyFileOf, openGeneratedKey } from './key-file.ts';
import { maskIntake, maskModel } from './masked.ts';
import { composeModels, type HostModels } from './models.ts';
import { engineOptions } from './options.ts';
import { premisesOf } from './premises.ts';
import { knownSecrets } from './secrecy.ts';
import { openStore } from './store.ts';
import { readTls } from './tls.ts';
import { tightWindow } from './window.ts';

export interface HostOptions {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The least level that goes to stderr. */
  readonly logLevel: LogOptions['stderr'];
  /** Takes such a line first, as a chat on the same screen does. */
  readonly showLog?: LogOptions['show'];
  /** Called once when the store can no longer be trusted: end the process with exit code 6 (G-6). */
  readonly onFailed: (reason: string) => void;
}

/** What a started host tells whoever started it. */
export interface StartedHost {
  /** Where the API listens, as `http://127.0.0.1:7420`. */
  readonly url: string;
  readonly model: Pick<Model, 'provider' | 'name' | 'price'>;
  /** Speaks with the API inside this process, as the terminal: no socket, no certificate between. */
  readonly client: Client;
}

export interface Host {
  /**
   * Opens the store, recovers, listens and is ready (design principle 14). Throws a `Fault`, and then
   * nothing is left open. Call it once.
   */
  start(): Promise<StartedHost>;
  /** Drains for at most `graceMs`, then lets go of everything in reverse. A second call cuts the drain. */
  stop(graceMs?: Millis): Promise<void>;
  /** Writes what broke the process, masked, as its last words; the process must end then. */
  crash(error: unknown): Promise<void>;
}

/** Assembles a host from its configuration: the one place that knows every adapter and the engine. */
export function createHost(options: HostOptions): Host {
  return new AssembledHost(options);
}

/** How long answers that are being written may take once nothing runs any more. */
const REQUESTS_END_MS: Millis = 2 * SECOND;

/** Where a request without a socket goes. */
const WITHIN = 'http://localhost';

const clock = createSystemClock();

class AssembledHost implements Host {
  readonly #options: HostOptions;
  readonly #ids = createIds({ now: () => clock.now(), random: secureRandom });
  /** What was opened, in order; closed in reverse. */
  readonly #opened: Closer[] = [];
  #secrets: readonly string[];
  #mask: (text: string) => string;
  #engine: Engine | undefined;
  #log: OpenLog | undefined;
  #booted: Promise<unknown> = Promise.resolve();
  #stopping: Promise<void> | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#secrets = knownSecrets(options.config, options.env, undefined);
    this.#mask = redactor(this.#secrets);
  }

  async start(): Promise<StartedHost> {
    const booting = this.#boot();
    this.#booted = Promise.allSettled([booting]);
    try {
      return await booting;
    } catch (error) {
      // Why it did not start is what counts.
      await closeAll(this.#opened).catch(() => {});
      throw error;
    }
  }

  stop(
    graceMs: Millis = this.#options.config.values['drain.graceSeconds'] * SECOND,
  ): Promise<void> {
    if (this.#stopping !== undefined) {
      void this.#engine?.stop(0);
      return this.#stopping;
    }
    this.#stopping = this.#shutDown(graceMs);
    return this.#stopping;
  }

  async crash(error: unknown): Promise<void> {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (this.#log === undefined) process.stderr.write(`${this.#mask(what)}\n`);
    this.#log?.error('the host broke', { error: what });
    await this.#log?.close();
  }

  async #boot(): Promise<StartedHost> {
    const { values } = this.#options.config;
    const mended = openDataFolder(values.data);
    const plans = planAgents(values);
    const sandbox = sandboxFor(plans);
    const log = this.#openLog();
    if (mended.length > 0) log.warn('open to others until now, closed', { paths: mended });

    const store = await openStore(this.#options.config, { clock, ids: this.#ids, log });
    this.#opened.push(() => store.close());
    const grants = this.#openKeys(log);
    const models = await this.#models(log);
    const agents = composeAgents(plans, models, await sandbox, this.#agentParts(log));
    await warnOfWindows(agents, log);
    const engine = createEngine({
      ...this.#engineParts(store, log),
      agents,
      models: models.all,
      assessment: models.assessment,
      classifier: models.classifier,
      summary: models.summary,
    });
    this.#engine = engine;
    await engine.start();
    const { api, url } = await this.#listen(engine, grants.keys, log);
    this.#announce(url);
    const { model } = agents[0];
    void model.prepare?.();
    log.info('ready', { url, model: `${model.provider}/${model.name}`, version: manifest.version });
    const client = createClient({ url: WITHIN, key: grants.terminal, fetch: fetchOf(api) });
    return { url, model, client };
  }

  #openLog(): OpenLog {
    const { config, logLevel, showLog: show } = this.#options;
    const file = join(config.values.data, 'logs', 'sekisho.log');
    const log = createLog({ redact: (line) => this.#mask(line), stderr: logLevel, show, file });
    this.#opened.push(() => log.close());
    this.#log = log;
    return log;
  }

  /** The generated key while none is configured; from here on no output holds it. */
  #openKeys(log: OpenLog): Grants {
    const { config, env } = this.#options;
    const { data } = config.values;
    const terminal = newSecret();
    const own: KeyGrant = { name: 'terminal', scopes: SCOPES, secret: terminal };
    const configured = config.secrets.apiKeys;
    const isGenerated = configured.length === 0;
    const generated = isGenerated ? openGeneratedKey(data) : undefined;
    if (!isGenerated && dropGeneratedKey(data)) log.info('keys are configured, removed api-key');
    this.#secrets = [...knownSecrets(config, env, generated), terminal];
    this.#mask = redactor(this.#secrets);
    const keyFile = isGenerated ? { keyFile: keyFileOf(data) } : {};
    return {
      terminal,
      keys: new KeyRing({ grants: [...configured, own], ...keyFile, clock, log }),
    };
  }

  #models(log: OpenLog): Promise<HostModels> {
    const { config, env } = this.#options;
    const mask = (model: Model): Model => maskModel(model, this.#secrets);
    return composeModels(config, { env, clock, log, mask });
  }

  #agentParts(log: OpenLog): AgentParts {
    const { config, env } = this.#options;
    const mask = (text: string): string => this.#mask(text);
    return { values: config.values, env, clock, log, secrets: this.#secrets, mask };
  }

  #engineParts(
    store: Store,
    log: OpenLog,
  ): Omit<EngineParts, 'agents' | 'models' | 'assessment' | 'classifier' | 'summary'> {
    const { config, onFailed } = this.#options;
    return {
      store,
      clock,
      ids: this.#ids,
      digest: sha256,
      log,
      premises: premisesOf(config),
      onStoreFailed: (reason) => {
        log.error('the store failed, the host ends', { reason });
        onFailed(this.#mask(reason));
      },
      options: engineOptions(config.values, store.traits, process.pid),
    };
  }

  async #listen(
    engine: Engine,
    keys: KeyRing,
    log: OpenLog,
  ): Promise<{ readonly api: Api; readonly url: string }> {
    const { values } = this.#options.config;
    const options = { version: manifest.version, behindProxy: values['api.behindProxy'] };
    const exporter = exporterOf(this.#options.config, () => this.#secrets);
    const masked = maskIntake(engine, this.#secrets);
    const api = createApi({ engine: masked, keys, log, exporter, options });
    const server = await serveApi({
      fetch: (request, socket) => api.fetch(request, socket),
      host: values['api.host'],
      port: values['api.port'],
      behindProxy: values['api.behindProxy'],
      ...readTls(values),
    });
    this.#opened.push(() => {
      api.closeStreams();
      return server.close(REQUESTS_END_MS);
    });
    return { api, url: server.url };
  }

  #announce(url: string): void {
    const { data } = this.#options.config.values;
    const startedAt = new Date(clock.now()).toISOString();
    writeHostFile(data, { url: urlFromHere(url), pid: process.pid, startedAt });
    this.#opened.push(() => removeHostFile(data, process.pid));
  }

  /** The API answers while the turns drain: whoever waits for one still learns its end. */
  async #shutDown(graceMs: Millis): Promise<void> {
    // What opens while we close would stay open.
    await this.#booted;
    await this.#engine?.stop(graceMs);
    await closeAll(this.#opened);
  }
}

/** A host with such an agent starts all the same: its next instructions may be shorter. */
async function warnOfWindows(agents: readonly Agent[], log: OpenLog): Promise<void> {
  for (const { name: agent, model, tools, instructions } of agents) {
    const parts = { instructions: await instructions(), tools: tools.list };
    const tight = tightWindow(model.contextWindow, parts);
    if (tight !== undefined) log.warn(tight.what, { agent, contextWindow: tight.allowed });
  }
}

/** The API as a `fetch`: requests that never leave the process. */
function fetchOf(api: Api): typeof globalThis.fetch {
  return (input, init) => api.fetch(new Request(input, init));
}

/** Every address of this machine is no address to call; the loopback one of them is. */
function urlFromHere(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

interface Grants {
  readonly terminal: string;
  readonly keys: KeyRing;
}
