import type { Client } from '../../client/client.ts';
import type { ApprovalAnsweredReply } from '../../wire/approval.ts';
import type { TaskReply } from '../../wire/task.ts';
import { order } from '../connect.ts';
import { readGrantOptions, type GrantOptions } from '../grant.ts';
import { CommandEnd } from '../exit.ts';
import { approvalOrNearest, runOrNearest, taskOrNearest, workerOrNearest } from '../nearest.ts';
import { printJson, printText } from '../print.ts';
import type { ReadOptions } from '../program.ts';
import { callBlock } from '../shown.ts';
import { when } from '../when.ts';

/** `stop ID`: stops a task on the running host. */
export async function stop(id: string, options: ReadOptions): Promise<void> {
  await order(options, async ({ client }) => {
    const stopped = await taskOrNearest(client, id, () => client.stopTask(id));
    const running = stopped.running.length === 0 ? '' : ` Ending: ${stopped.running.join(', ')}.`;
    tell(options, stopped, `Stopped ${stopped.id}.${running}`);
  });
}

export interface ResumeOptions extends ReadOptions {
  readonly late?: boolean;
}

/** `resume ID`: lets a task that stands still go on, or wakes one worker that is held. */
export async function resume(id: string, options: ResumeOptions): Promise<void> {
  if (id.toLowerCase().startsWith(WORKER)) return resumeWorker(id, options);
  await order(options, async ({ client }) => {
    const late = options.late === true;
    const task = await taskOrNearest(client, id, () => client.resumeTask(id, { late }));
    const isSafeMode = await isInSafeMode(client);
    tell(options, task, resumedText(task, { late, isSafeMode }));
  });
}

const WORKER = 'exec_';

async function resumeWorker(id: string, options: ResumeOptions): Promise<void> {
  if (options.late === true)
    throw new CommandEnd('usage', 'sekisho: --late is for a task; a worker has no time of its own');
  await order(options, async ({ client }) => {
    const worker = await workerOrNearest(client, id, () => client.resumeWorker(id));
    const whose = worker.taskId === null ? 'nobody knows of which task' : `of ${worker.taskId}`;
    tell(options, worker, `${worker.id} is no longer held (${worker.state}, ${whose}).`);
  });
}

/** What a resume came to: a turn, a check first, or that no check is left (B-8). */
function resumedText(
  task: TaskReply,
  { late, isSafeMode }: { readonly late: boolean; readonly isSafeMode: boolean },
): string {
  const { id, state, waitsFor } = task;
  if (waitsFor?.kind === 'assessment')
    return `${id} is checked first: ${checkText(task, isSafeMode)}`;
  if (state === 'blocked') {
    const way = `To open new ones: sekisho budget-reset ${id}`;
    return `${id} is held no longer, but all checks that it has are used. ${way}`;
  }
  const how = late ? ', late, as you said' : '';
  return `${id} goes on from what is saved, with one new turn${how}.`;
}

/** An order that was carried out is told even where its key may not read. */
function isInSafeMode(client: Client): Promise<boolean> {
  return client.status().then(
    ({ safeMode }) => safeMode.on,
    () => false,
  );
}

function checkText({ id, recovery, deadline }: TaskReply, isSafeMode: boolean): string {
  const { nextAttemptAt: next } = recovery;
  const isLater = next !== null && Date.parse(next) > Date.now();
  const begins = isLater ? `begins at ${when(next)}` : 'begins now';
  const due = isSafeMode ? `begins once safe mode is over (sekisho safe-mode off)` : begins;
  const kept = deadline === null ? 'it has no deadline' : `its deadline stays ${when(deadline)}`;
  return `the check ${due}; ${kept}. How it stands: sekisho why ${id}`;
}

/** `budget-reset ID`: opens a new epoch of assessments. */
export async function budgetReset(id: string, options: ReadOptions): Promise<void> {
  await order(options, async ({ client }) => {
    const task = await taskOrNearest(client, id, () => client.resetBudget(id));
    const isSafeMode = await isInSafeMode(client);
    tell(options, task, `Reopened ${task.id}: ${checkText(task, isSafeMode)}`);
  });
}

/** `pause ID`: sets a task aside. */
export async function pause(id: string, options: ReadOptions): Promise<void> {
  await order(options, async ({ client }) => {
    const task = await taskOrNearest(client, id, () => client.pauseTask(id));
    const way = `To let it go on: sekisho resume ${task.id}`;
    tell(options, task, `Paused ${task.id}: what was done is kept. ${way}`);
  });
}

/** `extend ID …`: adds to budgets or to the deadline. */
export async function extend(
  id: string,
  words: readonly string[],
  options: ReadOptions & GrantOptions,
): Promise<void> {
  const grant = readGrantOptions(options, words);
  await order(options, async ({ client }) => {
    const task = await taskOrNearest(client, id, () => client.extendTask(id, grant));
    tell(options, task, `Extended ${task.id} (${task.state}).\n${leftOf(task)}`);
  });
}

function leftOf({ budgets }: TaskReply): string {
  const { turns, tokens, costUsd, continuations, deadline } = budgets;
  const counts = Object.entries({ turns, tokens, 'cost in USD': costUsd, continuations });
  return [
    ...counts.map(([name, { used, limit }]) => `  ${name.padEnd(13)}  ${used} of ${limit} used`),
    `  deadline       ${deadline === null ? 'none' : when(deadline)}`,
  ].join('\n');
}

/** `approve ID` and `deny ID`: answers an approval. */
export async function answer(
  decision: 'approve' | 'deny',
  id: string,
  options: ReadOptions,
): Promise<void> {
  await order(options, async ({ client }) => {
    const asked = (): Promise<ApprovalAnsweredReply> => client.answerApproval(id, { decision });
    const approval = await approvalOrNearest(client, id, asked);
    const { tool, shown } = approval;
    const told =
      decision === 'approve'
        ? `Approved ${approval.id}: ${tool} ${runsWhen(approval)}, exactly as it was shown:`
        : `Denied ${approval.id}: ${tool} does not run. It was:`;
    tell(options, approval, `${told}\n${callBlock(shown)}`);
  });
}

/** A task that stands still for another reason keeps its call until it goes on. */
function runsWhen({ runs, taskId }: ApprovalAnsweredReply): string {
  return runs === 'later'
    ? `is kept and runs once when ${taskId} goes on (sekisho why ${taskId})`
    : 'runs once';
}

/** `cancel RUN`: cancels a run and its task; one that has ended keeps its end. */
export async function cancel(id: string, options: ReadOptions): Promise<void> {
  await order(options, async ({ client }) => {
    const run = await runOrNearest(client, id, () => client.cancelRun(id));
    const told =
      run.status === 'cancelled' ? `Cancelled ${run.id}.` : `${run.id} had ended: ${run.status}.`;
    tell(options, run, told);
  });
}

function tell({ json }: ReadOptions, document: object, text: string): void {
  if (json === true) printJson(document);
  else printText(text);
}
