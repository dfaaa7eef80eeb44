import { Fault, type Remedy } from '../../kernel/fault.ts';
import type { StoreFault, StoreFaultCode } from '../../ports/store.ts';

const REMEDIES: Readonly<Record<StoreFaultCode, Remedy>> = {
  busy: 'retry',
  disconnected: 'retry',
  unknown: 'retry',
  disk_full: 'retry',
  io: 'stop',
  read_only: 'stop',
  corrupt: 'stop',
  closed: 'stop',
  bug: 'stop',
};

/** A fault of the store; `cause` is the error that it was made from. */
export function storeFault(code: StoreFaultCode, message: string, cause?: unknown): StoreFault {
  return new Fault(code, REMEDIES[code], message, { cause }) as StoreFault;
}

/** True for faults after which nothing is acknowledged any more (G-6): the host stops. */
export function endsTrust(code: StoreFaultCode): boolean {
  return code === 'io' || code === 'read_only' || code === 'corrupt';
}
