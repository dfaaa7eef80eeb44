import type { HostRecord } from '../core/lease/record.ts';
import type { HostId } from '../kernel/ids.ts';
import type { Instant } from '../kernel/time.ts';

export interface LeaseReads {
  'host.byId': { readonly args: { readonly id: HostId }; readonly rows: HostRecord | undefined };
  /** The newest hosts, for status. */
  'host.list': { readonly args: { readonly limit: number }; readonly rows: readonly HostRecord[] };
}

export type LeaseWrites =
  | { readonly write: 'host.insert'; readonly row: HostRecord }
  /** Guard: it did not stop by itself. One that was found lost lives again: `stoppedAt` and `end` are null. */
  | { readonly write: 'host.renew'; readonly id: HostId; readonly aliveUntil: Instant }
  /** `lost`: a later start found that it had not stopped by itself. */
  | {
      readonly write: 'host.stop';
      readonly id: HostId;
      readonly stoppedAt: Instant;
      readonly end: 'clean' | 'lost';
    };
