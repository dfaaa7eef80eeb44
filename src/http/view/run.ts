import type { RunRecord } from '../../core/run/record.ts';
import { runStatus } from '../../core/run/status.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { Engine } from '../../engine/engine.ts';
import { invariant } from '../../kernel/invariant.ts';
import { USD } from '../../kernel/money.ts';
import type { StepUsage } from '../../ports/turn.ts';
import { catalogueOf } from '../../text/reader.ts';
import type { OutcomeShape, RunCreatedReply, RunReply, UsageShape } from '../../wire/run.ts';
import { iso, isoOrNull } from '../call.ts';
import { readSpeech, wordsOf } from './speech.ts';
import { waitOf } from './task.ts';

/** A run with its last word, its usage and the state that its task gives it. */
export async function viewRun(engine: Engine, run: RunRecord): Promise<RunReply> {
  const { conversationId, taskId } = run;
  const task = await taskOf(engine, run);
  const word = await readSpeech(engine, run.outcomeId);
  const text = word === undefined ? '' : wordsOf(engine, word);
  const used = await engine.store.query('step.usageOf', { conversationId, taskId });
  return {
    ...created(run, task),
    output: run.state === 'completed' ? text : null,
    outcome: outcomeOf(run, text === '' ? sayCause(engine, run) : text),
    ...laterOf(run, task),
    metadata: run.metadata === null ? null : (JSON.parse(run.metadata) as Record<string, string>),
    usage: usageOf(used),
    createdAt: iso(run.createdAt),
    endedAt: isoOrNull(run.endedAt),
  };
}

/** What the acceptance of a run is answered with. */
export async function viewCreated(engine: Engine, run: RunRecord): Promise<RunCreatedReply> {
  return created(run, await taskOf(engine, run));
}

/** Where no notice speaks of one task alone: why it stands (B-10). */
function sayCause({ parts }: Engine, { outcomeCode }: RunRecord): string {
  const causes: Readonly<Record<string, string>> = catalogueOf(parts.options.locale).causes;
  if (outcomeCode === null || !Object.hasOwn(causes, outcomeCode)) return '';
  return causes[outcomeCode] ?? '';
}

/** How a run ended without an answer; null for one that is open or completed. */
function outcomeOf(
  run: Pick<RunRecord, 'state' | 'outcomeCode'>,
  message: string,
): OutcomeShape | null {
  if (run.state === 'open' || run.state === 'completed') return null;
  return { code: run.outcomeCode ?? run.state, message };
}

/** What the providers reported; the cost is null when one call has no known price. */
function usageOf(used: StepUsage | undefined): UsageShape {
  const { inputTokens, outputTokens, cost, unpriced } = used ?? NOTHING_USED;
  return { inputTokens, outputTokens, costUsd: unpriced === 0 ? cost / USD : null };
}

const NOTHING_USED: StepUsage = { inputTokens: 0, outputTokens: 0, cost: 0, unpriced: 0 };

async function taskOf(engine: Engine, { id, taskId }: RunRecord): Promise<TaskRecord> {
  const task = await engine.store.query('task.byId', { id: taskId });
  invariant(task !== undefined, `the run ${id} has its task`);
  return task;
}

function created(run: RunRecord, task: TaskRecord): RunCreatedReply {
  const { id, conversationId, taskId } = run;
  const status = runStatus(run, task);
  const wait = status === 'waiting' ? waitOf(task) : null;
  return { id, status, conversationId, taskId, ...(wait === null ? {} : { waitsFor: wait }) };
}

// A blocked task ends its run and stays: what becomes of it is told here.
function laterOf(run: RunRecord, task: TaskRecord): Pick<RunReply, 'later'> {
  const endedApart = run.state === 'failed' && task.state !== 'failed';
  return endedApart ? { later: { taskState: task.state } } : {};
}
