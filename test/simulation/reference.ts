// A small model of what a client may see. It knows messages, acknowledgements, answers and notices;
// it knows no engine, no turn and no fault.
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { Dump } from './dump.ts';
import { group } from './dump.ts';
import { isSilent } from './order-forms.ts';
import type { History, Sent } from './history.ts';

/** What is wrong at any moment with what was acknowledged so far. */
export function judgeAcks(history: History, dump: Dump): readonly string[] {
  const inbox = new Map(dump.messages.map((message) => [message.id as string, message]));
  const problems: string[] = [];
  for (const sent of history.sent.values()) {
    const ids = new Set(sent.acks.map((ack) => ack.messageId));
    if (ids.size > 1)
      problems.push(`V1 ${sent.marker} was acknowledged as ${[...ids].join(' and ')}`);
    const runs = new Set(sent.acks.map((ack) => ack.runId));
    if (runs.size > 1) problems.push(`V1 ${sent.marker} made the runs ${[...runs].join(' and ')}`);
    for (const ack of sent.acks) {
      if (!ack.durable)
        problems.push(`T-1 ${sent.marker} was acknowledged before it was in the inbox`);
      const message = inbox.get(ack.messageId);
      if (message === undefined) problems.push(`V2 ${sent.marker} was acknowledged and is lost`);
      else if (sent.kind !== 'command' && !message.text.includes(sent.marker)) {
        problems.push(`V1 ${sent.marker} was acknowledged as ${ack.messageId}, which is another's`);
      }
    }
  }
  return problems;
}

/** Answers that a client sees twice, at any moment. */
export function judgeAnswers(history: History, dump: Dump): readonly string[] {
  const replies = repliesByMarker(dump);
  const problems: string[] = [];
  for (const [marker, answers] of replies) {
    if (answers.length > 1) problems.push(`V2 ${marker} was answered ${answers.length} times`);
    if (!history.sent.has(marker)) problems.push(`V2 ${marker} was answered and never sent`);
  }
  const answered = dump.outbox.filter((entry) => entry.kind === 'answer');
  for (const [messageId, answers] of group(answered, (entry) => entry.subjectId)) {
    if (answers.length > 1)
      problems.push(`V2 command ${messageId} was answered ${answers.length} times`);
  }
  return problems;
}

/** What is owed once everything has come to rest: every acknowledged request has a last word (T-16). */
export function judgeRest(history: History, dump: Dump): readonly string[] {
  const replies = repliesByMarker(dump);
  const problems: string[] = [];
  for (const sent of history.sent.values()) {
    const ack = sent.acks[0];
    if (ack === undefined) {
      if (sent.refused === null)
        problems.push(`V20 ${sent.marker} was never acknowledged nor refused`);
      continue;
    }
    const word = lastWord(sent, ack.messageId, { dump, replies });
    if (word === 'none') {
      const message = dump.messages.find(({ id }) => id === ack.messageId);
      const task = dump.tasks.find(({ id }) => id === message?.taskId);
      const stands = `${message?.state}, its task ${task?.id} ${task?.state} ${task?.reason}`;
      problems.push(`T-16 ${sent.marker} (${sent.kind}) is ${stands} and got no last word`);
    }
  }
  const orders = [...judgeStops(history, dump), ...judgeRefusals(history, dump)];
  return [...problems, ...judgeRuns(dump), ...orders];
}

/** A run that ended shows its outcome. */
function judgeRuns(dump: Dump): readonly string[] {
  return dump.runs.flatMap((run) => {
    if (run.state === 'open') return [];
    const outcome = dump.outbox.find((entry) => entry.id === run.outcomeId);
    // The boundary's one summary speaks for all that it holds (B-10).
    if (outcome === undefined && run.outcomeCode === 'held_legacy') return [];
    if (outcome === undefined) return [`T-16 run ${run.id} is ${run.state} and shows nothing`];
    if (run.state !== 'completed' || outcome.kind === 'reply') return [];
    return [`T-16 run ${run.id} completed with a ${outcome.kind}`];
  });
}

/** Nobody is refused what they themselves brought about. */
function judgeRefusals(history: History, dump: Dump): readonly string[] {
  const done = new Set(
    dump.events
      .filter((event) => event.type === 'task.moved')
      .map((event) => `${event.by} ${event.taskId}`),
  );
  const wrong = history.refusedStops.filter(({ by, taskId }) => done.has(`${by} ${taskId}`));
  return wrong.map(({ by, taskId, code }) => `T-4 ${by} stopped ${taskId} and was told ${code}`);
}

/** What was reported as stopped stays stopped. */
function judgeStops(history: History, dump: Dump): readonly string[] {
  const states = new Map<string, string>(dump.tasks.map((task) => [task.id, task.state]));
  const gone = history.stops.filter(
    ({ taskId }) => !['stopped', 'cancelled'].includes(states.get(taskId) ?? ''),
  );
  return gone.map(
    ({ taskId }) => `V14 ${taskId} was reported as stopped and is ${states.get(taskId)}`,
  );
}

function lastWord(
  sent: Sent,
  messageId: string,
  seen: { readonly dump: Dump; readonly replies: ReadonlyMap<string, readonly string[]> },
): 'reply' | 'notice' | 'answer' | 'none' {
  const { dump, replies } = seen;
  if (replies.has(sent.marker)) return 'reply';
  const message = dump.messages.find((one) => one.id === messageId);
  if (message === undefined) return 'none';
  if (dump.outbox.some((entry) => entry.id === message.answerId)) return 'reply';
  if (sent.kind === 'command') return 'none';
  return isKept(dump, message) ? 'notice' : wordOfTask(dump, message.taskId);
}

/** Behind a fence that only an admin opens its conversation was told so (M-8). */
function isKept(
  { conversations, outbox }: Dump,
  { conversationId }: Pick<Dump['messages'][number], 'conversationId'>,
): boolean {
  const room = conversations.find(({ id }) => id === conversationId);
  if (room?.fence !== 'blocked') return false;
  return outbox.some(
    ({ subjectId, level }) => subjectId === room.operationId && level === 'blocked',
  );
}

/** What its task has said to its person, where the message itself got no answer. */
function wordOfTask(dump: Dump, taskId: string | null): ReturnType<typeof lastWord> {
  if (taskId === null) return 'none';
  const task = dump.tasks.find(({ id }) => id === taskId);
  const said = dump.outbox.filter((entry) => entry.taskId === taskId);
  if (said.some(({ kind }) => kind !== 'reply')) return 'notice';
  // What a task asks is its last word until it is answered.
  if (said.length > 0 && task?.waitKind === 'answer') return 'reply';
  if (task !== undefined && isListed(dump, task)) return 'notice';
  // `/stop` tells in its own answer what it stopped.
  return task?.state === 'stopped' ? 'answer' : 'none';
}

/** One summary speaks for all of history (B-10), and the doctor lists what an older version parked. */
function isListed(dump: Dump, task: TaskRecord): boolean {
  if (task.enrollment !== 'held-legacy') return isSilent(task);
  return dump.outbox.some(({ code }) => SUMMARIES.has(code ?? ''));
}

const SUMMARIES: ReadonlySet<string> = new Set(['held_legacy', 'restart_report']);

function repliesByMarker(dump: Dump): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const entry of dump.outbox) {
    if (entry.kind !== 'reply') continue;
    for (const marker of entry.text?.match(/#\d+#/g) ?? []) {
      found.set(marker, [...(found.get(marker) ?? []), entry.id]);
    }
  }
  return found;
}
