import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readSeed } from '../../src/core/maintenance/summary.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { SECOND } from '../../src/kernel/time.ts';
import { pass, restOf, say, talkTo } from '../support/acts.ts';
import { fails, Installation, says, sumsUp } from '../support/host.ts';
import {
  comesTo,
  compactedOut,
  elapse,
  ONE_BY_ONE,
  operationOf,
  repliesIn,
  saysFull,
} from '../engine/maintenance-support.ts';
import { mortal } from '../engine/upkeep-support.ts';

const MESSAGES = 60;
const GOAL = 'the goal is to find the leak in the north wing';

/** Sixty messages and their answers, the first of which says what all of it is for; the next turn fills up. */
async function longTask(
  place: Installation,
  engine: Engine,
  kind: 'compact' | 'handover',
): Promise<ConversationId> {
  const here = await talkTo(engine);
  if (kind === 'handover') await compactedOut(place, here);
  place.model.answer = ({ messages }) => says(`answer to ${messages.at(-1)?.text.slice(0, 12)}`);
  for (let n = 0; n < MESSAGES; n += 1) {
    await say(engine, here, n === 0 ? `message 0: ${GOAL}` : `message ${n} ${'w'.repeat(400)}`);
    await restOf(engine);
  }
  return here;
}

/** A summariser that keeps the goal where it is shown it. */
function sumsUpGoal(place: Installation): void {
  place.summariser.answer = ({ messages }) => {
    const isShown = messages[0]?.text.includes(GOAL) === true;
    return sumsUp(isShown ? `Found so far: nothing. ${GOAL}.` : 'Found so far: nothing.');
  };
}

/** Every message and every answer of the conversation, as the store has them. */
async function transcript(place: Installation): Promise<string> {
  const texts = (await place.rows('message')).map(({ text }) => text);
  const outputs = (await place.rows('step')).map(({ output }) => output);
  return JSON.stringify([texts, outputs]);
}

describe('a summary call that fails', () => {
  for (const kind of ['compact', 'handover'] as const)
    test(`INC-012 twice: all is still there and nothing is cut; then the ${kind} holds the goal`, async () => {
      const place = new Installation();
      const engine = await place.host({ options: ONE_BY_ONE });
      const here = await longTask(place, engine, kind);
      place.model.answer = () => saysFull('the last answer');
      place.summariser.answer = () => fails('transient', 'network');
      await say(engine, here, 'the last');
      await comesTo(engine, here, 'waiting');
      const whole = await transcript(place);
      const session = (await place.rows('session'))[0];
      for (const failures of [1, 2]) {
        assert.equal((await operationOf(place, here)).failures, failures);
        assert.equal(await transcript(place), whole);
        const rows = await place.rows('session');
        assert.deepEqual(rows, [session], 'the old history stays what a request is made of');
        await elapse(place, failures * SECOND);
        if (failures === 1) sumsUpGoal(place);
      }
      assert.equal((await comesTo(engine, here, 'done')).failures, 2);
      place.model.answer = () => says('here');
      await say(engine, here, 'what are we looking for?');
      await restOf(engine);
      const request = JSON.stringify(place.model.requests.at(-1)?.messages);
      assert.ok(request.includes(GOAL), 'the goal of the first message');
      assert.ok((await transcript(place)).includes(`message ${MESSAGES - 1} `));
      assert.equal((await repliesIn(place, here)).length, MESSAGES + 2);
    });

  test('INC-012 a wait for a quota raises no count, and nothing is cut while it lasts', async () => {
    const place = new Installation();
    const engine = await place.host({ options: ONE_BY_ONE });
    const here = await longTask(place, engine, 'compact');
    const retryAt = place.clock.now() + 3_600_000;
    place.summariser.answer = () => fails('transient', 'http_429', { retryAt, scope: 'account' });
    place.model.answer = () => saysFull('the last answer');
    await say(engine, here, 'the last');
    const { failures } = await comesTo(engine, here, 'waiting');
    assert.equal(failures, 0);
    const [session] = await place.rows('session');
    assert.deepEqual([session?.['cut_seq'], session?.['seed']], [0, null]);
  });
});

describe('a crash between the summary and the swap', () => {
  const UNITS = [
    'maintenance.summarise',
    'maintenance.archive-link',
    'maintenance.rotate',
    'maintenance.seed',
  ];
  for (const unit of UNITS)
    for (const moment of ['hangs', 'hangs-after'] as const)
      test(`INC-012 ${moment === 'hangs' ? 'before' : 'after'} ${unit}: the old history is whole, or the new one is`, async () => {
        const place = new Installation();
        sumsUpGoal(place);
        const { engine, store, kill } = await mortal(place, { options: ONE_BY_ONE });
        const here = await longTask(place, engine, 'handover');
        place.model.answer = () => saysFull('the last answer');
        store.mishap = ({ unit: name }) => (name === unit ? moment : undefined);
        await say(engine, here, 'the last');
        await pass(60);
        kill();
        const { sessionId } = (await place.store.query('conversation.byId', { id: here }))!;
        const now = (await place.store.query('session.byId', { id: sessionId }))!;
        const isOld = now.previousId === null;
        if (isOld) assert.equal(now.cutSeq, 0, 'all of the old one is still shown');
        const next = await place.host({ options: ONE_BY_ONE });
        await elapse(place, 3 * SECOND);
        const { nextSessionId } = await comesTo(next, here, 'done');
        const session = await place.store.query('session.byId', { id: nextSessionId! });
        assert.ok(readSeed(session?.seed ?? null)?.summary.includes(GOAL));
        place.model.answer = () => says('here');
        await say(next, here, 'what are we looking for?');
        await restOf(next);
        assert.ok(JSON.stringify(place.model.requests.at(-1)?.messages).includes(GOAL));
      });
});
