import type { Absence } from '../../core/task/wait.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { ConversationId, HostId, TaskId, TurnId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { SECOND, type Instant, type Millis } from '../../kernel/time.ts';
import { Gate, type Returning } from '../budget/gate.ts';
import type { ClockTrust, EngineParts } from '../engine.ts';
import { readBefore } from '../lease/absence.ts';
import { tellOfClock } from '../lease/clock-notice.ts';
import { ClockWatch } from '../lease/clock.ts';
import { OneLook } from '../one-look.ts';
import { isFatal } from '../settle.ts';
import type { Live } from '../turn/live.ts';
import { settleDue, type DueMove, type DueOrder } from './due.ts';

export interface UpkeepHost {
  readonly parts: EngineParts;
  readonly live: Live;
  readonly hostId: HostId;
  /** This conversation may have something to claim. */
  readonly poke: (conversationId: ConversationId) => void;
  readonly interrupt: (turnId: TurnId) => void;
  /** A task may have come to wait for its assessment. */
  readonly assess: () => void;
  /** False in safe mode: then no wait wakes its task. */
  readonly mayWake: () => boolean;
  /** The turns of this host, with their tasks' deadlines. */
  readonly running: () => readonly {
    readonly turnId: TurnId;
    readonly taskId: TaskId;
    readonly deadline: Instant | null;
  }[];
  readonly onFault: (error: unknown, where: string) => void;
}

// Due records that one look leaves as they are: the next begins with the longest due again.
const LEFT_MAX = 20_000;
// Due tasks that are committed side by side: their conversations are mostly different ones.
const TOGETHER = 8;

type ReadDue = (due: {
  readonly now: Instant;
  readonly limit: number;
}) => Promise<readonly DueOrder[]>;

/**
 * What becomes due by itself: deadlines, waits, approvals, the return of a provider, the wall clock's
 * trust. Its timer and its hints only make it look; the records say what is due (design principle 12).
 */
export class Upkeep {
  readonly gate: Gate;
  readonly #host: UpkeepHost;
  readonly #watch: ClockWatch;
  #absence: Absence = null;
  #isOpen = false;
  readonly #looks = new OneLook(
    () => this.#lookOnce(),
    () => this.#isOpen,
  );
  /** The earliest instant of a hint that no look has seen. */
  #hinted: Instant | null = null;
  #timer: AbortController | null = null;
  /** When the timer looks again. */
  #next: Instant | null = null;
  /** Looks in a row that left something due. */
  #stuck = 0;
  #tellings = 0;
  /** By the uptime clock: when a task was let go on last to find an account out. */
  readonly #scouts = new Map<string, Millis>();

  constructor(host: UpkeepHost) {
    this.#host = host;
    this.#watch = new ClockWatch(host.parts);
    this.gate = new Gate({
      parts: host.parts,
      mayProbe: () => this.#isTrusted(),
      onChange: () => this.hint(),
      onFault: host.onFault,
    });
  }

  /** The time without a host before this start; null where there was none. */
  get absence(): Absence {
    return this.#absence;
  }

  /** After this host's row is committed and before it claims anything: what was before, and the limiters. */
  async begin(): Promise<void> {
    const { parts, hostId } = this.#host;
    const { absence, lastCommit } = await readBefore(parts, hostId);
    this.#absence = absence;
    this.#watch.begin(lastCommit);
    await this.gate.load();
  }

  /** Looks from here on. Resolves when what came due before this start has been looked at. */
  async open(): Promise<void> {
    this.#isOpen = true;
    await this.#looks.look();
  }

  /** The safety poll. */
  async tick(): Promise<void> {
    if (!this.#isOpen) return;
    if (!this.#host.parts.store.traits.exclusive) await this.gate.load();
    await this.#looks.look();
  }

  /** Something that is due at `at`, or now, was just committed. */
  hint(at?: Instant): void {
    if (!this.#isOpen) return;
    if (at === undefined || at <= this.#now())
      void this.#looks.look().catch((error) => this.#fault(error));
    else {
      this.#hinted = Math.min(at, this.#hinted ?? at);
      if (!this.#looks.isRunning) this.#arm(this.#next, this.#hinted);
    }
  }

  /** Looks no more; what it has begun is finished. */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#timer?.abort();
    await this.#looks.whenIdle();
    await this.gate.close();
  }

  clock(): ClockTrust {
    return this.#watch.trust();
  }

  /** Believes the wall clock as it stands, after an admin's order that is recorded. */
  confirmClock(): void {
    if (this.#watch.confirm()) this.hint();
  }

  #now(): Instant {
    return this.#host.parts.clock.now();
  }

  #isTrusted(): boolean {
    const isTrusted = this.#watch.isTrusted();
    if (this.#watch.untold !== undefined && !this.#looks.isRunning) this.hint();
    return isTrusted;
  }

  #fault(error: unknown): void {
    this.#host.onFault(error, 'due');
  }

  async #lookOnce(): Promise<void> {
    this.#hinted = null;
    const isTrusted = this.#watch.isTrusted();
    await this.#tellOfClock();
    if (!isTrusted) return this.#arm(this.#now() + this.#watch.distrustLeftMs());
    const next = [await this.#sweepTasks(), await this.#sweepApprovals()];
    await this.#sweepRunning();
    this.gate.look();
    if (this.#host.mayWake())
      for (const returning of this.gate.returning()) await this.#letReturn(returning);
    this.#stuck = next.some((at) => at !== null && at <= this.#now()) ? this.#stuck + 1 : 0;
    this.#arm(...next, this.gate.nextAt(), this.#hinted, this.#nextDeadline());
  }

  async #sweepTasks(): Promise<Instant | null> {
    const { store } = this.#host.parts;
    return this.#sweep(
      () => store.query('task.nextDue', {}),
      async (due) => (await store.query('task.due', due)).map(orderOf),
    );
  }

  async #sweepApprovals(): Promise<Instant | null> {
    const { store } = this.#host.parts;
    return this.#sweep(
      () => store.query('approval.nextDue', {}),
      async (due) =>
        (await store.query('approval.due', due)).map(
          ({ id: approvalId, taskId, conversationId }) => ({
            taskId,
            conversationId,
            approvalId,
          }),
        ),
    );
  }

  /**
   * Gives the next due instant; one in the past when something due could not be moved. What cannot be moved,
   * as waits in safe mode, holds back nothing that comes due after it.
   */
  async #sweep(
    readNext: () => Promise<{ readonly at: Instant } | undefined>,
    readDue: ReadDue,
  ): Promise<Instant | null> {
    const left = new Set<string>();
    for (;;) {
      const next = await readNext();
      if (next === undefined || next.at > this.#now()) return next?.at ?? null;
      const isAll = await this.#sweepOnce(readDue, left);
      if (isAll || left.size > LEFT_MAX || !this.#isOpen) return next.at;
    }
  }

  /** Adds to `left` what is due and could not be moved; true when there is nothing else. */
  async #sweepOnce(readDue: ReadDue, left: Set<string>): Promise<boolean> {
    const limit = LIMITS.dueMax + left.size;
    const due = await readDue({ now: this.#now(), limit });
    const untried = due.filter((order) => !left.has(nameOfDue(order)));
    const stayed = await this.#settleAll(untried);
    for (const order of stayed) left.add(nameOfDue(order));
    return stayed.length === untried.length && due.length < limit;
  }

  /** The deadline of a task whose turn runs stands in no due index: its turns look at it. */
  async #sweepRunning(): Promise<void> {
    const now = this.#now();
    for (const { taskId, deadline } of this.#host.running()) {
      if (deadline === null || deadline > now) continue;
      const task = await this.#host.parts.store.query('task.byId', { id: taskId });
      if (task !== undefined) await this.#settle(orderOf(task));
    }
  }

  #nextDeadline(): Instant | null {
    const now = this.#now();
    const ahead = this.#host
      .running()
      .flatMap(({ deadline }) => (deadline !== null && deadline > now ? [deadline] : []));
    return ahead.length === 0 ? null : Math.min(...ahead);
  }

  /** Lets the tasks go on that wait for a provider: all, or first one that finds out. */
  async #letReturn({ limiter, many }: Returning): Promise<void> {
    const { account } = limiter;
    if (many === 'one' && this.#hasScout(account)) return;
    const { store } = this.#host.parts;
    for (;;) {
      const args = { kind: 'provider', id: account, limit: LIMITS.dueMax } as const;
      const waiting = await store.query('task.waitingFor', args);
      const orders = waiting.map((task) => ({ ...orderOf(task), account }));
      const left = many === 'one' ? await this.#sendScout(orders) : await this.#settleAll(orders);
      const isMore =
        many === 'all' && left.length < orders.length && waiting.length === LIMITS.dueMax;
      if (!isMore || !this.#isOpen) return;
    }
  }

  #hasScout(account: string): boolean {
    const { clock, options } = this.#host.parts;
    const sent = this.#scouts.get(account);
    return sent !== undefined && clock.uptime() - sent < options.tickMs;
  }

  async #sendScout(orders: readonly DueOrder[]): Promise<readonly DueOrder[]> {
    for (const order of orders) {
      const verdict = await this.#settle({ ...order, isScout: true });
      if (verdict !== 'wake') continue;
      this.#scouts.set(order.account ?? '', this.#host.parts.clock.uptime());
      return [];
    }
    return orders;
  }

  /** Gives what was left as it is. */
  async #settleAll(orders: readonly DueOrder[]): Promise<readonly DueOrder[]> {
    const left: DueOrder[] = [];
    for (let from = 0; from < orders.length; from += TOGETHER) {
      const some = orders.slice(from, from + TOGETHER);
      if (!this.#isOpen) return [...left, ...some];
      const verdicts = await Promise.all(some.map((order) => this.#settle(order)));
      left.push(...some.filter((_, index) => verdicts[index] === 'leave'));
    }
    return left;
  }

  /** One that cannot be settled holds back no other and is tried again at the next look. */
  async #settle(order: DueOrder): Promise<DueMove['verdict']> {
    const { parts, hostId, live, poke, interrupt, assess, mayWake } = this.#host;
    try {
      const host = { parts, hostId, absence: this.#absence, mayWake };
      const { verdict, turn } = await settleDue(host, order);
      if (verdict === 'interrupt' || verdict === 'reassess') assess();
      if (turn !== undefined) interrupt(turn.id);
      live.hint(order.conversationId);
      poke(order.conversationId);
      return verdict;
    } catch (error) {
      if (isFatal(error)) throw error;
      this.#fault(error);
      return 'leave';
    }
  }

  /** Each news once; what could not be told holds nothing back and is told at the next look. */
  async #tellOfClock(): Promise<void> {
    const { parts, hostId, live } = this.#host;
    try {
      for (let news = this.#watch.untold; news !== undefined; news = this.#watch.untold) {
        const told = await tellOfClock(parts, news, { hostId, count: this.#tellings + 1 });
        this.#tellings += 1;
        this.#watch.told();
        if (told !== undefined) live.hint(told);
      }
    } catch (error) {
      if (isFatal(error)) throw error;
      this.#fault(error);
    }
  }

  /** Looks again at the earliest of these instants, unless the tick comes first. */
  #arm(...instants: readonly (Instant | null)[]): void {
    this.#timer?.abort();
    const { tickMs } = this.#host.parts.options;
    const known = instants.filter((at) => at !== null);
    this.#next = known.length === 0 ? null : Math.min(...known);
    if (this.#next === null || !this.#isOpen) return;
    const ms = this.#pauseTo(this.#next);
    if (ms >= tickMs) return;
    this.#timer = new AbortController();
    void this.#lookIn(ms, this.#timer.signal);
  }

  /** What stays due though it was looked at is not asked for again at once. */
  #pauseTo(at: Instant): Millis {
    const ms = at - this.#now();
    return ms > 0 ? ms : SECOND * 2 ** Math.min(this.#stuck, 10);
  }

  async #lookIn(ms: Millis, signal: AbortSignal): Promise<void> {
    await this.#host.parts.clock.sleep(ms, signal);
    if (!signal.aborted) this.hint();
  }
}

function orderOf({ id: taskId, conversationId }: TaskRecord): DueOrder {
  return { taskId, conversationId };
}

function nameOfDue({ taskId, approvalId }: DueOrder): string {
  return approvalId ?? taskId;
}
