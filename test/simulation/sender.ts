// How the world outside reaches the hosts: one request to whichever answers, patience, and another try.
import { Fault, type Refusal } from '../../src/kernel/fault.ts';
import { SECOND } from '../../src/kernel/time.ts';
import type { Accepted, AcceptedRun, Engine } from '../../src/engine/engine.ts';
import { Epoch, type Scheduler } from '../../src/testing/scheduler.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { StoreWeather } from './faulty-store.ts';
import type { History, Sent } from './history.ts';
import type { Look } from './look.ts';
import type { Sometime } from './sometimes.ts';

export interface SenderParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly weather: StoreWeather;
  readonly history: History;
  readonly look: Look;
  /** A host that takes requests now, if any. */
  readonly host: () => Engine | undefined;
  readonly reached: (name: Sometime) => void;
  /** Something was thrown that is no fault. */
  readonly broken: (error: unknown) => void;
}

export type Reply = Accepted | AcceptedRun | Refusal;
export type Send = (engine: Engine, body: string) => Promise<Reply>;
type Heard<T> = { readonly kind: 'heard'; readonly value: T } | { readonly kind: 'silence' };

/** Refusals after which a sender does not try again. */
const FINAL: ReadonlySet<string> = new Set([
  'run_ended',
  'not_found',
  'forbidden',
  'idempotency_conflict',
]);

/** How a message is to be delivered. */
export interface Delivery {
  readonly body: string;
  readonly byKey: boolean;
  readonly send: Send;
}

export class Sender {
  readonly epoch = new Epoch('client');
  readonly #parts: SenderParts;
  #open = 0;
  #markers = 0;
  #lastArrived = 0;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** True once every action has come to its end. */
  get isDone(): boolean {
    return this.#open === 0;
  }

  do(action: () => Promise<void>): void {
    this.#open += 1;
    void this.#counted(action);
  }

  async #counted(action: () => Promise<void>): Promise<void> {
    try {
      await action();
      this.#open -= 1;
    } catch (error) {
      this.#parts.broken(error);
    }
  }

  /** A message that is not sent yet, under a marker of its own. */
  sent(kind: Sent['kind']): Sent {
    this.#markers += 1;
    const marker = `#${this.#markers}#`;
    const sent: Sent = { marker, kind, key: `key ${this.#markers}`, acks: [], refused: null };
    this.#parts.history.sent.set(marker, sent);
    return sent;
  }

  /** Sends until it is acknowledged or refused for good, then perhaps again and in another body. */
  async deliver(sent: Sent, delivery: Delivery): Promise<void> {
    const { random, weather, reached } = this.#parts;
    const order = this.#markers;
    if (random.chance(weather.faults.reorder))
      await this.pause('detour', random.below(20 * SECOND));
    for (;;) {
      const heard = await this.#ask(sent.marker, (engine) => delivery.send(engine, delivery.body));
      if (heard.kind === 'heard' && this.#note(sent, heard.value)) {
        // The channel may miss the acknowledgement and deliver again.
        if (!random.chance(weather.faults.lostAck)) break;
        reached('duplicate_redelivery');
      }
      await this.pause('retry', random.between(100, 10_000));
    }
    if (order < this.#lastArrived) reached('reordered');
    this.#lastArrived = Math.max(order, this.#lastArrived);
    if (sent.acks.length === 0) return;
    if (random.chance(weather.faults.duplicate)) await this.#again(sent, delivery);
  }

  async #again(sent: Sent, first: Delivery): Promise<void> {
    const { random, weather, reached } = this.#parts;
    await this.pause('redelivery', random.below(random.pick([SECOND, 120 * SECOND])));
    const other = random.chance(weather.faults.otherBody) && sent.kind !== 'command';
    const body = other ? `instead do ${sent.marker} differently` : first.body;
    reached('duplicate_redelivery');
    const heard = await this.#ask(`${sent.marker} again`, (engine) => first.send(engine, body));
    if (heard.kind === 'silence') return;
    if (sent.kind === 'run') reached('idempotent_run');
    if (other && first.byKey) {
      const isRefused = heard.value.kind === 'refused';
      if (isRefused && heard.value.code === 'idempotency_conflict') reached('idempotency_conflict');
      return;
    }
    if (other) reached('same_id_other_body');
    this.#note(sent, heard.value);
  }

  /** True when the sender is done with it. */
  #note(sent: Sent, reply: Reply): boolean {
    if (reply.kind === 'refused') {
      if (sent.acks.length > 0 && !FINAL.has(reply.code)) return false;
      if (FINAL.has(reply.code)) sent.refused = reply.code;
      return FINAL.has(reply.code);
    }
    const run =
      'runId' in reply
        ? { runId: reply.runId, taskId: reply.taskId }
        : { runId: null, taskId: null };
    const { messageId, conversationId, repeated } = reply;
    const durable = this.#parts.look.hasMessage(messageId);
    sent.acks.push({ messageId, conversationId, repeated, durable, ...run });
    return true;
  }

  /** Asks until there is an answer that is not a passing "no"; `isVersioned`: a stale version is a last word. */
  async insist<T>(
    label: string,
    send: (engine: Engine) => Promise<T>,
    isVersioned = false,
  ): Promise<T> {
    const isLast = (value: unknown): boolean =>
      !isPassing(value) || (isVersioned && codeOf(value) === 'version_conflict');
    for (;;) {
      const heard = await this.#ask(label, send);
      if (heard.kind === 'heard' && isLast(heard.value)) return heard.value;
      await this.pause('retry', this.#parts.random.between(100, 10_000));
    }
  }

  /** One request to whichever host answers; silence when none does, or when it takes too long. */
  async #ask<T>(label: string, send: (engine: Engine) => Promise<T>): Promise<Heard<T>> {
    const { random } = this.#parts;
    await this.pause(`send ${label}`, random.below(50));
    const engine = this.#parts.host();
    if (engine === undefined) return { kind: 'silence' };
    const patience = new AbortController();
    const tooLong = this.pause('patience', random.pick([2, 10, 30]) * SECOND, patience.signal);
    const heard = send(engine).then(
      (value): Heard<T> => ({ kind: 'heard', value }),
      (error: unknown): Heard<T> => {
        if (error instanceof Fault) return { kind: 'silence' };
        throw error;
      },
    );
    const first = await Promise.race([heard, tooLong.then((): Heard<T> => ({ kind: 'silence' }))]);
    patience.abort();
    return first;
  }

  pause(label: string, ms: number, signal?: AbortSignal): Promise<void> {
    const call = { epoch: this.epoch, label: `client ${label}`, delay: ms, signal };
    return this.#parts.scheduler.call(call, () => undefined);
  }

  /** Looks each second, then ever more seldom; false when it did not come to hold for so many looks. */
  async waitFor(holds: () => boolean, looks = Infinity): Promise<boolean> {
    for (let count = 0; !holds(); count += 1) {
      if (count >= looks) return false;
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      await this.pause('wait', Math.min(1 + count / 20, 30) * SECOND);
    }
    return true;
  }
}

function isPassing(value: unknown): boolean {
  return ['draining', 'store_failed', 'disk_full', 'version_conflict'].includes(codeOf(value));
}

/** The code of a refusal; empty of everything else. */
function codeOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return '';
  return value.kind === 'refused' && 'code' in value ? String(value.code) : '';
}
