import { suggestion } from '../../compose/nearest.ts';
import type { WorkerReply } from '../../wire/worker.ts';
import { ask } from '../connect.ts';
import { limitOf } from '../count.ts';
import { CommandEnd } from '../exit.ts';
import { printJson, printText } from '../print.ts';
import type { ReadOptions } from '../program.ts';
import { table } from '../table.ts';
import { when } from '../when.ts';

export interface WorkersOptions extends ReadOptions {
  readonly state?: string;
  readonly held?: boolean;
  readonly limit?: string;
}

const STATES = [
  'ready',
  'running',
  'retrying',
  'paused',
  'blocked',
  'completed',
  'failed',
  'cancelled',
] as const satisfies readonly WorkerReply['state'][];

/** `workers`: newest first. */
export async function workers(options: WorkersOptions): Promise<void> {
  const state = options.state === undefined ? {} : { state: stateOf(options.state) };
  const held = options.held === true ? ({ enrollment: 'held-legacy' } as const) : {};
  const limit = limitOf(options);
  await ask(options, async ({ client }) => {
    const page = await client.workers({ ...state, ...held, ...limit });
    if (options.json === true) printJson(page);
    else printText(workersText(page.items, options.held === true));
  });
}

function workersText(items: readonly WorkerReply[], isHeld: boolean): string {
  if (items.length === 0) return isHeld ? 'No worker is held.' : 'No workers.';
  const rows = items.map((one) => [
    one.id,
    standing(one),
    one.taskId ?? 'of no known task',
    when(one.changedAt),
    one.job,
  ]);
  const list = table(['ID', 'STATE', 'TASK', 'SINCE', 'JOB'], rows);
  // How one is woken stands under the list wherever one of them is held.
  const wakes = items.some(isAsleep)
    ? '\n\nTo wake exactly one that is held: sekisho resume ID'
    : '';
  return `${list}${wakes}`;
}

function standing(one: WorkerReply): string {
  return isAsleep(one) ? `${one.state}, held` : one.state;
}

function isAsleep({ enrollment, endedAt }: WorkerReply): boolean {
  return enrollment === 'held-legacy' && endedAt === null;
}

function stateOf(text: string): WorkerReply['state'] {
  const state = STATES.find((known) => known === text);
  if (state !== undefined) return state;
  const near = suggestion(text, STATES);
  throw new CommandEnd('usage', `sekisho: --state takes one of ${STATES.join(', ')}${near}`);
}
