import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const RESULT = 'x'.repeat(200);
export const STEPS_PER_WORKFLOW = 10;

/**
 * The floor: a checkpoint written by hand on the same disk with the same durability. A workflow is a
 * row that is made, moved on by each step under the guard of its place, and ended; each of its ten steps
 * of 200 bytes is a row. An insert and an update a step, durable before the next begins; what is ready
 * in one turn of the event loop shares one commit.
 */
export class Floor {
  readonly #db: DatabaseSync;
  readonly #workflows: number;
  #next = 1;
  #waiting: { readonly write: () => void; readonly done: () => void }[] = [];

  constructor(folder: string, workflows: number) {
    this.#db = new DatabaseSync(join(folder, 'floor.db'));
    this.#db.exec(`
      pragma page_size = 2048; pragma journal_mode = wal; pragma synchronous = full;
      pragma wal_autocheckpoint = 4000;
      create table workflow (id integer primary key, state text, place integer) strict;
      create table step (workflow integer, ordinal integer, result text,
        primary key (workflow, ordinal)) strict, without rowid`);
    this.#workflows = workflows;
  }

  /** Runs `rounds` workflows after one another in each lane; gives steps per second. */
  async run(rounds: number): Promise<number> {
    const begin = this.#db.prepare(`insert into workflow values (?, 'running', 0)`);
    const step = this.#db.prepare('insert into step values (?, ?, ?)');
    const advance = this.#db.prepare(
      'update workflow set place = ?, state = ? where id = ? and place = ?',
    );
    const began = performance.now();
    const lane = async (): Promise<void> => {
      for (let round = 0; round < rounds; round += 1) {
        const id = this.#next++;
        for (let ordinal = 0; ordinal < STEPS_PER_WORKFLOW; ordinal += 1) {
          await this.#commit(() => {
            if (ordinal === 0) begin.run(id);
            step.run(id, ordinal, RESULT);
            const state = ordinal === STEPS_PER_WORKFLOW - 1 ? 'done' : 'running';
            if (advance.run(ordinal + 1, state, id, ordinal).changes !== 1) throw new Error('lost');
          });
        }
      }
    };
    await Promise.all(Array.from({ length: this.#workflows }, lane));
    const seconds = (performance.now() - began) / 1000;
    return (this.#workflows * rounds * STEPS_PER_WORKFLOW) / seconds;
  }

  close(): void {
    this.#db.close();
  }

  #commit(write: () => void): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ write, done });
      if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    const group = this.#waiting;
    this.#waiting = [];
    this.#db.exec('begin immediate');
    for (const { write } of group) write();
    this.#db.exec('commit');
    for (const { done } of group) done();
  }
}
