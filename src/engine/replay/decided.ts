import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { OutboxRecord } from '../../core/outbox/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord } from '../../core/turn/record.ts';
import { canonicalJson, type JsonObject } from '../../kernel/json.ts';
import type { Write } from '../../ports/store.ts';
import { eventEntry, finishEntry, startEntry, type Companions, type Entry } from './entry.ts';
import type { Comparison } from './names.ts';

/** What the writes of a decision add to the history of their conversation, in its order. */
export function entriesOf(writes: readonly Write[]): readonly Entry[] {
  const companions = companionsIn(writes);
  const entries: Entry[] = [];
  for (const write of writes) {
    if (write.write === 'event.insert') entries.push(eventEntry(write.row, companions));
    else if (write.write === 'step.insert') entries.push(...stepEntries(write.row));
    else if (write.write === 'step.finish') entries.push(...stepEntries(write.row).slice(1));
  }
  return entries.toSorted((one, other) => one.seq - other.seq);
}

/** A call that waits for a person is journalled and over in one commit. */
function stepEntries(step: StepRecord): readonly Entry[] {
  const finished = finishEntry(step);
  return finished === undefined ? [startEntry(step)] : [startEntry(step), finished];
}

function companionsIn(writes: readonly Write[]): Companions {
  const found = new Map<string, unknown>();
  let opened: ConversationRecord | undefined;
  for (const write of writes) {
    if (!('row' in write) || !INSERTS.has(write.write)) continue;
    if (write.write === 'conversation.insert') opened = write.row;
    else if ('id' in write.row) found.set(write.row.id, write.row);
  }
  return {
    outbox: (id) => found.get(id) as OutboxRecord | undefined,
    message: (id) => found.get(id) as MessageRecord | undefined,
    approval: (id) => found.get(id) as ApprovalRecord | undefined,
    task: (id) => found.get(id) as TaskRecord | undefined,
    opened: () => opened,
  };
}

const INSERTS: ReadonlySet<string> = new Set([
  'conversation.insert',
  'outbox.insert',
  'message.insert',
  'approval.insert',
  'task.insert',
]);

/** How far a decision is the record's: all of it, or so many entries until one differs. */
export interface Fit {
  readonly isWhole: boolean;
  readonly alike: number;
}

/** Holds what a decision adds against what the record has from its place on. */
export function fitOf(
  recorded: readonly Entry[],
  here: readonly Entry[],
  comparison: Comparison,
): Fit {
  let alike = 0;
  for (const [index, entry] of here.entries()) {
    const there = recorded[index];
    if (there === undefined || differingFields(there, entry, comparison).length > 0)
      return { isWhole: false, alike };
    alike += 1;
  }
  return { isWhole: true, alike };
}

/** The fields in which two entries of one place differ; `type` and `seq` among them. */
function differingFields(recorded: Entry, here: Entry, comparison: Comparison): readonly string[] {
  if (recorded.seq !== here.seq) return ['seq'];
  if (recorded.type !== here.type) return ['type'];
  const fields = differing(recorded.facts, here.facts, comparison);
  if (here.said === null || recorded.said === null)
    return idsAlike(recorded, here, comparison, fields);
  return idsAlike(recorded, here, comparison, [
    ...fields,
    ...differing(recorded.said, here.said, comparison),
  ]);
}

function idsAlike(
  recorded: Entry,
  here: Entry,
  comparison: Comparison,
  fields: readonly string[],
): readonly string[] {
  // Steps are named by the ids of their events.
  if (fields.length > 0 || comparison.isAlike(recorded.id, here.id)) return fields;
  return ['id'];
}

function differing(
  recorded: JsonObject,
  here: JsonObject,
  comparison: Comparison,
): readonly string[] {
  const names = new Set([...Object.keys(recorded), ...Object.keys(here)]);
  return [...names].filter((name) => {
    const [one, other] = [recorded[name] ?? null, here[name] ?? null];
    return !comparison.isAlike(canonicalJson(one), canonicalJson(other));
  });
}
