import type { StormRecord } from '../../core/recovery/record.ts';
import type { ConversationId, HostId, OperationId, TaskId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';
import { closeLost } from '../dispatch/lease.ts';
import { Keeper } from '../maintenance/keeper.ts';
import type { EngineParts } from '../engine.ts';
import type { Upkeep } from '../task/upkeep.ts';
import type { Live } from '../turn/live.ts';
import { Assessor } from './assessor.ts';
import { tellRestart } from './report.ts';
import { SafeMode, type SafeModeOrder } from './safe-mode.ts';
import { unpark } from './park.ts';
import { voidGrants } from './void.ts';

export interface RecoveryHost {
  readonly parts: EngineParts;
  readonly live: Live;
  readonly hostId: HostId;
  readonly upkeep: Upkeep;
  /** False while the host starts or drains. */
  readonly isReady: () => boolean;
  readonly poke: (conversationId: ConversationId) => void;
  /** Safe mode has begun or ended: whatever waits for that looks. */
  readonly onSafeMode: () => void;
  readonly onFault: (error: unknown, where: string) => void;
}

/** What a start does about the work of the hosts before it, and what goes on from it: safe mode and assessments. */
export class Recovery {
  readonly #host: RecoveryHost;
  readonly #safeMode: SafeMode;
  readonly #assessor: Assessor;
  readonly #keeper: Keeper;
  #isClosed = false;
  #start: 'left' | 'underway' | 'taken up' = 'underway';

  constructor(host: RecoveryHost) {
    this.#host = host;
    const { parts, live, hostId, upkeep, poke, isReady, onFault } = host;
    const isClockTrusted = (): boolean => upkeep.clock().isTrusted;
    const onChange = host.onSafeMode;
    this.#safeMode = new SafeMode({ parts, live, hostId, isClockTrusted, onChange, onFault });
    this.#assessor = new Assessor({
      parts,
      live,
      hostId,
      gate: upkeep.gate,
      mayReserve: () => isReady() && !this.#safeMode.isOn && isClockTrusted(),
      poke,
      onDue: (at) => upkeep.hint(at),
      onFault,
    });
    this.#keeper = new Keeper({
      parts,
      live,
      hostId,
      mayReserve: () => isReady() && !this.#safeMode.isOn && isClockTrusted(),
      onOpened: (conversationId) => {
        poke(conversationId);
        this.#assessor.hint();
      },
      onFault,
    });
  }

  /** Maintenance operations with a try that is out here now. */
  get maintaining(): readonly OperationId[] {
    return this.#keeper.maintaining;
  }

  /** A session may be to be maintained. */
  maintain(): void {
    this.#keeper.hint();
  }

  /** A command was answered: it may have given up what is carried out here. */
  onCommand(): void {
    if (this.#keeper.maintaining.length > 0) this.#keeper.hint();
  }

  /** The storm whose safe mode is on. */
  get storm(): StormRecord | null {
    return this.#safeMode.storm;
  }

  /** Generated inputs that were made before this are not claimed; 0 while there is no safe mode. */
  get generatedSince(): Instant {
    return this.#safeMode.generatedSince;
  }

  /** Tasks whose assessment is being made here now. */
  get assessing(): readonly TaskId[] {
    return this.#assessor.assessing;
  }

  /** Before this host claims anything, and after the turns of former hosts have their end. */
  async begin(): Promise<void> {
    const { parts, hostId, onFault } = this.#host;
    await this.#safeMode.begin();
    await closeLost(parts, hostId);
    await this.#keeper.begin();
    // Whoever's they are: where another host lives, at worst an attempt is made anew.
    await voidGrants(parts, hostId, (error) => onFault(error, 'recovery'));
    await unpark(parts, hostId);
  }

  /**
   * Once this host is ready: what its start has found is first looked at, then told once. What a
   * passing fault cuts is taken up again at the next tick.
   */
  async takeUp(): Promise<void> {
    const { parts, hostId, live, upkeep, onFault } = this.#host;
    if (this.#isClosed) return;
    this.#start = 'underway';
    try {
      this.#assessor.open();
      this.#keeper.open();
      this.#keeper.hint();
      await upkeep.open();
      // What has no attempt left is blocked before it is told of: it makes no call.
      await this.#assessor.look();
      const told = await tellRestart(parts, { hostId, isRestart: upkeep.absence !== null });
      if (told !== undefined) live.hint(told);
      this.#start = 'taken up';
    } catch (error) {
      this.#start = 'left';
      onFault(error, 'start');
    }
  }

  /** The safety poll. */
  async tick(): Promise<void> {
    await this.#safeMode.look();
    const { parts, hostId } = this.#host;
    // On a shared store the lease of another host may have run out since.
    if (!parts.store.traits.exclusive) await closeLost(parts, hostId);
    if (this.#start === 'left') await this.takeUp();
    await this.#assessor.tick();
    await this.#keeper.tick();
  }

  /** A task may have come to wait for its assessment. */
  hint(): void {
    this.#assessor.hint();
  }

  /** Ends the assessments and the maintenance that are out, or the assessment of one task: their attempts are used. */
  interrupt(taskId?: TaskId): void {
    this.#assessor.interrupt(taskId);
    if (taskId === undefined) this.#keeper.interrupt();
  }

  async endSafeMode(order: SafeModeOrder): ReturnType<SafeMode['end']> {
    return this.#safeMode.end(order);
  }

  /** Reserves no attempt any more. */
  close(): void {
    this.#isClosed = true;
    this.#assessor.close();
    this.#keeper.close();
    this.#safeMode.close();
  }

  /** Resolves when no assessment and no maintenance is out. */
  async whenIdle(): Promise<void> {
    await Promise.all([this.#assessor.whenIdle(), this.#keeper.whenIdle()]);
  }
}
