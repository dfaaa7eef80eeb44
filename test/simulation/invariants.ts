// What holds in every state that is reached, read off the rows alone. Each problem begins with the
// invariant or rule that it breaks.
import type { EventRecord } from '../../src/core/session/record.ts';
import type { StepRecord, TurnRecord } from '../../src/core/turn/record.ts';
import { dataOf, group, type Dump } from './dump.ts';
import type { Ledger } from './ledger.ts';

const ENDS: ReadonlySet<string> = new Set([
  'completed',
  'failed',
  'stopped',
  'cancelled',
  'expired',
]);

export function judgeRows(dump: Dump, ledger: Ledger): readonly string[] {
  return [
    ...judgeInbox(dump),
    ...judgeOrder(dump),
    ...judgeTurns(dump),
    ...judgeSteps(dump),
    ...judgeEffects(dump, ledger),
    ...judgeNotices(dump),
    ...judgeStopped(dump),
    ...judgeOutbox(dump),
  ];
}

/** V1 and V2: one entry for an external id, one task and one turn for an entry. */
function judgeInbox(dump: Dump): readonly string[] {
  const problems: string[] = [];
  for (const [key, twins] of group(dump.messages, (one) => `${one.channel} ${one.externalId}`)) {
    if (twins.length > 1) problems.push(`V1 ${key} is in the inbox ${twins.length} times`);
  }
  const claims = new Map<string, EventRecord[]>();
  for (const event of dump.events) {
    if (event.type !== 'turn.started' && event.type !== 'turn.continued') continue;
    for (const id of dataOf(event)['messageIds'] as string[]) {
      claims.set(id, [...(claims.get(id) ?? []), event]);
    }
  }
  const tasks = new Map(dump.tasks.map((task) => [task.id as string, task]));
  const turns = new Set(dump.turns.map((turn) => turn.id as string));
  for (const message of dump.messages) {
    const by = claims.get(message.id) ?? [];
    const where = `${message.id} (${message.state})`;
    if (by.length > 1) problems.push(`V2 ${where} was claimed by ${by.length} turns`);
    if (message.kind === 'command') {
      if (by.length > 0) problems.push(`V2 the command ${where} was claimed by a turn`);
      continue;
    }
    if (message.state === 'unclaimed' && by.length > 0)
      problems.push(`V2 ${where} was claimed before`);
    if (message.state === 'claimed' && by.length !== 1)
      problems.push(`V2 no turn claimed ${where}`);
    if (message.state === 'claimed' && !turns.has(message.turnId ?? '')) {
      problems.push(`V2 ${where} is claimed by the unknown turn ${message.turnId}`);
    }
    if (by[0] !== undefined && by[0].taskId !== message.taskId) {
      problems.push(
        `V1 ${where} is bound to ${message.taskId} and was claimed for ${by[0].taskId}`,
      );
    }
    if (message.taskId !== null && !tasks.has(message.taskId)) {
      problems.push(`V1 ${where} is bound to the unknown task ${message.taskId}`);
    }
  }
  return [...problems, ...judgeTaskOrigins(dump)];
}

/** V1: every task was made once, by one entry that is bound to it. */
function judgeTaskOrigins(dump: Dump): readonly string[] {
  const problems: string[] = [];
  const created = group(
    dump.events.filter((event) => event.type === 'task.created'),
    (event) => event.taskId,
  );
  const bound = group(dump.messages, (message) => message.taskId);
  for (const task of dump.tasks) {
    if (created.get(task.id)?.length !== 1)
      problems.push(`V1 ${task.id} was not made exactly once`);
    if (!bound.has(task.id)) problems.push(`V1 ${task.id} was made from no message`);
  }
  if (created.size !== dump.tasks.length) problems.push('V1 a task was made and is gone');
  return problems;
}

/** Design principle 5: events and steps of a conversation share one order without gap or twin. */
function judgeOrder(dump: Dump): readonly string[] {
  const taken = new Map<string, number[]>();
  const take = (conversationId: string, seq: number | null): void => {
    if (seq === null) return;
    const seqs = taken.get(conversationId);
    if (seqs === undefined) taken.set(conversationId, [seq]);
    else seqs.push(seq);
  };
  for (const event of dump.events) take(event.conversationId, event.seq);
  for (const step of dump.steps) {
    take(step.conversationId, step.seq);
    take(step.conversationId, step.finishedSeq);
  }
  return dump.conversations.flatMap((conversation) => {
    const seqs = (taken.get(conversation.id) ?? []).toSorted((a, b) => a - b);
    const isGapless = seqs.every((seq, index) => seq === index + 1);
    if (isGapless && seqs.length === conversation.seq) return [];
    return [`V3 ${conversation.id} stands at ${conversation.seq} with the order ${seqs.join(' ')}`];
  });
}

/** V3 and V19: one turn at a time, each with a higher token than the one before. */
function judgeTurns(dump: Dump): readonly string[] {
  const problems: string[] = [];
  const ends = new Map(
    dump.events
      .filter((event) => event.type === 'turn.ended')
      .map((event) => [event.turnId, event]),
  );
  const starts = new Map(
    dump.events
      .filter((event) => event.type === 'turn.started')
      .map((event) => [event.turnId, event]),
  );
  const byConversation = group(dump.turns, (turn) => turn.conversationId);
  for (const conversation of dump.conversations) {
    const turns = byConversation.get(conversation.id) ?? [];
    const open = turns.filter((turn) => turn.state !== 'ended').map((turn) => turn.id as string);
    const held = conversation.turnId === null ? [] : [conversation.turnId];
    if (open.join(' ') !== held.join(' ')) {
      problems.push(
        `V3 ${conversation.id} is held by ${held.join(' ')} while ${open.join(' ')} is open`,
      );
    }
    let free = 0;
    let token = 0;
    for (const turn of turns) {
      if (turn.firstSeq <= free)
        problems.push(`V3 ${turn.id} began before the turn before it had ended`);
      if (turn.token <= token)
        problems.push(`V19 ${turn.id} has the token ${turn.token} after ${token}`);
      if (starts.get(turn.id)?.seq !== turn.firstSeq) problems.push(`V17 ${turn.id} has no start`);
      free = ends.get(turn.id)?.seq ?? (turn.state === 'ended' ? free : Infinity);
      token = turn.token;
      if ((turn.state === 'ended') !== ends.has(turn.id))
        problems.push(`V17 ${turn.id} ended without event`);
    }
    if (conversation.token < token)
      problems.push(`V19 ${conversation.id} has an older token than its turn`);
  }
  return [...problems, ...judgeInboxOrder(dump)];
}

/** T-10: no turn takes up an input while an earlier one, free of any task, waits. */
function judgeInboxOrder(dump: Dump): readonly string[] {
  const problems: string[] = [];
  const messages = new Map(dump.messages.map((message) => [message.id as string, message]));
  const free = group(
    dump.messages.filter((one) => one.kind === 'genuine' && one.runId === null),
    (one) => one.conversationId,
  );
  for (const event of dump.events) {
    if (event.type !== 'turn.started') continue;
    const head = messages.get((dataOf(event)['messageIds'] as string[])[0] ?? '');
    if (head === undefined) continue;
    const waited = (free.get(event.conversationId) ?? []).find(
      (one) => one.seq < head.seq && (one.claimedSeq ?? 0) > event.seq,
    );
    if (waited !== undefined) problems.push(`T-10 ${head.id} was taken up before ${waited.id}`);
  }
  return problems;
}

/** V3: steps of a turn are gapless, one at a time, and none is written after the turn's end. */
function judgeSteps(dump: Dump): readonly string[] {
  const problems: string[] = [];
  const steps = group(dump.steps, (step) => step.turnId);
  const ends = new Map(
    dump.events
      .filter((event) => event.type === 'turn.ended')
      .map((event) => [event.turnId, event.seq]),
  );
  for (const turn of dump.turns) {
    problems.push(...judgeStepsOf(turn, steps.get(turn.id) ?? [], ends.get(turn.id) ?? Infinity));
  }
  if (dump.steps.some((step) => !dump.turns.some((turn) => turn.id === step.turnId))) {
    problems.push('V3 a step belongs to no turn');
  }
  return problems;
}

function judgeStepsOf(
  turn: TurnRecord,
  steps: readonly StepRecord[],
  end: number,
): readonly string[] {
  const problems: string[] = [];
  let free = turn.firstSeq;
  for (const [index, step] of steps.entries()) {
    const name = `step ${step.ordinal} of ${turn.id}`;
    if (step.ordinal !== index + 1) problems.push(`V3 ${name} stands at place ${index + 1}`);
    if (step.seq <= free) problems.push(`V3 ${name} began before the one before it was saved`);
    if ((step.finishedSeq ?? 0) > end || step.seq > end)
      problems.push(`V19 ${name} was written too late`);
    if (step.state === 'started' && turn.state === 'ended') problems.push(`V3 ${name} stayed open`);
    if (step.state !== 'started' && step.finishedSeq === null)
      problems.push(`V3 ${name} has no finish`);
    if (step.state === 'uncertain' && step.repeatable !== 'no')
      problems.push(`E-2 ${name} is uncertain`);
    free = step.finishedSeq ?? Infinity;
  }
  if (steps.length === 0) problems.push(`V3 ${turn.id} has no step`);
  return problems;
}

/** V3, V4 and E-1 by the ledger of what really happened. */
function judgeEffects(dump: Dump, ledger: Ledger): readonly string[] {
  const problems: string[] = [];
  const steps = new Map(dump.steps.map((step) => [step.id, step]));
  for (const [stepId, twice] of group(ledger.executions, (one) => one.stepId)) {
    if (twice.length > 1) problems.push(`V3 step ${stepId} was executed ${twice.length} times`);
  }
  for (const [call, runs] of group(ledger.executions, (one) => one.call)) {
    const first = runs[0];
    if (first !== undefined && !first.repeatable && runs.length > 1) {
      problems.push(`V4 ${first.tool} ${call} was executed ${runs.length} times`);
    }
  }
  for (const execution of ledger.executions) {
    const step = steps.get(execution.stepId);
    const name = `${execution.tool} ${execution.call}`;
    if (!execution.journalled) problems.push(`E-1 ${name} ran before it was journalled`);
    // A tool that the host ended says so itself (W-1); only an unknown end must be uncertain.
    const isLost = step?.state === 'cut' && step.errorCode !== 'ended';
    if (isLost && !execution.repeatable) problems.push(`E-2 ${name} ran and is called cut`);
  }
  const reserved = dump.steps.filter((step) => step.kind === 'model').length;
  if (ledger.modelCalls > reserved) {
    problems.push(`E-1 the model was asked ${ledger.modelCalls} times for ${reserved} steps`);
  }
  return problems;
}

/** V8 and O-6: one notice for each entry into a state that needs one, and a reason. */
function judgeNotices(dump: Dump): readonly string[] {
  const problems: string[] = [];
  const notices = group(
    dump.outbox.filter((entry) => entry.kind === 'notice'),
    (entry) => entry.taskId,
  );
  const moves = group(
    dump.events.filter((event) => event.type === 'task.moved'),
    (event) => event.taskId,
  );
  for (const task of dump.tasks) {
    if (task.state === 'blocked' && task.reason === null)
      problems.push(`V8 ${task.id} has no reason`);
    for (const level of ['blocked', 'waiting'] as const) {
      const entries = (moves.get(task.id) ?? []).filter((move) => move.toState === level).length;
      const told = (notices.get(task.id) ?? []).filter((entry) => entry.level === level).length;
      if (entries !== told) {
        problems.push(`V8 ${task.id} became ${level} ${entries} times and ${told} notices say so`);
      }
    }
  }
  return problems;
}

/** V14: after the commit of a stop nothing of the task starts. */
function judgeStopped(dump: Dump): readonly string[] {
  const problems: string[] = [];
  const stops = new Map<string, EventRecord>();
  for (const event of dump.events) {
    if (event.type !== 'task.moved' || !ENDS.has(event.toState ?? '')) continue;
    if (event.taskId !== null) stops.set(event.taskId, event);
  }
  const late = (taskId: string | null, seq: number): boolean =>
    taskId !== null && seq > (stops.get(taskId)?.seq ?? Infinity);
  for (const event of dump.events) {
    const starts = event.type === 'turn.started' || event.type === 'turn.continued';
    if (starts && late(event.taskId, event.seq)) {
      problems.push(`V14 ${event.turnId} took up ${event.taskId} after its end`);
    }
    if (event.type === 'model.selected' && late(event.taskId, event.seq)) {
      problems.push(`V14 ${event.taskId} selected a model after its end`);
    }
    if (event.type === 'task.moved' && late(event.taskId, event.seq)) {
      problems.push(`V18 ${event.taskId} moved after its end`);
    }
  }
  for (const step of dump.steps) {
    if (late(step.taskId, step.seq))
      problems.push(`V14 a step of ${step.taskId} started after its end`);
  }
  for (const message of dump.messages) {
    const isOpen = message.taskId !== null && stops.has(message.taskId) && message.state !== 'done';
    if (isOpen)
      problems.push(`V14 ${message.id} of the ended ${message.taskId} is still ${message.state}`);
  }
  return problems;
}

/** O-1 and O-6: each entry has one cause, and each cause one entry. */
function judgeOutbox(dump: Dump): readonly string[] {
  const problems: string[] = [];
  for (const [key, twins] of group(dump.outbox, (entry) => entry.key)) {
    if (twins.length > 1) problems.push(`O-6 ${key} is in the outbox ${twins.length} times`);
  }
  const replies = group(
    dump.outbox.filter((entry) => entry.kind === 'reply'),
    (entry) => entry.key,
  );
  for (const turn of dump.turns) {
    const count = replies.get(`reply:${turn.id}`)?.length ?? 0;
    if ((turn.end === 'answered') !== (count === 1)) {
      problems.push(`O-1 ${turn.id} ended ${turn.end} with ${count} replies`);
    }
  }
  const runs = group(dump.runs, (run) => run.taskId);
  for (const task of dump.tasks) {
    const run = runs.get(task.id)?.[0];
    // A blocked task has told its caller so: the run failed.
    const isOver = ENDS.has(task.state) || task.state === 'blocked';
    if (run !== undefined && isOver && run.state === 'open') {
      problems.push(`T-16 the run of ${task.id} is open while its task is ${task.state}`);
    }
    if (run !== undefined && !isOver && run.state !== 'open') {
      problems.push(`V10 the run of ${task.id} is ${run.state} while its task is ${task.state}`);
    }
  }
  return problems;
}

/** V18: ends that were seen once stay as they were. */
export class SeenEnds {
  readonly #seen = new Map<string, string>();

  judge(dump: Dump): readonly string[] {
    const problems: string[] = [];
    const see = (id: string, end: string): void => {
      const before = this.#seen.get(id);
      if (before !== undefined && before !== end)
        problems.push(`V18 ${id} was ${before} and is ${end}`);
      this.#seen.set(id, end);
    };
    for (const task of dump.tasks) {
      if (ENDS.has(task.state)) see(task.id, `${task.state} ${task.reason} ${task.endedAt}`);
      see(`the mandate of ${task.id}`, `${task.mandateText} ${task.mandateHash} ${task.mandateAt}`);
    }
    for (const run of dump.runs) {
      if (run.state !== 'open') see(run.id, `${run.state} ${run.outcomeCode} ${run.outcomeId}`);
    }
    for (const turn of dump.turns) {
      if (turn.state === 'ended') see(turn.id, `${turn.end} ${turn.endedAt}`);
    }
    for (const step of dump.steps) {
      if (step.state !== 'started') see(step.id, `${step.state} ${step.finishedId} ${step.output}`);
    }
    for (const message of dump.messages) {
      if (message.state === 'done') see(message.id, `done ${message.answerId}`);
      see(`the body of ${message.id}`, `${message.text} ${message.bodyHash}`);
    }
    for (const entry of dump.outbox) see(entry.id, `${entry.key} ${entry.text} ${entry.params}`);
    return problems;
  }
}
