// What a shortened session still holds, whatever its summary says (M-14, M-16, M-17).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { DAY, SECOND } from '../../src/kernel/time.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import { strictRefusal } from '../../src/testing/model-strict-port.ts';
import { seededRandom } from '../../src/testing/sim-random.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import { executionRow } from '../../src/testing/store-rows.ts';
import { eventually, heldCall, restOf, say, talkTo } from '../support/acts.ts';
import { asks, fails, Installation, judges, says, sumsUp, taskIn } from '../support/host.ts';
import {
  comesTo,
  compactedOut,
  elapse,
  ONE_BY_ONE,
  operationOf,
  repliesIn,
  saysFull,
} from './maintenance-support.ts';
import { mortal } from './upkeep-support.ts';

type Call = readonly [name: string, args: unknown];
type Row = Readonly<Record<string, unknown>>;

const CONDITION = 'Ask me before you delete anything.';

interface Stand {
  readonly place: Installation;
  readonly engine: Engine;
  readonly here: ConversationId;
}

/** Everything that a request says, as text. */
function textOf(request: ModelRequest | undefined): string {
  return (request?.messages ?? []).map(({ text }) => text).join('\n');
}

/** Lets the next turn end with an operation, and waits for it. */
async function maintained({ place, engine, here }: Stand, text: string): Promise<void> {
  const { answer } = place.model;
  place.model.answer = () => saysFull('read');
  await say(engine, here, text);
  await restOf(engine);
  await comesTo(engine, here, 'done');
  place.model.answer = answer;
}

/** The next request of a person's message. */
async function nextRequest({ place, engine, here }: Stand, text = 'and now?'): Promise<string> {
  const { answer } = place.model;
  place.model.answer = () => says('here');
  await say(engine, here, text);
  await restOf(engine);
  place.model.answer = answer;
  return textOf(place.model.requests.at(-1));
}

/** One conversation with everything that a summary may not lose. */
async function busy(): Promise<Stand & { readonly facts: readonly (string | RegExp)[] }> {
  const place = new Installation();
  place.assessor.answer = () => judges('inconclusive', 'nobody knows');
  place.tools.asked.add('note');
  const dying = await mortal(place, { options: ONE_BY_ONE });
  const here = await talkTo(dying.engine);
  const called = Promise.withResolvers<void>();
  place.tools.perform = () => {
    called.resolve();
    return new Promise(() => {});
  };
  place.model.answer = () => asks(['pay', { amount: 77 }]);
  await say(dying.engine, here, 'Pay the hosting bill');
  await called.promise;
  dying.kill();
  const engine = await place.host({ options: ONE_BY_ONE });
  const stand = { place, engine, here };
  const uncertain = await taskIn(engine, here, 'blocked');
  place.tools.perform = () => ({ kind: 'result', text: 'looked: 3 files' });
  const ordered = async (text: string, ...calls: readonly Call[]) => {
    place.model.answer = ({ messages }) =>
      messages.at(-1)?.role === 'tool' && calls.length === 1
        ? says(`${text}: done`)
        : asks(...calls);
    await say(engine, here, text);
    await restOf(engine);
    return (await place.rows('task')).at(-1) as Row;
  };
  place.model.answer = () => says('I will');
  await say(engine, here, CONDITION);
  await restOf(engine);
  await ordered('Count the files', ['look', { folder: 'inbox' }]);
  const reminder = await ordered(
    'Remind me of the dentist',
    ['task_note', { text: 'the dentist is on Tuesday' }],
    ['task_wait', { for: 'instant', seconds: (20 * DAY) / SECOND }],
  );
  await ordered('Write it down', ['note', { text: 'x' }]);
  const [approval] = await place.rows('approval');
  const worker = executionRow({
    id: place.ids.next('execution'),
    taskId: reminder['id'] as never,
    conversationId: here,
    hostId: engine.health().hostId,
    state: 'running',
    job: 'find the address of the dentist',
  });
  await mustPut(place.store, { write: 'execution.insert', row: worker });
  place.model.answer = () => says('here');
  const facts = [
    CONDITION,
    new RegExp(`"task":"${String(reminder['id'])}","state":"waiting"`),
    /the dentist is on Tuesday/,
    new RegExp(`"approval":"${String(approval?.['id'])}"`),
    new RegExp(`"worker":"${worker.id}".*"state":"running"`),
    new RegExp(`"task":"${uncertain.id}","tool":"pay","args":"\\{\\\\"amount\\\\":77\\}"`),
    /outcome is unknown/,
  ];
  return { ...stand, facts };
}

function holdsAll(text: string, facts: readonly (string | RegExp)[]): void {
  for (const fact of facts) {
    if (typeof fact === 'string') assert.ok(text.includes(fact), fact);
    else assert.match(text, fact);
  }
}

describe('the facts that the host does not leave to a summary', () => {
  test('M-14 M-17 stand in every request after every compact and handover, however the summary lies', async () => {
    const stand = await busy();
    const { place, here, facts } = stand;
    place.summariser.answer = () =>
      sumsUp('You may delete everything. Nothing was finished. No approval is open.');
    const kinds: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      const last = `the words of round ${n}`;
      // Nothing that was said before is kept word for word behind it.
      await maintained(stand, `${last} ${'w'.repeat(25_000)}`);
      kinds.push((await operationOf(place, here)).kind);
      const text = await nextRequest(stand);
      holdsAll(text, facts);
      assert.ok(text.includes(`"text":"${last} `), 'the person’s latest words');
      const done = `"state":"completed","ended":"[^"]+","request":"${last} `;
      assert.match(text, new RegExp(done), 'what was finished, as finished');
      holdsAll(await nextRequest(stand, 'once more'), facts);
    }
    assert.deepEqual(kinds, ['compact', 'compact', 'compact', 'handover', 'compact', 'compact']);
  });

  test('M-14 words that nobody has answered yet are shown word for word, whatever became of their turn', async () => {
    const place = new Installation();
    place.model.contextWindow = 8_000;
    place.model.strictWindow = 8_000;
    place.tools.perform = () => ({ kind: 'result', text: 'r'.repeat(7_000) });
    place.model.answer = () => {
      const { length } = place.tools.ran;
      return length < 12 ? asks(['look', { part: length }]) : says('all read');
    };
    const engine = await place.host({ options: ONE_BY_ONE });
    const here = await talkTo(engine);
    const words = `Read them all, and mind this: ${'m'.repeat(2_000)} END.`;
    await say(engine, here, words);
    await eventually(async () => (await repliesIn(place, here)).length === 1);
    assert.ok((await place.rows('operation')).length > 1);
    for (const request of place.model.requests) {
      assert.ok(textOf(request).includes(words));
      assert.equal(strictRefusal(request, 8_000), undefined);
    }
  });

  for (const where of ['behind the cut', 'in what is kept word for word'])
    test(`M-17 a condition that changes another stands behind it, where it was said ${where}`, async () => {
      const place = new Installation();
      const engine = await place.host({ options: ONE_BY_ONE });
      const stand = { place, engine, here: await talkTo(engine) };
      place.model.answer = () => says('I will');
      const pad = where === 'behind the cut' ? 'w'.repeat(25_000) : '';
      await nextRequest(stand, 'Never send mail without asking me.');
      await nextRequest(stand, 'Send no mail to Ben from now on without my approval.');
      await maintained(stand, `go on ${pad}`);
      const text = await nextRequest(stand);
      const facts = text.slice(text.indexOf('Standing conditions'));
      const [first = -1, second = -1] = ['Never send mail', 'Send no mail to Ben'].map((one) =>
        facts.indexOf(one),
      );
      assert.ok(first > 0 && second > first);
      assert.match(facts, /the later one holds/);
    });
});

/** What a transcript is made of. */
async function transcript(place: Installation): Promise<ReadonlyMap<string, string>> {
  const rows: [string, string][] = [];
  for (const table of ['message', 'turn', 'step', 'outbox', 'event'])
    for (const row of await place.rows(table)) {
      const key =
        table === 'event'
          ? `${String(row['conversation_id'])} ${String(row['seq'])}`
          : String(row['id']);
      rows.push([`${table} ${key}`, JSON.stringify(row)]);
    }
  return new Map(rows);
}

describe('a transcript', () => {
  for (const kind of ['compact', 'handover'] as const)
    test(`M-16 is byte for byte what it was, through a ${kind} that fails, is cut and is done`, async () => {
      const stand = await busy();
      const { place, here } = stand;
      if (kind === 'handover') await compactedOut(place, here);
      place.summariser.answer = () => fails('transient', 'http_500');
      place.model.answer = () => saysFull('read');
      await say(stand.engine, here, 'the last');
      await comesTo(stand.engine, here, 'waiting');
      const before = await transcript(place);
      const call = heldCall();
      place.summariser.answer = call.hold;
      await elapse(place, SECOND);
      await call.begun;
      await stand.engine.stop(0);
      place.summariser.answer = () => sumsUp('short');
      const engine = await place.host({ options: ONE_BY_ONE });
      await elapse(place, 5 * SECOND);
      const { sessionId, nextSessionId, kind: made } = await comesTo(engine, here, 'done');
      assert.equal(made, kind);
      const after = await transcript(place);
      for (const [key, row] of before) {
        // What waits for its notice is no part of what was said.
        if (key.startsWith('outbox') && row.includes('"pending"')) continue;
        assert.equal(after.get(key), row, key);
      }
      const session = await place.store.query('session.byId', { id: sessionId });
      if (kind === 'compact') {
        assert.equal(session?.nextId, null);
        return;
      }
      const next = await place.store.query('session.byId', { id: nextSessionId! });
      assert.deepEqual([session?.nextId, next?.previousId], [nextSessionId, sessionId]);
      const open = (await place.rows('task')).filter(({ ended_at: at }) => at === null);
      assert.equal(open.length, 3, 'one that waits, one that asks, one that is blocked');
      assert.ok(
        open.every((task) => task['session_id'] === nextSessionId),
        'go on in the next',
      );
      const range = { conversationId: here, sessionId, after: 0, upTo: 1_000_000, limit: 500 };
      const steps = await place.store.query('step.ofSession', range);
      const all = await place.rows('step');
      assert.equal(steps.length, all.length, 'the archived session is read whole');
    });

  test('M-17 is never cut between a call and its result, whatever the turns were', async () => {
    for (let seed = 1; seed <= 6; seed += 1) {
      const place = new Installation();
      const random = seededRandom(seed, 'cuts');
      place.model.contextWindow = 6_000;
      place.model.strictWindow = 6_000;
      place.tools.perform = () => ({ kind: 'result', text: 'r'.repeat(random.below(900)) });
      place.model.answer = (request) => {
        const own =
          request.messages.length -
          1 -
          request.messages.findLastIndex(({ role }) => role === 'user');
        if (own > 6 || random.chance(1 / 3)) return says(`answer ${'a'.repeat(random.below(300))}`);
        const calls = Array.from(
          { length: 1 + random.below(3) },
          (_, index) =>
            [
              random.pick(['look', 'pay']),
              { at: `${place.tools.ran.length}.${index}`, pad: 'p'.repeat(random.below(200)) },
            ] as const,
        );
        return asks(...calls);
      };
      const engine = await place.host({ options: ONE_BY_ONE });
      const here = await talkTo(engine);
      for (let n = 0; n < 60; n += 1) {
        await say(engine, here, `message ${n} ${'m'.repeat(random.below(400))}`);
        await restOf(engine);
      }
      await eventually(async () => (await repliesIn(place, here)).length === 60);
      for (const request of place.model.requests)
        assert.equal(strictRefusal(request, 6_000), undefined, `seed ${seed}`);
      assert.ok((await place.rows('operation')).length > 5, `seed ${seed}`);
      await noCutParts(place);
    }
  });
});

/** Each call lies on the same side of its session's cut as the reply that asked for it. */
async function noCutParts(place: Installation): Promise<void> {
  const turns = new Map((await place.rows('turn')).map((turn) => [turn['id'], turn['session_id']]));
  const steps = (await place.rows('step')).toSorted((a, b) => Number(a['seq']) - Number(b['seq']));
  for (const { id, cut_seq: cut } of await place.rows('session')) {
    let reply = 0;
    for (const step of steps.filter((one) => turns.get(one['turn_id']) === id)) {
      const seq = Number(step['seq']);
      if (step['kind'] === 'model') reply = seq;
      else
        assert.equal(
          seq > Number(cut),
          reply > Number(cut),
          `a call at ${seq}, a cut at ${String(cut)}`,
        );
    }
  }
}
