import type { HostId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';

/** A running process. A claim is alive while its host's row is (design principle 8). */
export interface HostRecord {
  readonly id: HostId;
  readonly pid: number;
  readonly startedAt: Instant;
  /** On a shared store: alive until then, renewed. On an exclusive one the operating-system lock proves it. */
  readonly aliveUntil: Instant;
  /** Set by a clean stop: its claims are given up at once. */
  readonly stoppedAt: Instant | null;
  /** `lost`: `stoppedAt` is the start that found its unclean end; null while it runs. */
  readonly end: 'clean' | 'lost' | null;
}

/** Whether the claims of `host` still hold. A host without a row has none. */
export function mayHold(host: HostRecord | undefined, now: Instant): boolean {
  return host !== undefined && host.stoppedAt === null && now < host.aliveUntil;
}
