// V1, V2 and T-10 over the rows: one entry for an external id, one task and one turn for an entry.
import type { MessageRecord } from '../../src/core/inbox/record.ts';
import type { EventRecord } from '../../src/core/session/record.ts';
import { dataOf, group, type Dump } from './dump.ts';
import { Problems } from './problems.ts';

export function judgeInbox(dump: Dump, bound: ReadonlySet<string>): readonly string[] {
  const problems = new Problems();
  for (const [key, twins] of group(dump.messages, (one) => `${one.channel} ${one.externalId}`)) {
    problems.unless(twins.length === 1, () => `V1 ${key} is in the inbox ${twins.length} times`);
  }
  const claims = claimsOf(dump);
  const known = {
    tasks: new Set<string | null>(dump.tasks.map((task) => task.id)),
    turns: new Set<string | null>(dump.turns.map((turn) => turn.id)),
  };
  const replies = new Set<string | null>(
    dump.outbox.filter((entry) => entry.kind === 'reply').map((entry) => entry.id),
  );
  for (const message of dump.messages) {
    const by = claims.get(message.id) ?? [];
    if (message.kind === 'command') {
      problems.unless(by.length === 0, () => `V2 the command ${message.id} was claimed by a turn`);
      continue;
    }
    judgeClaims(problems, message, { by, known });
    const isSeen = by.length > 0 || !replies.has(message.answerId);
    problems.unless(isSeen, () => `V2 ${message.id} was answered and no turn saw it`);
  }
  judgeTaskOrigins(problems, dump);
  judgeInboxOrder(problems, dump, bound);
  return problems.found;
}

interface Known {
  readonly tasks: ReadonlySet<string | null>;
  readonly turns: ReadonlySet<string | null>;
}

function judgeClaims(
  problems: Problems,
  message: MessageRecord,
  { by, known }: { readonly by: readonly EventRecord[]; readonly known: Known },
): void {
  const { state, taskId, turnId } = message;
  const where = `${message.id} (${state})`;
  const claim = by[0];
  problems.unless(by.length <= 1, () => `V2 ${where} was claimed by ${by.length} turns`);
  problems.unless(state !== 'unclaimed' || by.length === 0, () => `V2 ${where} was claimed before`);
  problems.unless(state !== 'claimed' || by.length > 0, () => `V2 no turn claimed ${where}`);
  problems.unless(turnId === null || known.turns.has(turnId), () => `V2 ${where} has no turn`);
  problems.unless(taskId === null || known.tasks.has(taskId), () => `V1 ${where} has no task`);
  const isOfItsTask = claim === undefined || claim.taskId === taskId;
  problems.unless(isOfItsTask, () => `V1 ${where} of ${taskId} was claimed for ${claim?.taskId}`);
}

/** The events that claimed each message. */
function claimsOf(dump: Dump): ReadonlyMap<string, readonly EventRecord[]> {
  const claims = new Map<string, EventRecord[]>();
  for (const event of dump.events) {
    if (event.type !== 'turn.started' && event.type !== 'turn.continued') continue;
    for (const id of claimedBy(event)) claims.set(id, [...(claims.get(id) ?? []), event]);
  }
  return claims;
}

function claimedBy(event: EventRecord): readonly string[] {
  return dataOf(event)['messageIds'] as readonly string[];
}

/** V1: every task was made once, by an entry that is bound to it. */
function judgeTaskOrigins(problems: Problems, dump: Dump): void {
  const made = dump.events.filter((event) => event.type === 'task.created');
  const created = group(made, (event) => event.taskId);
  const bound = group(dump.messages, (message) => message.taskId);
  for (const { id } of dump.tasks) {
    problems.unless(created.get(id)?.length === 1, () => `V1 ${id} was not made exactly once`);
    problems.unless(bound.has(id), () => `V1 ${id} was made from no message`);
  }
  problems.unless(created.size === dump.tasks.length, () => 'V1 a task was made and is gone');
}

/** T-10: no turn takes up an input while an earlier one, free of any task, waits. */
function judgeInboxOrder(problems: Problems, dump: Dump, bound: ReadonlySet<string>): void {
  const messages = new Map(dump.messages.map((message) => [message.id as string, message]));
  const free = group(
    dump.messages.filter(
      (one) => one.kind === 'genuine' && one.runId === null && !bound.has(one.id),
    ),
    (one) => one.conversationId,
  );
  for (const event of dump.events) {
    if (event.type !== 'turn.started') continue;
    const head = messages.get(claimedBy(event)[0] ?? '');
    if (head === undefined) continue;
    const waited = (free.get(event.conversationId) ?? []).find(
      (one) => one.seq < head.seq && (one.claimedSeq ?? 0) > event.seq,
    );
    problems.unless(
      waited === undefined,
      () => `T-10 ${head.id} was taken up before ${waited?.id}`,
    );
  }
}
