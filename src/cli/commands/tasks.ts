import { ApiProblem, type Client } from '../../client/client.ts';
import { suggestion } from '../../compose/nearest.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { TaskReply } from '../../wire/task.ts';
import { ask, order } from '../connect.ts';
import { limitOf } from '../count.ts';
import { CommandEnd } from '../exit.ts';
import { printJson, printText } from '../print.ts';
import type { ReadOptions } from '../program.ts';
import { table } from '../table.ts';
import { when } from '../when.ts';

export interface TasksOptions extends ReadOptions {
  readonly state?: string;
  readonly limit?: string;
}

const STATES = [
  'active',
  'waiting',
  'paused',
  'blocked',
  'completed',
  'failed',
  'stopped',
  'cancelled',
  'expired',
] as const satisfies readonly TaskReply['state'][];

/** `tasks`: newest first. */
export async function tasks(options: TasksOptions): Promise<void> {
  const state = options.state === undefined ? {} : { state: stateOf(options.state) };
  const limit = limitOf(options);
  await ask(options, async ({ client }) => {
    const page = await client.tasks({ ...state, ...limit });
    if (options.json === true) {
      printJson(page);
      return;
    }
    const rows = page.items.map((one) => [
      one.id,
      one.state,
      when(one.createdAt),
      one.mandate.text,
    ]);
    printText(rows.length === 0 ? 'No tasks.' : table(['ID', 'STATE', 'SINCE', 'REQUEST'], rows));
  });
}

function stateOf(text: string): TaskReply['state'] {
  const state = STATES.find((known) => known === text);
  if (state !== undefined) return state;
  const near = suggestion(text, STATES);
  throw new CommandEnd('usage', `sekisho: --state takes one of ${STATES.join(', ')}${near}`);
}

/** `task ID`: one task. */
export async function task(id: string, options: ReadOptions): Promise<void> {
  await ask(options, async ({ client }) => {
    const found = await orNearest(client, id, () => client.task(id));
    if (options.json === true) printJson(found);
    else printText(taskText(found));
  });
}

function taskText(found: TaskReply): string {
  const { budgets, mandate } = found;
  const lines = [
    `${found.id}  ${found.state}${found.reason === null ? '' : ` (${found.reason})`}`,
    `request       ${mandate.text}`,
    `from          ${mandate.principal} through ${mandate.origin}, ${when(mandate.at)}`,
    `conversation  ${found.conversationId}`,
    `turns         ${budgets.turns.used} of ${budgets.turns.limit}`,
    `tokens        ${budgets.tokens.used} of ${budgets.tokens.limit}`,
    `cost          ${budgets.costUsd.used} of ${budgets.costUsd.limit} USD`,
    ...(found.deadline === null ? [] : [`deadline      ${when(found.deadline)}`]),
    ...(found.waitsFor === null ? [] : [`waits for     ${found.waitsFor.kind}`]),
    ...(found.endedAt === null ? [] : [`ended         ${when(found.endedAt)}`]),
    `version       ${found.version}`,
  ];
  return lines.join('\n');
}

/** `why ID`: full sentences, newest first, and the commands that change it. */
export async function why(id: string, options: ReadOptions): Promise<void> {
  await ask(options, async ({ client }) => {
    const found = await orNearest(client, id, () => client.why(id));
    if (options.json === true) {
      printJson(found);
      return;
    }
    const commands = found.commands.map(
      ({ command, who, effect }) => `  ${command}  (${who}: ${effect})`,
    );
    const parts = [
      found.sentence,
      ...found.chain,
      ...(commands.length > 0 ? ['', ...commands] : []),
    ];
    printText(parts.join('\n'));
  });
}

/** `stop ID`: stops a task on the running host. */
export async function stop(id: string, options: ReadOptions): Promise<void> {
  await order(options, async ({ client }) => {
    const stopped = await orNearest(client, id, () => client.stopTask(id));
    if (options.json === true) {
      printJson(stopped);
      return;
    }
    const running = stopped.running.length === 0 ? '' : ` Ending: ${stopped.running.join(', ')}.`;
    printText(`Stopped ${stopped.id}.${running}`);
  });
}

/** An id that nothing has: one line with the nearest that something has (W-5). */
async function orNearest<T>(client: Client, id: string, find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== 'not_found') throw error;
    const { items } = await client.tasks({ limit: LIMITS.listLimitMax });
    const near = suggestion(
      id,
      items.map((one) => one.id),
    );
    throw new CommandEnd('not_found', `not_found: no task has the id ${id}${near}`);
  }
}
