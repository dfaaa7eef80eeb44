import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import { MINUTE } from '../../src/kernel/time.ts';
import { fails, says } from '../../src/testing/model-answer.ts';
import { FORMATS, resultsIn, type Provider, type Wrong } from '../providers/provider.ts';
import { openStage, type Stage } from '../providers/stage.ts';
import { say } from '../support/acts.ts';
import { ADMIN, ANNA, BEN } from '../support/host.ts';

const SENDERS = [ANNA, BEN, ADMIN];

async function sends(
  { engine }: Stage,
  principal: Principal,
  text: string,
): Promise<ConversationId> {
  const address = principal.id;
  const here = await engine.openConversation({ channel: 'api', address, principal });
  await say(engine, here, text, { principal });
  return here;
}

function countOf({ sent }: Provider, what: 'call' | 'probe'): number {
  return sent.filter((one) => one.what === what).length;
}

/** The worker runtime of the report is the model here: what nobody can start without. */
const OUTAGES: readonly (readonly [what: string, wrong: Wrong, callsMax: number])[] = [
  ['nobody answers', 'nobody there', 0],
  // Each sign of life costs one call, less and less often.
  ['its list answers and its calls fail', fails(500), 14],
];

for (const format of FORMATS) {
  for (const [what, wrong, found] of OUTAGES) {
    test(`INC-020 (the model in place of the worker runtime) down for 30 minutes, ${what}: ${format}`, async (t) => {
      const stage = openStage(t);
      const model = await stage.provider(format, 'first');
      model.script = (request) => says(`handled ${resultsIn(request)}`);
      await model.fail(wrong);
      await stage.start([model.model('big-1')]);
      const places = await Promise.all(
        SENDERS.map((sender) => sends(stage, sender, `Order of ${sender.id}`)),
      );
      await stage.pass(2 * MINUTE);
      for (const here of places)
        assert.deepEqual(await stage.told(here), ['awaits_provider'], 'told within two minutes');
      await stage.pass(28 * MINUTE);
      for (const here of places) {
        assert.equal(await stage.standing(here), 'waiting awaits_provider');
        assert.deepEqual(await stage.told(here), ['awaits_provider'], 'and once');
      }
      const calls = countOf(model, 'call');
      const tries = SENDERS.length + LIMITS.modelRetriesMax;
      assert.ok(calls <= tries + found, `${calls} calls for three messages`);
      assert.equal(
        stage.engine.health().limiters.length,
        1,
        'one cause, one line for who operates',
      );
      await model.recover();
      for (const here of places)
        await stage.until(() => stage.isIn(here, 'completed answered'), 6 * MINUTE);
      await stage.pass(30 * MINUTE);
      assert.equal(countOf(model, 'call'), calls + SENDERS.length, 'each is handled once');
      for (const here of places) {
        const told = await stage.told(here);
        assert.deepEqual(
          told.filter((one) => one !== 'goes_on'),
          ['awaits_provider', 'reply: handled 0'],
        );
      }
      assert.deepEqual(stage.engine.health().limiters, []);
    });
  }
}
