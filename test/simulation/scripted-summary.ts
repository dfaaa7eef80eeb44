// The model that sums sessions up: good words, words that are none, failures, silence and lies; each of its
// calls is held against the reserved step that it is of (M-2, V7).
import { LIMITS } from '../../src/kernel/limits.ts';
import { MINUTE, SECOND } from '../../src/kernel/time.ts';
import type { Model, ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { OperationBook } from './operation-book.ts';
import { fault, limited, passingFault, type ProviderFault } from './provider.ts';
import type { ModelParts } from './scripted-model.ts';
import { ASSESSED } from './scripted-assessment.ts';

/** What a written script lets a summary come to. */
export type SummaryPlan = 'good' | 'fails' | 'empty' | 'invalid' | 'long' | 'hangs' | 'quota';

export interface SummaryParts {
  /** Answers in a written order, taken from the front; without one chance decides. */
  readonly summaries?: SummaryPlan[] | undefined;
  /** Its own chance, so that upkeep does not reshuffle the turns. */
  readonly upkeep: Random;
  readonly operations: OperationBook;
}

type Parts = ModelParts & SummaryParts;
type Speaker = Pick<Model, 'name' | 'account' | 'provider' | 'contextWindow'>;
type Live = Parameters<Model['call']>[1];

interface Coming {
  readonly delay: number;
  readonly outcome: ModelOutcome;
}

/** Answers one call for a summary. */
export async function summarise(
  parts: Parts,
  by: Speaker,
  asked: { readonly request: ModelRequest; readonly live: Live },
): Promise<ModelOutcome> {
  const { scheduler, epoch, operations, reached, upkeep } = parts;
  const { signal } = asked.live;
  const call = operations.begin(epoch.name, 'summary', {
    model: by.name,
    request: asked.request,
  });
  const { delay, outcome } = comesTo(parts, by, asked.request);
  if (upkeep.chance(parts.weather.faults.upkeepDies)) parts.dies(epoch.name);
  const label = `sum up ${call.operationId}`;
  return scheduler.call({ epoch, label, delay, signal }, () => {
    const heard = signal.aborted ? fault('aborted', 'aborted') : outcome;
    operations.end(call, heard);
    if (signal.aborted) reached('summary_late');
    return heard;
  });
}

/** Data is counted higher than prose. */
const JSON_DENSITY = 1.3;

function comesTo(parts: Parts, by: Speaker, request: ModelRequest): Coming {
  const { scheduler, wall, upkeep: random, providers, summaries } = parts;
  const delay = random.below(4 * SECOND);
  if ((parts.weigh?.(request) ?? 0) * JSON_DENSITY > by.contextWindow) {
    parts.reached('summary_too_long');
    return { delay, outcome: fault('refused', 'context_too_long', 'request') };
  }
  if (summaries !== undefined) return planned(parts, by, summaries.shift() ?? 'good');
  const at = { elapsed: scheduler.elapsed, wall: wall.now() };
  const closed = providers.faultOf(by.account, at, random);
  if (closed !== undefined) return { delay, outcome: closed };
  const drawn = { delay, outcome: draw(parts, by, at.wall) };
  const isSlow = random.chance(parts.weather.faults.summarySlow);
  return isSlow ? { ...drawn, delay: random.between(30, 400) * SECOND } : drawn;
}

function draw(parts: Parts, by: Speaker, wall: number): ModelOutcome {
  const { upkeep: random, weather, reached } = parts;
  const { summaryFails, summaryInvalid, summaryQuota } = weather.faults;
  const [fails, isInvalid, isLimited] = [summaryFails, summaryInvalid, summaryQuota].map((odds) =>
    random.chance(odds),
  );
  if (isLimited === true) {
    reached('summary_quota');
    return limited(wall + random.between(5, 600) * SECOND);
  }
  if (fails === true) {
    reached('summary_failed');
    return failure(random, wall);
  }
  if (isInvalid === true) {
    reached('summary_invalid');
    return said(by, random.pick(NONSENSE));
  }
  return good(parts, by);
}

function failure(random: Random, wall: number): ProviderFault {
  return random.pick([
    fault('transient', 'connect'),
    fault('transient', 'http_503'),
    fault('refused', 'http_401', 'account'),
    fault('nonsense', 'not_json'),
    passingFault(random, wall),
  ]);
}

/** Whatever it says is its own: what was booked can be told from what was not said (M-14). */
function good(parts: Parts, by: Speaker): ModelOutcome {
  const { operations, upkeep: random, weather, reached } = parts;
  const lies = random.chance(weather.faults.summaryLies);
  if (lies) reached('summary_lied');
  const rest = lies ? 'All tasks are done, nothing was forbidden and nobody waits.' : 'It went on.';
  const summary = `Summary ${operations.nextWords()}. ${rest}${' and on'.repeat(random.below(12))}`;
  return said(by, { text: JSON.stringify({ summary }) });
}

interface Words {
  readonly text: string;
  readonly stop?: 'end' | 'length';
}

const TOO_LONG = JSON.stringify({ summary: 'x'.repeat(LIMITS.summaryCharsMax + 1) });

/** Answers that are none: not the schema, no words, cut off, longer than a summary may be (M-14). */
const NONSENSE: readonly Words[] = [
  { text: '' },
  { text: 'a summary' },
  { text: '{}' },
  { text: '{"summary":""}' },
  { text: '{"summary":"   "}' },
  { text: '{"summary":7}' },
  { text: '{"summary":"cut o', stop: 'length' },
  { text: '{"summary":"it was cut"}', stop: 'length' },
  { text: TOO_LONG },
];

function said({ provider, name: model }: Speaker, { text, stop = 'end' }: Words): ModelOutcome {
  return { kind: 'reply', provider, model, text, calls: [], stop, usage: ASSESSED };
}

function planned(parts: Parts, by: Speaker, plan: SummaryPlan): Coming {
  const at = parts.wall.now();
  const outcomes: Readonly<Record<SummaryPlan, () => ModelOutcome>> = {
    good: () => good(parts, by),
    fails: () => fault('transient', 'http_500'),
    empty: () => said(by, { text: '{"summary":""}' }),
    invalid: () => said(by, { text: 'go on' }),
    long: () => said(by, { text: TOO_LONG }),
    hangs: () => good(parts, by),
    quota: () => limited(at + 90 * SECOND),
  };
  const delay = plan === 'hangs' ? 10 * MINUTE : SECOND;
  return { delay, outcome: outcomes[plan]() };
}
