import { isOpen, isRepeatable } from '../../core/maintenance/decide.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { ConversationId, HostId, OperationId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { SECOND, type Instant, type Millis } from '../../kernel/time.ts';
import type { EngineParts } from '../engine.ts';
import { OneLook } from '../one-look.ts';
import { isFatal } from '../settle.ts';
import type { Live } from '../turn/live.ts';
import { closeTry } from './close.ts';
import { faultOf, type Made } from './made.ts';
import { recordStep, type Recorded } from './record.ts';
import { releaseWaiting } from './release.ts';
import { reserve } from './reserve.ts';
import { readScene, tooLarge, type Scene } from './scene.ts';
import { makeStep } from './step.ts';
import { NOTHING_USED } from './summarise.ts';

export interface KeeperHost {
  readonly parts: EngineParts;
  readonly live: Live;
  readonly hostId: HostId;
  /** False in safe mode and while the wall clock is not believed: then no try is reserved. */
  readonly mayReserve: () => boolean;
  /** The fence of this conversation has opened. */
  readonly onOpened: (conversationId: ConversationId) => void;
  readonly onFault: (error: unknown, where: string) => void;
}

// Operations that one look reads: those that run and those that cannot be tried now take room in it.
const LOOK_MAX = 32;
// After a look or a try that failed in a way that no record tells.
const FAULT_PAUSE_MS: Millis = 5 * SECOND;
// After a try that could not be reserved though it seemed due.
const LEFT_PAUSE_MS: Millis = SECOND;

/**
 * Carries out the maintenance operations of this host (M-1 to M-6, M-18, M-19): each try reserved before it is
 * made, its outcome and its effect in one commit. The records say which are due; its timer and its hints only
 * make it look. Nothing that fails here is thrown at anybody (M-9).
 */
export class Keeper {
  readonly #host: KeeperHost;
  readonly #running = new Map<OperationId, AbortController>();
  readonly #work = new Set<Promise<void>>();
  #isOpen = false;
  readonly #looks = new OneLook(
    () => this.#lookOnce(),
    () => this.#isOpen,
  );
  #timer: AbortController | null = null;

  constructor(host: KeeperHost) {
    this.#host = host;
  }

  /** Operations with a try that is out here now. */
  get maintaining(): readonly OperationId[] {
    return [...this.#running.keys()];
  }

  /** Before this host claims anything: tries of hosts that are gone have been cut (M-6). */
  async begin(): Promise<void> {
    await this.#closeCut();
  }

  open(): void {
    this.#isOpen = true;
  }

  /** Reserves nothing more; what is out goes on. */
  close(): void {
    this.#isOpen = false;
    this.#timer?.abort();
  }

  /** Ends the tries that are out, or that of one operation: they are used. */
  interrupt(id?: OperationId): void {
    if (id === undefined) for (const controller of this.#running.values()) controller.abort();
    else this.#running.get(id)?.abort();
  }

  async whenIdle(): Promise<void> {
    await this.#looks.whenIdle();
    await Promise.all(this.#work);
  }

  /** Something may be due. */
  hint(): void {
    if (!this.#isOpen) return;
    void this.#looks.look().catch((error: unknown) => {
      this.#host.onFault(error, 'maintenance');
      this.#arm(FAULT_PAUSE_MS);
    });
  }

  /** The safety poll: two reads where nothing is maintained. */
  async tick(): Promise<void> {
    if (!this.#isOpen) return;
    await this.#closeCut();
    const next = await this.#host.parts.store.query('operation.nextDue', {});
    if (next !== undefined) await this.#looks.look();
  }

  /** Cuts the tries that no living host has, and those of this host without a runner. */
  async #closeCut(): Promise<void> {
    const { parts, hostId, live } = this.#host;
    const tried = await parts.store.query('operation.tried', { limit: LIMITS.dueMax });
    for (const operation of tried) {
      if (this.#running.has(operation.id)) continue;
      if (await closeTry(parts, operation, hostId)) live.hint(operation.conversationId);
    }
  }

  async #lookOnce(): Promise<void> {
    const { store, clock } = this.#host.parts;
    await this.#abortGivenUp();
    const due = await store.query('operation.due', { now: clock.now(), limit: LOOK_MAX });
    for (const operation of due) await this.#takeUp(operation);
    const next = await store.query('operation.nextDue', {});
    if (next !== undefined) this.#arm(next.at - clock.now());
  }

  /** What an admin has given up is not waited for (M-21). */
  async #abortGivenUp(): Promise<void> {
    for (const [id, controller] of this.#running) {
      const operation = await this.#host.parts.store.query('operation.byId', { id });
      if (operation === undefined || !isOpen(operation)) controller.abort();
    }
  }

  /** One that cannot be taken up holds back no other. */
  async #takeUp(operation: OperationRecord): Promise<void> {
    const { parts } = this.#host;
    const now = parts.clock.now();
    if (!this.#isOpen || this.#running.has(operation.id)) return;
    try {
      if (isPast(operation.noticeAt, now)) await this.#tell(operation);
    } catch (error) {
      if (isFatal(error)) throw error;
      this.#host.onFault(error, 'maintenance');
    }
    const isDue = isPast(operation.nextAttemptAt, now);
    const isFree = this.#running.size < LIMITS.maintenanceAtOnce;
    if (isDue && isFree && this.#host.mayReserve()) this.#begin(operation);
  }

  async #tell(operation: OperationRecord): Promise<void> {
    const { parts, hostId, live } = this.#host;
    await releaseWaiting(parts, operation, hostId);
    live.hint(operation.conversationId);
  }

  #begin(operation: OperationRecord): void {
    const controller = new AbortController();
    this.#running.set(operation.id, controller);
    const work = this.#carryThrough(operation, controller.signal).finally(() =>
      this.#work.delete(work),
    );
    this.#work.add(work);
  }

  async #carryThrough(operation: OperationRecord, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const told = this.#tellDuring(operation, over.signal);
    const came = await this.#steps(operation, signal).catch((error: unknown) => {
      this.#host.onFault(error, 'maintenance');
      return 'faulted' as const;
    });
    over.abort();
    await told;
    this.#running.delete(operation.id);
    this.#host.live.hint(operation.conversationId);
    // One that is gone may have been recorded by an earlier try of the unit, unseen.
    if (came === 'done' || came === 'gone') this.#host.onOpened(operation.conversationId);
    // What was left or has faulted is not asked for again at once: clocks may stand apart.
    if (came === 'faulted') this.#arm(FAULT_PAUSE_MS);
    else if (came === 'left') this.#arm(LEFT_PAUSE_MS);
    else this.hint();
  }

  /** A try may take longer than the notice is held back: that the operation waits is told all the same (M-10). */
  async #tellDuring(operation: OperationRecord, signal: AbortSignal): Promise<void> {
    const { parts, onFault } = this.#host;
    if (operation.noticeAt === null) return;
    await parts.clock.sleep(Math.max(0, operation.noticeAt - parts.clock.now()), signal);
    if (signal.aborted) return;
    await this.#tell(operation).catch((error: unknown) => onFault(error, 'maintenance'));
  }

  /** Step after step, until the operation is over, waits or is blocked. */
  async #steps(
    operation: OperationRecord,
    signal: AbortSignal,
  ): Promise<Exclude<Recorded, 'advanced'> | 'left'> {
    const { parts, hostId, live } = this.#host;
    for (let next = operation; ;) {
      const looked = await this.#look(next);
      if (looked === undefined || signal.aborted || !this.#mayGoOn()) return 'left';
      const { isUnused, sizes } = looked;
      const reserved = await reserve(parts, next, { hostId, tooLarge: sizes, isUnused });
      if (reserved.kind !== 'reserved') return reserved.kind === 'over' ? 'done' : reserved.kind;
      const recorded = await this.#try(looked, reserved.operation, signal);
      if (recorded === 'gone')
        parts.log.warn('a maintenance step was taken over', { operationId: next.id });
      if (recorded !== 'advanced') return recorded;
      live.hint(next.conversationId);
      const advanced = await parts.store.query('operation.byId', { id: next.id });
      if (advanced === undefined) return 'gone';
      next = advanced;
    }
  }

  /**
   * What the next try is made on. What cannot even be read is a failure of the step like any other: it is
   * counted and told, and no conversation stands behind a fence that nobody hears of (M-4, M-10).
   */
  async #look(operation: OperationRecord): Promise<Looked | undefined> {
    const { parts } = this.#host;
    try {
      const scene = await readScene(parts, operation);
      if (scene === undefined) return undefined;
      const sizes = await tooLarge(parts, scene);
      return { scene, sizes, isUnused: scene.isUnused };
    } catch (error) {
      if (isFatal(error)) throw error;
      this.#host.onFault(error, 'maintenance');
      return { scene: failedAs(faultOf(error)), sizes: null, isUnused: false };
    }
  }

  #mayGoOn(): boolean {
    return this.#isOpen && this.#host.mayReserve();
  }

  async #try(
    { scene }: Looked,
    operation: OperationRecord,
    signal: AbortSignal,
  ): Promise<Recorded> {
    const { parts, hostId } = this.#host;
    if ('kind' in scene) return recordStep(parts, operation, scene, hostId);
    const made = await this.#make(scene, operation, signal);
    if (made.kind === 'gone') return 'gone';
    parts.log.info('a maintenance step ended', {
      operationId: operation.id,
      step: operation.step,
      attempt: operation.attempts,
      outcome: made.kind,
      ...('fault' in made ? { code: made.fault.code } : {}),
    });
    try {
      return await recordStep(parts, operation, made, hostId);
    } catch (error) {
      const kind = scene.runtime === undefined ? 'built-in' : 'native';
      if (isFatal(error) || !isRepeatable(operation.step, kind)) throw error;
      // Nothing of it is committed: that it could not be is a failure of the step like any other.
      this.#host.onFault(error, 'maintenance');
      return recordStep(parts, operation, failedAs(faultOf(error)), hostId);
    }
  }

  /** What is thrown is a failure of the step like any other; a store that has failed ends the host (G-6). */
  async #make(scene: Scene, operation: OperationRecord, signal: AbortSignal): Promise<Made> {
    try {
      return await makeStep(this.#host.parts, scene, operation, signal);
    } catch (error) {
      if (isFatal(error)) throw error;
      return failedAs(faultOf(error));
    }
  }

  #arm(ms: Millis): void {
    this.#timer?.abort();
    if (!this.#isOpen) return;
    const { tickMs } = this.#host.parts.options;
    // What is due and could not be taken up waits for the end of another, or for the tick.
    if (ms <= 0 || ms >= tickMs) return;
    const timer = new AbortController();
    this.#timer = timer;
    void this.#hintAfter(ms, timer.signal);
  }

  async #hintAfter(ms: Millis, signal: AbortSignal): Promise<void> {
    await this.#host.parts.clock.sleep(ms, signal);
    if (!signal.aborted) this.hint();
  }
}

/** What a try is made on, or that it could not be read. */
interface Looked {
  readonly scene: Scene | Missed;
  readonly sizes: JsonObject | null;
  readonly isUnused: boolean;
}

type Missed = Extract<Made, { readonly kind: 'failed' }>;

function failedAs(fault: Missed['fault']): Missed {
  return { kind: 'failed', fault, retryAt: null, spent: NOTHING_USED };
}

function isPast(at: Instant | null, now: Instant): boolean {
  return at !== null && at <= now;
}
