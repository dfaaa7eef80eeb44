import type { ConversationId, HostId, TaskId, TurnId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Gate } from '../budget/gate.ts';
import type { EngineParts } from '../engine.ts';
import { claimTurn, type Claim } from './claim.ts';
import { closeTurn, type CloseOrder } from './close.ts';
import { driveTurn } from './drive.ts';
import { Histories } from './history.ts';
import type { Live } from './live.ts';
import { NOT_BEGUN } from './step.ts';

export interface PumpHost {
  readonly parts: EngineParts;
  readonly live: Live;
  readonly gate: Gate;
  readonly hostId: HostId;
  readonly answeredBy: (provider: string, model: string) => void;
  readonly isClockTrusted: () => boolean;
  /** When this host began; what one before it permitted is void. */
  readonly startedAt: () => Instant;
  /** Generated inputs that are older are not claimed; 0 while there is no safe mode. */
  readonly generatedSince: () => Instant;
  /** A task may have come to wait for its assessment. */
  readonly assess: () => void;
  /** A session is to be maintained. */
  readonly maintain: () => void;
  /** Called when a task was left that comes due at this instant. */
  readonly onDue: (at: Instant) => void;
  /** Called with what a turn could not handle; a store that failed ends the host. */
  readonly onFault: (error: unknown, where: string) => void;
}

// Hints that are kept; what is above them is found in the index when they are used up.
const READY_MAX = 256;

/** A turn that runs here, and until when its task may. */
export interface RunningTurn {
  readonly turnId: TurnId;
  readonly taskId: TaskId;
  readonly deadline: Instant | null;
}

/** Runs the turns of this host: at most the configured number at once, one per conversation (T-10). */
export class Pump {
  readonly #host: PumpHost;
  readonly #ready = new Set<ConversationId>();
  readonly #working = new Set<ConversationId>();
  readonly #running = new Map<TurnId, AbortController>();
  readonly #claims = new Map<TurnId, Claim>();
  readonly #histories = new Histories();
  readonly #draining = new AbortController();
  #isOpen = false;
  #mayHaveMore = false;
  #idle: (() => void)[] = [];

  constructor(host: PumpHost) {
    this.#host = host;
  }

  get runningTurns(): number {
    return this.#running.size;
  }

  /** The turns that run here, those that are being claimed among them. */
  get turns(): readonly TurnId[] {
    return [...this.#running.keys()];
  }

  /** The claims that run here, for whoever looks after their deadlines (T-7). */
  get claims(): readonly RunningTurn[] {
    return [...this.#claims.values()].map(({ turn, task }) => ({
      turnId: turn.id,
      taskId: task.id,
      deadline: task.deadline,
    }));
  }

  has(turnId: TurnId): boolean {
    return this.#running.has(turnId);
  }

  open(): void {
    this.#isOpen = true;
    this.#fill();
  }

  /** Claims nothing more; what runs goes on. */
  close(): void {
    this.#isOpen = false;
    this.#draining.abort();
    this.#ready.clear();
  }

  /** A hint that this conversation may have something to claim. */
  poke(conversationId: ConversationId): void {
    if (!this.#isOpen) return;
    if (this.#ready.size < READY_MAX) this.#ready.add(conversationId);
    else this.#mayHaveMore = true;
    this.#fill();
  }

  /** Reads the due index: hints may be lost, the index is the truth (design principle 12). */
  async look(): Promise<void> {
    if (!this.#isOpen) return;
    const due = await this.#host.parts.store.query('inbox.due', {
      generatedSince: this.#host.generatedSince(),
      limit: LIMITS.dueMax,
    });
    if (due.length === LIMITS.dueMax) this.#mayHaveMore = true;
    for (const { conversationId } of due) this.poke(conversationId);
  }

  /** Interrupts a turn of this host; its loop leaves and gives it its recorded end. */
  interrupt(turnId: TurnId): void {
    this.#running.get(turnId)?.abort();
  }

  interruptAll(): void {
    for (const controller of this.#running.values()) controller.abort();
  }

  /** Resolves when nothing runs. */
  async whenIdle(): Promise<void> {
    if (this.#working.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve);
    });
  }

  #fill(): void {
    const { concurrentConversations } = this.#host.parts.options;
    for (const conversationId of this.#ready) {
      if (this.#working.size >= concurrentConversations) return;
      if (this.#working.has(conversationId)) continue;
      this.#ready.delete(conversationId);
      this.#working.add(conversationId);
      void this.#work(conversationId);
    }
  }

  async #work(conversationId: ConversationId): Promise<void> {
    let found = false;
    try {
      found = await this.#oneTurn(conversationId);
    } catch (error) {
      this.#host.onFault(error, 'turn');
      // What faults once is not asked for again at once: the next tick looks.
      this.#mayHaveMore = false;
    }
    this.#working.delete(conversationId);
    if (found) this.poke(conversationId);
    else this.#fill();
    if (this.#ready.size === 0 && this.#mayHaveMore) await this.#lookAgain();
    if (this.#working.size === 0) this.#tellIdle();
  }

  async #lookAgain(): Promise<void> {
    this.#mayHaveMore = false;
    try {
      await this.look();
    } catch (error) {
      this.#host.onFault(error, 'due');
    }
  }

  /** Claims and runs one turn; false when there was nothing to claim. */
  async #oneTurn(conversationId: ConversationId): Promise<boolean> {
    const { parts, gate, hostId, live, onDue, generatedSince, startedAt, assess } = this.#host;
    const turnId = parts.ids.next('turn');
    const controller = new AbortController();
    // Known before its commit, so that no sweep takes the claim for one without a runner.
    this.#running.set(turnId, controller);
    try {
      const claim = await claimTurn(parts, gate, {
        conversationId,
        turnId,
        hostId,
        mayClaim: () => this.#isOpen,
        startedAt: startedAt(),
        generatedSince: generatedSince(),
        onInterrupted: assess,
      });
      // Without a claim too: the look may have blocked a task or kept a message, and said so.
      live.hint(conversationId);
      if (claim === undefined) return false;
      this.#claims.set(turnId, claim);
      const { deadline } = claim.task;
      // A later one is seen at a tick before it comes.
      const isSoon = deadline !== null && deadline - parts.clock.now() <= parts.options.tickMs;
      if (isSoon) onDue(deadline);
      await this.#run(claim, controller.signal);
      return true;
    } finally {
      this.#running.delete(turnId);
      this.#claims.delete(turnId);
    }
  }

  async #run(claim: Claim, signal: AbortSignal): Promise<void> {
    const { parts, live, hostId } = this.#host;
    const { turn } = claim;
    try {
      const left = claim.isHeld ? await this.#drive(claim, signal) : overtaken(claim);
      if (left !== null) {
        const closed = await closeTurn(parts, { turn, hostId, ...left });
        if (closed === 'gone') parts.log.warn('a turn was taken over', { turnId: turn.id });
        this.#host.assess();
      }
    } finally {
      live.textDone(turn.conversationId);
      live.hint(turn.conversationId);
    }
  }

  /** Null when the turn has its end; else what is known of the step at which its loop left. */
  async #drive(claim: Claim, signal: AbortSignal): Promise<Pick<CloseOrder, 'known'> | null> {
    const { parts, gate, live, answeredBy, isClockTrusted, onDue, onFault } = this.#host;
    const { maintain, generatedSince } = this.#host;
    try {
      const histories = this.#histories;
      const mayClaim = (): boolean => this.#isOpen;
      const mayMaintain = (): boolean => generatedSince() === 0;
      const draining = this.#draining.signal;
      const held = { claim, histories, signal, mayClaim, mayMaintain, draining };
      const drive = { parts, gate, live, ...held, answeredBy, isClockTrusted };
      const driven = await driveTurn(drive);
      if (driven.kind === 'ended') {
        if (driven.dueAt !== null) onDue(driven.dueAt);
        if (driven.isMaintained) maintain();
        return null;
      }
      const { step, end, fault } = driven;
      if (fault !== undefined) onFault(fault, 'turn');
      return { known: { step, end } };
    } catch (error) {
      onFault(error, 'turn');
      return {};
    }
  }

  #tellIdle(): void {
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }
}

/** A claim that was overtaken before this host knew that it had it: its first call was never made. */
function overtaken({ firstStep: step }: Claim): Pick<CloseOrder, 'known'> {
  return { known: { step, end: NOT_BEGUN } };
}
