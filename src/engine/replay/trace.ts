import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import { hostName } from '../../kernel/principal.ts';
import {
  dataIn,
  eventEntry,
  finishEntry,
  startEntry,
  wordIn,
  type Companions,
  type Entry,
} from './entry.ts';
import type { Recording } from './recording.ts';

/** The history of a conversation, in the order in which it was committed. */
export interface Trace {
  readonly recording: Recording;
  readonly entries: readonly Entry[];
  readonly step: (id: string) => StepRecord | undefined;
  /** The further tries of a model step, in order. */
  readonly retries: (stepId: string) => readonly Entry[];
  readonly turn: (id: string) => TurnRecord | undefined;
  /** Who wrote the entry at this place. */
  readonly writer: (place: number) => string;
}

/** Why a conversation cannot be replayed, and from which event on. */
export interface Obstacle {
  readonly seq: number;
  readonly code: ObstacleCode;
  readonly detail: string;
}
export type ObstacleCode =
  | 'gap'
  | 'no_answer'
  | 'imported'
  | 'worker'
  | 'elsewhere'
  | 'hosts'
  | 'order';

/** Lays the records of a conversation out, or says that one of them is missing. */
export function traceOf(recording: Recording): Trace | Obstacle {
  const steps = new Map(recording.step.map((step) => [step.id, step]));
  const turns = new Map(recording.turn.map((turn) => [turn.id as string, turn]));
  const companions = companionsOf(recording);
  const entries = [
    ...recording.event.map((event) => eventEntry(event, companions)),
    ...recording.step.map(startEntry),
    ...recording.step.map(finishEntry).filter((entry) => entry !== undefined),
  ].toSorted((one, other) => one.seq - other.seq);
  const retries = Map.groupBy(
    entries.filter(({ type }) => type === 'model.retried'),
    (entry) => wordIn(dataIn(entry), 'stepId'),
  );
  const gap = entries.findIndex(({ seq }, index) => seq !== index + 1);
  const last = recording.conversation.seq;
  if (gap !== -1) return { seq: gap + 1, code: 'gap', detail: String(gap + 1) };
  if (entries.length < last)
    return { seq: entries.length + 1, code: 'gap', detail: String(entries.length + 1) };
  const empty = recording.step.find(({ state, output }) => state === 'finished' && output === null);
  if (empty !== undefined)
    return { seq: empty.finishedSeq ?? empty.seq, code: 'no_answer', detail: empty.kind };
  return {
    recording,
    entries,
    step: (id) => steps.get(id),
    retries: (stepId) => retries.get(stepId) ?? [],
    turn: (id) => turns.get(id),
    writer: (place) => writerOf(entries, place, turns),
  };
}

/** A step says nothing of its writer: an event of the same commit does, else its turn's host wrote it. */
function writerOf(
  entries: readonly Entry[],
  place: number,
  turns: ReadonlyMap<string, TurnRecord>,
): string {
  const { at, by, facts } = entries[place] as Entry;
  if (by !== null) return by;
  for (let next = place + 1; entries[next]?.at === at; next += 1) {
    const found = entries[next]?.by ?? null;
    if (found !== null) return found;
  }
  const turn = turns.get(wordIn(facts, 'turnId'));
  return turn === undefined ? '' : hostName(turn.hostId);
}

function companionsOf(recording: Recording): Companions {
  const outbox = byId(recording.outbox);
  const message = byId(recording.message);
  const approval = byId(recording.approval);
  const task = byId(recording.task);
  return {
    outbox: (id) => outbox.get(id),
    message: (id) => message.get(id),
    approval: (id) => approval.get(id),
    task: (id) => task.get(id),
    opened: () => recording.conversation,
  };
}

function byId<T extends { readonly id: string }>(records: readonly T[]): ReadonlyMap<string, T> {
  return new Map(records.map((record) => [record.id, record]));
}
