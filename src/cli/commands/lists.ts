import type { ConversationReply } from '../../wire/conversation.ts';
import { ask } from '../connect.ts';
import { limitOf } from '../count.ts';
import { printJson, printText } from '../print.ts';
import type { ReadOptions } from '../program.ts';
import { table } from '../table.ts';
import { when } from '../when.ts';

export interface ListOptions extends ReadOptions {
  readonly limit?: string;
}

/** `conversations`: newest first. */
export async function conversations(options: ListOptions): Promise<void> {
  const limit = limitOf(options);
  await ask(options, async ({ client }) => {
    const page = await client.conversations(limit);
    if (options.json === true) {
      printJson(page);
      return;
    }
    const rows = page.items.map((one) => [
      one.id,
      one.channel,
      one.address === one.id ? '' : one.address,
      one.agent,
      `${one.model.provider}/${one.model.name}`,
      standing(one),
      when(one.createdAt),
    ]);
    const heads = ['ID', 'CHANNEL', 'ADDRESS', 'AGENT', 'MODEL', 'STATE', 'SINCE'];
    printText(rows.length === 0 ? 'No conversations.' : table(heads, rows));
  });
}

function standing({ state, turn, fence, operationId }: ConversationReply): string {
  if (fence === 'blocked') return `blocked ${operationId ?? ''}`;
  if (fence === 'shut') return `making room ${operationId ?? ''}`;
  return turn === null ? state : `${state} ${turn.taskId}`;
}

/** `outbox`: what left or waits to leave, newest first. */
export async function outbox(
  options: ListOptions & { readonly conversation?: string },
): Promise<void> {
  const limit = limitOf(options);
  const of = options.conversation === undefined ? {} : { conversation: options.conversation };
  await ask(options, async ({ client }) => {
    const page = await client.outbox({ ...limit, ...of });
    if (options.json === true) {
      printJson(page);
      return;
    }
    const rows = page.items.map((one) => [one.id, one.kind, one.state, when(one.at), one.text]);
    const heads = ['ID', 'KIND', 'STATE', 'AT', 'TEXT'];
    printText(rows.length === 0 ? 'Nothing has left yet.' : table(heads, rows));
  });
}
