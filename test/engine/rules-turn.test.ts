import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { ANNA, asks, Installation, OPTIONS, says } from '../support/host.ts';
import { ShakyStore } from '../support/store-faults.ts';
import {
  askedIn,
  eventually,
  everyRow,
  heldCall,
  order,
  pass,
  restOf,
  say,
  talkTo,
} from '../support/acts.ts';

test('T-8 whatever ends a turn without an outcome gets one corrective turn and then a blocked task', async () => {
  for (const kind of ['empty', 'spaces', 'cut off', 'nonsense'] as const) {
    const place = new Installation();
    place.model.answer = () => {
      if (kind === 'nonsense') {
        const fault = { kind: 'fault', class: 'nonsense', code: 'unreadable' } as const;
        return { ...fault, message: 'no', retryAt: null, usage: null };
      }
      const text = kind === 'cut off' ? 'half a sen' : kind === 'spaces' ? ' \n\t' : '';
      return { ...says(text), ...(kind === 'cut off' ? { stop: 'length' as const } : {}) };
    };
    const engine = await place.host();
    await order(engine, 'say something');
    await restOf(engine);
    const [task] = await place.rows('task');
    assert.deepEqual([task?.['state'], task?.['reason']], ['blocked', 'no_outcome'], kind);
    assert.equal(place.model.requests.length, 2, `${kind}: one corrective turn, not more`);
    const generated = (await place.rows('message')).filter((row) => row['kind'] === 'generated');
    assert.equal(generated.length, 1, kind);
    assert.deepEqual(
      (await place.rows('outbox')).map((entry) => entry['code']),
      ['no_outcome'],
      kind,
    );
    const ends = (await place.rows('turn')).map((turn) => turn['end']);
    assert.deepEqual(ends, ['invalid', 'invalid'], kind);
    await engine.stop(0);
  }
});

test('T-10 at most the configured number of conversations is worked on, and each free place is used', async () => {
  const place = new Installation();
  const most = 3;
  const running: PromiseWithResolvers<ReturnType<typeof says>>[] = [];
  place.model.answer = () => {
    const call = Promise.withResolvers<ReturnType<typeof says>>();
    running.push(call);
    return call.promise;
  };
  const options = { ...OPTIONS, whileBusy: 'wait', concurrentConversations: most } as const;
  const engine = await place.host({ options });
  for (let index = 0; index < 8; index += 1) {
    const conversationId = await talkTo(engine, `c${index}`);
    await say(engine, conversationId, 'one');
    await say(engine, conversationId, 'two');
  }
  const counts: number[] = [];
  while (running.length > 0) {
    await eventually(() => running.length === Math.min(most, 16 - counts.length));
    await pass();
    counts.push(running.length);
    running.shift()?.resolve(says('ok'));
    await pass();
  }
  assert.deepEqual(counts, [...Array(14).fill(most), 2, 1]);
  assert.equal((await place.rows('turn')).length, 16);
  await engine.stop(0);
});

test('T-10 a conversation handles one turn at a time, in inbox order, also over a restart', async () => {
  const place = new Installation();
  const seen: string[] = [];
  const running = new Set<string>();
  const call = heldCall();
  place.model.answer = async (request) => {
    const asked = askedIn(request);
    const [lane = ''] = asked.split(' ');
    assert.ok(!running.has(lane), 'two turns of one conversation at once');
    running.add(lane);
    seen.push(asked);
    if (seen.length === 4) await call.hold();
    await pass(2);
    running.delete(lane);
    return says('ok');
  };
  const options = { ...OPTIONS, whileBusy: 'wait' } as const;
  const dead = await place.host({ options: { ...options, concurrentConversations: 1 } });
  const lanes = [await talkTo(dead, 'a'), await talkTo(dead, 'b')] as const;
  const sent = new Map<ConversationId, string[]>(lanes.map((lane) => [lane, []]));
  for (let index = 0; index < 6; index += 1) {
    for (const lane of lanes) {
      const text = `${lane} m${index}`;
      sent.get(lane)?.push(text);
      await say(dead, lane, text);
    }
  }
  await call.begun;
  running.clear();
  const engine = await place.host({ options: { ...options, pid: 2 } });
  await restOf(engine);
  for (const [lane, texts] of sent) {
    assert.deepEqual(
      seen.filter((text) => text.startsWith(lane)),
      texts,
    );
    const turns = (await place.rows('turn')).filter((turn) => turn['conversation_id'] === lane);
    assert.equal(turns.length, 6);
  }
  await engine.stop(0);
});

test('T-10 what waits, is blocked or interrupted holds no later message back', async () => {
  const place = new Installation();
  place.model.answer = (request) =>
    askedIn(request) === 'hang' ? new Promise<never>(() => {}) : says('');
  const dead = await place.host();
  const conversationId = await talkTo(dead);
  await order(dead, 'say nothing', conversationId);
  await restOf(dead);
  const interrupted = await order(dead, 'hang', conversationId);
  await eventually(() => place.model.requests.length === 3);
  await dead.messageRun({ runId: interrupted.runId, text: 'well?', principal: ANNA });
  place.model.answer = () => says('here');
  const engine = await place.host({ options: { ...OPTIONS, pid: 2 } });
  await say(engine, conversationId, 'something else');
  await restOf(engine);
  const states = (await place.rows('task')).map((task) => task['state']);
  assert.deepEqual(states, ['blocked', 'waiting', 'completed']);
  assert.equal(place.model.requests.length, 4);
  await engine.stop(0);
});

test('E-1 no step that has its outcome is made again, wherever a restart falls', async () => {
  const place = new Installation();
  const call = heldCall();
  place.model.answer = (request) => {
    const results = request.messages.filter(({ role }) => role === 'tool').length;
    if (askedIn(request) !== 'work') return says('and on');
    return results < 2 ? asks(['pay', { sum: results }]) : call.hold();
  };
  const dead = await place.host();
  const conversationId = await talkTo(dead);
  await say(dead, conversationId, 'work');
  await call.begun;
  const { step: before } = await everyRow(place);
  const finished = before?.filter((step) => step['state'] === 'finished') ?? [];
  assert.equal(finished.length, 4);
  const engine = await place.host({ options: { ...OPTIONS, pid: 2 } });
  await restOf(engine);
  await say(engine, conversationId, 'go on');
  await restOf(engine);
  assert.equal(place.tools.ran.length, 2);
  assert.equal(place.model.requests.length, 4, 'three of the old turn, one of the new');
  const { step: after } = await everyRow(place);
  for (const step of finished) {
    assert.deepEqual(
      after?.find((one) => one['id'] === step['id']),
      step,
    );
  }
  const told = place.model.requests.at(-1)?.messages ?? [];
  assert.deepEqual(
    told.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant', 'tool', 'user'],
  );
  await engine.stop(0);
});

test('G-6 what a step came to waits for room on a full disk, and is saved and answered once there is some', async () => {
  const place = new Installation();
  place.model.answer = () => (place.model.requests.length === 1 ? asks(['pay', {}]) : says('paid'));
  let isFull = true;
  const tries = new Map<string, number>();
  const store = new ShakyStore(place.store, ({ unit }) => {
    if (!unit.startsWith('turn.') || unit === 'turn.claim') return undefined;
    tries.set(unit, (tries.get(unit) ?? 0) + 1);
    return isFull ? 'disk_full' : undefined;
  });
  const engine = await place.host({ store });
  await order(engine, 'pay');
  for (let pause = 0; pause < 6; pause += 1) {
    await pass();
    assert.equal(place.tools.ran.length, 0, 'no call runs before its step is saved');
    place.clock.advance(LIMITS.diskFullPauseMaxMs);
  }
  assert.ok((tries.get('turn.step') ?? 0) > 5);
  assert.equal(engine.health().state, 'ready');
  isFull = false;
  place.clock.advance(LIMITS.diskFullPauseMaxMs);
  await restOf(engine);
  assert.equal((await place.rows('task'))[0]?.['state'], 'completed');
  assert.deepEqual([place.model.requests.length, place.tools.ran.length], [2, 1]);
  await engine.stop(0);
});

test('E-2 after a crash a call that is not repeatable is uncertain and not made again, any other is cut', async () => {
  for (const [tool, state] of [
    ['pay', 'uncertain'],
    ['look', 'cut'],
  ] as const) {
    const place = new Installation();
    const begun = Promise.withResolvers<void>();
    place.model.answer = (request) =>
      askedIn(request) === 'go on' ? says('I see') : asks([tool, { n: 1 }]);
    place.tools.perform = () => {
      begun.resolve();
      return new Promise<never>(() => {});
    };
    const dead = await place.host();
    const conversationId = await talkTo(dead);
    await say(dead, conversationId, 'work');
    await begun.promise;
    const engine = await place.host({ options: { ...OPTIONS, pid: 2 } });
    await say(engine, conversationId, 'go on');
    await restOf(engine);
    assert.equal(place.tools.ran.length, 1, tool);
    const step = (await place.rows('step')).find((row) => row['tool'] === tool);
    assert.equal(step?.['state'], state);
    const result = place.model.requests.at(-1)?.messages.find(({ role }) => role === 'tool');
    assert.match(result?.text ?? '', tool === 'pay' ? /unknown/ : /cut off/);
    const asked = (await place.rows('outbox')).filter((entry) => entry['kind'] === 'notice');
    assert.deepEqual(
      asked.map((notice) => notice['code']),
      tool === 'pay' ? ['uncertain_effect'] : [],
    );
    await engine.stop(0);
  }
});

test('E-2 a person is asked about a call that begins while its turn is taken over', async () => {
  const place = new Installation();
  const reply = Promise.withResolvers<ReturnType<typeof asks>>();
  const begun = Promise.withResolvers<void>();
  place.model.answer = () => reply.promise;
  place.tools.perform = () => {
    begun.resolve();
    return new Promise<never>(() => {});
  };
  const former = await place.host();
  await order(former, 'pay once');
  await eventually(() => place.model.requests.length === 1);
  // Whoever takes over has looked at the turn's calls by now.
  const store = new ShakyStore(place.store, async ({ unit }) => {
    if (unit !== 'turn.close') return undefined;
    reply.resolve(asks(['pay', { n: 1 }]));
    await begun.promise;
    return undefined;
  });
  const engine = await place.host({ store, options: { ...OPTIONS, pid: 2 } });
  await restOf(engine);
  const [step] = (await place.rows('step')).filter((row) => row['tool'] === 'pay');
  assert.equal(step?.['state'], 'uncertain');
  assert.deepEqual(
    (await place.rows('approval')).map((row) => [row['kind'], row['step_id']]),
    [['uncertain', step?.['id']]],
  );
  assert.equal(place.tools.ran.length, 1);
  await engine.stop(0);
});

test("R-1 an interrupted task goes on by nothing of the host's own, and a new message does not wake it", async () => {
  const place = new Installation();
  const dead = await place.host();
  place.model.answer = () => new Promise<never>(() => {});
  const conversationId = await talkTo(dead);
  const run = await order(dead, 'the interrupted order', conversationId);
  await eventually(() => place.model.requests.length === 1);
  await say(dead, conversationId, 'not taken up yet');
  place.model.answer = (request) => says(`answer to ${askedIn(request)}`);
  for (let pid = 2; pid < 5; pid += 1) {
    const engine = await place.host({ options: { ...OPTIONS, pid } });
    await restOf(engine);
    for (let tick = 0; tick < 4; tick += 1) {
      place.clock.advance(OPTIONS.tickMs);
      await restOf(engine);
    }
    await say(engine, conversationId, `new ${pid}`);
    await restOf(engine);
    await engine.stop(0);
  }
  const asked = place.model.requests.map(askedIn);
  assert.deepEqual(asked, ['the interrupted order', 'not taken up yet', 'new 2', 'new 3', 'new 4']);
  const task = await place.store.query('task.byId', { id: run.taskId });
  // Each of its three assessments failed, and a missing one never falls back to working on.
  assert.equal(place.assessor.requests.length, 3);
  assert.deepEqual(
    [task?.state, task?.reason, task?.waitKind, task?.turnsUsed],
    ['blocked', 'recovery_assessment_failed', null, 1],
  );
  assert.equal((await place.rows('run'))[0]?.['state'], 'failed');
});

test('R-14 an exclusive store is taken over at once, a shared one only when the lease is over', async () => {
  for (const exclusive of [true, false]) {
    const place = new Installation({ exclusive });
    place.model.answer = () => new Promise<never>(() => {});
    const dead = await place.host();
    await order(dead, 'hang');
    await eventually(() => place.model.requests.length === 1);
    const [before] = await place.rows('conversation');
    const engine = await place.host({ options: { ...OPTIONS, pid: 2 } });
    const ends = async () => (await place.rows('turn')).map((turn) => turn['end']);
    assert.deepEqual(await ends(), [exclusive ? 'interrupted' : null]);
    const [after] = await place.rows('conversation');
    const taken = Number(after?.['token']) - Number(before?.['token']);
    assert.equal(taken, exclusive ? 1 : 0, 'a takeover takes the next token');
    assert.equal(engine.health().state, 'ready');
  }
});

test('R-14 a clean stop gives the claims of a host up at once, also on a shared store', async () => {
  const place = new Installation({ exclusive: false });
  const first = await place.host();
  const conversationId = await talkTo(first);
  await first.stop(0);
  await say(first, conversationId, 'hello');
  const [host] = await place.rows('host');
  assert.equal(host?.['stopped_at'], place.clock.now());
  const next = await place.host({ options: { ...OPTIONS, pid: 2 } });
  await restOf(next);
  assert.deepEqual(
    (await place.rows('turn')).map((turn) => turn['host_id']),
    [next.health().hostId],
  );
});
