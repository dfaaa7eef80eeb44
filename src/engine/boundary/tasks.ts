import {
  holdTask,
  keepTask,
  proofOf,
  type BoundaryFacts,
  type Proof,
} from '../../core/boundary/judge.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { BoundaryId, ConversationId, HostId, TaskId } from '../../kernel/ids.ts';
import { invariant } from '../../kernel/invariant.ts';
import { hostName } from '../../kernel/principal.ts';
import type { At, Decision, Read, Rows, Unit } from '../../ports/store.ts';
import { Ledger } from '../session/ledger.ts';
import { addMoveEvent } from '../task/move.ts';

type TasksReads = {
  readonly tasks: Read<'boundary.tasks'>;
  readonly conversations: Read<'boundary.conversations'>;
  readonly messages: Read<'boundary.messages'>;
  readonly turns: Read<'boundary.turns'>;
  readonly runs: Read<'boundary.runs'>;
  readonly workers: Read<'boundary.workers'>;
};

/**
 * Judges the next batch of unmarked, open tasks: all reads see the same tasks, and the batch writes into
 * every conversation of theirs. Gives how many they were; a try that was committed unseen finds the next.
 * The run counts them in the very commit that marks them: no clock and no later look says how many they were.
 */
export function tasksUnit(
  hostId: HostId,
  boundaryId: BoundaryId,
  limit: number,
): Unit<TasksReads, number> {
  const args = { limit };
  return {
    name: 'boundary.tasks',
    reads: {
      tasks: { read: 'boundary.tasks', args },
      conversations: { read: 'boundary.conversations', args },
      messages: { read: 'boundary.messages', args },
      turns: { read: 'boundary.turns', args },
      runs: { read: 'boundary.runs', args },
      workers: { read: 'boundary.workers', args },
    },
    decide: (rows, at) => decide({ hostId, boundaryId }, rows, at),
  };
}

interface RunBy {
  readonly hostId: HostId;
  readonly boundaryId: BoundaryId;
}

function decide(
  { hostId, boundaryId: id }: RunBy,
  rows: Rows<TasksReads>,
  at: At,
): Decision<number> {
  const found = new Found(rows);
  const ledgers = new Map<ConversationId, Ledger>();
  const ledgerOf = (conversation: ConversationRecord): Ledger => {
    const known = ledgers.get(conversation.id);
    if (known !== undefined) return known;
    const ledger = new Ledger(conversation, at, hostName(hostId));
    ledgers.set(conversation.id, ledger);
    return ledger;
  };
  let held = 0;
  for (const task of rows.tasks) {
    const ledger = ledgerOf(found.conversationOf(task));
    const facts = found.factsOf(task);
    const proof = proofOf(task, facts);
    if (proof === undefined) held += 1;
    if (proof === undefined) hold(ledger, task, { ...facts, run: found.runOf(task) });
    else keep(ledger, task, { facts, proof });
  }
  const verdict = rows.tasks.length;
  if (verdict === 0) return { verdict, writes: [] };
  const counted = {
    write: 'boundary.add',
    id,
    held,
    kept: verdict - held,
    workersHeld: 0,
  } as const;
  return { verdict, writes: [...[...ledgers.values()].flatMap((one) => one.close()), counted] };
}

/** What was read for a batch, by task. */
class Found {
  readonly #conversations: ReadonlyMap<ConversationId, ConversationRecord>;
  readonly #messages: ReadonlyMap<TaskId | null, readonly MessageRecord[]>;
  readonly #turns: ReadonlyMap<TaskId, BoundaryFacts['turns']>;
  readonly #workers: ReadonlyMap<TaskId | null, BoundaryFacts['workers']>;
  readonly #runs: ReadonlyMap<TaskId, RunRecord>;

  constructor({ conversations, messages, turns, workers, runs }: Rows<TasksReads>) {
    this.#conversations = new Map(conversations.map((one) => [one.id, one]));
    this.#messages = Map.groupBy(messages, ({ taskId }) => taskId);
    this.#turns = Map.groupBy(turns, ({ taskId }) => taskId);
    this.#workers = Map.groupBy(workers, ({ taskId }) => taskId);
    this.#runs = new Map(runs.map((run) => [run.taskId, run]));
  }

  conversationOf({ conversationId }: TaskRecord): ConversationRecord {
    const conversation = this.#conversations.get(conversationId);
    invariant(conversation !== undefined, 'a task is of a conversation');
    return conversation;
  }

  factsOf({ id }: TaskRecord): BoundaryFacts {
    return {
      messages: this.#messages.get(id) ?? [],
      turns: this.#turns.get(id) ?? [],
      workers: this.#workers.get(id) ?? [],
    };
  }

  runOf({ id }: TaskRecord): RunRecord | undefined {
    return this.#runs.get(id);
  }
}

/** Sets a task aside with what would let it go on (B-4); whoever waits for its run is told that it failed. */
function hold(
  ledger: Ledger,
  task: TaskRecord,
  { messages, run }: BoundaryFacts & { readonly run: RunRecord | undefined },
): void {
  const held = holdTask(task, ledger.at.now);
  ledger.add({ write: 'task.save', row: held });
  const { id: taskId, state, reason, waitKind, waitUntil } = task;
  ledger.event('task.held', {
    taskId,
    runId: run?.id ?? null,
    from: state,
    to: held.state,
    reason: held.reason,
    data: { was: { state, reason, wait: waitKind, until: waitUntil } },
  });
  for (const message of messages)
    if (message.kind === 'generated' && message.state === 'unclaimed')
      ledger.add({ write: 'message.hold', id: message.id });
  if (run !== undefined) failHeld(ledger, run);
}

function failHeld(ledger: Ledger, { id, taskId }: RunRecord): void {
  const outcomeCode = 'held_legacy';
  const endedAt = ledger.at.now;
  ledger.add({ write: 'run.end', id, state: 'failed', outcomeCode, outcomeId: null, endedAt });
  ledger.event('run.failed', { taskId, runId: id, data: { code: outcomeCode } });
}

/** Lets a task be ongoing work; what was going on in it waits for its assessment. */
function keep(
  ledger: Ledger,
  task: TaskRecord,
  { facts, proof }: { readonly facts: BoundaryFacts; readonly proof: Proof },
): void {
  const kept = keepTask(task, facts, ledger.at.now);
  ledger.add({ write: 'task.save', row: kept });
  const { id: taskId, waitKind } = task;
  const isInterrupted = kept.waitKind === 'assessment' && waitKind !== 'assessment';
  const isPolling = waitKind !== null && kept.waitKind === null;
  const window = isPolling ? { wait: null, until: kept.waitUntil } : {};
  ledger.event('task.enrolled', { taskId, data: { by: proof, ...window } });
  if (isInterrupted)
    addMoveEvent(ledger, task, kept, { runId: null, data: { wait: 'assessment' } });
}
