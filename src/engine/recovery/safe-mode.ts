import type { StormRecord } from '../../core/recovery/record.ts';
import { stormEndsAt } from '../../core/recovery/storm.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { HostId } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Instant } from '../../kernel/time.ts';
import type { EngineParts } from '../engine.ts';
import type { Live } from '../turn/live.ts';
import { commitStormEnd, commitStormStart, type StormChange } from './storm-unit.ts';

export interface SafeModeHost {
  readonly parts: EngineParts;
  readonly live: Live;
  readonly hostId: HostId;
  readonly isClockTrusted: () => boolean;
  /** It has begun or ended: what waits for its end is looked for. */
  readonly onChange: () => void;
  readonly onFault: (error: unknown, where: string) => void;
}

export interface SafeModeOrder {
  readonly principal: Principal;
  readonly channel: string;
}

/**
 * Whether this host starts work by itself. The storm is a record of the store: it outlives the
 * process, and on a shared store it holds for each of its hosts from their next look on.
 */
export class SafeMode {
  readonly #host: SafeModeHost;
  #storm: StormRecord | null = null;
  /** Of this host's row. */
  #startedAt: Instant | null = null;
  #timer: AbortController | null = null;
  #isClosed = false;

  constructor(host: SafeModeHost) {
    this.#host = host;
  }

  /** Judges this start, once its row and what it found are committed and before it starts anything. */
  async begin(): Promise<void> {
    const { parts, hostId } = this.#host;
    const change = await commitStormStart(parts, hostId);
    this.#startedAt = change.startedAt;
    this.#take(change);
    if (this.#storm !== null)
      parts.log.warn('safe mode: nothing starts by itself', {
        storm: this.#storm.id,
        until: stormEndsAt(this.#storm),
      });
  }

  get isOn(): boolean {
    return this.#storm !== null;
  }

  /** The storm while it is on. */
  get storm(): StormRecord | null {
    return this.#storm;
  }

  /** Generated inputs that were made before this instant are not claimed; 0 while it is off. */
  get generatedSince(): Instant {
    return this.#storm === null ? 0 : (this.#startedAt ?? 0);
  }

  /** Sees what other hosts and the clock have made of it; the safety poll of its own timer. */
  async look(): Promise<void> {
    const { parts, hostId, isClockTrusted } = this.#host;
    if (this.#isClosed || !parts.options.recovery.safeMode) return;
    if (parts.store.traits.exclusive && this.#storm === null) return;
    const last = await parts.store.query('storm.last', {});
    if (last === undefined || last.endedAt !== null) return this.#take({ storm: null });
    const isOver = stormEndsAt(last) <= parts.clock.now() && isClockTrusted();
    this.#take(
      isOver ? await commitStormEnd(parts, { hostId, stormId: last.id }) : { storm: last },
    );
  }

  /** Lets the host start work by itself again; the log of admin actions says who did. */
  async end({ principal, channel }: SafeModeOrder): Promise<{ readonly kind: 'ended' } | Refusal> {
    if (!principal.isAdmin) return refuse('forbidden', { who: 'admin' });
    const { parts, hostId } = this.#host;
    await this.look();
    const storm = this.#storm;
    if (storm === null) return refuse('no_safe_mode');
    const change = await commitStormEnd(parts, {
      hostId,
      stormId: storm.id,
      admin: { principal, channel },
    });
    this.#take(change);
    return change.isMine ? { kind: 'ended' } : refuse('no_safe_mode');
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.abort();
  }

  #take({ storm, told }: StormChange): void {
    const wasOn = this.isOn;
    this.#storm = storm;
    if (told !== undefined) this.#host.live.hint(told);
    this.#arm();
    if (wasOn !== this.isOn) this.#host.onChange();
  }

  #arm(): void {
    this.#timer?.abort();
    this.#timer = null;
    if (this.#storm === null || this.#isClosed) return;
    this.#timer = new AbortController();
    void this.#lookAfter(stormEndsAt(this.#storm), this.#timer.signal);
  }

  async #lookAfter(at: Instant, signal: AbortSignal): Promise<void> {
    const { clock, options } = this.#host.parts;
    const ms = at - clock.now();
    await clock.sleep(ms > 0 ? ms : options.tickMs, signal);
    if (signal.aborted) return;
    try {
      await this.look();
    } catch (error) {
      this.#host.onFault(error, 'safe mode');
      if (!signal.aborted) this.#arm();
    }
  }
}
