// One session of ten megabytes of which nothing was ever summarised, as an import may bring it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConversationId, SessionId } from '../../src/kernel/ids.ts';
import type { Write } from '../../src/ports/store.ts';
import { strictRefusal } from '../../src/testing/model-strict-port.ts';
import { mustPut } from '../../src/testing/store-calls.ts';
import { idOf, messageRow, stepRow, taskRow, turnRow } from '../../src/testing/store-rows.ts';
import { eventually, pass, restOf, say, talkTo } from '../support/acts.ts';
import { fails, Installation, says, sumsUp } from '../support/host.ts';
import { comesTo, later, ONE_BY_ONE, operationOf, repliesIn } from './maintenance-support.ts';

const BYTES = 10_000_000;
const CALLS_PER_TURN = 10;
const RESULT_CHARS = 30_000;
const SUMMARY_WINDOW = 32_000;
const REPLY = { kind: 'model', tool: null, callId: null, input: null } as const;

type Of = Pick<Parameters<typeof stepRow>[0] & object, 'conversationId' | 'taskId' | 'turnId'>;

/** The rows of one turn: a request, ten calls with their results, and an answer. */
class Transcript {
  readonly #place: { readonly conversationId: ConversationId; readonly sessionId: SessionId };
  #seq: number;
  chars = 0;
  turns = 0;
  calls = 0;

  constructor(conversationId: ConversationId, sessionId: SessionId, seq: number) {
    this.#place = { conversationId, sessionId };
    this.#seq = seq;
  }

  get seq(): number {
    return this.#seq;
  }

  #next(): number {
    this.#seq += 1;
    return this.#seq;
  }

  turn(): readonly Write[] {
    this.turns += 1;
    const number = 1_000 + this.turns;
    const { conversationId, sessionId } = this.#place;
    const [taskId, turnId] = [idOf('task', number), idOf('turn', number)];
    const said = { conversationId, taskId, turnId, state: 'done', channel: 'api' } as const;
    const id = idOf('message', number);
    const message = { id, externalId: id, seq: this.#next(), text: `turn ${this.turns}: read on` };
    const claimedSeq = this.#next();
    const ended = {
      state: 'completed',
      reason: 'answered',
      endedAt: 5_000,
      deadline: null,
    } as const;
    const task = { id: taskId, conversationId, sessionId, mandateText: 'Read on' };
    const turn = { id: turnId, conversationId, sessionId, taskId, firstSeq: claimedSeq };
    return [
      { write: 'task.insert', row: taskRow({ ...task, ...ended }) },
      { write: 'message.insert', row: messageRow({ ...said, ...message, claimedSeq }) },
      {
        write: 'turn.insert',
        row: turnRow({ ...turn, state: 'ended', end: 'answered', endedAt: 5_000 }),
      },
      ...this.#steps({ conversationId, taskId, turnId }),
    ];
  }

  #steps(of: Of): readonly Write[] {
    const writes: Write[] = [];
    const put = (over: Parameters<typeof stepRow>[0]): void => {
      const place = { seq: this.#next(), ordinal: writes.length + 1, finishedSeq: this.#next() };
      const row = stepRow({ ...of, ...place, state: 'finished', finishedAt: 6_000, ...over });
      writes.push({ write: 'step.insert', row });
    };
    for (let call = 0; call < CALLS_PER_TURN; call += 1) {
      this.calls += 1;
      const [id, args] = [`call_${this.calls}`, JSON.stringify({ part: this.calls })];
      const calls = [{ id, name: 'look', args }];
      put({ ...REPLY, output: JSON.stringify({ text: '', calls }) });
      const output = `part ${this.calls}: ${'r'.repeat(RESULT_CHARS)}`;
      this.chars += output.length;
      put({ kind: 'tool', tool: 'look', callId: id, input: args, output });
    }
    put({
      kind: 'model',
      output: JSON.stringify({ text: `turn ${this.turns} is read`, calls: [] }),
    });
    return writes;
  }
}

test('M-19 a transcript of 10 MB is maintained in pieces, each part of it shown once, through failures and a restart', async (t) => {
  const place = new Installation();
  place.model.strictWindow = place.model.contextWindow;
  place.summariser.contextWindow = SUMMARY_WINDOW;
  place.summariser.strictWindow = SUMMARY_WINDOW;
  const first = await place.host({ options: ONE_BY_ONE });
  const here = await talkTo(first);
  await first.stop(0);
  const conversation = (await place.store.query('conversation.byId', { id: here }))!;
  const { sessionId, seq: expectedSeq, token } = conversation;
  const transcript = new Transcript(here, sessionId, expectedSeq);
  while (transcript.chars < BYTES) await mustPut(place.store, ...transcript.turn());
  const advanced = { id: here, expectedSeq, seq: transcript.seq, token: token + 1, turnId: null };
  await mustPut(place.store, { write: 'conversation.advance', ...advanced });

  const shown = new Map<string, number>();
  let calls = 0;
  place.summariser.answer = (request) => {
    calls += 1;
    if (calls === 5 || calls === 12) return fails('transient', 'http_500');
    const text = request.messages[0]?.text ?? '';
    for (const [part] of text.matchAll(/part \d+:|turn \d+: read on|turn \d+ is read/g))
      shown.set(part, (shown.get(part) ?? 0) + 1);
    return sumsUp(`what ${calls} pieces held`);
  };
  place.model.answer = () => says('here I am');
  let engine = await place.host({ options: ONE_BY_ONE });
  await say(engine, here, 'and what now?');
  await comesTo(engine, here, 'waiting');
  await later(place, 1_000);
  await comesTo(engine, here, 'waiting');
  await engine.stop(0);
  engine = await place.host({ options: ONE_BY_ONE });
  await later(place, 2_000);
  await eventually(async () => {
    await pass(50);
    return (await operationOf(place, here)).state === 'done';
  });
  await restOf(engine);
  const { failures, kind } = await operationOf(place, here);
  t.diagnostic(`${transcript.calls} calls of tools, ${calls} calls of the summary model, ${kind}`);
  assert.equal(failures, 2);
  assert.deepEqual(await repliesIn(place, here), ['here I am']);
  for (const request of place.summariser.requests)
    assert.equal(strictRefusal(request, SUMMARY_WINDOW), undefined);
  const [request, ...others] = place.model.requests;
  assert.ok(request !== undefined && others.length === 0);
  assert.equal(strictRefusal(request, place.model.contextWindow), undefined);
  const kept = JSON.stringify(request.messages);
  const parts = Array.from({ length: transcript.calls }, (_, index) => `part ${index + 1}:`);
  for (const part of parts)
    assert.equal((shown.get(part) ?? 0) + (kept.includes(`"${part}`) ? 1 : 0), 1, part);
  const steps = (await place.rows('step')).filter(({ kind: of }) => of === 'tool');
  assert.equal(steps.length, transcript.calls, 'nothing of it is gone');
});
