// The models of one simulated host: scripted answers behind providers that fail, and a classifier.
// Answers name the messages that they answer, so that a reader outside can tell a lost message from
// an answered one.
import { MINUTE, SECOND } from '../../src/kernel/time.ts';
import type { Model, ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import type { Epoch, Scheduler } from '../../src/testing/scheduler.ts';
import type { WallClock } from '../../src/testing/sim-clock.ts';
import type { CallBook } from './call-book.ts';
import type { SimulationOptions } from './options.ts';
import { fault, judgesAccount, passingFault, type Providers } from './provider.ts';
import { answerOf, type ScriptParts } from './script.ts';
import type { RequestWatch } from './request-watch.ts';
import { assess, type AssessmentParts } from './scripted-assessment.ts';
import { summarise, type SummaryParts } from './scripted-summary.ts';

export interface ModelParts extends ScriptParts, AssessmentParts, SummaryParts {
  readonly scheduler: Scheduler;
  readonly wall: WallClock;
  readonly epoch: Epoch;
  readonly providers: Providers;
  readonly calls: CallBook;
  /** What each request of a turn has to hold. */
  readonly requests: RequestWatch;
}

export interface SimulatedModels {
  readonly own: Model;
  readonly fallbacks: readonly Model[];
  /** What `/model` may choose. */
  readonly all: readonly Model[];
  readonly classifier: Model;
  readonly assessment: Model;
  readonly summary: Model;
}

const PROVIDER = 'simulated';
type Live = Parameters<Model['call']>[1];
type Shape = Pick<Model, 'name' | 'account' | 'contextWindow'>;

export function scriptedModels(
  parts: ModelParts,
  { sharesAccount, fallbacks, window, upkeep }: SimulationOptions,
): SimulatedModels {
  const own = modelOf(parts, { name: 'one', account: 'a', contextWindow: window });
  const second = sharesAccount ? 'a' : 'b';
  const others = [
    modelOf(parts, { name: 'two', account: second, contextWindow: window * 2 }),
    modelOf(parts, { name: 'three', account: 'b', contextWindow: 100_000 }),
  ];
  const classifier = modelOf(parts, {
    name: 'sorter',
    account: sharesAccount ? 'b' : 'c',
    contextWindow: 100_000,
  });
  const judge = judgesAccount({ sharesAccount });
  const assessment = modelOf(parts, { name: 'judge', account: judge, contextWindow: 100_000 });
  // Nobody else's account: what it does is drawn for it alone.
  const { summaryWindow: contextWindow } = upkeep;
  const summary = modelOf(parts, { name: 'scribe', account: 'd', contextWindow });
  const all = [own, ...others];
  return { own, fallbacks: others.slice(0, fallbacks), all, classifier, assessment, summary };
}

function modelOf(parts: ModelParts, shape: Shape): Model {
  const { scheduler, epoch, providers } = parts;
  const { account } = shape;
  return {
    ...shape,
    provider: PROVIDER,
    price: 'costs-money',
    rates: { input: 1, output: 1 },
    probe: (signal) =>
      scheduler.call({ epoch, label: `probe ${account}`, delay: 20, signal }, () =>
        providers.isReachable(account, scheduler.elapsed) ? 'alive' : 'unreachable',
      ),
    call: (request, live) => {
      const asked = { request, live };
      if (request.answer?.name === 'assessment')
        return assess(parts, { ...shape, provider: PROVIDER }, asked);
      if (request.answer?.name === 'summary')
        return summarise(parts, { ...shape, provider: PROVIDER }, asked);
      return request.answer === undefined
        ? answer(parts, shape, asked)
        : classify(parts, shape, asked);
    },
  };
}

interface Asked {
  readonly request: ModelRequest;
  readonly live: Live;
}

async function answer(parts: ModelParts, shape: Shape, asked: Asked): Promise<ModelOutcome> {
  const { scheduler, epoch, random, weather, calls } = parts;
  const { signal, onModel, onText } = asked.live;
  const call = calls.begin({ host: epoch.name, ...shape, request: asked.request });
  parts.requests.see({ host: epoch.name, model: shape, request: asked.request });
  const outcome = comesTo(parts, shape, asked.request);
  const slow = random.chance(weather.faults.modelSlow);
  const delay = slow ? random.below(2 * MINUTE) : random.below(3 * SECOND);
  const label = `model ${call.number} ${shape.name}`;
  if (outcome.kind === 'reply' && outcome.text !== '' && random.chance(0.5)) {
    await scheduler.call({ epoch, label: `${label} first`, delay: delay / 2, signal }, () => {
      if (signal.aborted) return;
      onModel(PROVIDER, shape.name);
      onText(outcome.text.slice(0, 4));
    });
    await scheduler.call({ epoch, label: `${label} more`, delay: delay / 4, signal }, () => {
      if (!signal.aborted) onText(outcome.text.slice(4));
    });
  }
  const last = { epoch, label: `${label} ${outcome.kind}`, delay: delay / 4, signal };
  return scheduler.call(last, () => {
    calls.end(call, signal.aborted ? null : outcome);
    return signal.aborted ? fault('aborted', 'aborted') : outcome;
  });
}

/** What the call comes to: what the account does, what chance does to this call, or an answer. */
function comesTo(parts: ModelParts, shape: Shape, request: ModelRequest): ModelOutcome {
  const { account, name } = shape;
  const { scheduler, wall, random, weather, providers } = parts;
  const at = { elapsed: scheduler.elapsed, wall: wall.now() };
  const closed = providers.faultOf(account, at, random);
  if (closed !== undefined) return closed;
  if (random.chance(weather.faults.model)) return passingFault(random, at.wall);
  if (isTooLong(parts, shape, request)) return fault('refused', 'context_too_long', 'request');
  return answerOf(parts, request, { provider: PROVIDER, model: name });
}

/** The provider counts in its own way, and takes no more than its window (M-13). */
function isTooLong(parts: ModelParts, { contextWindow }: Shape, request: ModelRequest): boolean {
  if ((parts.weigh?.(request) ?? 0) <= contextWindow) return false;
  parts.requests.refused();
  parts.reached('context_too_long');
  return true;
}

const SORTED = { inputTokens: 20, outputTokens: 5, cost: 1 } as const;

/** The classifier: right, of another mind, wrong, unreadable, broken or late (T-2). */
async function classify(parts: ModelParts, shape: Shape, asked: Asked): Promise<ModelOutcome> {
  const { scheduler, wall, epoch, random, weather, providers, reached } = parts;
  const { account, name: model } = shape;
  const at = { elapsed: scheduler.elapsed, wall: wall.now() };
  const isOff = random.chance(weather.faults.classifier);
  const ids = idsIn(asked.request);
  const text = isOff
    ? random.pick([
        '{"taskId":"task_0000000000000000","reason":""}',
        'all tasks are done',
        '{}',
        '',
      ])
    : JSON.stringify({ taskId: random.pick([...ids, null]), reason: 'it fits' });
  const isLate = isOff && random.chance(0.3);
  const delay = isLate ? random.between(3, 20) * SECOND : random.below(SECOND);
  const broken = isOff && random.chance(0.2) ? passingFault(random, at.wall) : undefined;
  const { signal } = asked.live;
  return scheduler.call({ epoch, label: `sorter ${account}`, delay, signal }, () => {
    if (signal.aborted) {
      reached('classifier_late');
      return fault('aborted', 'aborted');
    }
    const failed = providers.faultOf(account, at, random) ?? broken;
    if (failed !== undefined) return failed;
    reached(isOff ? 'classifier_wrong' : 'classifier_answered');
    const by = { provider: PROVIDER, model };
    return { kind: 'reply', ...by, text, calls: [], stop: 'end', usage: SORTED };
  });
}

function idsIn({ messages }: ModelRequest): readonly string[] {
  const [first] = messages;
  const data = JSON.parse(first?.role === 'user' ? first.text : '{}') as {
    tasks?: { readonly id: string }[];
  };
  return (data.tasks ?? []).map(({ id }) => id);
}
