import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { HOUR, MINUTE } from '../../src/kernel/time.ts';
import { callsTool, fails, says } from '../../src/testing/model-answer.ts';
import { FORMATS, resultsIn, type Format, type Provider } from '../providers/provider.ts';
import { openStage, type Stage } from '../providers/stage.ts';
import { ANNA } from '../support/host.ts';

interface Charged {
  readonly stage: Stage;
  readonly provider: Provider;
}

/** A host whose tool `pay` is the charge; its ledger stands outside of everything that may be cut. */
async function staged(t: TestContext, format: Format): Promise<Charged> {
  const stage = openStage(t);
  return { stage, provider: await stage.provider(format, 'first') };
}

/** How often each tool really ran. */
function ledger({ stage }: Charged): Readonly<Record<string, number>> {
  const ran = Map.groupBy(stage.place.tools.ran, ({ name }) => name);
  return Object.fromEntries([...ran].map(([name, calls]) => [name, calls.length]));
}

/** From the charge on the provider fails so often, then it is well. */
function failsAfterTheCharge({ stage, provider }: Charged, times: number): void {
  let failed = 0;
  stage.place.tools.perform = async () => {
    await provider.fail((request) => {
      failed += 1;
      return failed <= times ? fails(500) : provider.script(request);
    });
    return { kind: 'result', text: 'charged' };
  };
}

async function finishes(stage: Stage, here: ConversationId): Promise<void> {
  await stage.until(() => stage.isIn(here, 'completed answered'), 2 * HOUR);
  await stage.pass(HOUR);
  const told = await stage.told(here);
  assert.equal(told.filter((one) => one.startsWith('reply:')).length, 1, 'answered once');
}

for (const format of FORMATS) {
  test(`INC-076 the model fails ten times after the charge: ${format}`, async (t) => {
    const charged = await staged(t, format);
    const { stage, provider } = charged;
    failsAfterTheCharge(charged, 10);
    await stage.start([provider.model('big-1')]);
    await finishes(stage, await stage.say());
    assert.deepEqual(ledger(charged), { pay: 1 });
    assert.equal(provider.arrived, 1 + 10 + 1, 'each call is one step’s');
  });

  test(`INC-076 another model, of another format, goes on after the charge: ${format}`, async (t) => {
    const charged = await staged(t, format);
    const { stage, provider } = charged;
    const [otherFormat = format] = FORMATS.filter((one) => one !== format);
    const other = await stage.provider(otherFormat, 'other');
    failsAfterTheCharge(charged, Number.POSITIVE_INFINITY);
    await stage.start([provider.model('big-1'), other.model('spare-1')]);
    const here = await stage.say();
    await finishes(stage, here);
    assert.deepEqual(ledger(charged), { pay: 1 });
    assert.deepEqual(await stage.told(here), ['reply: done, spare-1']);
    assert.equal(other.arrived, 1, 'one call, from the journal');
  });

  test(`INC-076 (a killed turn goes on by no check that failed) the host dies after the charge, before the next model call has answered: ${format}`, async (t) => {
    const charged = await staged(t, format);
    const { stage, provider } = charged;
    stage.place.tools.perform = async () => {
      await provider.fail({ kind: 'stall' });
      return { kind: 'result', text: 'charged' };
    };
    await stage.start([provider.model('big-1')]);
    const here = await stage.say();
    await stage.until(() => provider.held === 1);
    for (let kills = 0; kills < 2; kills += 1) {
      await stage.restart('unclean');
      await stage.pass(HOUR);
      assert.equal(await stage.standing(here), 'blocked recovery_assessment_failed');
      assert.deepEqual(await stage.told(here), ['recovery_assessment_failed']);
      assert.deepEqual(ledger(charged), { pay: 1 });
    }
    assert.equal(provider.arrived, 2, 'nothing goes on by itself');
  });

  test(`INC-076 (the result is unknown: asked, never run again) the host dies during the charge: ${format}`, async (t) => {
    const charged = await staged(t, format);
    const { stage, provider } = charged;
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    stage.place.tools.perform = () => {
      resolve();
      return new Promise(() => {});
    };
    await stage.start([provider.model('big-1')]);
    const here = await stage.say();
    await begun;
    await stage.restart('unclean');
    await stage.pass(HOUR);
    assert.equal(await stage.standing(here), 'blocked recovery_assessment_failed');
    const steps = await stage.place.rows('step');
    assert.deepEqual(
      steps.filter(({ kind }) => kind === 'tool').map(({ state }) => state),
      ['uncertain'],
    );
    assert.deepEqual(ledger(charged), { pay: 1 });
    assert.equal(provider.arrived, 1);
  });

  test(`INC-076 five rounds of approvals after the charge: ${format}`, async (t) => {
    const charged = await staged(t, format);
    const { stage, provider } = charged;
    stage.place.tools.asked.add('note');
    provider.script = (request) => {
      const done = resultsIn(request);
      if (done === 0) return callsTool('pay', { euros: 5 });
      return done <= 5 ? callsTool('note', { round: done }) : says('done');
    };
    await stage.start([provider.model('big-1')]);
    const here = await stage.say();
    for (let round = 1; round <= 5; round += 1) {
      await stage.until(() => stage.isIn(here, 'waiting awaits_approval'), MINUTE);
      if (round === 3) await stage.restart('clean');
      const { id: taskId } = await stage.task(here);
      const [approval] = await stage.place.store.query('approval.openOfTask', { taskId });
      assert.ok(approval !== undefined, `round ${round}`);
      const order = { approvalId: approval.id, decision: 'approve', channel: 'api' } as const;
      const answered = await stage.engine.answerApproval({ ...order, principal: ANNA });
      assert.equal(answered.kind, 'answered');
      await stage.quiet();
      assert.deepEqual(ledger(charged), { pay: 1, note: round });
    }
    await finishes(stage, here);
    assert.deepEqual(ledger(charged), { pay: 1, note: 5 });
  });
}
