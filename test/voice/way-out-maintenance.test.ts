// A paused conversation and its way out, through a whole host: what is said is what helps.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BlockReason } from '../../src/core/maintenance/record.ts';
import { waysOfOperation } from '../../src/core/maintenance/reasons.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { explainOperation } from '../../src/engine/maintenance/why.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { SECOND } from '../../src/kernel/time.ts';
import { ScriptedRuntime } from '../../src/testing/scripted-runtime.ts';
import {
  comesTo,
  compactedOut,
  elapse,
  keptBy,
  noticesOf,
  operationOf,
  repliesIn,
  saysFull,
} from '../engine/maintenance-support.ts';
import { EN, restOf, say, talkTo, wordsOf } from '../support/acts.ts';
import { ADMIN, ANNA, fails, Installation, says, sumsUp, until } from '../support/host.ts';

interface Stand {
  readonly place: Installation;
  readonly engine: Engine;
  readonly here: ConversationId;
}

/** How a conversation comes to be paused, and each command of its one notice with what becomes of it. */
interface Stop {
  readonly arrange: () => Promise<Stand>;
  readonly reason: BlockReason;
  readonly notice: RegExp;
  readonly mend: (place: Installation) => void;
  readonly ways: readonly (readonly [command: RegExp, leadsTo: 'done' | 'dropped'])[];
}

async function standing(place = new Installation(), runtime?: ScriptedRuntime): Promise<Stand> {
  const engine = await place.host(runtime === undefined ? {} : keptBy(place, runtime));
  const here = await talkTo(engine);
  place.model.answer = () => saysFull('read');
  return { place, engine, here };
}

/** The model can be asked again, and every summary is one. */
function mend(place: Installation): void {
  place.model.answer = () => says('answered');
  place.model.contextWindow = 128_000;
  place.summariser.answer = () => sumsUp('what was said');
}

async function unsure(
  step: 'compact' | 'rotate',
  fault: { readonly isLate: boolean },
): Promise<Stand> {
  const runtime = new ScriptedRuntime();
  const stand = await standing(new Installation(), runtime);
  if (step === 'rotate') await compactedOut(stand.place, stand.here);
  runtime.fail(step, { kind: 'rejects', code: 'busy', said: 'not now', ...fault });
  await say(stand.engine, stand.here, 'the first');
  return stand;
}

const STOPS: Readonly<Record<string, Stop>> = {
  exhausted: {
    arrange: async () => {
      const stand = await standing();
      stand.place.summariser.answer = () => fails('transient', 'http_500');
      await say(stand.engine, stand.here, 'the first');
      await elapse(stand.place, 70 * SECOND);
      return stand;
    },
    reason: 'exhausted',
    notice:
      /^■ This conversation is paused: making room in it failed seven times in a row \(each time: the model provider gave no usable answer: http_500, “the provider said no”\)\. /,
    mend,
    ways: [
      [/^\/admit mop_\w+$/, 'done'],
      [/^\/new$/, 'dropped'],
    ],
  },
  'an uncertain compact': {
    arrange: () => unsure('compact', { isLate: false }),
    reason: 'uncertain',
    notice:
      /^■ This conversation is paused: shortening the session to make room in it came to no sure end \(busy, “not now”\)\. /,
    mend,
    ways: [
      [/^\/admit mop_\w+ handover$/, 'done'],
      [/^\/new$/, 'dropped'],
    ],
  },
  'an uncertain rotate': {
    arrange: () => unsure('rotate', { isLate: true }),
    reason: 'uncertain',
    notice: /^■ This conversation is paused: moving to the next session to make room in it came /,
    mend,
    ways: [
      [/^\/admit mop_\w+$/, 'done'],
      [/^\/new$/, 'dropped'],
    ],
  },
  'a base that is too large': {
    arrange: async () => {
      const place = new Installation();
      place.model.contextWindow = 200;
      const stand = await standing(place);
      await say(stand.engine, stand.here, 'the first');
      return stand;
    },
    reason: 'base_too_large',
    notice:
      /^■ This conversation is paused: what every request has to hold does not fit what the model can see at once \(200 tokens\)\. The instructions take \d+, the tools \d+, the summary and what is restated beside it \d+, the newest words \d+, and \d+ are kept free /,
    mend,
    ways: [
      [/^\/admit mop_\w+$/, 'done'],
      [/^\/new$/, 'dropped'],
    ],
  },
};

/** What a command is answered; an admin’s, unless somebody else says it. */
async function answerTo(
  { place, engine, here }: Stand,
  text: string,
  principal = ADMIN,
): Promise<string> {
  const id = await say(engine, here, text, { principal });
  return until(engine, here, async () => {
    const row = (await place.rows('outbox')).find((one) => one['subject_id'] === id);
    return row && String(row['text']);
  });
}

describe('V8: each command of the one notice of a paused conversation leads out of', () => {
  for (const [name, stop] of Object.entries(STOPS)) {
    for (const [index, [command, leadsTo]] of stop.ways.entries()) {
      test(`${name} by ${command.source}`, async (t) => {
        const { place, engine, here } = await stop.arrange();
        t.after(() => engine.stop(0));
        const operation = await comesTo(engine, here, 'blocked');
        assert.equal(operation.reason, stop.reason);
        const told = (await noticesOf(place, here)).filter(({ level }) => level === 'blocked');
        assert.equal(told.length, 1);
        const text = wordsOf(told[0] ?? {});
        assert.match(text, stop.notice);
        const ways = waysOfOperation(operation).map((way) => way.command);
        const why = await explainOperation(engine.parts, operation.id, EN);
        assert.deepEqual(
          why?.commands.map((way) => way.command),
          ways,
        );
        const typed = ways[index] ?? '';
        assert.match(typed, command);
        // The voice page's own text names the admission alone.
        const isNamed = stop.reason !== 'exhausted' || index === 0;
        assert.equal(text.includes(`\`${typed}\``), isNamed);

        const before = (await repliesIn(place, here)).length;
        await say(engine, here, 'kept meanwhile');
        stop.mend(place);
        const said = await answerTo({ place, engine, here }, typed.toLowerCase());
        assert.match(said, leadsTo === 'done' ? /kept is then answered in order/ : /is given up; /);
        assert.equal((await comesTo(engine, here, leadsTo)).id, operation.id);
        await until(engine, here, async () => (await repliesIn(place, here)).length > before);
        await restOf(engine);
        const after = await repliesIn(place, here);
        assert.ok(after.slice(before).every((reply) => reply === 'answered'));
        const messages = await place.rows('message');
        const open = messages.filter(({ kind, state }) => kind === 'genuine' && state !== 'done');
        assert.deepEqual(open, [], 'what was kept is answered');
      });
    }
  }
});

describe('an admission that is typed wrong or by others changes nothing and says what does:', () => {
  test('M-7: by a member, as what it is not, of an unknown id, while it runs, and bare', async (t) => {
    const stand = await unsure('compact', { isLate: false });
    const { place, engine, here } = stand;
    t.after(() => engine.stop(0));
    const { id, version } = await comesTo(engine, here, 'blocked');
    assert.equal(
      await answerTo(stand, `/admit ${id} handover`, ANNA),
      'Only an admin may do this.',
    );
    assert.match(
      await answerTo(stand, `/admit ${id}`),
      new RegExp(`so nothing was done\\. .* with \`/admit ${id} handover\`\\.$`),
    );
    const slip = `${id.slice(0, -1)}${id.endsWith('9') ? '8' : '9'}`;
    assert.equal(
      await answerTo(stand, `/admit ${slip}`),
      `Nothing here has the id \`${slip}\`. The nearest is \`${id}\`.`,
    );
    assert.match(
      await answerTo(stand, '/admit'),
      /^This is typed as `\/admit OPERATION`, `\/admit OPERATION handover`\. /,
    );
    assert.match(
      await answerTo(stand, '/new', ANNA),
      new RegExp(`^Making room in this conversation is not finished, .* \`/why ${id}\`\\.$`),
    );
    assert.equal((await operationOf(place, here)).version, version);

    assert.match(
      await answerTo(stand, `/admit ${id} handover`),
      /^Making room in the conversation goes on as a handover: /,
    );
    await comesTo(engine, here, 'done');
    assert.match(
      await answerTo(stand, `/admit ${id} handover`),
      new RegExp(`^\`${id}\` is not blocked \\(it is done\\), so nothing was done\\. `),
    );
  });
});
