import { readVerdict, type Assessed } from '../../core/recovery/verdict.ts';
import { NOTHING_SPENT, type Spent } from '../../core/budget/spend.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { ConversationId, HostId, TaskId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { SECOND, type Instant, type Millis } from '../../kernel/time.ts';
import type { ModelOutcome } from '../../ports/model.ts';
import { callWithin } from '../bounded-call.ts';
import { asideOf } from '../budget/aside.ts';
import type { Gate } from '../budget/gate.ts';
import type { EngineParts } from '../engine.ts';
import { OneLook } from '../one-look.ts';
import { isFatal } from '../settle.ts';
import type { Live } from '../turn/live.ts';
import { parkForProvider } from './park.ts';
import { recordAssessment, type Recorded } from './record.ts';
import { assessmentRequest, readFacts } from './request.ts';
import { reserve } from './reserve.ts';

export interface AssessorHost {
  readonly parts: EngineParts;
  readonly live: Live;
  readonly hostId: HostId;
  readonly gate: Gate;
  /** False in safe mode and while the wall clock is not believed: then no attempt is reserved. */
  readonly mayReserve: () => boolean;
  /** This conversation may have something to claim. */
  readonly poke: (conversationId: ConversationId) => void;
  /** A task was left that comes due at this instant. */
  readonly onDue: (at: Instant) => void;
  readonly onFault: (error: unknown, where: string) => void;
}

// Candidates that one look reads: those that run and those that cannot be reserved now take room in it.
const LOOK_MAX = 32;
// After a look that failed.
const FAULT_PAUSE_MS: Millis = 5 * SECOND;
// After an attempt that could not be reserved though it seemed due.
const LEFT_PAUSE_MS: Millis = SECOND;

/**
 * Makes the recovery assessments of this host: at most two at once, each reserved
 * before its call. The records say which are due; its timer and its hints only make it look.
 */
export class Assessor {
  readonly #host: AssessorHost;
  readonly #running = new Map<TaskId, AbortController>();
  readonly #work = new Set<Promise<void>>();
  #isOpen = false;
  readonly #looks = new OneLook(
    () => this.#lookOnce(),
    () => this.#isOpen,
  );
  #timer: AbortController | null = null;

  constructor(host: AssessorHost) {
    this.#host = host;
  }

  /** Tasks whose assessment is being made here now. */
  get assessing(): readonly TaskId[] {
    return [...this.#running.keys()];
  }

  open(): void {
    this.#isOpen = true;
  }

  /** Reserves nothing more; what is out goes on. */
  close(): void {
    this.#isOpen = false;
    this.#timer?.abort();
  }

  /** Ends what is out, all of it or of one task: its attempt is used. */
  interrupt(taskId?: TaskId): void {
    if (taskId === undefined) for (const controller of this.#running.values()) controller.abort();
    else this.#running.get(taskId)?.abort();
  }

  async whenIdle(): Promise<void> {
    await this.#looks.whenIdle();
    await Promise.all(this.#work);
  }

  /** Something may be due. */
  hint(): void {
    if (!this.#isOpen) return;
    void this.look().catch((error: unknown) => {
      this.#host.onFault(error, 'recovery');
      this.#arm(FAULT_PAUSE_MS);
    });
  }

  /** The safety poll: one read where nothing is interrupted. */
  async tick(): Promise<void> {
    if (!this.#isOpen) return;
    const next = await this.#host.parts.store.query('task.nextAssessment', {});
    if (next !== undefined) await this.look();
  }

  /** One look at a time; what is asked for meanwhile is one more. */
  async look(): Promise<void> {
    if (this.#isOpen) await this.#looks.look();
  }

  async #lookOnce(): Promise<void> {
    const { store, clock } = this.#host.parts;
    for (;;) {
      const { recoveryAttempts: attempts } = LIMITS;
      const args = { now: clock.now(), attempts, limit: LOOK_MAX };
      const due = await store.query('task.assessable', args);
      const isSettled = await this.#takeUp(due);
      if (!isSettled || due.length < LOOK_MAX || !this.#isOpen) break;
    }
    const next = await store.query('task.nextAssessment', {});
    if (next !== undefined) this.#arm(next.at - clock.now());
  }

  /** Blocks what has no attempt left and begins what may; true when something has left the list at once. */
  async #takeUp(due: readonly TaskRecord[]): Promise<boolean> {
    let isSettled = false;
    for (const task of due) {
      if (!this.#isOpen) return false;
      if (this.#running.has(task.id)) continue;
      if (task.recoveryAttempts >= LIMITS.recoveryAttempts) {
        isSettled = (await this.#settleUsedUp(task)) || isSettled;
      } else if (this.#running.size < LIMITS.recoveryAtOnce && this.#host.mayReserve()) {
        this.#begin(task);
      }
    }
    return isSettled;
  }

  /** One that cannot be settled holds back no other and is tried again at the next look. */
  async #settleUsedUp(task: TaskRecord): Promise<boolean> {
    const { parts, hostId, live, onFault } = this.#host;
    try {
      const { kind } = await reserve(parts, task, { hostId, mayReserve: false });
      live.hint(task.conversationId);
      return kind === 'blocked';
    } catch (error) {
      if (isFatal(error)) throw error;
      onFault(error, 'recovery');
      return false;
    }
  }

  #begin(task: TaskRecord): void {
    const controller = new AbortController();
    this.#running.set(task.id, controller);
    const work = this.#carryThrough(task, controller.signal).finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  async #carryThrough(task: TaskRecord, signal: AbortSignal): Promise<void> {
    const came = await this.#assess(task, signal).catch((error: unknown) => {
      this.#host.onFault(error, 'recovery');
      return 'faulted' as const;
    });
    this.#running.delete(task.id);
    this.#host.live.hint(task.conversationId);
    // What was left or has faulted is not asked for again at once: clocks may stand apart.
    if (came === 'faulted') this.#arm(FAULT_PAUSE_MS);
    else if (came === 'left') this.#arm(LEFT_PAUSE_MS);
    else this.hint();
  }

  async #assess(task: TaskRecord, signal: AbortSignal): Promise<Recorded | 'parked' | 'left'> {
    const { parts, hostId, gate, poke, onDue } = this.#host;
    const { assessment: model, clock, options } = parts;
    if (await gate.isUnreachable(model, signal)) return this.#park(task, signal);
    // Made before the reservation: what cannot be put into words spends nothing.
    const request = assessmentRequest(await readFacts(parts, task), clock.now());
    if (!this.#isOpen || signal.aborted || !this.#host.mayReserve()) return 'left';
    const reserved = await reserve(parts, task, { hostId, mayReserve: true });
    if (reserved.kind !== 'reserved') return reserved.kind;
    const ms = options.recovery.callMs;
    const outcome = await callWithin(parts, model, request, { ms, signal });
    gate.noteCall(model, outcome);
    const assessment = { task: reserved.task, ...readOutcome(outcome) };
    const recorded = await recordAssessment(parts, assessment, hostId);
    const { id: taskId, deadline, conversationId } = task;
    parts.log.info('a recovery assessment ended', {
      taskId,
      attempt: reserved.task.recoveryAttempts,
      outcome: assessment.assessed.outcome,
      ...('code' in assessment.assessed ? { code: assessment.assessed.code } : {}),
    });
    if (recorded === 'gone') parts.log.warn('a recovery assessment was taken over', { taskId });
    if (recorded === 'continued') poke(conversationId);
    if (deadline !== null) onDue(deadline);
    return recorded;
  }

  async #park(task: TaskRecord, signal: AbortSignal): Promise<'parked' | 'left'> {
    const { parts, hostId, gate, onDue } = this.#host;
    if (signal.aborted || !this.#isOpen) return 'left';
    const { clock } = parts;
    const code = 'connect';
    // From here a cheap probe repeats, and the provider's return lets the task be assessed. Turns that use the
    // same account find out for themselves: nothing of a person waits for this.
    const aside = asideOf(parts.assessment);
    const { account } = aside;
    await gate.exhausted(aside, code);
    await parkForProvider(parts, task, { hostId, account, code });
    onDue(clock.now() + LIMITS.recoveryUnreachedMs);
    return 'parked';
  }

  #arm(ms: Millis): void {
    this.#timer?.abort();
    if (!this.#isOpen) return;
    const { options } = this.#host.parts;
    // What is due and could not be taken up waits for the end of another, or for the tick.
    if (ms <= 0 || ms >= options.tickMs) return;
    const timer = new AbortController();
    this.#timer = timer;
    void this.#hintAfter(ms, timer.signal);
  }

  async #hintAfter(ms: Millis, signal: AbortSignal): Promise<void> {
    await this.#host.parts.clock.sleep(ms, signal);
    if (!signal.aborted) this.hint();
  }
}

/** What a call came to: an answer by the schema, or which failure it was. Each uses its attempt. */
function readOutcome(outcome: ModelOutcome): {
  readonly assessed: Assessed;
  readonly retryAt: Instant | null;
  readonly spent: Spent;
  readonly usage: JsonObject;
} {
  const { usage } = outcome;
  const counted: JsonObject =
    usage === null
      ? {}
      : { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, cost: usage.cost };
  const spent: Spent =
    usage === null
      ? NOTHING_SPENT
      : { tokens: usage.inputTokens + usage.outputTokens, cost: usage.cost ?? 0 };
  if (outcome.kind === 'reply') {
    const assessed = readVerdict(outcome.text, outcome.stop === 'length');
    return { assessed, retryAt: null, spent, usage: counted };
  }
  const { code, message, retryAt } = outcome;
  const kind = outcome.class === 'nonsense' ? 'invalid' : 'failed';
  // What we ended ourselves the provider has said nothing about.
  const said = outcome.class === 'aborted' ? '' : message;
  return { assessed: { outcome: kind, code, said }, retryAt, spent, usage: counted };
}
