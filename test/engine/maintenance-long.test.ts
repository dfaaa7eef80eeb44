// Conversations far beyond their windows, turn by turn: nothing is lost, and little is spent on it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { builtInTools } from '../../src/adapters/tools/built-in.ts';
import { requestRoom } from '../../src/core/maintenance/size.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { DAY, SECOND } from '../../src/kernel/time.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import type { Tool } from '../../src/ports/tools.ts';
import { requestTokens, strictRefusal } from '../../src/testing/model-strict-port.ts';
import { strictTokens } from '../../src/testing/model-strict.ts';
import { say, talkTo } from '../support/acts.ts';
import { asks, Installation, LedgerTools, says, sumsUp, until } from '../support/host.ts';
import { ONE_BY_ONE } from './maintenance-support.ts';

const WINDOW = 8_000;
const CONDITION = 'Ask me before you delete anything.';
const INSTRUCTIONS = 'You are a careful assistant. '.repeat(20);

/** The tools that are always there, as they are described to a model, and those of the tests. */
class DescribedTools extends LedgerTools {
  override readonly list: readonly Tool[] = [
    ...builtInTools({
      workspace: '/',
      clock: new Installation().clock,
      environment: {},
      sandbox: { unavailable: 'not in this test' },
    }).list,
    ...new LedgerTools().list,
  ];
}

/** What requests and summaries have shown, looked at as each goes out. */
class Witness {
  requests = 0;
  summaries = 0;
  /** Turns up to here were shown to the summary model, none left out. */
  summarised = 0;
  /** Turns of a request that stand word for word, fewest and most after an operation. */
  readonly #problems: string[] = [];
  facts: readonly string[] = [];

  /** A request of a working turn. */
  request(request: ModelRequest, turn: number): void {
    this.requests += 1;
    if (strictRefusal(request, WINDOW) !== undefined)
      this.#problem(turn, `${requestTokens(request)} tokens`);
    const texts = request.messages.map(({ text }) => text);
    const shown = texts.flatMap((text) => {
      const [, number] = /^turn (\d+):/.exec(text) ?? [];
      return number === undefined ? [] : [Number(number)];
    });
    const first = shown[0] ?? turn;
    if (first > this.summarised + 1)
      this.#problem(turn, `${this.summarised + 1} to ${first - 1} are shown to nobody`);
    for (const [index, number] of shown.entries())
      if (number !== first + index) this.#problem(turn, `${first + index} is left out`);
    if (shown.at(-1) !== turn) this.#problem(turn, 'the turn’s own words are missing');
    if (this.summarised === 0) return;
    const all = texts.join('\n');
    for (const fact of this.facts) if (!all.includes(fact)) this.#problem(turn, `without ${fact}`);
  }

  /** A piece that is summarised. */
  summary(request: ModelRequest): void {
    this.summaries += 1;
    if (strictRefusal(request, WINDOW) !== undefined) this.#problem(0, 'a piece is too long');
    for (const [, number] of (request.messages[0]?.text ?? '').matchAll(/"text":"turn (\d+):/g)) {
      const next = this.summarised + 1;
      if (Number(number) > next) this.#problem(Number(number), `${next} was summarised by nobody`);
      this.summarised = Math.max(this.summarised, Number(number));
    }
  }

  #problem(turn: number, what: string): void {
    if (this.#problems.length < 20) this.#problems.push(`turn ${turn}: ${what}`);
  }

  assertNone(): void {
    assert.deepEqual(this.#problems, []);
  }
}

interface Long {
  readonly place: Installation;
  readonly engine: Engine;
  readonly here: ConversationId;
  readonly witness: Witness;
  /** Says the words of the next turn and waits for its answer. */
  readonly turn: (words: string) => Promise<void>;
}

async function open(answer: string): Promise<Long> {
  const place = new Installation();
  const witness = new Witness();
  const tools = new DescribedTools();
  tools.asked.add('note');
  place.model.contextWindow = WINDOW;
  place.model.strictWindow = WINDOW;
  place.summariser.contextWindow = WINDOW;
  place.summariser.strictWindow = WINDOW;
  let count = 0;
  place.model.answer = (request) => {
    place.model.requests.length = 0;
    witness.request(request, count);
    const last = request.messages.at(-1);
    if (last?.role === 'tool') return says(`answer ${count}: ${answer}`);
    if (last?.text.includes('remind me') === true)
      return asks(['task_wait', { for: 'instant', seconds: (300 * DAY) / SECOND }]);
    if (last?.text.includes('write it down') === true) return asks(['note', { text: 'x' }]);
    return says(`answer ${count}: ${answer}`);
  };
  place.summariser.answer = (request) => {
    place.summariser.requests.length = 0;
    witness.summary(request);
    const [, half = '0'] = /at most (\d+) characters/.exec(request.system) ?? [];
    return sumsUp(
      'The person counts turns, and the agent counts along. '.repeat(60).slice(0, Number(half)),
    );
  };
  const options = { ...ONE_BY_ONE, turnsLimit: 1_000_000, deadlineMs: null };
  const instructions = () => Promise.resolve(INSTRUCTIONS);
  const engine = await place.host({ options, tools, instructions });
  const here = await talkTo(engine);
  const turn = async (words: string): Promise<void> => {
    count += 1;
    const id = await say(engine, here, `turn ${count}: ${words}`);
    place.clock.advance(10);
    await until(engine, here, async () => {
      const message = await engine.store.query('message.byId', { id });
      const conversation = await engine.store.query('conversation.byId', { id: here });
      const isIdle =
        conversation?.turnId === null && ['none', 'passed'].includes(conversation.fence);
      return message?.state !== 'unclaimed' && isIdle;
    });
  };
  return { place, engine, here, witness, turn };
}

/** Opens what must stand in every later request: a condition, a task that waits, an approval. */
async function openWork({ place, witness, turn }: Long): Promise<void> {
  await turn(CONDITION);
  await turn('remind me of the dentist in spring');
  await turn('write it down');
  const tasks = await place.rows('task');
  const [approval] = await place.rows('approval');
  assert.equal(approval?.['state'], 'open');
  witness.facts = [
    CONDITION,
    `"task":"${String(tasks[1]?.['id'])}","state":"waiting"`,
    `"approval":"${String(approval['id'])}"`,
    '"state":"completed"',
  ];
}

async function answeredOnce({ place, here }: Long, turns: number): Promise<void> {
  const replies = (await place.rows('outbox')).filter(
    (row) => row['kind'] === 'reply' && row['conversation_id'] === here,
  );
  const numbers = replies.map(({ text }) => Number(/^answer (\d+)/.exec(String(text))?.[1]));
  assert.equal(new Set(numbers).size, numbers.length, 'none is answered twice');
  assert.equal(numbers.length, turns);
}

/** What no operation shortens: what stands for older turns, what the host knows, and the latest words. */
function fixedIn({ messages }: ModelRequest): ModelRequest['messages'] {
  const isTurn = (text: string): boolean => /^(?:turn|answer) \d+:/.test(text);
  return messages.filter(({ text }, index) => index === messages.length - 1 || !isTurn(text));
}

describe('a conversation against a window of 8,000 tokens', () => {
  test('of 5,000 turns of 60 tokens fits in every request, loses no turn and no fact, and spends under 5 % of its calls on it', async (t) => {
    const turns = 5_000;
    const long = await open('a'.repeat(100));
    const { place, witness, turn } = long;
    await openWork(long);
    for (let n = 4; n <= turns; n += 1) await turn('w'.repeat(100));
    witness.assertNone();
    const { requests, summaries } = witness;
    const share = summaries / (summaries + requests);
    const kinds = (await place.rows('operation')).map(({ kind }) => kind);
    const handovers = kinds.filter((kind) => kind === 'handover').length;
    t.diagnostic(
      `${requests} requests, ${summaries} summaries, ${handovers} of ${kinds.length} handovers`,
    );
    assert.ok(share < 0.05, `${share}`);
    assert.ok(handovers > 10);
    assert.equal(requests, turns, 'each turn takes one request');
    await answeredOnce(long, turns - 2);
    const sessions = await place.rows('session');
    assert.equal(sessions.length, handovers + 1);
    assert.equal(sessions.filter(({ next_id: next }) => next === null).length, 1);
  });

  test('of turns of 600 tokens frees at least half of the window’s free part by each operation', async (t) => {
    const turns = 300;
    const long = await open('a'.repeat(1_200));
    const { place, witness, turn } = long;
    await openWork(long);
    const freed: { readonly tokens: number; readonly free: number }[] = [];
    let before = 0;
    const { answer } = place.model;
    let operations = 0;
    place.model.answer = async (request, signal) => {
      const size = requestTokens(request);
      const own = strictTokens(request.messages.at(-1)?.text ?? '');
      const count = (await place.rows('operation')).length;
      if (count > operations) {
        const fixed = requestTokens({ ...request, messages: fixedIn(request) });
        freed.push({ tokens: before - (size - own), free: requestRoom(WINDOW) - fixed });
      }
      operations = count;
      // What the answer adds stands in the session too.
      before = size + strictTokens('a'.repeat(1_200));
      return answer(request, signal);
    };
    for (let n = 4; n <= turns; n += 1) await turn('w'.repeat(1_200));
    witness.assertNone();
    t.diagnostic(`freed: ${freed.map(({ tokens, free }) => `${tokens}/${free}`).join(' ')}`);
    assert.ok(freed.length > 20);
    for (const { tokens, free } of freed) assert.ok(tokens >= free / 2, `${tokens} of ${free}`);
    await answeredOnce(long, turns - 2);
  });
});
