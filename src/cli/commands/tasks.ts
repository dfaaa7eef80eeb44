import type { Client } from '../../client/client.ts';
import { suggestion } from '../../compose/nearest.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { TaskReply, WhyReply } from '../../wire/task.ts';
import { ask } from '../connect.ts';
import { limitOf } from '../count.ts';
import { doingText, standingText } from '../doing.ts';
import { CommandEnd } from '../exit.ts';
import { operationOrNearest, taskOrNearest } from '../nearest.ts';
import { printJson, printText } from '../print.ts';
import type { ReadOptions } from '../program.ts';
import { shellCommand, shellSentence } from '../shell.ts';
import { table } from '../table.ts';
import { when } from '../when.ts';

export interface TasksOptions extends ReadOptions {
  readonly state?: string;
  readonly limit?: string;
  readonly held?: boolean;
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
  const isHeld = options.held === true;
  // One that has ended is held no longer.
  const held = isHeld ? ({ enrollment: 'held-legacy', state: 'blocked', ...state } as const) : {};
  await ask(options, async ({ client }) => {
    const page = await client.tasks({ ...state, ...held, ...limit });
    if (options.json === true) {
      printJson(page);
      return;
    }
    const rows = page.items.map((one) => [
      one.id,
      standingText(one),
      when(one.createdAt),
      one.mandate.text,
    ]);
    const heads = ['ID', 'STATE', 'SINCE', 'REQUEST'];
    const wake = isHeld ? `\n\nTo wake exactly one: sekisho resume ID` : '';
    const none = isHeld ? 'No task is held.' : 'No tasks.';
    printText(rows.length === 0 ? none : `${table(heads, rows)}${wake}`);
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
    const found = await taskOrNearest(client, id, () => client.task(id));
    if (options.json === true) printJson(found);
    else printText(taskText(found));
  });
}

function taskText(found: TaskReply): string {
  const { budgets, mandate, checkpoint } = found;
  const note = checkpoint?.note ?? null;
  const lines = [
    `${found.id}  ${found.state}${found.reason === null ? '' : ` (${found.reason})`}`,
    ...(found.doing === null ? [] : [`now            ${doingText(found.doing)}`]),
    `request        ${mandate.text}`,
    `from           ${mandate.principal} through ${mandate.origin}, ${when(mandate.at)}`,
    `conversation   ${found.conversationId}, agent ${found.agent}`,
    ...waitLines(found.waitsFor),
    ...heldLines(found),
    ...recoveryLines(found),
    `turns          ${of(budgets.turns)}`,
    `tokens         ${of(budgets.tokens)}`,
    `cost           ${of(budgets.costUsd)} USD`,
    `continuations  ${of(budgets.continuations)} in a row`,
    ...(found.deadline === null ? [] : [`deadline       ${when(found.deadline)}`]),
    ...(found.endedAt === null ? [] : [`ended          ${when(found.endedAt)}`]),
    ...(note === null ? [] : [`noted          ${note}`]),
    ...found.evidence
      .filter(({ kind }) => kind === 'uncertain')
      .map(({ tool, at, text }) => `unknown        ${tool ?? 'a call'}, ${when(at)}: ${text}`),
    `version        ${found.version}`,
  ];
  return lines.join('\n');
}

function waitLines(wait: TaskReply['waitsFor'], head = 'waits for'): readonly string[] {
  if (wait === null) return [];
  const { kind, id, until, question } = wait;
  const named = kind === 'assessment' ? 'a check whether it goes on' : kind;
  const what = id === undefined ? named : `${named} ${id}`;
  return [
    `${head.padEnd(13)}  ${what}${until === null ? '' : ` until ${when(until)}`}`,
    ...(question === undefined ? [] : [`question       ${question}`]),
  ];
}

function heldLines({ held }: TaskReply): readonly string[] {
  if (held === null) return [];
  const { state, reason, waitsFor } = held;
  const stood = `${state}${reason === null ? '' : ` (${reason})`}`;
  return [`held           it was ${stood}`, ...waitLines(waitsFor, 'waited for')];
}

/** Once it was interrupted: how many checks of its epoch are used, and when the next is due. */
function recoveryLines({ recovery, endedAt }: TaskReply): readonly string[] {
  const { attempts, lifetimeAttempts, nextAttemptAt, state, outcome } = recovery;
  if (lifetimeAttempts === 0 && state === 'none') return [];
  const last = outcome === null ? '' : `, the last: ${outcome}`;
  const isDue = state === 'needed' && endedAt === null && nextAttemptAt !== null;
  const due = isDue ? `, the next not before ${when(nextAttemptAt)}` : '';
  const used = `${attempts} of ${LIMITS.recoveryAttempts} used, ${lifetimeAttempts} made in all`;
  return [`checks         ${used}${last}${due}`];
}

function of({ used, limit }: { readonly used: number; readonly limit: number }): string {
  return `${used} of ${limit}`;
}

const OPERATION = 'mop_';

function explanation(client: Client, id: string): Promise<WhyReply> {
  return id.toLowerCase().startsWith(OPERATION)
    ? operationOrNearest(client, id, () => client.whyOperation(id))
    : taskOrNearest(client, id, () => client.why(id));
}

/** `why ID`: full sentences, newest first, and the commands that change it. */
export async function why(id: string, options: ReadOptions): Promise<void> {
  await ask(options, async ({ client, url }) => {
    const found = await explanation(client, id);
    if (options.json === true) {
      printJson(found);
      return;
    }
    const commands = found.commands.map(
      ({ command, who, effect }) => `  ${shellCommand(command)}  (${who}: ${effect})`,
    );
    // Every order needs a host, and a person at three in the morning types the first line.
    const first = url === undefined ? ['  sekisho start  (first: no host runs here)'] : [];
    const parts = [
      shellSentence(found.sentence),
      ...found.chain,
      ...(commands.length > 0 ? ['', ...first, ...commands] : []),
    ];
    printText(parts.join('\n'));
  });
}
