import { suggestion } from '../../compose/nearest.ts';
import type { ApprovalReply } from '../../wire/approval.ts';
import { ask } from '../connect.ts';
import { limitOf } from '../count.ts';
import { CommandEnd } from '../exit.ts';
import { approvalOrNearest } from '../nearest.ts';
import { printJson, printText } from '../print.ts';
import type { ReadOptions } from '../program.ts';
import { callBlock, callLine } from '../shown.ts';
import { table } from '../table.ts';
import { when } from '../when.ts';

export interface ApprovalsOptions extends ReadOptions {
  readonly state?: string;
  readonly limit?: string;
}

const STATES = [
  'open',
  'approved',
  'denied',
  'expired',
] as const satisfies readonly ApprovalReply['state'][];

/** `approvals`: newest first. */
export async function approvals(options: ApprovalsOptions): Promise<void> {
  const state = options.state === undefined ? {} : { state: stateOf(options.state) };
  const limit = limitOf(options);
  await ask(options, async ({ client }) => {
    const page = await client.approvals({ ...state, ...limit });
    if (options.json === true) {
      printJson(page);
      return;
    }
    const rows = page.items.map((one) => [
      one.id,
      one.state,
      when(one.decidedAt ?? one.at),
      one.tool,
      callLine(one.shown),
    ]);
    const heads = ['ID', 'STATE', 'SINCE', 'TOOL', 'CALL'];
    printText(rows.length === 0 ? 'No approvals.' : table(heads, rows));
  });
}

/** `approval ID`: one approval, with every byte that would run. */
export async function approval(id: string, options: ReadOptions): Promise<void> {
  await ask(options, async ({ client }) => {
    const found = await approvalOrNearest(client, id, () => client.approval(id));
    if (options.json === true) printJson(found);
    else printText(approvalText(found));
  });
}

function approvalText(found: ApprovalReply): string {
  const { id, state, kind, tool, taskId, requestedBy, approver, decidedBy, decidedAt } = found;
  const who = approver === 'other' ? 'not the one who asked' : 'the one who asked, or an admin';
  const lines = [
    `${id}  ${state}`,
    `tool         ${tool}${kind === 'uncertain' ? ', again after an unknown outcome' : ''}`,
    `task         ${taskId}`,
    `asked for    ${requestedBy}, ${when(found.at)}`,
    ...(decidedAt === null ? [] : [`${state.padEnd(11)}  ${decidedBy ?? ''}, ${when(decidedAt)}`]),
    ...(state === 'open' ? [`may answer   ${who}`, `expires      ${when(found.expiresAt)}`] : []),
    'what runs:',
    callBlock(found.shown),
    ...(state === 'open' ? [`sekisho approve ${id}   or   sekisho deny ${id}`] : []),
  ];
  return lines.join('\n');
}

function stateOf(text: string): ApprovalReply['state'] {
  const state = STATES.find((known) => known === text);
  if (state !== undefined) return state;
  const near = suggestion(text, STATES);
  throw new CommandEnd('usage', `sekisho: --state takes one of ${STATES.join(', ')}${near}`);
}
