import { Fault, refuse, type Refusal } from '../kernel/fault.ts';
import type { ConversationId, HostId } from '../kernel/ids.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import type { Store } from '../ports/store.ts';
import type {
  Accepted,
  AcceptedRun,
  Admitted,
  AdmitOrder,
  ApprovalAnswered,
  ApprovalOrder,
  ConversationOpening,
  Engine,
  EngineParts,
  Finding,
  Health,
  MessageIntake,
  Ordered,
  RecoveryStatus,
  ResumeOrder,
  RunIntake,
  RunMessageIntake,
  Stopped,
  TaskOrder,
  WorkerOrder,
  WorkerOrdered,
} from './engine.ts';
import { acceptMessage } from './inbox/accept.ts';
import { acceptRun, acceptRunMessage } from './run/accept.ts';
import { cancelRun } from './run/cancel.ts';
import { CommandQueue } from './inbox/command-queue.ts';
import { isCommandText } from './inbox/commands.ts';
import { runBoundary } from './boundary/run.ts';
import { commitHostRenewal, commitHostStart, commitHostStop, keepRenewing } from './lease/host.ts';
import { RoomWatch } from './lease/room-watch.ts';
import { recoveryStatus } from './maintenance/status.ts';
import { Recovery } from './recovery/recovery.ts';
import { openConversation } from './session/open.ts';
import { isFatal } from './settle.ts';
import { Orders } from './task/orders.ts';
import { Upkeep } from './task/upkeep.ts';
import { Live } from './turn/live.ts';
import { Pump } from './turn/pump.ts';
import { sweepTurns, type SweepHost } from './turn/sweep.ts';

/** Assembles a host from its parts; nothing happens before `start`. */
export function createEngine(parts: EngineParts): Engine {
  return new Host(parts);
}

class Host implements Engine {
  readonly parts: EngineParts;
  readonly live = new Live();
  readonly #hostId: HostId;
  readonly #room: RoomWatch;
  readonly #pump: Pump;
  readonly #upkeep: Upkeep;
  readonly #recovery: Recovery;
  readonly #orders: Orders;
  readonly #commands: CommandQueue;
  readonly #ticking = new AbortController();
  #state: Health['state'] = 'starting';
  #reason: string | null = null;
  #startedAt: Instant | null = null;
  #answeredBy: Health['answeredBy'] = null;
  #loops: Promise<void>[] = [];
  #starting: Promise<void> = Promise.resolve();

  constructor(given: EngineParts) {
    this.#room = new RoomWatch(given);
    const parts = { ...given, store: this.#room.store };
    this.parts = parts;
    this.#hostId = parts.ids.next('host');
    const { live } = this;
    const hostId = this.#hostId;
    const onFault = (error: unknown, where: string): void => this.#onFault(error, where);
    this.#upkeep = new Upkeep({
      parts,
      live,
      hostId,
      poke: (conversationId) => this.#pump.poke(conversationId),
      interrupt: (turnId) => this.#pump.interrupt(turnId),
      assess: () => this.#recovery.hint(),
      mayWake: () => this.#recovery.storm === null,
      running: () => this.#pump.claims,
      onFault,
    });
    const { gate } = this.#upkeep;
    this.#recovery = new Recovery({
      parts,
      live,
      hostId,
      upkeep: this.#upkeep,
      isReady: () => this.#state === 'ready',
      poke: (conversationId) => this.#pump.poke(conversationId),
      onSafeMode: () => this.#lookAtAll(),
      onFault,
    });
    this.#pump = new Pump({
      parts,
      live,
      gate,
      hostId,
      answeredBy: (provider, model) => {
        this.#answeredBy = { provider, model, at: parts.clock.now() };
      },
      isClockTrusted: () => this.#upkeep.clock().isTrusted,
      startedAt: () => this.#startedAt ?? 0,
      generatedSince: () => this.#recovery.generatedSince,
      assess: () => this.#recovery.hint(),
      maintain: () => this.#recovery.maintain(),
      onDue: (at) => this.#upkeep.hint(at),
      onFault,
    });
    const onThrown = (error: unknown): void => this.#noteFatal(error);
    const acted = { parts, hostId, live, pump: this.#pump, upkeep: this.#upkeep };
    const recovery = this.#recovery;
    this.#orders = new Orders({ ...acted, recovery, onThrown });
    this.#commands = new CommandQueue({
      commands: { parts, hostId, orders: this.#orders, health: () => this.health() },
      // A fresh session may have let tasks go on.
      onAnswered: ({ conversationId }) => {
        this.#recovery.onCommand();
        this.#look(conversationId);
      },
      onFault,
    });
  }

  get store(): Store {
    return this.parts.store;
  }

  async start(): Promise<void> {
    this.#starting = this.#begin();
    return this.#starting;
  }

  async #begin(): Promise<void> {
    const { parts } = this;
    await commitHostStart(parts, this.#hostId);
    this.#startedAt = parts.clock.now();
    // Committed before anything that was restored is released (B-2).
    await runBoundary(parts, this.#hostId);
    await sweepTurns(this.#sweepHost());
    await this.#upkeep.begin();
    await this.#recovery.begin();
    if (this.#state !== 'starting') return;
    this.#state = 'ready';
    this.#loops.push(this.#tick());
    const { signal } = this.#ticking;
    const onFault = (error: unknown, where: string): void => this.#onFault(error, where);
    const probe = (): Promise<void> => commitHostRenewal(parts, this.#hostId);
    this.#room.begin({ signal, probe, onRoom: () => this.#lookAround(), onFault });
    if (!parts.store.traits.exclusive)
      this.#loops.push(keepRenewing(parts, this.#hostId, { signal, onFault }));
    await this.#commands.answerOpen();
    if (this.health().state !== 'ready') return;
    this.#pump.open();
    await this.#pump.look();
    this.#loops.push(this.#recovery.takeUp());
  }

  #lookAtAll(): void {
    if (this.#state !== 'ready') return;
    this.#upkeep.hint();
    this.#recovery.hint();
    this.#recovery.maintain();
    void this.#pump.look().catch((error: unknown) => this.#onFault(error, 'due'));
  }

  async stop(graceMs: Millis): Promise<void> {
    if (this.#state === 'stopped') return;
    if (this.#state !== 'failed') this.#state = 'draining';
    this.#pump.close();
    this.#recovery.close();
    // A start that fails has told its own caller.
    await this.#starting.catch(() => {});
    await this.#drain(graceMs);
    this.#ticking.abort();
    await Promise.all([...this.#loops, this.#room.whenIdle()]);
    await this.#upkeep.close();
    if (this.#startedAt !== null && !this.#hasFailed()) await this.#giveUp();
    if (!this.#hasFailed()) this.#state = 'stopped';
  }

  /** Without it the claims are waited out or taken over: a store that refuses it ends no stop. */
  async #giveUp(): Promise<void> {
    try {
      await commitHostStop(this.parts, this.#hostId);
    } catch (error) {
      this.#onFault(error, 'lease');
    }
  }

  #hasFailed(): boolean {
    return this.#state === 'failed';
  }

  health(): Health {
    return {
      state: this.#state,
      reason: this.#reason,
      hostId: this.#hostId,
      startedAt: this.#startedAt,
      runningTurns: this.#pump.runningTurns,
      answeredBy: this.#answeredBy,
      clock: this.#upkeep.clock(),
      safeMode: this.#recovery.storm,
      assessing: this.#recovery.assessing,
      maintaining: this.#recovery.maintaining,
      limiters: this.#upkeep.gate.limited,
    };
  }

  async openConversation(opening: ConversationOpening): Promise<ConversationId> {
    return this.#guarded(() => openConversation(this.parts, opening));
  }

  async acceptMessage(intake: MessageIntake): Promise<Accepted | Refusal> {
    const kind = isCommandText(intake.text) ? 'command' : 'genuine';
    return this.#intake(async () => {
      const verdict = await acceptMessage(this.parts, intake, kind);
      if (verdict.kind === 'accepted' && kind === 'command')
        void this.#commands.answer(verdict.messageId);
      return verdict;
    });
  }

  async acceptRun(intake: RunIntake): Promise<AcceptedRun | Refusal> {
    return this.#intake(() => acceptRun(this.parts, intake));
  }

  async messageRun(intake: RunMessageIntake): Promise<Accepted | Refusal> {
    return this.#intake(() => acceptRunMessage(this.parts, intake));
  }

  async stopTask(order: TaskOrder): Promise<Stopped | Refusal> {
    return this.#orders.stop({ ...order, to: 'stopped' });
  }

  async resumeTask(order: ResumeOrder): Promise<Ordered | Refusal> {
    return this.#orders.resume(order);
  }

  async resetBudget(order: TaskOrder): Promise<Ordered | Refusal> {
    return this.#orders.resetBudget(order);
  }

  async admit(order: AdmitOrder): Promise<Admitted | Refusal> {
    return this.#orders.admit(order);
  }

  async recoveryStatus(conversationId: ConversationId): Promise<RecoveryStatus> {
    return this.#guarded(() => recoveryStatus(this.parts, conversationId));
  }

  async resumeWorker(order: WorkerOrder): Promise<WorkerOrdered | Refusal> {
    return this.#orders.resumeWorker(order);
  }

  async endSafeMode(
    order: Parameters<Engine['endSafeMode']>[0],
  ): ReturnType<Engine['endSafeMode']> {
    return this.#orders.endSafeMode(order);
  }

  async examine(): Promise<readonly Finding[]> {
    const { parts } = this;
    const deadBefore = parts.store.traits.exclusive ? Number.MAX_SAFE_INTEGER : parts.clock.now();
    // Loaded when it is asked for: few starts ever are.
    const { examine } = await import('./doctor/examine.ts');
    return examine({ parts, health: this.health(), deadBefore });
  }

  async repair(order: Parameters<Engine['repair']>[0]): ReturnType<Engine['repair']> {
    const onTold = (id: ConversationId): void => this.live.hint(id);
    const { repair } = await import('./doctor/repair.ts');
    return this.#guarded(() => repair(this.parts, { ...order, hostId: this.#hostId, onTold }));
  }

  async pauseTask(order: TaskOrder): Promise<Ordered | Refusal> {
    return this.#orders.pause(order);
  }

  async extendTask(order: Parameters<Engine['extendTask']>[0]): Promise<Ordered | Refusal> {
    return this.#orders.extend(order);
  }

  async answerApproval(order: ApprovalOrder): Promise<ApprovalAnswered | Refusal> {
    return this.#orders.answer(order);
  }

  async confirmClock(
    order: Parameters<Engine['confirmClock']>[0],
  ): ReturnType<Engine['confirmClock']> {
    return this.#orders.confirmClock(order);
  }

  async cancelRun(order: Parameters<Engine['cancelRun']>[0]): Promise<Stopped | Refusal> {
    return this.#guarded(() => cancelRun(this.parts, this.#orders, order));
  }

  async #intake<T extends { readonly kind: 'accepted'; readonly conversationId: ConversationId }>(
    accept: () => Promise<T | Refusal>,
  ): Promise<T | Refusal> {
    if (this.#state === 'failed') return refuse('store_failed');
    const verdict = await this.#guarded(accept);
    if (verdict.kind === 'accepted') this.#look(verdict.conversationId);
    return verdict;
  }

  /** Something was committed in this conversation. */
  #look(conversationId: ConversationId): void {
    this.live.hint(conversationId);
    this.#pump.poke(conversationId);
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#noteFatal(error);
      throw error;
    }
  }

  /** The safety poll: hints may be lost (design principle 12). */
  async #tick(): Promise<void> {
    const { clock, options } = this.parts;
    const { signal } = this.#ticking;
    for (;;) {
      await clock.sleep(options.tickMs, signal);
      if (signal.aborted) return;
      await this.#lookAround();
    }
  }

  async #lookAround(): Promise<void> {
    try {
      await sweepTurns(this.#sweepHost());
      await this.#recovery.tick();
      await this.#upkeep.tick();
      await this.#commands.answerOpen();
      await this.#pump.look();
    } catch (error) {
      this.#onFault(error, 'tick');
    }
  }

  async #drain(graceMs: Millis): Promise<void> {
    const waited = new AbortController();
    const work = [this.#pump.whenIdle(), this.#recovery.whenIdle()];
    const idle = Promise.all(work).then(() => waited.abort());
    const { assessing, maintaining } = this.#recovery;
    const isBusy = this.#pump.runningTurns + assessing.length + maintaining.length > 0;
    if (isBusy && graceMs > 0) await this.parts.clock.sleep(graceMs, waited.signal);
    this.#pump.interruptAll();
    this.#recovery.interrupt();
    await idle;
  }

  #sweepHost(): SweepHost {
    return {
      parts: this.parts,
      live: this.live,
      hostId: this.#hostId,
      pump: this.#pump,
      onInterrupted: () => this.#recovery.hint(),
      onFault: (error, where) => this.#onFault(error, where),
    };
  }

  #onFault(error: unknown, where: string): void {
    const fault = error instanceof Fault ? { code: error.code } : {};
    this.parts.log.error('work failed', {
      where,
      ...fault,
      error: error instanceof Error ? error.message : String(error),
    });
    this.#noteFatal(error);
  }

  /** After a store fault that cannot be trusted nothing more is acknowledged and the host ends (G-6). */
  #noteFatal(error: unknown): void {
    if (!isFatal(error) || this.#state === 'failed') return;
    this.#state = 'failed';
    this.#reason = error instanceof Error ? error.message : String(error);
    this.#pump.close();
    this.#pump.interruptAll();
    this.#recovery.close();
    this.#recovery.interrupt();
    this.parts.onStoreFailed(this.#reason);
  }
}
