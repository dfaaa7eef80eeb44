// A real engine before real models of scripted providers, on a clock that moves only when nothing else can.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { Engine, EngineOptions } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { HOUR, MINUTE, type Instant, type Millis } from '../../src/kernel/time.ts';
import type { Model } from '../../src/ports/model.ts';
import type { Store, Unit, UnitReads } from '../../src/ports/store.ts';
import { restOf, say, talkTo, wordsOf } from '../support/acts.ts';
import { Installation, OPTIONS } from '../support/host.ts';
import { ShakyStore } from '../support/store-faults.ts';
import { Provider, type Format } from './provider.ts';

type Row = Readonly<Record<string, unknown>>;

/** A lease as long as this makes the clock's steps few. */
const LEASE = { leaseMs: HOUR, leaseRenewMs: 20 * MINUTE };

export interface StageOptions {
  readonly options?: Partial<EngineOptions>;
}

/** One installation, its providers, and the host that runs now. */
export class Stage {
  readonly place = new Installation();
  readonly providers: Provider[] = [];
  #engine: Engine | undefined;
  #store: ShakyStore | undefined;
  #pending = 0;
  #chain: readonly Model[] = [];
  readonly #options: EngineOptions;

  constructor({ options }: StageOptions = {}) {
    this.#options = { ...OPTIONS, ...LEASE, ...options };
  }

  get engine(): Engine {
    assert.ok(this.#engine !== undefined, 'a host runs');
    return this.#engine;
  }

  get now(): Instant {
    return this.place.clock.now();
  }

  async provider(format: Format, name: string): Promise<Provider> {
    const provider = await Provider.open(format, name, this.place.clock);
    this.providers.push(provider);
    return provider;
  }

  /** Starts a host whose agent asks these models in order. */
  async start(chain: readonly Model[] = this.#chain): Promise<Engine> {
    const [model, ...fallbacks] = chain;
    assert.ok(model !== undefined);
    this.#chain = chain;
    this.#store = new ShakyStore(this.#counting(this.place.store));
    const options = this.#options;
    this.#engine = await this.place.host({ model, fallbacks, options, store: this.#store });
    return this.engine;
  }

  async restart(how: 'clean' | 'unclean'): Promise<Engine> {
    if (how === 'clean') await this.engine.stop(MINUTE);
    else this.kill();
    return this.start();
  }

  /** From here nothing of the host reaches the store: as after `kill -9`. */
  kill(): void {
    const store = this.#store;
    assert.ok(store !== undefined);
    store.mishap = () => 'hangs';
    store.onQuery = () => new Promise(() => {});
  }

  async close(): Promise<void> {
    await this.#engine?.stop(0);
    await Promise.all(this.providers.map((provider) => provider.close()));
  }

  /** Somebody's request in a conversation of its own. */
  async say(text = 'Pay the bill', address = text): Promise<ConversationId> {
    const conversationId = await talkTo(this.engine, address);
    await say(this.engine, conversationId, text);
    return conversationId;
  }

  /** Resolves when nothing goes on but what waits for the clock. */
  async quiet(): Promise<void> {
    for (let rounds = 0; rounds < 4;) {
      await new Promise(setImmediate);
      const busy = this.providers.some(({ open, held }) => open !== held) || this.#pending > 0;
      rounds = busy ? 0 : rounds + 1;
    }
  }

  /** Lets the clock go on from one sleeper to the next until this holds; fails when it never does in `most`. */
  async until(holds: () => Promise<boolean> | boolean, most: Millis = HOUR): Promise<void> {
    const last = this.now + most;
    for (;;) {
      await this.quiet();
      if (await holds()) return;
      const next = this.place.clock.nextIn ?? most;
      if (this.now >= last) assert.fail(`it never holds: ${holds.toString()}`);
      this.place.clock.advance(Math.min(next, last - this.now));
    }
  }

  /** Lets so much time pass, and all that is due in it happen. */
  async pass(ms: Millis): Promise<void> {
    const last = this.now + ms;
    await this.until(() => this.now >= last, ms);
  }

  /** Resolves when no turn runs and nothing is due. */
  async rest(): Promise<void> {
    await this.quiet();
    await restOf(this.engine);
  }

  async task(conversationId: ConversationId): Promise<TaskRecord> {
    const rows = await this.place.rows('task');
    const row = rows.findLast((one) => one['conversation_id'] === conversationId);
    assert.ok(row !== undefined, 'there is a task');
    const task = await this.place.store.query('task.byId', { id: row['id'] as TaskRecord['id'] });
    assert.ok(task !== undefined);
    return task;
  }

  /** The state of the newest task of a conversation: `waiting provider`, `failed model_refused`. */
  async standing(conversationId: ConversationId): Promise<string> {
    const { state, reason } = await this.task(conversationId);
    return reason === null ? state : `${state} ${reason}`;
  }

  async isIn(conversationId: ConversationId, ...standings: readonly string[]): Promise<boolean> {
    const rows = await this.place.rows('task');
    if (!rows.some((one) => one['conversation_id'] === conversationId)) return false;
    return standings.includes(await this.standing(conversationId));
  }

  /** What a conversation was told, in order: `reply: …` or the code of a notice. */
  async told(conversationId: ConversationId): Promise<readonly string[]> {
    const rows = await this.outbox(conversationId);
    return rows.map((row) =>
      row['kind'] === 'notice' ? String(row['code']) : `reply: ${wordsOf(row)}`,
    );
  }

  async outbox(conversationId: ConversationId): Promise<readonly Row[]> {
    const rows = await this.place.rows('outbox');
    return rows
      .filter((row) => row['conversation_id'] === conversationId)
      .toSorted((one, other) => Number(one['seq']) - Number(other['seq']));
  }

  /** Notices of this code to a conversation, in words. */
  async words(conversationId: ConversationId, code: string): Promise<readonly string[]> {
    const rows = await this.outbox(conversationId);
    return rows.filter((row) => row['code'] === code).map(wordsOf);
  }

  #counting(store: Store): Store {
    const counted = async <T>(work: Promise<T>): Promise<T> => {
      this.#pending += 1;
      return work.finally(() => (this.#pending -= 1));
    };
    return {
      traits: store.traits,
      commit: <R extends UnitReads, V>(unit: Unit<R, V>) => counted(store.commit<R, V>(unit)),
      query: (read, args) => counted(store.query(read, args)),
      close: () => Promise.resolve(),
    };
  }
}

/** A stage that ends with its test. */
export function openStage(t: TestContext, options?: StageOptions): Stage {
  const stage = new Stage(options);
  t.after(() => stage.close());
  return stage;
}
