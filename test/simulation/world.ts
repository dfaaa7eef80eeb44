// Everything around the hosts of one run: store, clock, weather, client, and what is remembered of it.
import { createIds } from '../../src/adapters/ids/ids.ts';
import { MINUTE, SECOND } from '../../src/kernel/time.ts';
import type { Ids } from '../../src/ports/ids.ts';
import type { Store } from '../../src/ports/store.ts';
import { Epoch, Scheduler, type SchedulerStep } from '../../src/testing/scheduler.ts';
import { WallClock } from '../../src/testing/sim-clock.ts';
import { seededRandom, type Random } from '../../src/testing/sim-random.ts';
import { Books } from './books.ts';
import { Client } from './client.ts';
import { ClockSteps } from './clock-steps.ts';
import { Configs } from './configs.ts';
import { watchCommit } from './commit-watch.ts';
import { Doom } from './doom.ts';
import type { Defect } from './planting.ts';
import { plansOf, type Plans, type WorldPlan } from './plans.ts';
import type { CommittedUnit, StoreWeather } from './faulty-store.ts';
import { History } from './history.ts';
import { isBetween } from './operation-book.ts';
import { NativeSessions } from './scripted-runtime.ts';
import { Fleet, isAlive } from './fleet.ts';
import type { Host } from './host.ts';
import { Ledger } from './ledger.ts';
import { isGentle, type SimulationOptions } from './options.ts';
import { Oracle } from './oracle.ts';
import type { Sometime } from './sometimes.ts';
import { createNotes, noteCommit, noteCrash, voidStops, type Notes } from './notes.ts';
import { Providers } from './provider.ts';
import { restore } from './restore.ts';
import { Restores } from './restores.ts';
import { lookAt, type Look } from './look.ts';
import { Watches } from './watches.ts';
import { openSimulatedStore, type SimulatedStore } from './store.ts';

const START = Date.UTC(2026, 0, 5, 9);

const STREAMS = ['workload', 'faults', 'pace', 'script', 'ways', 'judge', 'upkeep'] as const;
type Stream = (typeof STREAMS)[number];

export class World {
  readonly options: SimulationOptions;
  readonly defect: Defect | undefined;
  readonly scheduler: Scheduler;
  readonly wall: WallClock;
  readonly ids: Ids;
  readonly weather: StoreWeather;
  readonly ledger = new Ledger();
  readonly history = new History();
  readonly random: Readonly<Record<Stream, Random>>;
  readonly callShare: number;
  readonly happened = new Set<Sometime>();
  readonly problems: string[] = [];
  readonly client: Client;
  /** What a written script has left of its plans. */
  readonly plans: Plans;
  /** What a native runtime keeps, whichever host speaks to it. */
  readonly nativeSessions = new NativeSessions();
  readonly epoch = new Epoch('world');
  readonly notes: Notes;
  readonly providers: Providers;
  readonly books: Books;
  readonly configs: Configs;
  readonly restores: Restores;
  readonly look: Look;
  /** Steps of hosts so far: the points of a crash. */
  hostSteps = 0;
  /** The same, up to the last one that a request or a turn still needed. */
  busyHostSteps = 0;
  commits = 0;
  crashes = 0;
  readonly #plan: WorldPlan;
  readonly #simulated: SimulatedStore;
  readonly #oracle: Oracle;
  readonly #clock: ClockSteps;
  readonly #watched: Watches;
  readonly #doom: Doom;
  readonly fleet: Fleet;
  #faultsOn = true;
  #watches: {
    readonly when: (label: string) => boolean;
    readonly act: (host: Host, label: string) => void;
  }[] = [];

  constructor(plan: WorldPlan) {
    const { options } = plan;
    const { seed } = options;
    this.#plan = plan;
    this.fleet = new Fleet(this);
    this.options = options;
    this.defect = plan.defect;
    this.plans = plansOf(plan);
    this.random = Object.fromEntries(
      STREAMS.map((name) => [name, seededRandom(seed, name)]),
    ) as Record<Stream, Random>;
    this.callShare = this.random.script.pick([0.2, 0.5, 0.8]);
    this.scheduler = new Scheduler(seededRandom(seed, 'scheduler'));
    this.wall = new WallClock(this.scheduler, START);
    const counter = seededRandom(seed, 'ids');
    this.ids = createIds({ now: () => this.wall.now(), random: (bound) => counter.below(bound) });
    this.weather = { faults: options.faults, diskFullUntil: 0, diskWasFull: false };
    this.#simulated = openSimulatedStore(options.file ? 'file' : 'memory', {
      clock: this.wall,
      ids: this.ids,
    });
    this.look = lookAt(this.#simulated.db);
    this.#clock = new ClockSteps({
      options,
      scheduler: this.scheduler,
      wall: this.wall,
      epoch: this.epoch,
      random: this.random.faults,
      reached: (name) => this.reached(name),
    });
    this.notes = createNotes((name) => this.reached(name));
    const { faults } = options;
    this.providers = new Providers(seededRandom(seed, 'providers'), options);
    const about = {
      look: this.look,
      elapsed: () => this.scheduler.elapsed,
      isAlive: (host: string) => this.fleet.has(host),
      problem: (text: string) => void this.problems.push(text),
      reached: (name: Sometime) => this.reached(name),
    };
    this.configs = new Configs({
      options,
      random: this.random.upkeep,
      hosts: () => this.fleet.hosts,
      reached: about.reached,
    });
    this.books = new Books({
      ...about,
      options,
      wall: () => this.wall.now(),
      ownTurn: (host, conversationId) => this.notes.ownTurns.get(`${host} ${conversationId}`),
    });
    this.#watched = new Watches({
      ...about,
      options,
      history: this.history,
      book: this.books.operations,
      delays: () => this.configs.delays,
    });
    this.#doom = new Doom(this.random.judge);
    this.#oracle = new Oracle(this.#simulated.db, {
      ledger: this.ledger,
      history: this.history,
      calls: this.books.calls,
      options,
      unmarked: this.#watched.unmarked,
    });
    this.restores = new Restores({
      scheduler: this.scheduler,
      epoch: this.epoch,
      random: seededRandom(seed, 'restores'),
      hosts: () => this.fleet.hosts,
      kill: (host) => this.#crash(host, 'a restore'),
      restore: () => this.#restore(),
    });
    this.scheduler.onStep = (step) => this.#onStep(step);
    this.scheduler.onNote = (text) => this.trace(text);
    this.client = new Client({
      options,
      scheduler: this.scheduler,
      random: this.random.workload,
      upkeep: this.random.upkeep,
      weather: this.weather,
      history: this.history,
      host: () => this.fleet.someHost(),
      look: this.look,
      ledger: this.ledger,
      reached: (name) => this.reached(name),
      broken: (error) => this.broken(error),
    });
    if (options.file) this.reached('file_store');
    if (options.long && faults.episodes > 0) this.reached('long_world');
  }

  get store(): Store {
    return this.#simulated.store;
  }

  /** Whether chance disturbs the run. */
  get hasFaults(): boolean {
    return this.#faultsOn;
  }

  /** What a new process does with the store. */
  reopen(): Promise<void> {
    return this.#simulated.reopen();
  }

  trace(line: string): void {
    this.#plan.trace?.(`${' '.repeat(12)}${line}`);
  }

  get isBroken(): boolean {
    return this.problems.length > 0;
  }

  reached(name: Sometime): void {
    this.happened.add(name);
  }

  broken(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    // What breaks a rule begins with its id, whoever saw it.
    const rule = error instanceof Error && /^[A-Z]-?\d+ /.test(error.message);
    this.problems.push(rule ? error.message : `thrown: ${text}`);
  }

  logged(host: string, level: string, fields: Readonly<Record<string, unknown>>): void {
    this.trace(`${host} ${level} ${JSON.stringify(fields)}`);
    // What is logged as an error and is no fault from outside is a bug.
    const isFault = 'code' in fields && fields['code'] !== 'bug';
    if (level === 'error' && !isFault) this.problems.push(`logged: ${JSON.stringify(fields)}`);
  }

  committed(host: Host, unit: CommittedUnit): void {
    this.commits += 1;
    host.lastUnit = unit.unit;
    if (host.isZombie && unit.writes.length === 0) this.reached('zombie_refused');
    watchCommit(this, unit);
    this.#watched.see(unit);
    noteCommit(this.notes, host, unit, this.options.shared);
    if (this.commits % 25 === 0) this.judge();
  }

  /** Whether the host of a turn may still hold it, by the lease that it wrote. */
  isHeld(turnId: string): boolean {
    return this.look.isHeld(turnId, this.wall.now());
  }

  /** Whether anything in this run may cost a turn its host; the planned crash of a scenario may. */
  get mayInterrupt(): boolean {
    return this.crashes > 0 || !isGentle(this.options);
  }

  /** A stop is where a crash hurts most: the host that is to end what runs may die within a few steps. */
  doom(host: string): void {
    if (this.random.faults.chance(0.4)) this.dies(host);
  }

  /** The host dies soon, where hosts die at all. */
  dies(host: string): void {
    const { crashEvery, judgeDies, upkeepDies } = this.options.faults;
    if (this.#faultsOn && crashEvery + judgeDies + upkeepDies > 0) this.#doom.doom(host);
  }

  /** A host takes requests from here on. */
  ready(host: string): void {
    this.#watched.ready(host);
  }

  /** Whether the host that claimed this turn is up. */
  runs(turnId: string): boolean {
    const name = this.notes.turnHosts.get(turnId);
    return this.fleet.hosts.some((host) => host.epoch.name === name && host.isUp);
  }

  lost(host: Host): void {
    if (host.isZombie) this.reached('zombie_refused');
  }

  judge(): void {
    if (!this.isBroken) this.problems.push(...this.#oracle.judge());
  }

  judgeRest(): void {
    if (!this.isBroken) this.problems.push(...this.#oracle.judgeRest());
  }

  /** Nothing is owed: all is answered, ended or held. */
  get isAtRest(): boolean {
    return this.client.isDone && !this.restores.isBusy && this.look.isAtRest();
  }

  /** Whether a host takes requests. */
  get isUp(): boolean {
    return this.fleet.hosts.some((host) => host.isUp);
  }

  /** What keeps the world from coming to rest. */
  unrest(): string {
    const client = this.client.isDone ? [] : ['the client waits'];
    return [...client, ...this.look.unrest()].join('; ');
  }

  get eventCount(): number {
    return this.look.eventCount();
  }

  /** Does something once, before the first step of a host with such a label. */
  onceAt(when: (label: string) => boolean, act: (host: string) => void): void {
    this.#watches.push({ when, act: (host) => act(host.epoch.name) });
  }

  /** The host whose step has such a label dies before it, once. */
  dieOnceAt(when: (label: string) => boolean): void {
    this.#watches.push({ when, act: (host, label) => this.#crash(host, label) });
  }

  begin(): void {
    this.#plan.trace?.(JSON.stringify(this.options));
    this.#clock.begin();
    this.restores.begin(this.options.faults.restores, this.options.span);
    if (this.options.hosts === 2) this.reached('two_hosts');
  }

  /** Steps for as long as `goesOn`, asked before each, says so; false when the run has stood still. */
  drive(goesOn: () => boolean): Promise<boolean> {
    return this.scheduler.drive(() => {
      if (!goesOn()) return false;
      this.fleet.keep();
      return true;
    });
  }

  /** Faults end, sleepers wake, the clock is put right. */
  calm(): void {
    const none = Object.fromEntries(Object.keys(this.weather.faults).map((name) => [name, 0]));
    this.weather.faults = none as unknown as StoreWeather['faults'];
    this.weather.diskFullUntil = 0;
    this.providers.calm();
    this.#faultsOn = false;
    this.#clock.calm();
    this.restores.calm();
  }

  async end(): Promise<void> {
    for (const host of this.fleet.hosts) host.die();
    this.epoch.state = 'dead';
    this.client.epoch.state = 'dead';
    await this.#simulated.close();
  }

  #onStep(step: SchedulerStep): void {
    this.#plan.trace?.(
      `${String(step.number).padStart(5)} ${String(step.at).padStart(9)} ${step.epoch.name} ${step.label}`,
    );
    const host = this.fleet.of(step.epoch);
    if (host === undefined) return;
    this.hostSteps += 1;
    this.#watch(host, step.label);
    if (!isAlive(host)) return;
    if (this.#plan.crashAt?.includes(this.hostSteps) === true) return this.#crash(host, step.label);
    if (this.#faultsOn) this.#disturb(host, step.label);
  }

  /** What a written plan does before this step. */
  #watch(host: Host, label: string): void {
    const { wordsAt, words } = this.#plan;
    if (words !== undefined && wordsAt?.includes(this.hostSteps) === true)
      this.client.message(0, 'message', words);
    const watch = this.#watches.find((one) => one.when(label));
    if (watch === undefined) return;
    this.#watches.splice(this.#watches.indexOf(watch), 1);
    watch.act(host, label);
  }

  #disturb(host: Host, label: string): void {
    const { faults } = this.random;
    const { crashEvery, pauseEvery, restartEvery } = this.options.faults;
    const odds = (every: number): number => (every === 0 ? 0 : 1 / every);
    const [dies, sleeps, stops] = [crashEvery, pauseEvery, restartEvery].map((every) =>
      faults.chance(odds(every)),
    );
    if ((dies === true && this.crashes < 8) || this.#doom.isDoomed(host.epoch.name))
      return this.#crash(host, label);
    if (sleeps === true && this.options.shared) return this.fleet.pause(host);
    if (stops !== true || !host.isUp) return;
    voidStops(this.notes, host.epoch.name);
    void host.stop(faults.pick([0, 10 * SECOND, MINUTE]));
  }

  #restore(): void {
    const { db } = this.#simulated;
    const { ids, random, options } = this;
    const { parked, older } = options.faults;
    const about = { db, ids, parked, older, random: random.judge, now: () => this.wall.now() };
    const seen = restore({ ...about, reached: (name) => this.reached(name) });
    this.trace(`restored ${JSON.stringify([...seen.due])}`);
    this.#watched.restored(seen);
    this.#oracle.restored();
  }

  #crash(host: Host, label: string): void {
    this.crashes += 1;
    this.fleet.lastDiedUncleanly = true;
    voidStops(this.notes, host.epoch.name);
    if (this.books.assessing.isOut(host.epoch.name)) this.reached('assessment_lost');
    if (this.books.operations.isOut(host.epoch.name))
      this.reached(this.options.upkeep.native ? 'native_cut' : 'upkeep_lost');
    if (this.look.upkeep.open().some(isBetween)) this.reached('upkeep_lost_between');
    noteCrash(this.notes, host, { label, tools: this.ledger.running.get(host.epoch.name) ?? 0 });
    this.trace(`${host.epoch.name} dies before ${label}`);
    host.die();
    this.judge();
  }
}
