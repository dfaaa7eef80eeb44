import { randomUUID } from 'node:crypto';
import { ApiProblem, type Client } from '../../client/client.ts';
import { suggestion } from '../../compose/nearest.ts';
import type { OperationReply } from '../../wire/maintenance.ts';
import { ask, order } from '../connect.ts';
import { limitOf } from '../count.ts';
import { CommandEnd } from '../exit.ts';
import { ofConversation, operationOrNearest } from '../nearest.ts';
import { printJson, printText } from '../print.ts';
import type { ReadOptions } from '../program.ts';
import { shellCommand, shellSentence } from '../shell.ts';
import { table } from '../table.ts';
import { toSecond, when } from '../when.ts';

export interface MaintenanceOptions extends ReadOptions {
  readonly state?: string;
  readonly conversation?: string;
  readonly limit?: string;
}

const STATES = [
  'open',
  'running',
  'waiting',
  'blocked',
  'done',
  'dropped',
] as const satisfies readonly (OperationReply['state'] | 'open')[];

/** `maintenance [ID]`: the newest operations, or one of them. */
export async function maintenance(
  id: string | undefined,
  options: MaintenanceOptions,
): Promise<void> {
  await (id === undefined ? list(options) : show(id, options));
}

async function list(options: MaintenanceOptions): Promise<void> {
  const { conversation } = options;
  const filter = {
    ...(options.state === undefined ? {} : { state: stateOf(options.state) }),
    ...(conversation === undefined ? {} : { conversation }),
    ...limitOf(options),
  };
  await ask(options, async ({ client }) => {
    const page = await client.operations(filter);
    if (conversation !== undefined && page.items.length === 0)
      await ofConversation(conversation, () => client.conversation(conversation));
    if (options.json === true) printJson(page);
    else printText(listText(page.items));
  });
}

function listText(items: readonly OperationReply[]): string {
  if (items.length === 0) return 'No maintenance operations.';
  const rows = items.map((one) => [
    one.id,
    one.reason === null ? one.state : `${one.state}: ${one.reason}`,
    one.kind === one.step ? one.kind : `${one.kind}: ${one.step}`,
    String(one.failures),
    when(one.changedAt),
    one.conversationId,
  ]);
  const lines = table(['ID', 'STATE', 'STEP', 'FAILED', 'SINCE', 'CONVERSATION'], rows);
  const isBlocked = items.some(({ state }) => state === 'blocked');
  const way = '\n\nHow one that is blocked stands, and what opens it: sekisho maintenance ID';
  return `${lines}${isBlocked ? way : ''}`;
}

async function show(id: string, options: ReadOptions): Promise<void> {
  await ask(options, async ({ client }) => {
    const found = await operationOrNearest(client, id, () => client.operation(id));
    if (options.json === true) printJson(found);
    else printText(operationText(found));
  });
}

function operationText(found: OperationReply): string {
  const { id, state, reason, kind, step, sentence, commands, nextSessionId } = found;
  const next = nextSessionId === null ? '' : `, followed by ${nextSessionId}`;
  const lines = [
    `${id}  ${state}${reason === null ? '' : ` (${reason})`}`,
    shellSentence(sentence),
    `conversation   ${found.conversationId}`,
    `session        ${found.sessionId}${next}`,
    `step           ${kind === step ? kind : `${step} of a ${kind}`}`,
    `failures       ${found.failures} in a row, ${found.lifetimeFailures} in all`,
    ...troubleLines(found),
    ...(found.nextAttemptAt === null ? [] : [`next try       ${toSecond(found.nextAttemptAt)}`]),
    `since          ${when(found.createdAt)}, last changed ${when(found.changedAt)}`,
    ...(found.endedAt === null ? [] : [`ended          ${when(found.endedAt)}`]),
    `version        ${found.version}`,
    ...commands.map(
      ({ command, who, effect }) => `  ${shellCommand(command)}  (${who}: ${effect})`,
    ),
  ];
  return lines.join('\n');
}

const SIZES: Readonly<Record<string, string>> = {
  reserve: 'kept free',
  seed: 'summary and what the host restates',
  message: 'newest words',
};

function troubleLines({ fault, sizes }: OperationReply): readonly string[] {
  if (sizes !== null) {
    const { window, ...parts } = sizes;
    const told = Object.entries(parts).map(([name, tokens]) => `${SIZES[name] ?? name} ${tokens}`);
    return [`window         ${window} tokens; ${told.join(', ')}`];
  }
  if (fault === null) return [];
  return [`last failure   ${fault.code}${fault.said === '' ? '' : `: ${fault.said}`}`];
}

function stateOf(text: string): (typeof STATES)[number] {
  const state = STATES.find((known) => known === text);
  if (state !== undefined) return state;
  const near = suggestion(text, STATES);
  throw new CommandEnd('usage', `sekisho: --state takes one of ${STATES.join(', ')}${near}`);
}

export interface AdmitOptions extends ReadOptions {
  readonly as?: string;
  readonly version?: string;
  readonly receipt?: string;
}

/** `admit ID`: opens a blocked operation as it stands, or as the version that was seen. */
export async function admit(id: string, options: AdmitOptions): Promise<void> {
  const as = asOf(options);
  const version = versionOf(options);
  const receiptId = options.receipt ?? randomUUID();
  await order(options, async ({ client }) => {
    const admitted = await operationOrNearest(client, id, async () => {
      const expectedVersion = version ?? (await client.operation(id)).version;
      return {
        expectedVersion,
        now: await give(client, id, { expectedVersion, receiptId, ...as }),
      };
    });
    if (options.json === true) printJson(admitted.now);
    else printText(admittedText(admitted.now, admitted.expectedVersion));
  });
}

async function give(
  client: Client,
  id: string,
  asked: {
    readonly expectedVersion: number;
    readonly receiptId: string;
    readonly as?: 'handover';
  },
): Promise<OperationReply> {
  try {
    return await client.admit(id, { contractVersion: 1, ...asked });
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== 'receipt_used') throw error;
    if (error.outcome === undefined) throw error;
    const then = `This receipt has opened ${id} before, so nothing more was done.`;
    const way = `How it stands: sekisho maintenance ${id}`;
    throw new CommandEnd('refused', `receipt_used: ${then} ${way}`, { cause: error });
  }
}

function admittedText({ id, kind, step }: OperationReply, from: number): string {
  const what = kind === 'handover' && step === 'summarise' ? 'a handover to a new session' : step;
  return [
    `Admitted ${id} as of version ${from}: it goes on with ${what}, and may fail up to seven times more.`,
    'What was kept is answered in its order once there is room.',
    `How it stands: sekisho maintenance ${id}`,
  ].join('\n');
}

function asOf({ as }: AdmitOptions): { readonly as?: 'handover' } {
  if (as === undefined) return {};
  if (as === 'handover') return { as };
  throw new CommandEnd('usage', 'sekisho: --as takes handover, for a compact without a sure end');
}

function versionOf({ version }: AdmitOptions): number | undefined {
  if (version === undefined) return undefined;
  const count = /^\d{1,15}$/.test(version) ? Number(version) : 0;
  if (count >= 1) return count;
  throw new CommandEnd('usage', 'sekisho: --version takes the version that was seen, 1 or more');
}
