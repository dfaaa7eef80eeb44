// One simulated process: an engine with its ports, which may die, sleep or stop.
import { createEngine } from '../../src/engine/create.ts';
import type { Engine, EngineOptions, EngineParts } from '../../src/engine/engine.ts';
import { Fault } from '../../src/kernel/fault.ts';
import type { Ids } from '../../src/ports/ids.ts';
import type { Log } from '../../src/ports/log.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import type { Store } from '../../src/ports/store.ts';
import { Epoch } from '../../src/testing/scheduler.ts';
import { virtualClock } from '../../src/testing/sim-clock.ts';
import { seededRandom } from '../../src/testing/sim-random.ts';
import { sha256 } from '../../src/adapters/digest/sha256.ts';
import { createIds } from '../../src/adapters/ids/ids.ts';
import { faultyStore } from './faulty-store.ts';
import type { Config } from './configs.ts';
import { WIDE_WINDOW } from './options-upkeep.ts';
import type { SimulationOptions } from './options.ts';
import { voidStops } from './notes.ts';
import { scriptedModels } from './scripted-model.ts';
import { scriptedRuntime } from './scripted-runtime.ts';
import { scriptedTools } from './scripted-tools.ts';
import { weigh } from './weigh.ts';
import type { World } from './world.ts';

export type HostState = 'starting' | 'ready' | 'stopping' | 'dead';

export class Host {
  readonly epoch: Epoch;
  readonly engine: Engine;
  state: HostState = 'starting';
  /** The last unit that it committed, whether it learnt of it or not. */
  lastUnit = '';
  /** Slept until another host had taken over its turn. */
  isZombie = false;
  /** Its predecessor died without a clean stop. */
  readonly recovers: boolean;
  /** Tokens of the window that it is configured with. */
  readonly window: number;
  readonly #world: World;

  constructor(world: World, name: string, recovers: boolean) {
    this.#world = world;
    this.epoch = new Epoch(name);
    this.recovers = recovers;
    const config = world.configs.next();
    this.window = config.window;
    const parts = partsOf(world, this, config);
    this.engine = createEngine(world.defect?.parts?.(parts) ?? parts);
  }

  /** Whether it takes requests. */
  get isUp(): boolean {
    return this.state === 'ready' && this.epoch.state === 'running';
  }

  async start(): Promise<void> {
    try {
      await this.engine.start();
      if (this.state !== 'starting') return;
      this.state = 'ready';
      this.#world.ready(this.epoch.name);
    } catch (error) {
      this.#gaveUp(error);
    }
  }

  async stop(graceMs: number): Promise<void> {
    this.state = 'stopping';
    try {
      await this.engine.stop(graceMs);
      if (this.#isDead) return;
      this.#world.reached('clean_stop');
      this.die();
    } catch (error) {
      this.#gaveUp(error);
    }
  }

  // Asked anew: it may have died while something was awaited.
  get #isDead(): boolean {
    return this.state === 'dead';
  }

  /** The process is gone: nothing that it waits for ever comes. */
  die(): void {
    this.state = 'dead';
    this.epoch.state = 'dead';
    voidStops(this.#world.notes, this.epoch.name);
  }

  #gaveUp(error: unknown): void {
    this.die();
    if (!(error instanceof Fault)) this.#world.broken(error);
  }
}

function partsOf(world: World, host: Host, config: Config): EngineParts {
  const { scheduler, wall, weather, ledger, random, options, books } = world;
  const { epoch } = host;
  const reached = world.reached.bind(world);
  const pace = random.pace;
  const ids = ownIds(world, epoch.name);
  const faulty = faultyStore({
    real: world.store,
    shared: options.shared,
    scheduler,
    epoch,
    faults: random.faults,
    pace,
    weather,
    reached,
    committed: (unit) => world.committed(host, unit),
    lost: () => world.lost(host),
  });
  const store = withIds(faulty, ids);
  const { upkeep } = options;
  const padding = (): string =>
    upkeep.padding === 0 ? '' : ` ${'on '.repeat(random.upkeep.below(upkeep.padding) / 3)}`;
  const parts = {
    scheduler,
    wall,
    epoch,
    random: random.script,
    weather,
    ledger,
    reached,
    callShare: world.callShare,
    plans: world.plans.model,
    assessments: world.plans.assessments,
    summaries: world.plans.summaries,
    steps: world.plans.runtime,
    isAnswered: (marker: string) => options.window < WIDE_WINDOW && world.look.isAnswered(marker),
    judge: random.judge,
    assessing: books.assessing,
    operations: books.operations,
    requests: books.requests,
    calls: books.calls,
    upkeep: random.upkeep,
    sessions: world.nativeSessions,
    dies: (name: string) => world.dies(name),
    long: options.long,
    providers: world.providers,
    padding,
    weigh: upkeep.isOn ? (request: ModelRequest) => weigh(request, upkeep.density) : undefined,
  };
  const isWide = config.window >= WIDE_WINDOW && upkeep.isOn;
  const summaryWindow = isWide ? WIDE_WINDOW : upkeep.summaryWindow;
  const own = { ...options, window: config.window, upkeep: { ...upkeep, summaryWindow } };
  const models = scriptedModels(parts, own);
  const runtime = upkeep.native ? { runtime: scriptedRuntime(parts) } : {};
  const tools = scriptedTools({
    scheduler,
    epoch,
    random: random.script,
    weather,
    ledger,
    isJournalled: (stepId) => world.look.hasStep(stepId),
    isApproved: (call) => world.look.isApproved(call),
    reached,
    padding,
  });
  const instructions = (): Promise<string> =>
    scheduler.call({ epoch, label: 'file.instructions', delay: pace.below(3) }, () => {
      if (!random.faults.chance(weather.faults.instructions)) return 'Be brief.';
      throw new Fault('EACCES', 'ask', 'injected: the instructions cannot be read');
    });
  const { own: model, fallbacks, all, classifier, assessment, summary } = models;
  return {
    store: world.defect?.store?.(store, { epoch, scheduler }) ?? store,
    clock: virtualClock(scheduler, wall, epoch),
    ids,
    digest: sha256,
    log: quietLog(world, epoch),
    agents: [{ name: 'main', instructions, tools, model, fallbacks, ...runtime }],
    models: all,
    classifier,
    assessment,
    summary,
    onStoreFailed: () => host.die(),
    options: { ...engineOptions(options), maintenance: config.maintenance },
  };
}

/** Each process makes its own: after a clock was set back a later one makes lower ids than its forerunner. */
function ownIds({ options, wall }: World, name: string): Ids {
  const counter = seededRandom(options.seed, `ids of ${name}`);
  return createIds({ now: () => wall.now(), random: (bound) => counter.below(bound) });
}

/** The store as this process has it open, with its ids for what is decided in it. */
function withIds(store: Store, ids: Ids): Store {
  return {
    traits: store.traits,
    query: (read, args) => store.query(read, args),
    close: () => store.close(),
    commit: (unit) =>
      store.commit({ ...unit, decide: (rows, at) => unit.decide(rows, { ...at, ids }) }),
  };
}

function engineOptions(options: SimulationOptions): Omit<EngineOptions, 'maintenance'> {
  const { bounds, whileBusy, approvalMs, recovery, leaseMs, tickMs } = options;
  return {
    pid: 1,
    locale: 'en',
    timeZone: 'UTC',
    concurrentConversations: options.concurrent,
    deadlineMs: bounds.deadlineMs,
    turnsLimit: bounds.turns,
    tokensLimit: bounds.tokens,
    costLimitMicroUsd: bounds.cost,
    continuationsLimit: bounds.continuations,
    whileBusy,
    approvalMs,
    recovery,
    leaseMs,
    leaseRenewMs: leaseMs / 3,
    tickMs,
  };
}

function quietLog(world: World, epoch: Epoch): Log {
  const line =
    (level: string) =>
    (message: string, fields?: Readonly<Record<string, unknown>>): void =>
      world.logged(epoch.name, level, { message, ...fields });
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}
