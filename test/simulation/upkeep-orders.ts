// What people do around sessions that outgrow their windows: long words, standing conditions, words behind a
// fence, admissions by right and wrong persons, in time and late, once and again.
import { waysOfOperation } from '../../src/core/maintenance/reasons.ts';
import type { OperationRecord } from '../../src/core/maintenance/record.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { Fault } from '../../src/kernel/fault.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import { SECOND } from '../../src/kernel/time.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { Admission } from './history.ts';
import type { Look } from './look.ts';
import type { SimulationOptions } from './options.ts';
import type { Orders } from './orders.ts';
import { ADMIN, GUEST, PERSON, SECOND_ADMIN, someone } from './people.ts';
import { CONDITION } from './request-watch.ts';
import type { Sender } from './sender.ts';
import type { Sometime } from './sometimes.ts';

export interface UpkeepOrdersParts {
  readonly options: SimulationOptions;
  readonly random: Random;
  readonly look: Look;
  readonly sender: Sender;
  readonly orders: Orders;
  readonly reached: (name: Sometime) => void;
  readonly broken: (error: unknown) => void;
  readonly conversations: () => readonly ConversationId[];
  readonly say: (of: {
    readonly conversationId: ConversationId;
    readonly principal: Principal;
    readonly words: string;
  }) => Promise<void>;
  readonly type: (of: {
    readonly text: string;
    readonly conversationId: ConversationId;
    readonly principal: Principal;
  }) => Promise<void>;
  readonly run: (principal: Principal, conversationId: ConversationId) => Promise<void>;
}

/** Looks until somebody who waits for a block gives up. */
const PATIENCE = 60;

export class UpkeepOrders {
  readonly #parts: UpkeepOrdersParts;

  constructor(parts: UpkeepOrdersParts) {
    this.#parts = parts;
  }

  /** How many actions a world has beside its others. */
  get actions(): number {
    const { options, random } = this.#parts;
    return options.upkeep.isOn ? random.between(6, 16) : 0;
  }

  /** Waits until something is blocked, and does about it what people do; some give up before. */
  async attend(): Promise<void> {
    const { random, look, sender } = this.#parts;
    const blocked = (): readonly OperationRecord[] =>
      look.upkeep.open().filter(({ state }) => state === 'blocked');
    for (let count = 0; count < 3; count += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      if (!(await sender.waitFor(() => blocked().length > 0, PATIENCE))) return;
      const [one] = blocked();
      if (one === undefined) return;
      // oxlint-disable-next-line no-await-in-loop -- one word after the other
      await (random.chance(0.3) ? this.#behind(one) : this.#leave(one));
    }
  }

  async act(): Promise<void> {
    const { random, look } = this.#parts;
    const draw = random.next();
    const blocked = look.upkeep.open().filter(({ state }) => state === 'blocked');
    const open = look.upkeep.open();
    if (blocked.length > 0 && draw < 0.5) return this.#leave(random.pick(blocked));
    if (open.length > 0 && draw < 0.6) return this.#behind(random.pick(open));
    if (draw < 0.68) return this.#askStatus();
    return this.#sayMuch();
  }

  /** Words that fill a window soon; now and then more than it holds by themselves. */
  async #sayMuch(): Promise<void> {
    const { random, options } = this.#parts;
    const [first, ...others] = this.#parts.conversations();
    if (first === undefined) return;
    // Most of it in one room, so that its session is shortened more than once.
    const conversationId = random.chance(0.75) ? first : random.pick([first, ...others]);
    const [isHuge, sets] = [random.chance(0.03), random.chance(0.2)];
    const chars = isHuge ? options.window * 4 : options.window * random.pick([0.2, 0.5, 0.9]);
    const condition = sets ? `. ${CONDITION} about ${random.below(1_000)}.` : '';
    const words = `${condition} ${'so '.repeat(chars / 3)}`;
    await this.#parts.say({ conversationId, principal: someone(random), words });
  }

  /** What comes behind a fence: words, a run, and `/new` by those who may and may not (M-8, M-21). */
  async #behind({ conversationId }: OperationRecord): Promise<void> {
    const { random, say, type, run, reached } = this.#parts;
    const principal = random.pick([PERSON, GUEST, ADMIN]);
    const draw = random.next();
    reached('said_behind_fence');
    if (draw < 0.45) return say({ conversationId, principal, words: '' });
    if (draw < 0.75) return run(principal, conversationId);
    await type({ text: random.pick(['/new', '/reset']), conversationId, principal });
  }

  /** M-7: mostly by who may, for the version that is meant, as what it must be; and sometimes not. */
  async #leave(operation: OperationRecord): Promise<void> {
    const { random } = this.#parts;
    const principal = random.pick([ADMIN, ADMIN, ADMIN, SECOND_ADMIN, PERSON, GUEST]);
    if (random.chance(0.4)) return this.#typeWay(operation, principal);
    const isHandover = operation.reason === 'uncertain' && operation.kind === 'compact';
    const isRight = random.chance(0.6);
    const isStale = random.chance(0.2);
    const admission: Admission = {
      expectedVersion: operation.version - (isStale ? 1 : 0),
      ...(isHandover === isRight ? { as: 'handover' } : {}),
    };
    await this.admit(operation, admission, principal);
  }

  async admit(
    operation: OperationRecord,
    admission: Admission,
    principal: Principal,
  ): Promise<void> {
    const { random, orders, sender, reached, look, broken } = this.#parts;
    const { verdict, again } = await orders.admit(operation.id, admission, principal);
    if (verdict.kind === 'refused') return this.#noteRefusal(verdict.code);
    if (!principal.isAdmin)
      broken(new Error(`M-7 ${operation.id} was admitted by ${principal.id}`));
    reached('admitted');
    if (random.chance(0.7)) {
      await sender.pause('admit again', random.below(60 * SECOND));
      const second = await again();
      if (second.kind !== 'refused' && second.repeated === true) reached('admission_repeated');
    }
    if (!random.chance(0.3)) return;
    // The same version is no word about what it has come to since.
    const before = look.upkeep.operation(operation.id);
    if (before === undefined || before.version === admission.expectedVersion) return;
    const { verdict: stale } = await orders.admit(operation.id, admission, principal);
    if (stale.kind !== 'refused')
      broken(new Error(`M-7 ${operation.id} was admitted for a version that is past`));
    else this.#noteRefusal(stale.code);
  }

  async #typeWay(operation: OperationRecord, principal: Principal): Promise<void> {
    const { random, type } = this.#parts;
    const ways = waysOfOperation(operation);
    if (ways.length === 0) return;
    const { command } = random.pick(ways);
    const { conversationId } = operation;
    await type({ text: command, conversationId, principal });
  }

  #noteRefusal(code: string): void {
    const { reached } = this.#parts;
    if (code === 'version_conflict') reached('admission_stale');
    else if (code === 'forbidden') reached('admission_forbidden');
    else reached('admission_refused');
  }

  /** M-9: whoever asks is told how it stands, and never the error itself. */
  async #askStatus(): Promise<void> {
    const { random, sender, conversations, broken, reached } = this.#parts;
    const all = conversations();
    if (all.length === 0) return;
    const conversationId = random.pick(all);
    const ask = async (engine: Engine): Promise<{ readonly kind: 'status' }> => {
      try {
        const status = await engine.recoveryStatus(conversationId);
        if (status.state === 'blocked' && status.ways.length === 0)
          broken(new Error(`M-9 ${status.operation?.id} is blocked without a way out`));
        if (status.state !== 'none') reached('status_asked');
      } catch (error) {
        if (error instanceof Fault) throw error;
        broken(new Error(`M-9 the status of ${conversationId} threw: ${String(error)}`));
      }
      return { kind: 'status' };
    };
    await sender.insist('status', ask);
  }
}
