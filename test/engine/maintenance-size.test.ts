// When a session is maintained, and against what it is counted (M-13, M-18, M-19).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { SECOND } from '../../src/kernel/time.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import { requestTokens, strictRefusal } from '../../src/testing/model-strict-port.ts';
import { eventually, pass, restOf, say, talkTo } from '../support/acts.ts';
import {
  ADMIN,
  asks,
  fails,
  Installation,
  LedgerTools,
  OPTIONS,
  says,
  sumsUp,
  type GivenParts,
} from '../support/host.ts';
import {
  comesTo,
  elapse,
  later,
  messagesOf,
  noticesOf,
  ONE_BY_ONE,
  operationOf,
  repliesIn,
  saysFull,
  toldOf,
} from './maintenance-support.ts';

const WINDOW = 8_000;

interface Stand {
  readonly place: Installation;
  readonly engine: Engine;
  readonly here: ConversationId;
}

async function open(place: Installation, given: GivenParts = {}): Promise<Stand> {
  const engine = await place.host({ options: ONE_BY_ONE, ...given });
  return { place, engine, here: await talkTo(engine) };
}

function narrow(window = WINDOW): Installation {
  const place = new Installation();
  place.model.contextWindow = window;
  place.model.strictWindow = window;
  return place;
}

async function operations({ place }: Stand): Promise<number> {
  return (await place.rows('operation')).length;
}

describe('when a session is maintained', () => {
  test('M-13 follows the usage that the runtime reported against the limit that it reported', async () => {
    const place = new Installation();
    place.model.contextWindow = 10_000;
    const stand = await open(place);
    place.model.answer = () => saysFull('short of it', 7_990);
    await say(stand.engine, stand.here, 'the first');
    await restOf(stand.engine);
    assert.equal(await operations(stand), 0);
    place.model.answer = () => saysFull('there', 7_995);
    await say(stand.engine, stand.here, 'the second');
    const { window, kind } = await comesTo(stand.engine, stand.here, 'done');
    assert.deepEqual([window, kind], [10_000, 'compact']);
    assert.equal(place.model.requests.length, 2, 'the answer is kept, and nothing is asked again');
  });

  test('M-13 follows the share that the configuration gives', async () => {
    const place = new Installation();
    place.model.contextWindow = 10_000;
    const maintenance = { ...OPTIONS.maintenance, startAt: 0.6 };
    const stand = await open(place, { options: { ...ONE_BY_ONE, maintenance } });
    place.model.answer = () => saysFull('there', 6_000);
    await say(stand.engine, stand.here, 'the first');
    await comesTo(stand.engine, stand.here, 'done');
  });

  test('M-13 keeps a reserve for the answer: no request fills the window', async () => {
    const place = narrow();
    place.model.answer = () => says('z'.repeat(1_200));
    const stand = await open(place);
    for (let n = 0; n < 40; n += 1) {
      await say(stand.engine, stand.here, `message ${n}`);
      await restOf(stand.engine);
    }
    const most = Math.max(...place.model.requests.map(requestTokens));
    assert.ok(most <= 0.9 * WINDOW, `${most} tokens`);
    assert.ok(most >= 0.5 * WINDOW, `${most} tokens`);
    assert.equal((await repliesIn(place, stand.here)).length, 40);
  });

  test('goes on in the middle of a turn whose results fill the window', async () => {
    const place = narrow();
    place.tools.perform = ({ args }) => ({ kind: 'result', text: `${args} ${'r'.repeat(4_000)}` });
    place.model.answer = () => {
      const { length } = place.tools.ran;
      return length < 40 ? asks(['look', { part: length }]) : says('all read');
    };
    const stand = await open(place);
    await say(stand.engine, stand.here, 'read all forty parts');
    await eventually(async () => (await repliesIn(place, stand.here)).length === 1);
    assert.deepEqual(await repliesIn(place, stand.here), ['all read']);
    const parts = place.tools.ran.map(({ args }) => args);
    assert.equal(new Set(parts).size, 40, 'no part twice');
    for (const request of place.model.requests)
      assert.equal(strictRefusal(request, WINDOW), undefined);
  });
});

/** What a block without an attempt names, in tokens. */
async function sizesIn({ place, here }: Stand): Promise<Readonly<Record<string, number>>> {
  const [notice] = await noticesOf(place, here);
  assert.equal(notice?.['code'], 'maintenance_too_large');
  return JSON.parse(String(notice['params']));
}

describe('a base that does not fit', () => {
  test('M-18 is blocked at once, without an attempt, with the sizes; mended and admitted, work goes on', async () => {
    const place = narrow();
    let instructions = 'You are a test. '.repeat(2_200);
    const stand = await open(place, { instructions: () => Promise.resolve(instructions) });
    const { engine, here } = stand;
    await say(engine, here, 'the first');
    const blocked = await comesTo(engine, here, 'blocked');
    assert.deepEqual(
      [blocked.reason, blocked.attempts, blocked.failures],
      ['base_too_large', 0, 0],
    );
    const sizes = await sizesIn(stand);
    assert.deepEqual([sizes['window'], sizes['reserve']], [WINDOW, WINDOW / 10]);
    assert.ok((sizes['instructions'] ?? 0) > WINDOW);
    for (const part of ['tools', 'seed', 'message'])
      assert.ok((sizes[part] ?? 9_999) < WINDOW / 2, part);
    for (let n = 0; n < 5; n += 1) {
      await say(engine, here, `kept ${n}`);
      await later(place, 61 * SECOND);
    }
    assert.equal(place.summariser.requests.length + place.model.requests.length, 0);
    const order = { principal: ADMIN, channel: 'api', operationId: blocked.id };
    await engine.admit({ ...order, expectedVersion: blocked.version, receiptId: 'too soon' });
    const again = await comesTo(engine, here, 'blocked');
    assert.deepEqual([again.epoch, again.attempts], [2, 0], 'nothing was mended');
    instructions = 'You are a test.';
    await engine.admit({ ...order, expectedVersion: again.version, receiptId: 'mended' });
    await comesTo(engine, here, 'done');
    assert.equal(place.summariser.requests.length, 0, 'and needs no summary where it fits now');
    await restOf(engine);
    assert.equal((await repliesIn(place, here)).length, 6);
    assert.ok((await messagesOf(place, here)).every(({ state }) => state === 'done'));
  });

  test('M-18 names the tools, or the latest message, where those are what is too large', async () => {
    const tools = new (class extends LedgerTools {
      override readonly list = Array.from({ length: 40 }, (_, index) => ({
        name: `tool_${index}`,
        description: 'd'.repeat(900),
        parameters: { type: 'object' },
        repeatable: 'yes' as const,
        changes: 'no' as const,
      }));
    })();
    for (const [part, given, text] of [
      ['tools', { tools }, 'hello'],
      ['message', {}, 'm'.repeat(40_000)],
    ] as const) {
      const stand = await open(narrow(), given);
      await say(stand.engine, stand.here, text);
      const { reason, attempts } = await comesTo(stand.engine, stand.here, 'blocked');
      assert.deepEqual([reason, attempts], ['base_too_large', 0], part);
      assert.ok(((await sizesIn(stand))[part] ?? 0) > WINDOW, part);
    }
  });

  test('M-18 whose latest message is stopped goes on with what came after, once admitted', async () => {
    const stand = await open(narrow());
    const { place, engine, here } = stand;
    await say(engine, here, 'm'.repeat(40_000));
    const { id: operationId, version } = await comesTo(engine, here, 'blocked');
    await say(engine, here, 'and something small');
    const [task] = await place.rows('task');
    await say(engine, here, `/stop ${String(task?.['id'])}`);
    await restOf(engine);
    const order = { operationId, expectedVersion: version, receiptId: 'r' };
    await engine.admit({ ...order, principal: ADMIN, channel: 'api' });
    await comesTo(engine, here, 'done');
    await restOf(engine);
    assert.equal((await repliesIn(place, here)).length, 1);
  });
});

/** A conversation of some length that nothing has shortened yet. */
async function longSession(place: Installation): Promise<Stand> {
  const stand = await open(place);
  place.model.answer = () => says('v'.repeat(1_000));
  for (let n = 0; n < 60; n += 1) {
    await say(stand.engine, stand.here, `message ${n} ${'u'.repeat(1_000)}`);
    await restOf(stand.engine);
  }
  return stand;
}

describe('an operation that freed too little', () => {
  test('M-19 is not done where the request that comes next does not fit: with what is kept behind the fence it is counted', async () => {
    const place = narrow();
    place.model.answer = () => says('z'.repeat(1_200));
    place.summariser.answer = () => fails('transient', 'http_500');
    const stand = await open(place);
    const { engine, here } = stand;
    for (let n = 0; n < 60; n += 1) {
      await say(engine, here, `message ${n} ${'y'.repeat(300)}`);
      await restOf(engine);
      if ((await operations(stand)) > 0) break;
    }
    await comesTo(engine, here, 'waiting');
    // As much as is asked for, twice over: within what is taken.
    place.summariser.answer = ({ system }) => {
      const [, half = '0'] = /at most (\d+) characters/.exec(system) ?? [];
      return sumsUp('s'.repeat(2 * Number(half)));
    };
    const large = 'l'.repeat(18_000);
    await say(engine, here, large);
    await elapse(place, SECOND);
    const full = await operationOf(place, here);
    assert.deepEqual([full.failures, JSON.parse(String(full.fault)).code], [2, 'full']);
    await elapse(place, 10 * SECOND);
    await comesTo(engine, here, 'done');
    await restOf(engine);
    const last = place.model.requests.at(-1);
    assert.equal(last?.messages.at(-1)?.text, large);
    for (const request of place.model.requests)
      assert.equal(strictRefusal(request, WINDOW), undefined);
  });

  test('M-19 a summary that is empty, too long or no summary is a failure of its step, and nothing is cut', async () => {
    const WRONG: Readonly<Record<string, (request: ModelRequest) => ReturnType<typeof says>>> = {
      summary_empty: () => sumsUp('  '),
      summary_too_long: () => sumsUp('s'.repeat(20_000)),
      not_json: () => says('Sure! Here is a summary.'),
      not_schema: () => says('{"summary":"x","more":1}'),
      summary_missing: () => says('{}'),
      empty: () => says(''),
    };
    for (const [code, answer] of Object.entries(WRONG)) {
      const place = new Installation();
      place.summariser.answer = answer;
      place.model.answer = () => saysFull('read');
      const stand = await open(place);
      await say(stand.engine, stand.here, 'the first');
      const { fault, failures } = await comesTo(stand.engine, stand.here, 'waiting');
      assert.deepEqual([JSON.parse(String(fault)).code, failures], [code, 1]);
      const [session] = await place.rows('session');
      assert.deepEqual([session?.['cut_seq'], session?.['seed']], [0, null]);
      place.summariser.answer = () => sumsUp('all of it');
      await elapse(place, 2 * SECOND);
      await comesTo(stand.engine, stand.here, 'done');
    }
  });

  test('M-19 is reopened in its epoch with one failure more each time that the provider says “too long” before a turn completes, and blocked with the seventh', async () => {
    const place = new Installation();
    const stand = await longSession(place);
    const { engine, here } = stand;
    place.model.answer = () => fails('refused', 'context_too_long');
    const asked = place.model.requests.length;
    // It can be made shorter twice; then the summary model fails too.
    let summaries = 0;
    place.summariser.answer = () => {
      summaries += 1;
      return summaries <= 2 ? sumsUp('all of it') : fails('transient', 'http_500');
    };
    await say(engine, here, 'the last');
    const seen: (readonly unknown[])[] = [];
    for (let second = 0; second < 90; second += 1) {
      await later(place, SECOND);
      const { id, epoch, failures } = await operationOf(place, here);
      seen.push([id, epoch, failures]);
    }
    const { id, state, reason, failures, epoch } = await operationOf(place, here);
    assert.deepEqual([state, reason, failures, epoch], ['blocked', 'exhausted', 7, 1]);
    assert.deepEqual(new Set(seen.map(([one]) => one)), new Set([id]), 'the same operation');
    assert.equal(await operations(stand), 1);
    assert.equal(place.model.requests.length - asked, 3, 'and one after each that was done');
    assert.ok(summaries <= 8);
    assert.deepEqual(await toldOf(place, here), ['maintenance_waiting', 'maintenance_exhausted']);
  });

  test('M-19 another operation exists only after a turn was completed', async () => {
    const place = new Installation();
    const stand = await longSession(place);
    const { engine, here } = stand;
    let refused = 2;
    place.model.answer = () => {
      refused -= 1;
      return refused >= 0 ? fails('refused', 'context_too_long') : saysFull('read');
    };
    await say(engine, here, 'the last');
    await elapse(place, 3 * SECOND);
    await eventually(async () => (await repliesIn(place, here)).at(-1) === 'read');
    await pass();
    const rows = await place.rows('operation');
    assert.deepEqual(
      rows.map((row) => [row['failures'], row['state']]),
      [
        [1, 'done'],
        [0, 'done'],
      ],
    );
  });
});

describe('a summary model with a smaller window', () => {
  test('M-19 summarises in pieces, each within its window, and each piece once', async () => {
    const place = new Installation();
    place.summariser.contextWindow = 4_000;
    place.summariser.strictWindow = 4_000;
    const stand = await open(place);
    place.model.answer = () => says('v'.repeat(300));
    for (let n = 0; n < 60; n += 1) {
      await say(stand.engine, stand.here, `message ${n} ${'u'.repeat(700)}`);
      await restOf(stand.engine);
    }
    let calls = 0;
    place.summariser.answer = () => {
      calls += 1;
      return calls === 3 ? fails('transient', 'http_500') : sumsUp(`summary ${calls}`);
    };
    place.model.answer = () => saysFull('read');
    await say(stand.engine, stand.here, 'the last');
    await comesTo(stand.engine, stand.here, 'waiting');
    await elapse(place, 2 * SECOND);
    const { failures } = await comesTo(stand.engine, stand.here, 'done');
    assert.equal(failures, 1);
    const shown = place.summariser.requests.map(({ messages }) => messages[0]?.text ?? '');
    assert.ok(shown.length > 8, `${shown.length} pieces`);
    for (const request of place.summariser.requests)
      assert.equal(strictRefusal(request, 4_000), undefined);
    for (let n = 0; n < 40; n += 1) {
      const times = shown.filter((text) => text.includes(`message ${n} `)).length;
      const isFailed = shown[2]?.includes(`message ${n} `) === true;
      assert.equal(times, isFailed ? 2 : 1, `message ${n}`);
    }
    assert.ok(shown[3]?.includes('summary 2'), 'it goes on from what was saved');
  });

  test('M-19 takes smaller pieces after one was too long for it', async () => {
    const place = new Installation();
    place.summariser.contextWindow = 20_000;
    // It holds a third of what it says.
    place.summariser.strictWindow = 7_000;
    const stand = await open(place);
    place.model.answer = () => says('v'.repeat(300));
    for (let n = 0; n < 60; n += 1) {
      await say(stand.engine, stand.here, `message ${n} ${'u'.repeat(900)}`);
      await restOf(stand.engine);
    }
    place.model.answer = () => saysFull('read');
    await say(stand.engine, stand.here, 'the last');
    await elapse(place, 10 * SECOND);
    const { failures, state } = await operationOf(place, stand.here);
    assert.equal(state, 'done');
    assert.ok(failures >= 1 && failures <= 3, `${failures} failures`);
  });
});
