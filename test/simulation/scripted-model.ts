// A model that answers by seed: texts, calls, nonsense and faults. Its answers name the messages that
// they answer, so that a reader outside can tell a lost message from an answered one.
import { SECOND } from '../../src/kernel/time.ts';
import type { Model, ModelCall, ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import type { Epoch, Scheduler } from '../../src/testing/scheduler.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { StoreWeather } from './faulty-store.ts';
import type { Ledger } from './ledger.ts';
import type { Sometime } from './sometimes.ts';
import { TOOLS } from './scripted-tools.ts';

/** What a written script asks for: a text, or calls of these tools. */
export type ModelPlan = 'text' | readonly string[];

export interface ScriptedModelParts {
  /** Answers in a written order, taken from the front; without one chance decides. */
  readonly plans?: ModelPlan[] | undefined;
  readonly scheduler: Scheduler;
  readonly epoch: Epoch;
  readonly random: Random;
  readonly weather: StoreWeather;
  readonly ledger: Ledger;
  readonly reached: (name: Sometime) => void;
  /** The share of answers that ask for tools. */
  readonly callShare: number;
}

const USAGE = { inputTokens: 100, outputTokens: 10, cost: 7 } as const;
const PROVIDER = 'simulated';
const MODEL = 'scripted-1';
type Live = Parameters<Model['call']>[1];

export function scriptedModel(parts: ScriptedModelParts): Model {
  return {
    provider: PROVIDER,
    name: MODEL,
    price: 'costs-money',
    contextWindow: 100_000,
    call: (request, live) => answer(parts, request, live),
  };
}

async function answer(
  parts: ScriptedModelParts,
  request: ModelRequest,
  live: Live,
): Promise<ModelOutcome> {
  const { scheduler, epoch, random, weather, ledger } = parts;
  ledger.modelCalls += 1;
  const number = ledger.modelCalls;
  const outcome = plan(parts, request);
  const slow = random.chance(weather.faults.modelSlow);
  const delay = slow ? random.below(120 * SECOND) : random.below(3 * SECOND);
  const { signal } = live;
  const label = `model ${number}`;
  if (outcome.kind === 'reply' && outcome.text !== '' && random.chance(0.5)) {
    await scheduler.call({ epoch, label: `${label} first`, delay: delay / 2, signal }, () => {
      if (signal.aborted) return;
      live.onModel(PROVIDER, MODEL);
      live.onText(outcome.text.slice(0, 4));
    });
    await scheduler.call({ epoch, label: `${label} more`, delay: delay / 4, signal }, () => {
      if (!signal.aborted) live.onText(outcome.text.slice(4));
    });
  }
  const last = { epoch, label: `${label} ${outcome.kind}`, delay: delay / 4, signal };
  return scheduler.call(last, () => (signal.aborted ? fault('aborted', 'aborted') : outcome));
}

function plan(parts: ScriptedModelParts, request: ModelRequest): ModelOutcome {
  const { random, weather, plans } = parts;
  if (plans !== undefined) return planned(parts, request, plans.shift() ?? 'text');
  const draw = random.next();
  const { model, modelNonsense } = weather.faults;
  if (draw < model) return planFault(random);
  if (draw < model + modelNonsense * (1 - model)) return planNonsense(parts);
  // Tool after tool comes to an end: the longer the turn, the rarer the next call.
  const steps = stepsOfTurn(request);
  if (random.next() < parts.callShare / (1 + steps / 3)) return planCalls(parts);
  return reply(`answer to ${unanswered(request).join(' ')}`, [], 'end');
}

function planned(parts: ScriptedModelParts, request: ModelRequest, next: ModelPlan): ModelOutcome {
  if (next === 'text') return reply(`answer to ${unanswered(request).join(' ')}`, [], 'end');
  return reply(
    '',
    next.map((name) => ({ ...nextCall(parts), name })),
    'calls',
  );
}

function planFault(random: Random): ModelOutcome {
  return random.pick([
    () => fault('refused', 'http_401'),
    () => fault('transient', 'http_500'),
    () => fault('transient', 'http_429'),
    () => fault('transient', 'timeout'),
    () => fault('transient', 'cut_stream'),
  ])();
}

function planNonsense(parts: ScriptedModelParts): ModelOutcome {
  const { random } = parts;
  return random.pick([
    () => reply('', [], 'end'),
    () => reply('  \n', [], 'end'),
    () => fault('nonsense', 'not_json'),
    () => reply('cut at the lim', [], 'length'),
    () => reply('', [{ ...nextCall(parts), name: 'no_such_tool' }], 'calls'),
    () => reply('', [{ ...nextCall(parts), args: '{"call":' }], 'calls'),
    () => reply('', [{ ...nextCall(parts), args: '[]' }], 'calls'),
  ])();
}

function planCalls(parts: ScriptedModelParts): ModelOutcome {
  const { random, reached } = parts;
  const count = random.pick([1, 1, 1, 2, 3]);
  if (count > 1) reached('several_calls');
  const calls = Array.from({ length: count }, () => nextCall(parts));
  return reply(random.chance(0.3) ? 'let me see' : '', calls, 'calls');
}

function nextCall(parts: ScriptedModelParts): ModelCall {
  const { ledger } = parts;
  ledger.callsAsked += 1;
  const id = `c${ledger.callsAsked}`;
  return { id, name: parts.random.pick(TOOLS).name, args: JSON.stringify({ call: id }) };
}

/** The markers of what people wrote after the last answer. */
export function unanswered(request: ModelRequest): readonly string[] {
  const answered = request.messages.findLastIndex(
    (message) => message.role === 'assistant' && message.text.startsWith('answer to'),
  );
  const users = request.messages.slice(answered + 1).filter((message) => message.role === 'user');
  return users.flatMap((message) => markersIn(message.text));
}

/** Messages carry a marker such as `#17#`; one that is only quoted is no message. */
export function markersIn(text: string): readonly string[] {
  return text.replaceAll(/^>.*$/gm, '').match(/#\d+#/g) ?? [];
}

function stepsOfTurn(request: ModelRequest): number {
  const lastUser = request.messages.findLastIndex((message) => message.role === 'user');
  return request.messages.length - 1 - lastUser;
}

function reply(
  text: string,
  calls: readonly ModelCall[],
  stop: 'end' | 'calls' | 'length',
): ModelOutcome {
  return { kind: 'reply', provider: PROVIDER, model: MODEL, text, calls, stop, usage: USAGE };
}

function fault(kind: 'refused' | 'transient' | 'aborted' | 'nonsense', code: string): ModelOutcome {
  return {
    kind: 'fault',
    class: kind,
    code,
    message: `injected ${code}`,
    retryAt: null,
    usage: null,
  };
}
