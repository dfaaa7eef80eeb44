// What each fault of a provider comes to, in both wire formats, without a fallback and with one.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { HOUR, SECOND, type Instant } from '../../src/kernel/time.ts';
import { CASES, type Case, type Comes } from './cases.ts';
import { callsTo, FORMATS, modelIn, type Format, type Provider } from './provider.ts';
import { openStage, type Stage } from './stage.ts';

const SETTLED = [
  'completed answered',
  'failed model_refused',
  'waiting awaits_provider',
  'waiting awaits_quota',
  'blocked no_outcome',
];

type Fallback = 'no fallback' | 'a fallback on another account' | 'a fallback on the same account';
const FALLBACKS: readonly Fallback[] = [
  'no fallback',
  'a fallback on another account',
  'a fallback on the same account',
];

interface Met {
  readonly stage: Stage;
  readonly first: Provider;
  readonly other: Provider;
  readonly here: ConversationId;
  /** When the fault began: after the first step of the turn, and the one payment that it made. */
  readonly since: Instant;
}

/** A turn whose second model step meets the fault: the first has paid. */
async function meet(
  t: TestContext,
  { wrong }: Case,
  { format, fallback }: { readonly format: Format; readonly fallback: Fallback },
): Promise<Met> {
  const stage = openStage(t);
  const first = await stage.provider(format, 'first');
  // The work goes on from the journal, also in the other format (T-13).
  const [otherFormat = format] = FORMATS.filter((one) => one !== format);
  const other = await stage.provider(otherFormat, 'other');
  const fallbacks = {
    'no fallback': [],
    'a fallback on another account': [other.model('spare-1')],
    'a fallback on the same account': [first.model('small-1')],
  }[fallback];
  let since = 0;
  stage.place.tools.perform = async () => {
    since = stage.now;
    const met = wrong(since);
    await first.fail(
      typeof met === 'object'
        ? (request) => (modelIn(request) === 'big-1' ? met : first.script(request))
        : met,
    );
    return { kind: 'result', text: 'paid' };
  };
  await stage.start([first.model('big-1'), ...fallbacks]);
  const here = await stage.say();
  await stage.until(() => stage.isIn(here, ...SETTLED), 2 * HOUR);
  return { stage, first, other, here, since };
}

/** The models that were asked since the fault began, and when, in seconds. */
function asked({ first, other, since }: Met): Readonly<Record<string, readonly number[]>> {
  // The first call of all stands at the same instant as the fault.
  const big = callsTo(first, { model: 'big-1', since }).slice(1);
  const small = callsTo(first, { model: 'small-1', since });
  return { big, small, spare: callsTo(other, { model: 'spare-1', since }) };
}

interface Expected {
  readonly standing: string;
  readonly told: readonly string[];
  readonly asked: Readonly<Record<string, readonly number[]>>;
}

/** When the fallback is asked that can answer; null when it is not. */
function fallbackAt(comes: Comes, fallback: Fallback): number | null {
  const isOther = fallback === 'a fallback on another account';
  if (fallback === 'no fallback' || comes.to === 'no_outcome') return null;
  if (comes.to === 'quota') return isOther ? 0 : null;
  if (comes.to === 'refused') return isOther || comes.of === 'call' ? 0 : null;
  // A named instant is the account's: nobody is asked there before it has come.
  return isOther || comes.holdsAccount !== true ? comes.over : null;
}

const STANDINGS: Readonly<Record<Comes['to'], readonly [standing: string, notice: string]>> = {
  provider: ['waiting awaits_provider', 'awaits_provider'],
  quota: ['waiting awaits_quota', 'awaits_quota'],
  refused: ['failed model_refused', 'model_refused'],
  no_outcome: ['blocked no_outcome', 'no_outcome'],
};

function expectedOf({ comes, isHeard }: Case, fallback: Fallback): Expected {
  // What cannot be read is an answer: one corrective turn, then it is told (T-8).
  const big = comes.to === 'provider' ? comes.at : comes.to === 'no_outcome' ? [0, 0] : [0];
  const at = fallbackAt(comes, fallback);
  const none = { big, small: [], spare: [] };
  if (at === null) {
    const [standing, notice] = STANDINGS[comes.to];
    return { standing, told: [notice], asked: none };
  }
  const isOther = fallback === 'a fallback on another account';
  const to = { ...none, [isOther ? 'spare' : 'small']: [at] };
  if (!isOther && isHeard === false)
    return { standing: 'waiting awaits_provider', told: ['awaits_provider'], asked: to };
  return {
    standing: 'completed answered',
    told: [`reply: done, ${isOther ? 'spare-1' : 'small-1'}`],
    asked: to,
  };
}

/** What its one notice says: the provider's own code, and until when. */
async function assertSaid({ stage, here, since }: Met, comes: Comes): Promise<void> {
  const task = await stage.task(here);
  if (comes.to === 'provider' || comes.to === 'refused') {
    const [, notice] = STANDINGS[comes.to];
    const [words = ''] = await stage.words(here, notice);
    assert.match(words, new RegExp(comes.code));
    assert.match(words, /“Pay the bill”/);
  }
  if (comes.to === 'quota') assert.equal(task.waitUntil, since + comes.inMs);
}

/** The provider is well again: the task goes on from what was saved and is answered, once. */
async function assertGoesOn(met: Met, comes: Comes): Promise<void> {
  const { stage, first, here } = met;
  const before = asked(met)['big']?.length ?? 0;
  await first.recover();
  const { waitUntil } = await stage.task(here);
  await stage.until(() => stage.isIn(here, 'completed answered'), 6 * HOUR);
  if (comes.to === 'quota') assert.equal(stage.now, waitUntil, 'nobody asked before');
  // Whoever finds the provider out is told by its answer.
  const goesOn = comes.to === 'quota' ? ['goes_on'] : [];
  const told = [STANDINGS[comes.to][1], ...goesOn, 'reply: done, big-1'];
  await stage.pass(10 * 60 * SECOND);
  assert.deepEqual(await stage.told(here), told);
  assert.equal(asked(met)['big']?.length, before + 1, 'one call finds out and answers');
  assert.equal(stage.place.tools.ran.length, 1, 'nothing is repeated');
  assert.deepEqual(stage.engine.health().limiters, []);
}

async function play(
  t: TestContext,
  one: Case,
  how: { readonly format: Format; readonly fallback: Fallback },
): Promise<void> {
  const { comes } = one;
  const met = await meet(t, one, how);
  const { stage, first, other, here } = met;
  const expected = expectedOf(one, how.fallback);
  const seen = {
    standing: await stage.standing(here),
    told: await stage.told(here),
    asked: asked(met),
  };
  assert.deepEqual(seen, expected);
  assert.equal(stage.place.tools.ran.length, 1, 'paid once');
  const { big = [], small = [], spare = [] } = expected.asked;
  const heard = one.isHeard === false ? 0 : big.length + small.length;
  assert.deepEqual([first.arrived, other.arrived], [1 + heard, spare.length], 'at the doors');
  if (seen.standing === 'completed answered') return;
  await assertSaid(met, comes);
  if (seen.standing.startsWith('waiting')) await assertGoesOn(met, comes);
}

for (const format of FORMATS) {
  for (const fallback of FALLBACKS) {
    describe(`${format} with ${fallback}`, () => {
      for (const one of CASES)
        test(`T-12, T-18: ${one.what}`, (t) => play(t, one, { format, fallback }));
    });
  }
}
