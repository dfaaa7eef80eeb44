import type { TaskRecord } from '../../core/task/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { HostId } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import { commitAnswer, type Answer } from '../approval/answer.ts';
import { commitClockEntry } from '../audit/clock.ts';
import { AdminLane } from '../audit/lane.ts';
import { commitWorkerResume } from '../dispatch/resume.ts';
import type {
  Admitted,
  Engine,
  EngineParts,
  Ordered,
  Stopped,
  WorkerOrder,
  WorkerOrdered,
} from '../engine.ts';
import type { OrderHost } from '../inbox/order-host.ts';
import { commitAdmit } from '../maintenance/admit.ts';
import type { Live } from '../turn/live.ts';
import type { Recovery } from '../recovery/recovery.ts';
import type { Pump } from '../turn/pump.ts';
import { commitExtend } from './extend.ts';
import { commitPause } from './pause.ts';
import { commitReset } from './reset.ts';
import { commitResume } from './resume.ts';
import { commitStop } from './stop.ts';
import type { Upkeep } from './upkeep.ts';

export interface OrdersHost {
  readonly parts: EngineParts;
  readonly hostId: HostId;
  readonly live: Live;
  readonly pump: Pump;
  readonly upkeep: Upkeep;
  readonly recovery: Recovery;
  /** Called with what a commit threw, before it goes on to the caller. */
  readonly onThrown: (error: unknown) => void;
}

/** Commits orders, then acts on them: interrupts, wakes, looks (design principle 1). */
export class Orders implements OrderHost {
  readonly #host: OrdersHost;
  readonly #lane = new AdminLane();

  constructor(host: OrdersHost) {
    this.#host = host;
  }

  /** Interrupts what runs here; a turn elsewhere learns of it from its host's sweep. */
  async stop(order: Parameters<OrderHost['stop']>[0]): Promise<Stopped | Refusal> {
    const { parts, hostId, pump, recovery } = this.#host;
    const verdict = await this.#commit(order, () => commitStop(parts, { ...order, hostId }));
    if (verdict.kind === 'refused') return verdict;
    const { turn, ...stopped } = verdict;
    if (turn !== undefined) pump.interrupt(turn.id);
    recovery.interrupt(stopped.task.id);
    this.#after(stopped.task);
    return stopped;
  }

  async resume(order: Parameters<OrderHost['resume']>[0]): Promise<Ordered | Refusal> {
    const { parts, hostId } = this.#host;
    return this.#order(order, () => commitResume(parts, { ...order, hostId }));
  }

  async resetBudget(order: Parameters<OrderHost['resetBudget']>[0]): Promise<Ordered | Refusal> {
    const { parts, hostId } = this.#host;
    return this.#order(order, () => commitReset(parts, { ...order, hostId }));
  }

  async resumeWorker(order: WorkerOrder): Promise<WorkerOrdered | Refusal> {
    const { parts } = this.#host;
    return this.#commit(order, () => commitWorkerResume(parts, order));
  }

  async admit(order: Parameters<OrderHost['admit']>[0]): Promise<Admitted | Refusal> {
    const { parts, hostId, live, recovery } = this.#host;
    const verdict = await this.#commit(order, () => commitAdmit(parts, { ...order, hostId }));
    if (verdict.kind === 'refused') return verdict;
    live.hint(verdict.operation.conversationId);
    recovery.maintain();
    return verdict;
  }

  async pause(order: Parameters<OrderHost['pause']>[0]): Promise<Ordered | Refusal> {
    const { parts, hostId } = this.#host;
    return this.#order(order, () => commitPause(parts, { ...order, hostId }));
  }

  async extend(order: Parameters<OrderHost['extend']>[0]): Promise<Ordered | Refusal> {
    const { parts, hostId } = this.#host;
    return this.#order(order, () => commitExtend(parts, { ...order, hostId }));
  }

  async answer(order: Parameters<OrderHost['answer']>[0]): Promise<Answer | Refusal> {
    const { parts, hostId, upkeep } = this.#host;
    const isClockTrusted = upkeep.clock().isTrusted;
    const given = { ...order, hostId, isClockTrusted };
    const verdict = await this.#commit(order, () => commitAnswer(parts, given));
    if (verdict.kind !== 'refused') this.#after(verdict.task);
    // One whose time is up may not have been seen yet.
    else if (verdict.code === 'approval_closed') upkeep.hint();
    return verdict;
  }

  async confirmClock(
    order: Parameters<OrderHost['confirmClock']>[0],
  ): ReturnType<Engine['confirmClock']> {
    const { parts, hostId, upkeep } = this.#host;
    const { principal, channel } = order;
    const trust = upkeep.clock();
    if (!principal.isAdmin) return refuse('forbidden', { who: 'admin' });
    if (trust.isTrusted) return refuse('clock_trusted');
    const entry = { principal, channel, hostId, trust };
    await this.#commit(order, () => commitClockEntry(parts, entry));
    upkeep.confirmClock();
    return { kind: 'confirmed' };
  }

  async endSafeMode(
    order: Parameters<OrderHost['endSafeMode']>[0],
  ): ReturnType<Engine['endSafeMode']> {
    return this.#commit(order, () => this.#host.recovery.endSafeMode(order));
  }

  async #order(
    by: { readonly principal: Principal },
    commit: () => Promise<Ordered | Refusal>,
  ): Promise<Ordered | Refusal> {
    const verdict = await this.#commit(by, commit);
    if (verdict.kind === 'ordered') this.#after(verdict.task);
    return verdict;
  }

  async #commit<T>(
    { principal }: { readonly principal: Principal },
    commit: () => Promise<T>,
  ): Promise<T> {
    // An exclusive store decides one unit after the other: nothing races there.
    const races = principal.isAdmin && !this.#host.parts.store.traits.exclusive;
    try {
      return await (races ? this.#lane.run(commit) : commit());
    } catch (error) {
      this.#host.onThrown(error);
      throw error;
    }
  }

  /** What was committed may have made something claimable, or due. */
  #after({ conversationId, waitKind, dueAt, deadline }: TaskRecord): void {
    const { live, pump, upkeep, recovery } = this.#host;
    live.hint(conversationId);
    // A question of history whose time is up is closed before its task is assessed.
    if (waitKind === 'assessment') upkeep.hint();
    recovery.hint();
    pump.poke(conversationId);
    // A turn that runs stands in no due index: its task's deadline is looked at all the same.
    const at = dueAt ?? deadline;
    if (at !== null) upkeep.hint(at);
  }
}
