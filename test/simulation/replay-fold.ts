// How records are replayed from events: what each type of event makes of the state before it.
import type { MessageRecord } from '../../src/core/inbox/record.ts';
import type { EventRecord } from '../../src/core/session/record.ts';
import type { StepRecord } from '../../src/core/turn/record.ts';
import { dataOf, group, type Dump } from './dump.ts';
import type { Problems } from './problems.ts';

export interface Evidence {
  readonly ofTask: ReadonlyMap<string, EventRecord[]>;
  readonly ofRun: ReadonlyMap<string, EventRecord[]>;
  readonly ofTurn: ReadonlyMap<string, EventRecord[]>;
  readonly ofConversation: ReadonlyMap<string, EventRecord[]>;
  readonly stepsOfTurn: ReadonlyMap<string, StepRecord[]>;
  readonly message: (id: unknown) => MessageRecord | undefined;
}

export function evidenceOf(dump: Dump): Evidence {
  const messages = new Map<unknown, MessageRecord>(dump.messages.map((one) => [one.id, one]));
  return {
    ofTask: group(dump.events, (event) => event.taskId),
    ofRun: group(dump.events, (event) => event.runId),
    ofTurn: group(dump.events, (event) => event.turnId),
    ofConversation: group(dump.events, (event) => event.conversationId),
    stepsOfTurn: group(dump.steps, (step) => step.turnId),
    message: (id) => messages.get(id),
  };
}

/** The messages that an event of a turn claimed. */
export function claimedBy(event: EventRecord, { message }: Evidence): readonly MessageRecord[] {
  const ids = dataOf(event)['messageIds'] as readonly unknown[];
  return ids.flatMap((id) => message(id) ?? []);
}

/** What each type of event makes of the state before it. */
export type Fold<S> = Readonly<
  Record<string, (state: S, event: EventRecord, evidence: Evidence) => S>
>;

export function fold<S>(
  events: readonly EventRecord[],
  fresh: S,
  how: Fold<S>,
  evidence: Evidence,
): S {
  return events.reduce((state, event) => how[event.type]?.(state, event, evidence) ?? state, fresh);
}

export function compare(
  problems: Problems,
  record: { readonly id: string },
  replayed: object,
): void {
  const fields = record as unknown as Readonly<Record<string, unknown>>;
  for (const [key, value] of Object.entries(replayed)) {
    // What begins so is the replay's own.
    if (key.startsWith('$')) continue;
    const say = (): string =>
      `V17 ${record.id}: ${key} is ${String(fields[key])}, its events say ${String(value)}`;
    problems.unless(fields[key] === value, say);
  }
}
