// V3, V4, V19, E-1 and E-2: turns, their steps, and what really happened outside.
import type { ConversationRecord, EventRecord } from '../../src/core/session/record.ts';
import type { StepRecord, TurnRecord } from '../../src/core/turn/record.ts';
import { group, type Dump } from './dump.ts';
import type { Outside } from './invariants.ts';
import type { Execution } from './ledger.ts';
import { Problems } from './problems.ts';

export function judgeTurns(dump: Dump, outside: Outside): readonly string[] {
  const problems = new Problems();
  judgeOrder(problems, dump);
  const turns = group(dump.turns, (turn) => turn.conversationId);
  const bounds = boundsOf(dump);
  for (const conversation of dump.conversations) {
    judgeOwnership(problems, conversation, { turns: turns.get(conversation.id) ?? [], bounds });
  }
  const steps = group(dump.steps, (step) => step.turnId);
  for (const turn of dump.turns) {
    const end = bounds.ends.get(turn.id) ?? Infinity;
    judgeSteps(problems, turn, { steps: steps.get(turn.id) ?? [], end });
  }
  const turnIds = new Set<string>(dump.turns.map((turn) => turn.id));
  const isOwned = dump.steps.every((step) => turnIds.has(step.turnId));
  problems.unless(isOwned, () => 'V3 a step belongs to no turn');
  judgeEffects(problems, dump, outside);
  judgeAsked(problems, dump);
  return problems.found;
}

/** Design principle 5: events and steps of a conversation share one order without gap or twin. */
function judgeOrder(problems: Problems, dump: Dump): void {
  const taken = new Map<string, number[]>();
  const take = (conversationId: string, seq: number | null): void => {
    const seqs = taken.get(conversationId) ?? [];
    taken.set(conversationId, seqs);
    if (seq !== null) seqs.push(seq);
  };
  for (const event of dump.events) take(event.conversationId, event.seq);
  for (const step of dump.steps) {
    take(step.conversationId, step.seq);
    take(step.conversationId, step.finishedSeq);
  }
  for (const { id, seq: last } of dump.conversations) {
    const seqs = (taken.get(id) ?? []).toSorted((a, b) => a - b);
    const isGapless = seqs.length === last && seqs.every((seq, index) => seq === index + 1);
    problems.unless(isGapless, () => `V3 ${id} stands at ${last} with the order ${seqs.join(' ')}`);
  }
}

interface TurnBounds {
  readonly starts: ReadonlyMap<string | null, number>;
  readonly ends: ReadonlyMap<string | null, number>;
}

function boundsOf(dump: Dump): TurnBounds {
  const of = (type: EventRecord['type']): ReadonlyMap<string | null, number> =>
    new Map(dump.events.filter((one) => one.type === type).map((one) => [one.turnId, one.seq]));
  return { starts: of('turn.started'), ends: of('turn.ended') };
}

/** V3 and V19: one turn at a time, each with a higher token than the one before. */
function judgeOwnership(
  problems: Problems,
  conversation: ConversationRecord,
  { turns, bounds }: { readonly turns: readonly TurnRecord[]; readonly bounds: TurnBounds },
): void {
  const { id, turnId } = conversation;
  const open = turns.filter((turn) => turn.state !== 'ended').map((turn) => turn.id as string);
  const held = turnId ?? '';
  problems.unless(
    open.join(' ') === held,
    () => `V3 ${id} is held by ${held}, ${open.join(' ')} is open`,
  );
  let free = 0;
  let token = 0;
  for (const turn of turns) {
    const [from, last] = [free, token];
    problems.unless(
      turn.firstSeq > from,
      () => `V3 ${turn.id} began before the last turn had ended`,
    );
    problems.unless(
      turn.token > last,
      () => `V19 ${turn.id} has the token ${turn.token} after ${last}`,
    );
    const isStarted = bounds.starts.get(turn.id) === turn.firstSeq;
    problems.unless(isStarted, () => `V17 ${turn.id} has no event of its start`);
    free = bounds.ends.get(turn.id) ?? Infinity;
    token = turn.token;
  }
  problems.unless(conversation.token >= token, () => `V19 ${id} has an older token than its turn`);
}

/** V3: steps of a turn are gapless, one at a time, and none is written after the turn's end. */
function judgeSteps(
  problems: Problems,
  turn: TurnRecord,
  { steps, end }: { readonly steps: readonly StepRecord[]; readonly end: number },
): void {
  problems.unless(steps.length > 0, () => `V3 ${turn.id} has no step`);
  let free = turn.firstSeq;
  for (const [index, step] of steps.entries()) {
    const from = free;
    const name = (): string => `step ${step.ordinal} of ${turn.id}`;
    const last = step.finishedSeq ?? step.seq;
    const isOpen = step.state === 'started';
    problems.unless(step.ordinal === index + 1, () => `V3 ${name()} stands at place ${index + 1}`);
    problems.unless(step.seq > from, () => `V3 ${name()} began before the one before it was saved`);
    problems.unless(last <= end, () => `V19 ${name()} was written after the turn's end`);
    problems.unless(!isOpen || turn.state !== 'ended', () => `V3 ${name()} stayed open`);
    problems.unless(isOpen === (step.finishedSeq === null), () => `V3 ${name()} is half finished`);
    const mayBe = step.state !== 'uncertain' || step.repeatable === 'no';
    problems.unless(mayBe, () => `E-2 ${name()} is harmless and is called uncertain`);
    free = step.finishedSeq ?? Infinity;
  }
}

/** E-2: of each call whose outcome is unknown a person is asked once, unless its task was stopped or was history. */
function judgeAsked(problems: Problems, dump: Dump): void {
  const turns = new Map(dump.turns.map((turn) => [turn.id, turn]));
  const held = new Set(
    dump.events.filter(({ type }) => type === 'task.held').map(({ taskId }) => taskId),
  );
  const asked = group(
    dump.approvals.filter(({ kind }) => kind === 'uncertain'),
    ({ stepId }) => stepId,
  );
  for (const { id, state, turnId, taskId } of dump.steps) {
    if (state !== 'uncertain' || turns.get(turnId)?.end === 'stopped') continue;
    if (held.has(taskId)) continue;
    const count = asked.get(id)?.length ?? 0;
    problems.unless(count === 1, () => `E-2 ${id} is uncertain and was asked about ${count} times`);
  }
}

/** V3, V4 and E-1 by the ledger of what really happened. */
function judgeEffects(problems: Problems, dump: Dump, { ledger, calls }: Outside): void {
  for (const [stepId, twice] of group(ledger.executions, (one) => one.stepId)) {
    problems.unless(
      twice.length === 1,
      () => `V3 step ${stepId} was executed ${twice.length} times`,
    );
  }
  for (const [call, runs] of group(ledger.executions, (one) => one.call)) {
    // Once as the model asked, and once for each time a person said that it may run again (E-2).
    const again = dump.approvals.filter(
      ({ kind, state, input }) =>
        kind === 'uncertain' && state === 'approved' && input === runs[0]?.input,
    );
    problems.unless(
      runs.every((run) => run.repeatable) || runs.length <= 1 + again.length,
      () => `V4 ${call} was executed ${runs.length} times`,
    );
  }
  const steps = new Map(dump.steps.map((step) => [step.id, step]));
  for (const execution of ledger.executions) {
    judgeExecution(problems, execution, steps.get(execution.stepId));
  }
  const models = dump.steps.filter((step) => step.kind === 'model');
  const reserved = models.reduce((sum, { tries }) => sum + tries, 0);
  problems.unless(
    calls.count <= reserved,
    () => `V5 the models were called ${calls.count} times, ${reserved} calls were reserved`,
  );
  for (const { id, state, inputTokens, outputTokens } of models) {
    if (state !== 'finished') continue;
    const [booked, used] = [(inputTokens ?? 0) + (outputTokens ?? 0), calls.usedBy(id)];
    problems.unless(
      used === 0 || booked === used,
      () => `V15 step ${id} used ${used} tokens and booked ${booked}`,
    );
  }
}

function judgeExecution(
  problems: Problems,
  execution: Execution,
  step: StepRecord | undefined,
): void {
  const name = `${execution.tool} ${execution.call}`;
  problems.unless(execution.journalled, () => `E-1 ${name} ran before it was journalled`);
  // A tool that the host ended says so itself (W-1); only an unknown end must be uncertain.
  const isLost = step?.state === 'cut' && step.errorCode !== 'ended';
  problems.unless(!isLost || execution.repeatable, () => `E-2 ${name} ran and is called cut`);
}
