import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { MessageRecord } from '../inbox/record.ts';
import type { StepRecord, StepState } from './record.ts';
import {
  buildTranscript,
  charsIn,
  CUT,
  ITEM_CHARS,
  NOT_RUN,
  readModelOutput,
  UNKNOWN_OUTCOME,
  type TranscriptItem,
} from './transcript.ts';

const STEP: StepRecord = {
  conversationId: 'conv_1',
  seq: 1,
  turnId: 'turn_1',
  taskId: 'task_1',
  runId: null,
  ordinal: 1,
  kind: 'model',
  state: 'finished',
  tries: 1,
  id: 'evt_1',
  startedAt: 10,
  tool: null,
  callId: null,
  repeatable: null,
  input: null,
  output: null,
  errorCode: null,
  provider: null,
  model: null,
  inputTokens: null,
  outputTokens: null,
  cost: null,
  finishedId: null,
  finishedSeq: null,
  finishedAt: null,
};

const MESSAGE: MessageRecord = {
  id: 'msg_1',
  conversationId: 'conv_1',
  seq: 1,
  channel: 'api',
  externalId: 'x',
  kind: 'genuine',
  principal: 'key:anna',
  authority: 'own',
  text: 'hello',
  bodyHash: 'h',
  replyTo: null,
  state: 'claimed',
  taskId: 'task_1',
  runId: null,
  turnId: 'turn_1',
  claimedSeq: 2,
  answerId: null,
  at: 5,
};

function says(
  seq: number,
  ordinal: number,
  text: string,
  calls: readonly string[] = [],
): StepRecord {
  const asked = calls.map((id) => ({ id, name: 'look', args: '{}' }));
  return { ...STEP, seq, ordinal, output: JSON.stringify({ text, calls: asked }) };
}

function ran(seq: number, ordinal: number, state: StepState, output: string | null): StepRecord {
  const call = { kind: 'tool', tool: 'look', callId: 'c1', input: '{}' } as const;
  return { ...STEP, ...call, seq, ordinal, state, output };
}

function resultOf(step: StepRecord | undefined): TranscriptItem | undefined {
  const steps = [says(3, 1, '', ['c1']), ...(step === undefined ? [] : [step])];
  return buildTranscript([], steps).find(({ role }) => role === 'tool');
}

describe('buildTranscript', () => {
  test('messages and replies stand in the order in which they were claimed and started', () => {
    const items = buildTranscript(
      [{ ...MESSAGE, claimedSeq: 6, text: 'second' }, MESSAGE],
      [says(7, 1, 'two'), says(3, 1, 'one')],
    );
    assert.deepEqual(
      items.map(({ role, text }) => `${role} ${text}`),
      ['user hello', 'assistant one', 'user second', 'assistant two'],
    );
  });

  test('T-10 what one turn claimed together stands in inbox order', () => {
    const messages = [3, 1, 2].map((seq) => ({ ...MESSAGE, seq, text: `m${seq}` }));
    assert.deepEqual(
      buildTranscript(messages, []).map(({ text }) => text),
      ['m1', 'm2', 'm3'],
    );
  });

  test('commands and unclaimed messages are no part of it', () => {
    const command = { ...MESSAGE, kind: 'command' } as const;
    assert.deepEqual(buildTranscript([command, { ...MESSAGE, claimedSeq: null }], []), []);
  });

  test('E-4 the result of an approved call is the content of the input that its approval made', () => {
    const input = { ...MESSAGE, channel: 'approval', text: 'approved' } as const;
    const call = { ...ran(4, 1, 'finished', 'the result'), callId: 'appr_1' };
    const said = (steps: readonly StepRecord[]) => buildTranscript([input], steps)[0]?.text;
    assert.equal(said([call]), 'approved\n\nthe result');
    assert.equal(said([{ ...call, turnId: 'turn_2' }]), 'approved');
    assert.equal(said([]), 'approved');
    assert.equal(said([{ ...says(4, 1, 'ha'), callId: 'c' }]), 'approved', 'a reply is no result');
    assert.equal(buildTranscript([MESSAGE], [call])[0]?.text, 'hello', 'no approval made it');
  });

  test('E-2 what stands for a missing result says what is known of the call', () => {
    assert.match(UNKNOWN_OUTCOME, /took effect is unknown/);
    assert.match(NOT_RUN, /was not run/);
    assert.match(CUT, /was cut off/);
  });

  test('an item stands where it was claimed or made, and when', () => {
    const reply = { ...says(3, 1, 'so', ['c1']), startedAt: 10 };
    const call = { ...ran(4, 2, 'finished', 'r'), finishedAt: 30 };
    const places = (steps: readonly StepRecord[]): unknown =>
      buildTranscript([MESSAGE], steps).map(({ seq, at }) => [seq, at]);
    const user = [2, 5];
    assert.deepEqual(places([{ ...reply, finishedAt: 20 }, call]), [user, [3, 20], [4, 30]]);
    assert.deepEqual(places([{ ...reply, finishedAt: 20 }]), [user, [3, 20], [3, 20]]);
    assert.deepEqual(places([reply]), [user, [3, 10], [3, 10]]);
    const open = { ...call, finishedAt: null };
    assert.deepEqual(places([reply, open]), [user, [3, 10], [4, 10]]);
  });

  test('T-12 an input without words is no part of it', () => {
    assert.deepEqual(buildTranscript([{ ...MESSAGE, text: '' }], []), []);
  });

  test('a model call that did not finish, or said nothing, left nothing behind', () => {
    const steps = (['started', 'cut', 'failed', 'uncertain'] as const).map((state, place) => ({
      ...says(2 + place, 1 + place, 'half a'),
      state,
    }));
    assert.deepEqual(buildTranscript([], [...steps, says(9, 9, ' ')]), []);
    assert.deepEqual(readModelOutput({ output: null }), { text: '', calls: [] });
  });

  test('INC-006 E-2 every call has a result that says what became of it', () => {
    const told = (step: StepRecord | undefined) => {
      const item = resultOf(step);
      return item?.role === 'tool' ? [item.text, item.isError] : undefined;
    };
    assert.deepEqual(told(undefined), [NOT_RUN, true]);
    assert.deepEqual(told(ran(4, 2, 'finished', 'found')), ['found', false]);
    assert.deepEqual(told(ran(4, 2, 'finished', null)), ['', false]);
    assert.deepEqual(told(ran(4, 2, 'failed', 'no such file')), ['no such file', true]);
    assert.deepEqual(told(ran(4, 2, 'uncertain', null)), [UNKNOWN_OUTCOME, true]);
    assert.deepEqual(told(ran(4, 2, 'started', null)), [UNKNOWN_OUTCOME, true]);
    assert.deepEqual(told(ran(4, 2, 'cut', null)), [CUT, true]);
    assert.deepEqual(told(ran(4, 2, 'cut', 'ended')), ['ended', true]);
  });

  test('INC-006 a result is taken from its place and its call, never from another turn', () => {
    const other = { ...ran(4, 2, 'finished', 'foreign'), turnId: 'turn_2' } as const;
    const item = buildTranscript([], [says(3, 1, '', ['c1']), other])[1];
    assert.equal(item?.text, NOT_RUN);
    const misplaced = { ...ran(4, 2, 'finished', 'late'), callId: 'c9' };
    assert.equal(buildTranscript([], [says(3, 1, '', ['c1']), misplaced])[1]?.text, NOT_RUN);
  });

  test('INC-006 calls and results pair whatever part of the history is given', () => {
    const histories = fc.array(
      fc.record({
        calls: fc.integer({ min: 0, max: 3 }),
        made: fc.integer({ min: 0, max: 3 }),
        state: fc.constantFrom<StepState>('started', 'finished', 'failed', 'cut', 'uncertain'),
        reply: fc.constantFrom<StepState>('started', 'finished', 'failed', 'cut'),
      }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(histories, fc.nat(40), fc.boolean(), (history, from, reversed) => {
        const all = stepsOf(history);
        const part = all.slice(Math.min(from, all.length));
        const items = buildTranscript([MESSAGE], reversed ? part.toReversed() : part);
        assertPaired(items);
      }),
    );
  });
});

test('an item takes its texts of a request, those of its calls, and something for each', () => {
  const user = buildTranscript([{ ...MESSAGE, text: '12345' }], []);
  assert.equal(charsIn([]), 0);
  assert.equal(charsIn(user), 5 + ITEM_CHARS);
  const reply = { ...says(3, 1, '123', ['c1', 'c2']) };
  const [said, result] = buildTranscript([], [reply]);
  assert.ok(said !== undefined && result !== undefined);
  const call = 'look'.length + '{}'.length;
  assert.equal(charsIn([said]), 3 + 2 * call + 3 * ITEM_CHARS);
  assert.equal(charsIn([result]), NOT_RUN.length + ITEM_CHARS);
  assert.equal(charsIn([said, ...user]), charsIn([said]) + charsIn(user));
});

interface Reply {
  readonly calls: number;
  readonly made: number;
  readonly state: StepState;
  readonly reply: StepState;
}

/** A turn of several replies; call ids repeat, as providers' do, and the last calls may be missing. */
function stepsOf(history: readonly Reply[]): readonly StepRecord[] {
  const steps: StepRecord[] = [];
  for (const { calls, made, state, reply } of history) {
    const ids = Array.from({ length: calls }, (_, index) => `c${index}`);
    const ordinal = steps.length + 1;
    steps.push({ ...says(2 + ordinal, ordinal, 'so', ids), state: reply });
    for (const callId of ids.slice(0, made)) {
      const next = steps.length + 1;
      steps.push({ ...ran(2 + next, next, state, 'r'), callId });
    }
  }
  return steps;
}

function assertPaired(items: readonly TranscriptItem[]): void {
  let owed: readonly string[] = [];
  for (const item of items) {
    if (item.role === 'tool') {
      assert.equal(item.callId, owed[0]);
      owed = owed.slice(1);
      continue;
    }
    assert.deepEqual(owed, []);
    owed = item.role === 'assistant' ? item.calls.map(({ id }) => id) : [];
  }
  assert.deepEqual(owed, []);
}
