// The events of one world, each read once: they are most of the rows, and none of them ever changes.
import type { DatabaseSync } from 'node:sqlite';
import type { ConversationRecord, EventRecord } from '../../src/core/session/record.ts';
import { rowsOf, type Rows } from './rows.ts';

export class KeptEvents {
  readonly #all: Rows<EventRecord>;
  readonly #after: Rows<EventRecord>;
  readonly #count: Rows<never>;
  /** By conversation, each in its order. */
  #kept = new Map<string, EventRecord[]>();
  #size = 0;

  constructor(db: DatabaseSync) {
    this.#all = rowsOf(db, 'select * from "event" order by conversation_id, seq');
    this.#after = rowsOf(
      db,
      'select * from "event" where conversation_id = ? and seq > ? order by seq',
    );
    this.#count = rowsOf(db, 'select count(*) from "event"');
  }

  /** All events by conversation and place; only those behind the last known place are read. */
  read(conversations: readonly Pick<ConversationRecord, 'id'>[]): readonly EventRecord[] {
    for (const { id } of conversations) {
      const kept = this.#kept.get(id) ?? [];
      const found = this.#after.all(id, kept.at(-1)?.seq ?? 0);
      if (found.length > 0) this.#kept.set(id, [...kept, ...found]);
      this.#size += found.length;
    }
    // One that came before a known place, or is gone, is none that this would see.
    if (this.#size !== this.#count.firstColumn()[0]) this.#keep(this.#all.all());
    const ids = [...this.#kept.keys()].toSorted();
    return ids.flatMap((id) => this.#kept.get(id) ?? []);
  }

  /** Reads all of them again; says which differ from what was read before. */
  again(): readonly string[] {
    const known = new Map([...this.#kept.values()].flat().map((event) => [event.id, event]));
    const found = this.#all.all();
    const problems: string[] = [];
    for (const event of found) {
      const before = known.get(event.id);
      known.delete(event.id);
      if (before !== undefined && !isEqual(before, event))
        problems.push(`event ${event.id} is not what it was`);
    }
    for (const id of known.keys()) problems.push(`event ${id} is gone`);
    this.#keep(found);
    return problems;
  }

  #keep(events: readonly EventRecord[]): void {
    this.#kept = Map.groupBy(events, (event) => event.conversationId);
    this.#size = events.length;
  }
}

function isEqual(one: EventRecord, other: EventRecord): boolean {
  const names = Object.keys(one) as (keyof EventRecord)[];
  return names.every((name) => one[name] === other[name]);
}
