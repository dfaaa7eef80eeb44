import type { MessageRecord } from '../core/inbox/record.ts';
import { Fault, refuse, type Refusal } from '../kernel/fault.ts';
import type { ConversationId, HostId, MessageId, RunId } from '../kernel/ids.ts';
import type { Principal } from '../kernel/principal.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import type { Store } from '../ports/store.ts';
import type {
  Accepted,
  AcceptedRun,
  ConversationOpening,
  Engine,
  EngineParts,
  Health,
  MessageIntake,
  RunIntake,
  RunMessageIntake,
  Stopped,
  StopOrder,
} from './engine.ts';
import { acceptMessage } from './inbox/accept.ts';
import { acceptRun, acceptRunMessage } from './run/accept.ts';
import { handleCommand, isCommandText, type CommandHost } from './inbox/commands.ts';
import { commitHostRenewal, commitHostStart, commitHostStop } from './lease/host.ts';
import { openConversation } from './session/open.ts';
import { isFatal } from './settle.ts';
import { commitStop, type StopUnitOrder } from './task/stop.ts';
import { Live } from './turn/live.ts';
import { Pump } from './turn/pump.ts';
import { sweepTurns, type SweepHost } from './turn/sweep.ts';

// Open commands that are read at once.
const COMMANDS_MAX = 64;

/** Assembles a host from its parts; nothing happens before `start`. */
export function createEngine(parts: EngineParts): Engine {
  return new Host(parts);
}

class Host implements Engine {
  readonly parts: EngineParts;
  readonly live = new Live();
  readonly #hostId: HostId;
  readonly #pump: Pump;
  readonly #ticking = new AbortController();
  readonly #commands = new Set<MessageId>();
  #state: Health['state'] = 'starting';
  #reason: string | null = null;
  #startedAt: Instant | null = null;
  #answeredBy: Health['answeredBy'] = null;
  #loops: Promise<void>[] = [];
  #starting: Promise<void> = Promise.resolve();

  constructor(parts: EngineParts) {
    this.parts = parts;
    this.#hostId = parts.ids.next('host');
    this.#pump = new Pump({
      parts,
      live: this.live,
      hostId: this.#hostId,
      answeredBy: (provider, model) => {
        this.#answeredBy = { provider, model, at: parts.clock.now() };
      },
      onFault: (error, where) => this.#onFault(error, where),
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
    await sweepTurns(this.#sweepHost());
    if (this.#state !== 'starting') return;
    this.#state = 'ready';
    this.#loops.push(this.#tick());
    if (!parts.store.traits.exclusive) this.#loops.push(this.#renew());
    await this.#answerOpenCommands();
    if (this.health().state !== 'ready') return;
    this.#pump.open();
    await this.#pump.look();
  }

  async stop(graceMs: Millis): Promise<void> {
    if (this.#state === 'stopped') return;
    if (this.#state !== 'failed') this.#state = 'draining';
    this.#pump.close();
    // A start that fails has told its own caller.
    await this.#starting.catch(() => {});
    await this.#drain(graceMs);
    this.#ticking.abort();
    await Promise.all(this.#loops);
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
    };
  }

  async openConversation(opening: ConversationOpening): Promise<ConversationId> {
    return this.#guarded(() => openConversation(this.parts, opening));
  }

  async acceptMessage(intake: MessageIntake): Promise<Accepted | Refusal> {
    const kind = isCommandText(intake.text) ? 'command' : 'genuine';
    return this.#intake(async () => {
      const verdict = await acceptMessage(this.parts, intake, kind);
      if (verdict.kind === 'accepted' && kind === 'command') void this.#answer(verdict.messageId);
      return verdict;
    });
  }

  async acceptRun(intake: RunIntake): Promise<AcceptedRun | Refusal> {
    return this.#intake(() => acceptRun(this.parts, intake));
  }

  async messageRun(intake: RunMessageIntake): Promise<Accepted | Refusal> {
    return this.#intake(() => acceptRunMessage(this.parts, intake));
  }

  async stopTask(order: StopOrder): Promise<Stopped | Refusal> {
    return this.#stop({ ...order, to: 'stopped' });
  }

  async cancelRun(order: {
    readonly runId: RunId;
    readonly principal: Principal;
  }): Promise<Stopped | Refusal> {
    const run = await this.parts.store.query('run.byId', { id: order.runId });
    if (run === undefined) return refuse('not_found', { id: order.runId });
    const verdict = await this.#stop({
      taskId: run.taskId,
      principal: order.principal,
      to: 'cancelled',
    });
    if (verdict.kind !== 'refused' || verdict.code !== 'task_ended') return verdict;
    const task = await this.parts.store.query('task.byId', { id: run.taskId });
    return task === undefined ? verdict : { kind: 'stopped', task, running: [] };
  }

  /** Commits the stop, then interrupts what runs here; a turn elsewhere learns it from its host's sweep. */
  async #stop(order: StopUnitOrder): Promise<Stopped | Refusal> {
    return this.#guarded(async () => {
      const verdict = await commitStop(this.parts, order);
      if (verdict.kind === 'refused') return verdict;
      if (verdict.turn !== undefined) this.#pump.interrupt(verdict.turn.id);
      this.live.hint(verdict.task.conversationId);
      const { task, running } = verdict;
      return { kind: 'stopped', task, running };
    });
  }

  async #intake<T extends { readonly kind: 'accepted'; readonly conversationId: ConversationId }>(
    accept: () => Promise<T | Refusal>,
  ): Promise<T | Refusal> {
    if (this.#state === 'failed') return refuse('store_failed');
    const verdict = await this.#guarded(accept);
    if (verdict.kind === 'accepted') {
      this.live.hint(verdict.conversationId);
      this.#pump.poke(verdict.conversationId);
    }
    return verdict;
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#noteFatal(error);
      throw error;
    }
  }

  /** Answers one command, once at a time. */
  async #answer(messageId: MessageId): Promise<void> {
    if (this.#commands.has(messageId)) return;
    this.#commands.add(messageId);
    try {
      const message = await this.parts.store.query('message.byId', { id: messageId });
      // A redelivery may look like a command and name a message that is none (I-1).
      const isOpen = message?.kind === 'command' && message.state === 'unclaimed';
      if (isOpen) await this.#handle(message);
    } catch (error) {
      this.#onFault(error, 'command');
    } finally {
      this.#commands.delete(messageId);
    }
  }

  async #handle(message: MessageRecord): Promise<void> {
    const host: CommandHost = {
      parts: this.parts,
      stop: (order) => this.#stop(order),
      health: () => this.health(),
    };
    await handleCommand(host, message);
    this.live.hint(message.conversationId);
  }

  async #answerOpenCommands(): Promise<void> {
    let last: MessageId | undefined;
    for (;;) {
      const open = await this.parts.store.query('message.openCommands', { limit: COMMANDS_MAX });
      for (const { id } of open) await this.#answer(id);
      // One that cannot be answered now is asked for again at the next tick, not at once.
      if (open.length < COMMANDS_MAX || open[0]?.id === last) return;
      last = open[0]?.id;
    }
  }

  /** The safety poll: hints may be lost (design principle 12). */
  async #tick(): Promise<void> {
    const { clock, options } = this.parts;
    const { signal } = this.#ticking;
    for (;;) {
      await clock.sleep(options.tickMs, signal);
      if (signal.aborted) return;
      try {
        await sweepTurns(this.#sweepHost());
        await this.#answerOpenCommands();
        await this.#pump.look();
      } catch (error) {
        this.#onFault(error, 'tick');
      }
    }
  }

  async #renew(): Promise<void> {
    const { clock, options } = this.parts;
    const { signal } = this.#ticking;
    for (;;) {
      await clock.sleep(options.leaseRenewMs, signal);
      if (signal.aborted) return;
      try {
        await commitHostRenewal(this.parts, this.#hostId);
      } catch (error) {
        this.#onFault(error, 'lease');
      }
    }
  }

  async #drain(graceMs: Millis): Promise<void> {
    const waited = new AbortController();
    const idle = this.#pump.whenIdle().then(() => waited.abort());
    if (this.#pump.runningTurns > 0 && graceMs > 0)
      await this.parts.clock.sleep(graceMs, waited.signal);
    this.#pump.interruptAll();
    await idle;
  }

  #sweepHost(): SweepHost {
    return {
      parts: this.parts,
      live: this.live,
      hostId: this.#hostId,
      pump: this.#pump,
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
    this.parts.onStoreFailed(this.#reason);
  }
}
