// The model of the kill campaign: four calls and three tools for each message. What no longer stands in a
// shortened session it reads from what the host says of it.
import { isObject, parseJson, type Json, type JsonObject } from '../../src/kernel/json.ts';
import { fails, callsTool, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import type { RecordedRequest, Responder } from '../../src/testing/model-server.ts';
import type { Random } from '../../src/testing/sim-random.ts';

/**
 * An assessment lets its task go on, and what goes on is taken up at the call that has no result yet. `asked`
 * counts the requests for each step of each message, as `NUMBER:STEP`.
 */
export function answer({ body }: RecordedRequest, asked: Map<string, number>): ModelAnswer {
  const shape = JSON.stringify(body['response_format'] ?? null);
  if (shape.includes('"verdict"')) return says('{"verdict":"continue","reason":"nothing is lost"}');
  if (shape.includes('"taskId"')) return says('{"taskId":null,"reason":"it is new"}');
  const messages = saidIn(body);
  const number = nextOf(messages);
  const made = callsOf(messages, number);
  const next = STEPS.find((tool) => !made.has(tool)) ?? 'answer';
  const key = `${number}:${next}`;
  asked.set(key, (asked.get(key) ?? 0) + 1);
  if (next === 'write')
    return callsTool('write', { path: `job-${number}.txt`, content: String(number) });
  if (next === 'command') return callsTool('command', { command: `echo ${number} >> ledger.txt` });
  if (next === 'read') return callsTool('read', { path: `job-${number}.txt` });
  return says(`done ${number}`);
}

/** The number of the message that a request is about. */
export function jobAsked({ body }: Pick<RecordedRequest, 'body'>): number {
  return nextOf(saidIn(body));
}

function saidIn(body: RecordedRequest['body']): readonly Said[] {
  return body['messages'] as unknown as readonly Said[];
}

const STEPS = ['write', 'command', 'read'] as const;

/** Summaries that take their time, so that a kill meets them, and fail now and then. */
export function summaries(random: Random): Responder {
  let count = 0;
  return () => {
    count += 1;
    if (random.chance(0.2)) return fails(503);
    const summary = `Summary ${count}: jobs were done one by one.`;
    const before = new Promise((resolve) => setTimeout(resolve, random.below(400)));
    return says(JSON.stringify({ summary }), { before });
  };
}

interface Said {
  readonly role: string;
  readonly content: Json;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

const FACTS = 'The host’s own records';
const BY_HOST = new RegExp(`^(?:${FACTS}|From the host, not from the person)`);

/**
 * The newest message that has no answer yet: what goes on is told of its first one alone. Behind the host's
 * own words stands what the turn itself holds; a turn that was begun without words is told of its task there.
 */
function nextOf(messages: readonly Said[]): number {
  const texts = messages.map(({ role, content }) => (role === 'user' ? textOf(content) : ''));
  const facts = texts.findLastIndex((text) => text.startsWith(FACTS));
  const own = newestOpen(messages, texts.slice(facts + 1));
  if (facts < 0 || own.isOpen) return own.number;
  return ownJob(texts[facts] ?? '') ?? own.number;
}

function newestOpen(
  messages: readonly Said[],
  texts: readonly string[],
): { readonly number: number; readonly isOpen: boolean } {
  const said = JSON.stringify(messages.filter(({ role }) => role === 'assistant'));
  const jobs = texts
    .filter((text) => !BY_HOST.test(text))
    .map(jobIn)
    .filter(Boolean);
  const open = jobs.findLast((number) => !said.includes(`done ${number}"`));
  return { number: open ?? jobs[0] ?? 0, isOpen: open !== undefined };
}

/** The request of the turn's own task, where its words stand in no turn that is shown. */
function ownJob(facts: string): number | undefined {
  const [, own = ''] = facts.split('The task of this turn:');
  const { request } = recordsIn(own)[0] ?? {};
  return typeof request === 'string' ? jobIn(request) : undefined;
}

function jobIn(text: string): number {
  return Number(/job (\d+)/.exec(text)?.[1] ?? 0);
}

/** Which calls of this message were made, whatever came of them, in the session or by the host's records. */
function callsOf(messages: readonly Said[], number: number): ReadonlySet<unknown> {
  const isOwn = new RegExp(String.raw`(?:job-|echo )${number}\b`);
  const done = new Set(messages.map(({ tool_call_id: id }) => id));
  const shown = messages
    .flatMap(({ tool_calls: calls = [] }) => calls)
    .filter((call) => done.has(call.id) && isOwn.test(call.function.arguments))
    .map((call) => call.function.name);
  const told = messages
    .map(({ content }) => textOf(content))
    .filter((text) => text.startsWith(FACTS))
    .flatMap(recordsIn)
    .filter(({ args }) => typeof args === 'string' && isOwn.test(args))
    .map(({ tool }) => tool);
  return new Set([...shown, ...told]);
}

/** The records that the host's own words hold, one a line. */
function recordsIn(text: string): readonly JsonObject[] {
  return text.split('\n').flatMap((line) => {
    const parsed = line.startsWith('{') ? parseJson(line, 8) : undefined;
    return parsed?.ok === true && isObject(parsed.value) ? [parsed.value] : [];
  });
}

function textOf(content: Json): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: Json) => textIn(part)).join('');
}

function textIn(part: Json): string {
  const text = isObject(part) ? part['text'] : undefined;
  return typeof text === 'string' ? text : '';
}
