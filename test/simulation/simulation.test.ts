// The quick tier of the simulated world; `npm run prove` plays the whole one.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEFECTS } from './defects.ts';
import { playSeeds, type SeedSet } from './many.ts';
import { optionsOf } from './options.ts';
import { describeFailure, describeSet } from './report.ts';
import { simulate } from './simulate.ts';
import { SOMETIMES } from './sometimes.ts';

/** As few as reach every event once. */
const SEEDS = 320;

/** Played once; every test of the tier looks at it. */
let played: Promise<SeedSet> | undefined;

function quickSet(): Promise<SeedSet> {
  played ??= playSeeds({ from: 1, seeds: SEEDS });
  return played;
}

describe('under crashes, zombies and faults of every kind', () => {
  const rules: readonly { readonly title: string }[] = [
    { title: 'V1, V2: a message that comes again is one entry, one task and one answer' },
    {
      title:
        'V3, T-10: a conversation has one turn at a time, in inbox order, its steps without a gap',
    },
    {
      title:
        'V4, E-1, E-2: a call is journalled before it runs, and what is uncertain never runs again',
    },
    {
      title:
        'V8: each entry into a state that waits for a person has one notice, and its command leaves it',
    },
    { title: 'V14, W-1: a stopped task starts nothing, and what ran of it ends soon' },
    { title: 'V17: what every record says equals the replay of its events and steps' },
    { title: 'V5, T-18: a call of a model is reserved before it is made, within its bounds' },
    { title: 'V15: budgets grow by receipts alone, and what is spent stays within them' },
    { title: 'E-4, E-6: only what was shown runs, once, and after one who may has said so' },
    { title: 'T-11: nothing is done with more authority than the words that it acts on' },
    { title: 'R-1: no wait goes on by itself that its host did not see through' },
    { title: 'V18, V19: an end stays as it was, and no older token writes after a newer one' },
    { title: 'V20, T-16: with the faults ended everything comes to rest with a visible last word' },
    { title: 'T-1: nothing is acknowledged that is not in the inbox' },
    {
      title:
        'V6, R-3: interrupted work goes on after a continue alone, with three attempts an epoch',
    },
    { title: 'R-16: no turn follows a permission that is void' },
    { title: 'R-8: a reset moves no deadline and no budget' },
    { title: 'B-2, B-3: nothing goes before the boundary, which keeps what a proof speaks for' },
    { title: 'V9, B-4: history sleeps as it is until one exact order, and its inputs for good' },
    { title: 'R-12: in a storm of unclean starts nothing starts by itself' },
    { title: 'R-14: on a shared store no host loses a turn while its lease holds' },
    {
      title:
        'V7, M-8: behind a fence no turn begins, and nothing is shortened but by its reserved step',
    },
    {
      title: 'M-2, M-3, V5: a try is reserved at its time before it is made, and counted for good',
    },
    { title: 'M-7: an admission is an admin’s, for the version that is meant, once' },
    { title: 'M-6: an uncertain step is never made again by itself' },
    { title: 'M-14: what stands for a session was really said, and checked' },
    { title: 'M-17: no cut parts a call from its result, and what must survive is said again' },
    { title: 'M-13: what its provider found too long is not sent again' },
    { title: 'V10: no run ends on the notice of a wait, or on one that only informs' },
    { title: 'M-9: whoever asks how an operation stands is told, and never thrown at' },
  ];
  for (const { title } of rules) {
    test(title, async () => {
      const { failures } = await quickSet();
      const ids = title.slice(0, title.indexOf(':')).split(', ');
      const broken = failures.filter(({ problems }) =>
        problems.some((problem) => ids.includes(problem.split(' ', 1)[0] ?? '')),
      );
      assert.deepEqual(broken.map(describeFailure), []);
      // A rule that no planted defect breaks may be one that nobody judges.
      const drilled = DEFECTS.filter((defect) => ids.some((id) => defect.breaks.test(`${id} `)));
      assert.ok(drilled.length > 0, `no planted defect breaks ${ids.join(' or ')}`);
    });
  }

  test('no seed fails, and the set was large enough to say so', async (context) => {
    const set = await quickSet();
    context.diagnostic(describeSet(set, []));
    assert.deepEqual(set.failures.map(describeFailure), []);
    assert.equal(set.seeds, SEEDS);
    assert.ok(set.twice >= 1, 'no seed was played twice');
    // The quick tier reaches every event once; the whole one each at least twenty times.
    assert.deepEqual(set.sometimes.below(1), []);
  });
});

test('a run prints its expanded options and each step, and leaves the same trace again', async () => {
  const [first, again]: [string[], string[]] = [[], []];
  const options = optionsOf(7);
  const one = await simulate({ options, trace: (line) => first.push(line) });
  const two = await simulate({ options, trace: (line) => again.push(line) });
  assert.equal(first[0], JSON.stringify(options));
  assert.ok(first.length > one.steps, 'a step was not printed');
  assert.deepEqual(again, first);
  assert.equal(one.traceHash, two.traceHash);
});

test('a set that reaches an event too seldom is red', async () => {
  const set = await playSeeds({ from: 1, seeds: 3 });
  assert.equal(set.sometimes.below(4).length, Object.keys(SOMETIMES).length);
  assert.ok(set.sometimes.below(1).length < Object.keys(SOMETIMES).length);
});
