import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { MINUTE, SECOND } from '../../src/kernel/time.ts';
import { boundaryRow, idOf } from '../../src/testing/store-rows.ts';
import { EN, eventually, heldCall, pass, say, talkTo } from '../support/acts.ts';
import {
  ADMIN,
  asks,
  Installation,
  OPTIONS,
  ScriptedModel,
  says,
  taskIn,
} from '../support/host.ts';
import { renderStoredNotice } from '../../src/text/render.ts';
import { mortal } from './upkeep-support.ts';

interface Report {
  readonly code: string;
  readonly conversationId: string;
  readonly text: string;
  readonly items: readonly { readonly code: string; readonly taskId: string }[];
  readonly more: number | undefined;
}

/** What starts have told, in order. */
async function reports(place: Installation): Promise<readonly Report[]> {
  const rows = await place.rows('outbox');
  return rows
    .filter(({ code }) => code === 'restart_report' || code === 'held_legacy')
    .toSorted((one, other) => Number(one['seq']) - Number(other['seq']))
    .map(({ code, params, conversation_id: conversationId }) => {
      const { items = [], more } = JSON.parse(String(params)) as Partial<Report>;
      const text = renderStoredNotice(EN, String(code), String(params), place.clock.now());
      return { code: String(code), conversationId: String(conversationId), text, items, more };
    });
}

async function terminalOf(engine: Engine): Promise<ConversationId> {
  return engine.openConversation({ channel: 'terminal', address: 'desk', principal: ADMIN });
}

/** A task that made no progress, in a conversation that only a caller of the API reads. */
async function blocked(place: Installation, engine: Engine, text: string): Promise<string> {
  place.model.answer = () => says('');
  const here = await talkTo(engine, text);
  await say(engine, here, text);
  const { id } = await taskIn(engine, here, 'blocked');
  place.model.answer = () => says('done');
  return id;
}

/** Starts a host and lets it tell what it has to. */
async function restarted(place: Installation): Promise<Engine> {
  place.clock.advance(SECOND);
  const engine = await place.host();
  await pass();
  return engine;
}

describe('R-13: after a restart', () => {
  test('one report in the newest conversation that a person reads has each decision once', async () => {
    const place = new Installation();
    const first = await place.host();
    const desk = await terminalOf(first);
    const id = await blocked(place, first, 'count the stars');
    const late = await talkTo(first, 'late');
    place.model.answer = () => asks(['task_wait', { for: 'answer', question: 'Which?' }]);
    await say(first, late, 'ask me');
    const asking = await taskIn(first, late, 'waiting');
    await first.stop(0);
    assert.deepEqual(await reports(place), [], 'the first start is no restart');

    const second = await restarted(place);
    const [report, ...more] = await reports(place);
    assert.deepEqual(more, []);
    assert.equal(report?.code, 'restart_report');
    assert.equal(report.conversationId, desk);
    assert.deepEqual(report.items, [
      {
        code: 'no_outcome',
        taskId: id,
        request: 'count the stars',
        command: `/task-resume ${id}`,
      },
    ]);
    assert.match(report.text, /“count the stars”.*`\/task-resume task_/s);
    assert.ok(!report.text.includes(asking.id), 'a question waits as before');
    await second.stop(0);

    const third = await restarted(place);
    assert.equal((await reports(place)).length, 1, 'nothing new is to be decided');
    const next = await blocked(place, third, 'count the sand');
    await third.stop(0);
    const fourth = await restarted(place);
    const told = await reports(place);
    assert.deepEqual(
      told.map(({ items }) => items.map(({ taskId }) => taskId)),
      [[id], [next]],
    );
    await fourth.stop(0);
  });

  test('an effect that nobody knows of is told with its question', async () => {
    const place = new Installation();
    const { engine, kill } = await mortal(place);
    await terminalOf(engine);
    const here = await talkTo(engine, 'bill');
    place.model.answer = () => asks(['pay', { to: 'the landlord' }]);
    const begun = Promise.withResolvers<void>();
    place.tools.perform = () => {
      begun.resolve();
      return new Promise(() => {});
    };
    await say(engine, here, 'pay the rent');
    await begun.promise;
    kill();
    const next = await restarted(place);
    const [approval] = await place.rows('approval');
    const [report] = await reports(place);
    assert.deepEqual(
      report?.items.filter(({ code }) => code === 'uncertain_effect'),
      [
        {
          code: 'uncertain_effect',
          taskId: approval?.['task_id'],
          request: 'pay the rent',
          command: `/approve ${String(approval?.['id'])}`,
        },
      ],
    );
    await next.stop(0);
  });

  test('what has expired is told without a way out', async () => {
    const place = new Installation();
    const given = { options: { ...OPTIONS, deadlineMs: MINUTE } };
    const first = await place.host(given);
    await terminalOf(first);
    const here = await talkTo(first, 'late');
    place.model.answer = () => asks(['task_wait', { for: 'answer', question: 'Which?' }]);
    await say(first, here, 'ask me');
    const { id } = await taskIn(first, here, 'waiting');
    await first.stop(0);
    place.clock.advance(2 * MINUTE);
    const second = await place.host(given);
    await eventually(async () => (await reports(place)).length === 1);
    const [report] = await reports(place);
    assert.deepEqual(report?.items, [
      { code: 'deadline_passed', taskId: id, request: 'ask me', command: null },
    ]);
    await second.stop(0);
  });

  test('what a check decides about is told beside it where diagnostics are on', async () => {
    for (const diagnostics of [false, true]) {
      const place = new Installation();
      const recovery = { ...OPTIONS.recovery, diagnostics };
      const given = {
        options: { ...OPTIONS, recovery },
        assessment: new ScriptedModel(() => new Promise(() => {})),
      };
      const { engine, kill } = await mortal(place, given);
      await terminalOf(engine);
      await blocked(place, engine, 'count the stars');
      const held = heldCall();
      place.model.answer = held.hold;
      await say(engine, await talkTo(engine, 'long'), 'long work');
      await held.begun;
      kill();
      place.clock.advance(SECOND);
      const next = await place.host(given);
      await eventually(async () => (await reports(place)).length === 1);
      const [report] = await reports(place);
      assert.equal(report?.items.length, 1);
      assert.equal(/that a check decides about: 1\./.test(report?.text ?? ''), diagnostics);
      await next.stop(0);
    }
  });

  test('a start beside a host that lives is no restart', async () => {
    const place = new Installation({ exclusive: false });
    const one = await place.host();
    await terminalOf(one);
    await blocked(place, one, 'count the stars');
    const other = await restarted(place);
    assert.deepEqual(await reports(place), []);
    await Promise.all([one.stop(0), other.stop(0)]);
    const next = await restarted(place);
    assert.equal((await reports(place)).length, 1);
    await next.stop(0);
  });

  test('nothing is told where nothing is to be decided', async () => {
    const place = new Installation();
    const first = await place.host();
    const desk = await terminalOf(first);
    await say(first, desk, 'hello', { principal: ADMIN });
    await taskIn(first, desk, 'completed');
    await first.stop(0);
    const second = await restarted(place);
    assert.deepEqual(await reports(place), []);
    assert.deepEqual(await place.rows('report'), []);
    await second.stop(0);
  });

  test('what nobody could be told waits for the start at which somebody can', async () => {
    const place = new Installation();
    const first = await place.host();
    const id = await blocked(place, first, 'count the stars');
    await first.stop(0);
    const second = await restarted(place);
    assert.deepEqual(await place.rows('report'), []);
    await terminalOf(second);
    await second.stop(0);
    const third = await restarted(place);
    const [report] = await reports(place);
    assert.deepEqual(
      report?.items.map(({ taskId }) => taskId),
      [id],
    );
    await third.stop(0);
  });

  test('more than can be named is counted', async () => {
    const place = new Installation();
    const first = await place.host();
    await terminalOf(first);
    for (let count = 0; count < 14; count += 1) await blocked(place, first, `task ${count}`);
    await first.stop(0);
    const second = await restarted(place);
    const [report] = await reports(place);
    assert.deepEqual([report?.items.length, report?.more], [12, 2]);
    await second.stop(0);
  });

  test('a crash at any commit of the report tells it once', async () => {
    for (const mishap of ['hangs', 'hangs-after', 'unseen'] as const) {
      const place = new Installation();
      const first = await place.host();
      await terminalOf(first);
      await blocked(place, first, 'count the stars');
      await first.stop(0);
      place.clock.advance(SECOND);
      const { store, kill } = await mortal(place, {});
      store.mishap = ({ unit }) => (unit === 'report.tell' ? mishap : undefined);
      await eventually(() => store.seen.includes('report.tell'));
      await pass();
      kill();
      const last = await restarted(place);
      assert.equal((await reports(place)).length, 1, mishap);
      await last.stop(0);
    }
  });
});

describe('the summary of the boundary', () => {
  const boundary = boundaryRow({
    id: idOf('boundary', 1),
    endedAt: 5_000,
    held: 197,
    workersHeld: 6,
    toldAt: null,
  });

  async function ruled(place: Installation, row = boundary): Promise<void> {
    await place.store.commit({
      name: 'test.boundary',
      reads: {},
      decide: () => ({
        verdict: undefined,
        writes: [{ write: 'boundary.insert', row }],
      }),
    });
  }

  test('is told alone, once, where nothing else is to be decided', async () => {
    const place = new Installation();
    const first = await place.host();
    await terminalOf(first);
    await first.stop(0);
    await ruled(place);
    const second = await restarted(place);
    const [summary, ...more] = await reports(place);
    assert.deepEqual([summary?.code, more], ['held_legacy', []]);
    assert.match(summary?.text ?? '', /^▸ 197 older tasks were found/);
    assert.notEqual((await place.rows('boundary'))[0]?.['told_at'], null);
    await second.stop(0);
    const third = await restarted(place);
    assert.equal((await reports(place)).length, 1);
    await third.stop(0);
  });

  test('is none where nothing was held', async () => {
    const place = new Installation();
    const first = await place.host();
    await terminalOf(first);
    await first.stop(0);
    await ruled(place, { ...boundary, held: 0, workersHeld: 0 });
    const second = await restarted(place);
    assert.deepEqual(await reports(place), []);
    assert.notEqual((await place.rows('boundary'))[0]?.['told_at'], null);
    await second.stop(0);
  });

  test('stands before what is to be decided', async () => {
    const place = new Installation();
    const first = await place.host();
    await terminalOf(first);
    const id = await blocked(place, first, 'count the stars');
    await first.stop(0);
    await ruled(place);
    const second = await restarted(place);
    const [report, ...more] = await reports(place);
    assert.deepEqual([report?.code, more], ['restart_report', []]);
    assert.match(report?.text ?? '', /^▸ 197 older tasks were found.*count the stars/s);
    assert.ok(report?.text.includes(id));
    await second.stop(0);
  });
});
