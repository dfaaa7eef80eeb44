// What the scripted model answers by seed: texts, calls, task tools, loops and nonsense.
import { SECOND } from '../../src/kernel/time.ts';
import type { ModelCall, ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import type { WallClock } from '../../src/testing/sim-clock.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { StoreWeather } from './faulty-store.ts';
import type { Ledger } from './ledger.ts';
import { fault } from './provider.ts';
import type { Sometime } from './sometimes.ts';
import { APPROVED_TOOLS, FREE_TOOLS } from './scripted-tools.ts';

/** What a written script asks for: a text, or calls of these tools. */
export type ModelPlan = 'text' | readonly string[];

export interface ScriptParts {
  /** Answers in a written order, taken from the front; without one chance decides. */
  readonly plans?: ModelPlan[] | undefined;
  readonly random: Random;
  readonly weather: StoreWeather;
  readonly ledger: Ledger;
  readonly wall: Pick<WallClock, 'now'>;
  readonly reached: (name: Sometime) => void;
  /** The share of answers that ask for tools. */
  readonly callShare: number;
  readonly long: boolean;
  /** Whether a message has its answer, where a window is too small to show it; else never. */
  readonly isAnswered: (marker: string) => boolean;
  /** Words without a meaning, so that sessions outgrow their windows; empty where none do. */
  readonly padding: () => string;
  /** What the provider counts for a request; undefined where every one counts the same. */
  readonly weigh?: ((request: ModelRequest) => number) | undefined;
}

/** Who answers, as the provider reports it. */
interface Speaker {
  readonly provider: string;
  readonly model: string;
}

type Said = Omit<Extract<ModelOutcome, { kind: 'reply' }>, 'provider' | 'model' | 'usage'>;

export const USAGE = { inputTokens: 100, outputTokens: 10, cost: 7 } as const;

/** What a model that answers says to this request. */
export function answerOf(parts: ScriptParts, request: ModelRequest, by: Speaker): ModelOutcome {
  const next = sayNext(parts, request);
  if (next.kind !== 'reply') return next;
  const inputTokens = parts.weigh?.(request) ?? USAGE.inputTokens;
  return { ...next, ...by, usage: { ...USAGE, inputTokens } };
}

function sayNext(
  parts: ScriptParts,
  request: ModelRequest,
): Said | Extract<ModelOutcome, { kind: 'fault' }> {
  const { random, plans, weather } = parts;
  if (plans !== undefined) return planned(parts, request, plans.shift() ?? 'text');
  const { modelNonsense, loops, asks } = weather.faults;
  const [nonsense, repeats, wants, leads] = [
    random.chance(modelNonsense),
    random.chance(loops),
    random.chance(asks * 0.4),
    random.next(),
  ];
  const looping = loops > 0 ? loopOf(request) : undefined;
  if (looping !== undefined && random.chance(0.9)) return said('', [looping]);
  if (nonsense) return nonsenseOf(parts);
  if (repeats) return said('', [loopCall(parts)]);
  if (wants) return said('', [callOf(parts, random.pick(APPROVED_TOOLS)), ...someCalls(parts)]);
  return leadOf(parts, leads) ?? sayOrCall(parts, request);
}

/** Tool after tool comes to an end: the longer the turn, the rarer the next call. */
function sayOrCall(parts: ScriptParts, request: ModelRequest): Said {
  const calls = parts.random.next() < parts.callShare / (1 + stepsOfTurn(request) / 3);
  return calls ? callsOf(parts) : said(answerTo(parts, request), []);
}

/** Names what it answers. What its window does not show it has from its notes. */
function answerTo({ isAnswered, padding }: ScriptParts, request: ModelRequest): string {
  const open = unanswered(request).filter((marker) => !isAnswered(marker));
  return `answer to ${open.join(' ')}${padding()}`;
}

function planned(parts: ScriptParts, request: ModelRequest, next: ModelPlan): Said {
  if (next === 'text') return said(answerTo(parts, request), []);
  return said(
    '',
    next.map((name) => PLANNED[name]?.(parts) ?? callOf(parts, name)),
  );
}

/** Task tools of a written script. */
const PLANNED: Readonly<Record<string, (parts: ScriptParts) => ModelCall>> = {
  task_wait: (parts) => taskCall(parts, 'task_wait', { for: 'instant', seconds: 90 }),
  task_order: (parts) => taskCall(parts, 'task_wait', at(parts, 90)),
  task_ask: (parts) => taskCall(parts, 'task_wait', { for: 'answer', question: 'which one?' }),
  task_continue: (parts) => taskCall(parts, 'task_continue', { note: 'go on' }),
  task_note: (parts) => taskCall(parts, 'task_note', { text: 'half way' }),
};

/** A call that ends the turn, sometimes behind a note or another call. */
function leadOf(parts: ScriptParts, draw: number): Said | undefined {
  const { random, weather } = parts;
  const { waits, continues } = weather.faults;
  const before = random.chance(0.3)
    ? [noteCall(parts)]
    : random.chance(0.2)
      ? someCalls(parts)
      : [];
  const seconds = parts.long ? random.between(600, 20_000) : random.between(1, 400);
  if (draw < waits / 2)
    return said(random.chance(0.5) ? 'a moment' : '', [
      ...before,
      taskCall(
        parts,
        'task_wait',
        random.chance(0.5) ? { for: 'instant', seconds } : at(parts, seconds),
      ),
    ]);
  if (draw < waits)
    return said(random.chance(0.5) ? 'this or that?' : '', [
      ...before,
      taskCall(parts, 'task_wait', { for: 'answer', question: 'this or that?' }),
    ]);
  if (draw < waits + continues)
    return said('', [...before, taskCall(parts, 'task_continue', { note: 'the rest' })]);
  return undefined;
}

/** An order that carries its own time (T-15). */
function at({ wall }: ScriptParts, seconds: number): object {
  return { for: 'instant', at: new Date(wall.now() + seconds * SECOND).toISOString() };
}

function noteCall(parts: ScriptParts): ModelCall {
  return taskCall(parts, 'task_note', { text: `note ${parts.ledger.callsAsked}` });
}

function taskCall(parts: ScriptParts, name: string, args: object): ModelCall {
  return { id: nextId(parts), name, args: JSON.stringify(args) };
}

const LOOP = JSON.stringify({ call: 'again' });

function loopCall(parts: ScriptParts): ModelCall {
  return { id: nextId(parts), name: 'look_up', args: LOOP };
}

/** The call of a model that repeats itself. */
function loopOf({ messages }: ModelRequest): ModelCall | undefined {
  const last = messages.findLast((message) => message.role === 'assistant');
  const looped = last?.calls.find(({ args }) => args === LOOP);
  return looped === undefined ? undefined : { ...looped, id: `${looped.id}+` };
}

function nonsenseOf(parts: ScriptParts): Said | Extract<ModelOutcome, { kind: 'fault' }> {
  const { random } = parts;
  const call = (change: Partial<ModelCall>): ModelCall => ({
    ...callOf(parts, 'look_up'),
    ...change,
  });
  return random.pick([
    () => said('', []),
    () => said('  \n', []),
    () => fault('nonsense', 'not_json'),
    () => ({ ...said('cut at the lim', []), stop: 'length' as const }),
    () => said('', [call({ name: 'no_such_tool' })]),
    () => said('', [call({ args: '{"call":' })]),
    () => said('', [call({ args: '[]' })]),
    () => said('', [call({ name: 'task_wait', args: '{"for":"ever"}' })]),
    () =>
      said('', [
        call({ name: 'task_wait', args: '{"for":"instant","at":"2001-01-01T00:00:00Z"}' }),
      ]),
    () => said('', [call({ name: 'task_continue', args: '{}' })]),
  ])();
}

function callsOf(parts: ScriptParts): Said {
  const { random, reached } = parts;
  const count = random.pick([1, 1, 1, 2, 3]);
  if (count > 1) reached('several_calls');
  const calls = Array.from({ length: count }, () => callOf(parts, random.pick(FREE_TOOLS)));
  return said(random.chance(0.3) ? 'let me see' : '', calls);
}

function someCalls(parts: ScriptParts): readonly ModelCall[] {
  const { random } = parts;
  return Array.from({ length: random.below(3) }, () => callOf(parts, random.pick(FREE_TOOLS)));
}

function callOf(parts: ScriptParts, name: string): ModelCall {
  const id = nextId(parts);
  return { id, name, args: JSON.stringify({ call: id }) };
}

function nextId({ ledger }: ScriptParts): string {
  ledger.callsAsked += 1;
  return `c${ledger.callsAsked}`;
}

function said(text: string, calls: readonly ModelCall[]): Said {
  return { kind: 'reply', text, calls, stop: calls.length > 0 ? 'calls' : 'end' };
}

/** What the host says itself: markers in it are quoted, not asked. */
const BY_HOST =
  /^(?:The request of this task, restated|A person began a fresh session|From the host, not from the person|The host’s own records)/;

/** The markers of what people wrote after the last answer. */
export function unanswered(request: ModelRequest): readonly string[] {
  const answered = request.messages.findLastIndex(
    (message) => message.role === 'assistant' && message.text.startsWith('answer to'),
  );
  const users = request.messages.slice(answered + 1).filter((message) => message.role === 'user');
  return users.flatMap(({ text }) => (BY_HOST.test(text) ? [] : markersIn(text)));
}

/** Messages carry a marker such as `#17#`; one that is only quoted is no message. */
export function markersIn(text: string): readonly string[] {
  return text.replaceAll(/^>.*$/gm, '').match(/#\d+#/g) ?? [];
}

function stepsOfTurn(request: ModelRequest): number {
  const lastUser = request.messages.findLastIndex((message) => message.role === 'user');
  return request.messages.length - 1 - lastUser;
}
