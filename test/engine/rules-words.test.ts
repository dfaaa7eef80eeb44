import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { ANNA, asks, fails, Installation, OPTIONS, says } from '../support/host.ts';
import { eventually, order, pass, restOf, say, talkTo, wordsOf } from '../support/acts.ts';

interface Way {
  readonly way: string;
  readonly script: (place: Installation) => void;
  /** What is done to the host once the turn runs; what it gives goes on as the host. */
  readonly meanwhile?: (act: Act) => Promise<Engine | undefined>;
  readonly state: string;
  readonly code: string | null;
  readonly says: RegExp;
}
interface Act {
  readonly place: Installation;
  readonly engine: Engine;
  readonly conversationId: ConversationId;
}

const never = new Promise<never>(() => {});
const hangs = (place: Installation): void => {
  place.model.answer = () => never;
};
const hangsInTool = (place: Installation): void => {
  place.model.answer = () => asks(['pay', { sum: 3 }]);
  place.tools.perform = () => never;
};

async function began({ place }: Act): Promise<void> {
  await eventually(async () => {
    const steps = await place.rows('step');
    return steps.some((step) => step['state'] === 'started');
  });
  await pass();
}

async function restarted(act: Act): Promise<Engine> {
  await began(act);
  return act.place.host({ options: { ...OPTIONS, pid: 2 } });
}

async function openTaskOf({ engine, conversationId }: Act) {
  const [task] = await engine.store.query('task.openOf', { conversationId, limit: 1 });
  assert.ok(task !== undefined);
  return task;
}

async function stoppedBy(act: Act, stop: () => Promise<unknown>): Promise<undefined> {
  await began(act);
  await stop();
  await pass();
  act.place.clock.advance(60_000);
  await eventually(() => {
    return act.engine.health().runningTurns === 0;
  });
  return undefined;
}

/** Every way in which a turn ends in this version. */
const WAYS: readonly Way[] = [
  {
    way: 'answers',
    script: (place) => {
      place.model.answer = () => says('Paid.');
    },
    state: 'completed',
    code: null,
    says: /^Paid\.$/,
  },
  {
    way: 'answers at its second try',
    script: (place) => {
      place.model.answer = () => says(place.model.requests.length === 1 ? '' : 'Paid.');
    },
    state: 'completed',
    code: null,
    says: /^Paid\.$/,
  },
  {
    way: 'is refused by the provider',
    script: (place) => {
      place.model.answer = () => fails('refused', 'http_401');
    },
    state: 'failed',
    code: 'model_refused',
    says: /“Pay the bill” has failed.*http_401/,
  },
  {
    way: 'does not reach the provider',
    script: (place) => {
      place.model.answer = () => fails('transient', 'timeout');
    },
    state: 'failed',
    code: 'model_unavailable',
    says: /“Pay the bill” has failed.*timeout/,
  },
  {
    way: 'gets nonsense twice',
    script: (place) => {
      place.model.answer = () => fails('nonsense', 'unreadable');
    },
    state: 'blocked',
    code: 'no_outcome',
    says: /could not finish “Pay the bill”.*\/stop task_/,
  },
  {
    way: 'is cut off at the output limit twice',
    script: (place) => {
      place.model.answer = () => ({ ...says('half'), stop: 'length' }) as ReturnType<typeof says>;
    },
    state: 'blocked',
    code: 'no_outcome',
    says: /could not finish “Pay the bill”.*\/stop task_/,
  },
  {
    way: 'goes round in circles',
    script: (place) => {
      place.model.answer = () => asks(['look', {}]);
    },
    state: 'blocked',
    code: 'no_progress',
    says: /could not finish “Pay the bill”.*\/stop task_/,
  },
  {
    way: 'is stopped by a command while the model thinks',
    script: hangs,
    meanwhile: (act) => stoppedBy(act, () => say(act.engine, act.conversationId, '/stop')),
    state: 'stopped',
    code: 'stopped',
    says: /“Pay the bill” is stopped/,
  },
  {
    way: 'is stopped by its id while a tool runs',
    script: hangsInTool,
    meanwhile: (act) =>
      stoppedBy(act, async () => {
        const { id: taskId } = await openTaskOf(act);
        await act.engine.stopTask({ taskId, principal: ANNA, channel: 'api' });
      }),
    state: 'stopped',
    code: 'stopped',
    says: /“Pay the bill” is stopped.*`pay`/,
  },
  {
    way: 'is cut by a crash while the model thinks',
    script: hangs,
    meanwhile: restarted,
    state: 'waiting',
    code: 'interrupted',
    says: /“Pay the bill” was interrupted.*\/stop task_/,
  },
  {
    way: 'is cut by a crash while a tool runs',
    script: hangsInTool,
    meanwhile: restarted,
    state: 'waiting',
    code: 'interrupted',
    says: /“Pay the bill” was interrupted.*`pay` took effect is unknown.*\/stop task_/,
  },
  {
    way: 'is cut by a drain',
    script: hangs,
    meanwhile: async (act) => {
      await began(act);
      const stopping = act.engine.stop(0);
      await pass();
      act.place.clock.advance(60_000);
      await stopping;
      return act.place.host({ options: { ...OPTIONS, pid: 2 } });
    },
    state: 'waiting',
    code: 'interrupted',
    says: /“Pay the bill” was interrupted/,
  },
  {
    way: 'is thrown out by a model port that breaks its word',
    script: (place) => {
      place.model.answer = () => Promise.reject(new Error('a defect'));
    },
    state: 'waiting',
    code: 'interrupted',
    says: /“Pay the bill” was interrupted/,
  },
  {
    way: 'is thrown out by a tool port that breaks its word',
    script: (place) => {
      place.model.answer = () => asks(['pay', {}]);
      place.tools.perform = () => Promise.reject(new Error('a defect'));
    },
    state: 'waiting',
    code: 'interrupted',
    says: /“Pay the bill” was interrupted.*`pay` took effect is unknown/,
  },
];

for (const row of WAYS) {
  test(`T-16 a turn that ${row.way} leaves exactly one last word in its conversation`, async () => {
    const place = new Installation();
    row.script(place);
    const engine = await place.host();
    const conversationId = await talkTo(engine);
    await say(engine, conversationId, 'Pay the bill');
    const next = (await row.meanwhile?.({ place, engine, conversationId })) ?? engine;
    await restOf(next);
    const [task] = await place.rows('task');
    assert.equal(task?.['state'], row.state);
    const said = await place.rows('outbox');
    assert.deepEqual(
      said.map((entry) => [entry['task_id'], entry['code'], entry['conversation_id']]),
      [[task?.['id'], row.code, conversationId]],
    );
    assert.match(wordsOf(said[0] ?? {}), row.says);
    assert.equal(said[0]?.['state'], 'delivered');
    const turns = await place.rows('turn');
    assert.ok(turns.every((turn) => turn['state'] === 'ended'));
    const conversation = await next.store.query('conversation.byId', { id: conversationId });
    assert.equal(conversation?.turnId, null, 'the conversation is free for what comes next');
    place.model.answer = () => says('next');
    await say(next, conversationId, 'and now?');
    await restOf(next);
    assert.equal((await place.rows('outbox')).length, 2);
    await next.stop(0);
  });
}

test('T-16 what is cancelled or stopped before a turn took it up has its last word too', async () => {
  const place = new Installation();
  place.model.answer = () => never;
  const engine = await place.host();
  const conversationId = await talkTo(engine);
  await say(engine, conversationId, 'Think');
  const cancelled = await order(engine, 'Cancel me', conversationId);
  const stopped = await order(engine, 'Stop me', conversationId);
  await engine.cancelRun({ runId: cancelled.runId, principal: ANNA });
  await engine.stopTask({ taskId: stopped.taskId, principal: ANNA, channel: 'api' });
  for (const [{ taskId, messageId, runId }, code] of [
    [cancelled, 'cancelled'],
    [stopped, 'stopped'],
  ] as const) {
    const said = (await place.rows('outbox')).filter((entry) => entry['task_id'] === taskId);
    assert.deepEqual(
      said.map((entry) => entry['code']),
      [code],
    );
    const message = await engine.store.query('message.byId', { id: messageId });
    const run = await engine.store.query('run.byId', { id: runId });
    assert.deepEqual([message?.answerId, run?.outcomeId], [said[0]?.['id'], said[0]?.['id']]);
    assert.equal(run?.state, 'cancelled');
  }
});

test('T-16 each message that joined a task is closed by the last word of it', async () => {
  for (const ending of [says('All done.'), fails('refused', 'http_401')]) {
    const place = new Installation();
    const asked = Promise.withResolvers<void>();
    const first = Promise.withResolvers<ReturnType<typeof says>>();
    place.model.answer = () => {
      asked.resolve();
      return place.model.requests.length === 1 ? first.promise : ending;
    };
    const engine = await place.host();
    const run = await order(engine, 'One');
    await asked.promise;
    for (const text of ['Two', 'Three'])
      await engine.messageRun({ runId: run.runId, text, principal: ANNA });
    first.resolve(says('so far'));
    await restOf(engine);
    const said = await place.rows('outbox');
    assert.equal(said.length, 1);
    const answers = (await place.rows('message')).map((message) => message['answer_id']);
    assert.deepEqual(answers, Array(3).fill(said[0]?.['id']));
    await engine.stop(0);
  }
});
