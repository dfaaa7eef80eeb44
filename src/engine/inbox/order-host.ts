import type { Refusal } from '../../kernel/fault.ts';
import type { HostId, MessageId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Answer, GivenAnswer } from '../approval/answer.ts';
import type {
  Admitted,
  AdmitOrder,
  Engine,
  EngineParts,
  Health,
  Ordered,
  Stopped,
} from '../engine.ts';
import type { GivenGrant } from '../task/extend.ts';
import type { GivenOrder } from '../task/order.ts';
import type { GivenResume } from '../task/resume.ts';
import type { StopUnitOrder } from '../task/stop.ts';

/**
 * An admission as a command or a door gives it. A command expects the version that the operation has,
 * unless it was said before the operation was blocked (M-7).
 */
export interface GivenAdmission extends Omit<AdmitOrder, 'expectedVersion'> {
  readonly expectedVersion?: number;
  /** The command that ordered it, said where the operation is: answered by the same commit (W-3). */
  readonly commandId?: MessageId;
  /** When the command was sent. */
  readonly commandAt?: Instant;
}

/** The orders that the engine carries out and then acts on, whatever door they came through. */
export interface OrderHost {
  stop(order: Omit<StopUnitOrder, 'hostId'>): Promise<Stopped | Refusal>;
  resume(order: Omit<GivenResume, 'hostId'>): Promise<Ordered | Refusal>;
  resetBudget(order: Omit<GivenOrder, 'hostId'>): Promise<Ordered | Refusal>;
  pause(order: Omit<GivenOrder, 'hostId'>): Promise<Ordered | Refusal>;
  extend(order: Omit<GivenGrant, 'hostId'>): Promise<Ordered | Refusal>;
  answer(order: Omit<GivenAnswer, 'hostId' | 'isClockTrusted'>): Promise<Answer | Refusal>;
  admit(order: GivenAdmission): Promise<Admitted | Refusal>;
  endSafeMode(order: Parameters<Engine['endSafeMode']>[0]): ReturnType<Engine['endSafeMode']>;
  confirmClock(order: Parameters<Engine['confirmClock']>[0]): ReturnType<Engine['confirmClock']>;
}

/** What answering a command needs of the engine around it. */
export interface CommandHost {
  readonly parts: EngineParts;
  readonly hostId: HostId;
  readonly orders: OrderHost;
  readonly health: () => Health;
}
