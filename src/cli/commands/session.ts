import { ApiProblem, type Client } from '../../client/client.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { TranscriptItem } from '../../wire/conversation.ts';
import type { SessionReply } from '../../wire/maintenance.ts';
import type { Page } from '../../wire/shape.ts';
import { ask } from '../connect.ts';
import { limitOf } from '../count.ts';
import { CommandEnd } from '../exit.ts';
import { ofConversation } from '../nearest.ts';
import { printJson, printText } from '../print.ts';
import type { ReadOptions } from '../program.ts';
import { table } from '../table.ts';
import { when } from '../when.ts';

export interface SessionOptions extends ReadOptions {
  readonly conversation?: string;
  readonly transcript?: boolean;
  readonly limit?: string;
}

/** `session [ID]`: sessions, newest first, or one of them with what it goes on from and in. */
export async function session(id: string | undefined, options: SessionOptions): Promise<void> {
  if (id === undefined && options.transcript === true)
    throw new CommandEnd('usage', 'sekisho: --transcript is of one session: sekisho session ID');
  await (id === undefined ? list(options) : show(id, options));
}

async function list(options: SessionOptions): Promise<void> {
  const limit = limitOf(options);
  const { conversation } = options;
  await ask(options, async ({ client }) => {
    const page =
      conversation === undefined
        ? await newest(client, limit)
        : await ofConversation(conversation, () => client.sessions(conversation, limit));
    if (options.json === true) printJson(page);
    else printText(listText(page.items));
  });
}

/** Those of the newest conversations; a longer list is one conversation's. */
async function newest(
  client: Client,
  query: { readonly limit?: number },
): Promise<Page<SessionReply>> {
  const { limit = LIMITS.listLimitDefault } = query;
  const { items } = await client.conversations({ limit });
  const pages = await Promise.all(items.map((one) => client.sessions(one.id, { limit })));
  const all = pages.flatMap((page) => page.items).toSorted((a, b) => (a.id < b.id ? 1 : -1));
  return { items: all.slice(0, limit), nextCursor: null };
}

function listText(items: readonly SessionReply[]): string {
  if (items.length === 0) return 'No sessions.';
  const rows = items.map((one) => [
    one.id,
    standing(one),
    when(one.startedAt),
    String(one.compactions),
    one.previousId ?? '',
    one.nextId ?? '',
    one.conversationId,
  ]);
  const heads = ['ID', 'STATE', 'SINCE', 'COMPACTED', 'FROM', 'GOES ON IN', 'CONVERSATION'];
  return table(heads, rows);
}

/** `archived`: another session goes on from it; `ended`: a fresh one was begun in its place. */
function standing({ isCurrent, nextId }: SessionReply): string {
  if (isCurrent) return 'current';
  return nextId === null ? 'ended' : 'archived';
}

async function show(id: string, options: SessionOptions): Promise<void> {
  await ask(options, async ({ client }) => {
    const found = await sessionOf(client, id);
    const items = options.transcript === true ? await wholeTranscript(client, found) : undefined;
    const transcript = items === undefined ? {} : { transcript: items };
    if (options.json === true) printJson({ ...found, ...transcript });
    else printText([...sessionLines(found), ...transcriptLines(items)].join('\n'));
  });
}

async function sessionOf(client: Client, id: string): Promise<SessionReply> {
  try {
    return await client.session(id);
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== 'not_found') throw error;
    const way = 'They are listed by: sekisho session --conversation ID';
    throw new CommandEnd('not_found', `not_found: no session has the id ${id}. ${way}`);
  }
}

/** Every item of a session, oldest first. */
async function wholeTranscript(
  client: Client,
  { id, conversationId }: SessionReply,
): Promise<readonly TranscriptItem[]> {
  const items: TranscriptItem[] = [];
  const limit = LIMITS.listLimitMax;
  let cursor: string | null = null;
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor };
    const page = await client.transcript(conversationId, { session: id, limit, ...from });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items.toReversed();
}

function sessionLines(found: SessionReply): readonly string[] {
  const { id, previousId, nextId, endedAt, compactions, summary, conditions } = found;
  const link = (head: string, to: string | null): readonly string[] =>
    to === null ? [] : [`${head.padEnd(13)}  ${to} (sekisho session ${to})`];
  return [
    `${id}  ${standing(found)}`,
    `conversation   ${found.conversationId}`,
    `started        ${when(found.startedAt)}`,
    ...(endedAt === null ? [] : [`ended          ${when(endedAt)}`]),
    ...link('goes on from', previousId),
    ...link('goes on in', nextId),
    `compacted      ${compactions === 1 ? 'once' : `${compactions} times`}`,
    ...conditions.map(({ at, text }) => `to hold        ${when(at)}: ${text}`),
    ...(summary === null ? [] : ['summary:', indented(summary)]),
  ];
}

function transcriptLines(items: readonly TranscriptItem[] | undefined): readonly string[] {
  if (items === undefined) return [];
  return ['transcript:', ...items.map(itemText)];
}

function itemText({ role, at, content, tool, toolCalls = [] }: TranscriptItem): string {
  const who = tool === undefined ? role : `${role} ${tool}`;
  const calls = toolCalls.map(({ name, args }) => `${name} ${args}`);
  const said = [content, ...calls].filter((text) => text !== '').join('\n');
  return `  ${when(at)} ${who}\n${indented(said)}`;
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}
