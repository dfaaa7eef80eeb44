// The model that judges interrupted work: verdicts, nonsense, failures, silence, and what is held of each
// of its calls at the moment at which it is made (R-2, R-3, V5, V6).
import { MINUTE, SECOND } from '../../src/kernel/time.ts';
import type { Model, ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import { fault, limited, passingFault, type ProviderFault } from './provider.ts';
import type { AssessmentBook } from './assessment-book.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { ModelParts } from './scripted-model.ts';

/** What a written script lets an assessment come to. */
export type AssessmentPlan = 'continue' | 'end' | 'inconclusive' | 'invalid' | 'fails' | 'slow';

export interface AssessmentParts {
  /** Answers in a written order, taken from the front; without one chance decides. */
  readonly assessments?: AssessmentPlan[] | undefined;
  /** Its own chance, so that assessments do not reshuffle the turns. */
  readonly judge: Random;
  readonly assessing: AssessmentBook;
  /** The host of the call may die during it. */
  readonly dies: (host: string) => void;
}

type Parts = ModelParts & AssessmentParts;
type Live = Parameters<Model['call']>[1];
type Speaker = Pick<Model, 'name' | 'account' | 'provider'>;

export const ASSESSED = { inputTokens: 40, outputTokens: 4, cost: 3 } as const;

/** Answers one assessment call. */
export async function assess(
  parts: Parts,
  by: Speaker,
  asked: { readonly request: ModelRequest; readonly live: Live },
): Promise<ModelOutcome> {
  const { scheduler, epoch, assessing, reached } = parts;
  const { signal } = asked.live;
  const call = assessing.begin(epoch.name, asked.request, signal);
  const { delay, outcome } = comesTo(parts, by);
  if (parts.judge.chance(parts.weather.faults.judgeDies)) parts.dies(epoch.name);
  return scheduler.call({ epoch, label: `assess ${call.taskId}`, delay, signal }, () => {
    assessing.end(call);
    if (signal.aborted) {
      reached('assessment_late');
      return fault('aborted', 'aborted');
    }
    return outcome;
  });
}

interface Coming {
  readonly delay: number;
  readonly outcome: ModelOutcome;
}

function comesTo(parts: Parts, by: Speaker): Coming {
  const { scheduler, wall, judge: random, providers, assessments } = parts;
  const at = { elapsed: scheduler.elapsed, wall: wall.now() };
  const delay = random.below(4 * SECOND);
  if (assessments !== undefined) return PLANNED[assessments.shift() ?? 'continue'](parts, by);
  const closed = providers.faultOf(by.account, at, random);
  if (closed !== undefined) return { delay, outcome: closed };
  const { judgeSlow } = parts.weather.faults;
  const drawn = { delay, outcome: draw(parts, by, at.wall) };
  return random.chance(judgeSlow) ? { ...drawn, delay: random.between(10, 200) * SECOND } : drawn;
}

function draw(parts: Parts, by: Speaker, wall: number): ModelOutcome {
  const { judge: random, weather } = parts;
  const { judgeFails, judgeInvalid, judgeEnds, judgeDoubts } = weather.faults;
  const [fails, invalid, ends, doubts] = [judgeFails, judgeInvalid, judgeEnds, judgeDoubts].map(
    (odds) => random.chance(odds),
  );
  if (fails === true) return failure(parts, wall);
  if (invalid === true) return said(by, random.pick(NONSENSE));
  if (ends === true) return said(by, verdict('end'));
  return said(by, verdict(doubts === true ? 'inconclusive' : 'continue'));
}

/** A technical failure, sometimes with an instant that the provider names. */
function failure({ judge: random }: Parts, wall: number): ProviderFault {
  const names = random.chance(0.2);
  const later = random.between(20, 300) * SECOND;
  const passing = passingFault(random, wall);
  const other = random.pick([
    fault('transient', 'connect'),
    fault('transient', 'http_503'),
    fault('refused', 'http_404', 'model'),
    fault('nonsense', 'not_json'),
    passing,
  ]);
  return names ? limited(wall + later) : other;
}

interface Words {
  readonly text: string;
  readonly stop?: 'end' | 'length';
}

function verdict(name: 'continue' | 'end' | 'inconclusive'): Words {
  return { text: JSON.stringify({ verdict: name, reason: `it looks like ${name}` }) };
}

/** Answers that are none: not the schema, an unknown verdict, no text, cut off. */
const NONSENSE: readonly Words[] = [
  { text: 'continue' },
  { text: '' },
  { text: '  \n' },
  { text: '[]' },
  { text: '{"verdict":"continue"}' },
  { text: '{"verdict":"proceed","reason":"why not"}' },
  { text: '{"verdict":"continue","reason":"yes","extra":1}' },
  { text: '{"verdict":["continue"],"reason":"yes"}' },
  { text: '{"verdict":"continue","reason":"yes"} and so on' },
  { text: '{"verdict":"continue","reason":"it w', stop: 'length' },
  { text: '{"verdict":"continue","reason":"cut"}', stop: 'length' },
];

function said({ provider, name: model }: Speaker, { text, stop = 'end' }: Words): ModelOutcome {
  return { kind: 'reply', provider, model, text, calls: [], stop, usage: ASSESSED };
}

const PLANNED: Readonly<Record<AssessmentPlan, (parts: Parts, by: Speaker) => Coming>> = {
  continue: (_, by) => ({ delay: SECOND, outcome: said(by, verdict('continue')) }),
  end: (_, by) => ({ delay: SECOND, outcome: said(by, verdict('end')) }),
  inconclusive: (_, by) => ({ delay: SECOND, outcome: said(by, verdict('inconclusive')) }),
  invalid: (_, by) => ({ delay: SECOND, outcome: said(by, { text: 'go on' }) }),
  fails: () => ({ delay: SECOND, outcome: fault('transient', 'http_500') }),
  slow: (_, by) => ({ delay: 10 * MINUTE, outcome: said(by, verdict('continue')) }),
};
