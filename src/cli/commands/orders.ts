import type { ApprovalAnsweredReply } from '../../wire/approval.ts';
import type { TaskReply } from '../../wire/task.ts';
import { order } from '../connect.ts';
import { readGrantOptions, type GrantOptions } from '../grant.ts';
import { approvalOrNearest, runOrNearest, taskOrNearest } from '../nearest.ts';
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

/** `resume ID`: one new turn for a task that stands still. */
export async function resume(id: string, options: ReadOptions): Promise<void> {
  await order(options, async ({ client }) => {
    const task = await taskOrNearest(client, id, () => client.resumeTask(id));
    tell(options, task, `${task.id} goes on from what is saved, with one new turn.`);
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
