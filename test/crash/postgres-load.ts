// People who send to two hosts of one installation, whatever becomes of the hosts and of their store.
import { setTimeout as pause } from 'node:timers/promises';
import { ApiProblem, type Client } from '../../src/client/client.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { Pair } from './postgres-pair.ts';

const LANES = 5;
/** Cycles of a lane in one conversation: what a cut task has done stays among what its next turn is shown. */
const ROOM_MESSAGES = 4;
const PADDING = 'and so on '.repeat(250);
const AGAIN_MS = 100;
/** How long everything may take to be answered once nothing is broken any more. */
const SETTLE_MS = 180_000;

export class Load {
  /** Acknowledged messages: their number by their id. */
  readonly acked = new Map<string, number>();
  readonly #pair: Pair;
  readonly #random: Random;
  readonly #over = new AbortController();
  #lanes: Promise<void>[] = [];
  #next = 0;
  #rooms = 0;
  #tried = 0;
  #failed = 0;

  constructor(pair: Pair, random: Random) {
    this.#pair = pair;
    this.#random = random;
  }

  /** Calls that were made, and those of them that no host or no store answered. */
  get calls(): { readonly tried: number; readonly failed: number } {
    return { tried: this.#tried, failed: this.#failed };
  }

  begin(): void {
    this.#lanes = Array.from({ length: LANES }, () => this.#drive());
    this.#lanes.push(this.#attend());
    // Whoever waits for the load is told; until then it is nobody's rejection.
    for (const lane of this.#lanes) lane.catch(() => undefined);
  }

  /** Sends nothing more, and resolves when all that was acknowledged is answered. */
  async settle(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#lanes);
    const end = Date.now() + SETTLE_MS;
    for (const id of this.acked.keys()) {
      while (!(await this.#isAnswered(id))) {
        if (Date.now() > end)
          throw new Error(`message ${id} is not answered: ${await this.#why(id)}`);
        await this.#reopen();
        await pause(AGAIN_MS);
      }
    }
    // What makes room in a conversation whose messages are all answered may still wait for its next try.
    while (await this.#isMaintained()) {
      if (Date.now() > end) throw new Error('a conversation is still maintained');
      await this.#reopen();
      await pause(AGAIN_MS);
    }
  }

  async #isMaintained(): Promise<boolean> {
    for (const state of ['running', 'waiting', 'blocked'] as const) {
      // oxlint-disable-next-line no-await-in-loop -- the first that is there is enough
      const { items } = await this.#call((client) => client.operations({ state, limit: 1 }));
      if (items.length > 0) return true;
    }
    return false;
  }

  /** Resolves when so many messages are acknowledged. Rejects with what ended a lane. */
  async acknowledged(count: number): Promise<void> {
    const lanes = Promise.all(this.#lanes);
    while (this.acked.size < count) await Promise.race([lanes, pause(AGAIN_MS)]);
  }

  /** How long it takes from now until something new is committed and acknowledged. */
  async writableMs(): Promise<number> {
    const began = performance.now();
    await this.#room();
    return performance.now() - began;
  }

  async #drive(): Promise<void> {
    let room = '';
    for (let sent = 0; !this.#over.signal.aborted; sent += 1) {
      if (sent % ROOM_MESSAGES === 0) room = await this.#room();
      const ids = [await this.#send(room), await this.#send(room)];
      for (const id of ids) {
        while (!this.#over.signal.aborted && !(await this.#isAnswered(id))) await pause(AGAIN_MS);
      }
    }
  }

  async #room(): Promise<string> {
    this.#rooms += 1;
    const order = { channel: 'terminal', address: `room-${this.#rooms}` } as const;
    return (await this.#call((client) => client.openConversation(order))).id;
  }

  /** The same key until it is acknowledged, whichever host is asked. */
  async #send(room: string): Promise<string> {
    this.#next += 1;
    const number = this.#next;
    const body = { text: `job ${number}: ${PADDING}` };
    const once = { idempotencyKey: `job-${number}` };
    const { messageId } = await this.#call((client) => client.postMessage(room, body, once));
    this.acked.set(messageId, number);
    return messageId;
  }

  async #isAnswered(id: string): Promise<boolean> {
    const message = await this.#call((client) => client.message(id));
    const { taskId, state } = message;
    if (taskId === null || state !== 'done') return false;
    return (await this.#call((client) => client.task(taskId))).state === 'completed';
  }

  async #why(id: string): Promise<string> {
    const message = await this.#call((client) => client.message(id));
    const { taskId } = message;
    const task = taskId === null ? null : await this.#call((client) => client.task(taskId));
    return JSON.stringify({ message, task });
  }

  /** An admin who looks after what is blocked while the load runs. */
  async #attend(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.#reopen();
      await pause(500);
    }
  }

  async #reopen(): Promise<void> {
    const blocked = { state: 'blocked', limit: 200 } as const;
    const tasks = await this.#call((client) => client.tasks(blocked));
    for (const { id } of tasks.items) await this.#order((client) => client.resetBudget(id));
    const operations = await this.#call((client) => client.operations(blocked));
    for (const { id, version } of operations.items) {
      const order = { contractVersion: 1, expectedVersion: version, receiptId: `${id} ${version}` };
      await this.#order((client) => client.admit(id, { ...order, contractVersion: 1 }));
    }
  }

  /** An order that came too late says so: what was blocked goes on already. */
  async #order(give: (client: Client) => Promise<unknown>): Promise<void> {
    try {
      await this.#call(give);
    } catch (error) {
      if (!(error instanceof ApiProblem && error.status === 409)) throw error;
    }
  }

  /** Asks one of the hosts that run, until one answers. A "no" that is about the order is thrown. */
  async #call<T>(ask: (client: Client) => Promise<T>): Promise<T> {
    for (;;) {
      const { hosts } = this.#pair;
      this.#tried += 1;
      try {
        if (hosts.length > 0) return await ask(this.#random.pick(hosts).client);
      } catch (error) {
        if (error instanceof ApiProblem && error.status < 500 && error.status !== 429) throw error;
        if (error instanceof ApiProblem && error.code === 'internal') throw error;
      }
      this.#pair.assertStanding();
      this.#failed += 1;
      await pause(AGAIN_MS);
    }
  }
}
