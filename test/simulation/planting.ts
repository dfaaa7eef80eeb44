// How a defect is planted: between the engine and its ports, never in the product. What a careless
// change of a unit would do is done to the unit on its way to the store.
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { TurnRecord } from '../../src/core/turn/record.ts';
import type { EngineParts } from '../../src/engine/engine.ts';
import type { Store, Unit, UnitReads, Write } from '../../src/ports/store.ts';
import type { Tools } from '../../src/ports/tools.ts';
import type { Epoch, Scheduler } from '../../src/testing/scheduler.ts';

export interface Defect {
  readonly name: string;
  /** What a problem of the seed that catches it says: for its own reason, not by accident. */
  readonly breaks: RegExp;
  readonly store?: (store: Store, host: DefectHost) => Store;
  readonly parts?: (parts: EngineParts) => EngineParts;
}

/** What a defect needs of a claim's verdict. */
export interface Claimed {
  readonly turn: TurnRecord;
  readonly task: TaskRecord;
}

export interface DefectHost {
  readonly epoch: Epoch;
  readonly scheduler: Scheduler;
}

export type Loose = Record<string, unknown>;
export type RowsChange = (rows: Loose) => Loose;
export type WritesChange = (writes: readonly Write[], rows: Loose) => readonly Write[];
export interface Change {
  readonly rows?: RowsChange;
  readonly writes?: WritesChange;
}

/** A store on the way to which every unit of this name is changed. */
export function inUnit(name: string, change: Change): NonNullable<Defect['store']> {
  return (store) => ({
    traits: store.traits,
    query: (read, args) => store.query(read, args),
    close: () => store.close(),
    commit: (unit) => store.commit(unit.name === name ? changed(unit, change) : unit),
  });
}

function changed<R extends UnitReads, V>(unit: Unit<R, V>, change: Change): Unit<R, V> {
  return {
    name: unit.name,
    reads: unit.reads,
    decide: (given, at) => {
      const rows = (change.rows?.({ ...given }) ?? given) as typeof given;
      const { verdict, writes } = unit.decide(rows, at);
      return { verdict, writes: change.writes?.(writes, rows) ?? writes };
    },
  };
}

/** A row of `rows` with some fields changed; absent rows stay absent. */
export function patch(name: string, fields: Loose): RowsChange {
  return (rows) =>
    rows[name] === undefined ? rows : { ...rows, [name]: { ...(rows[name] as Loose), ...fields } };
}

export const without =
  (...names: readonly Write['write'][]): WritesChange =>
  (writes) =>
    writes.filter((write) => !names.includes(write.write));

export function mapWrite<N extends Write['write']>(
  name: N,
  change: (write: Extract<Write, { write: N }>) => Write,
): WritesChange {
  return (writes) =>
    writes.map((write) =>
      write.write === name ? change(write as Extract<Write, { write: N }>) : write,
    );
}

/** Tools that are changed on the way to the engine. */
export function withTools(change: (tools: Tools) => Tools): NonNullable<Defect['parts']> {
  return (parts) => {
    const [first, ...rest] = parts.agents;
    return { ...parts, agents: [{ ...first, tools: change(first.tools) }, ...rest] };
  };
}

/** The notice of a unit once more, at the next place. */
export function tellTwice(writes: readonly Write[]): readonly Write[] {
  const notice = writes.find((write) => write.write === 'outbox.insert');
  const event = writes.find(
    (write) => write.write === 'event.insert' && write.row.type === 'notice.queued',
  );
  const lock = writes.find((write) => write.write === 'conversation.advance');
  if (notice?.write !== 'outbox.insert' || event?.write !== 'event.insert') return writes;
  if (lock?.write !== 'conversation.advance') return writes;
  const seq = lock.seq + 1;
  const id = `${notice.row.id}Z` as const;
  return [
    ...writes.filter((write) => write !== lock),
    { ...lock, seq },
    {
      ...event,
      row: { ...event.row, seq, id: `${event.row.id}Z`, data: JSON.stringify({ outboxId: id }) },
    },
    { ...notice, row: { ...notice.row, seq, id, key: `${notice.row.key}:again` } },
  ];
}
