import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { EventRecord } from '../../core/session/record.ts';
import type { StepRecord } from '../../core/turn/record.ts';
import { idOf, orderMoments, tellMoment, type Moment, type MomentPage } from './timeline.ts';

const AT = 1_800_000_000_000;

function event(seq: number, given: Partial<EventRecord> = {}): EventRecord {
  return {
    conversationId: 'conv_0000000000000000',
    seq,
    id: `evt_${String(seq).padStart(16, '0')}`,
    type: 'task.moved',
    at: AT,
    by: 'key:ops',
    taskId: null,
    turnId: null,
    runId: null,
    fromState: null,
    toState: null,
    reason: null,
    data: null,
    ...given,
  };
}

function step(
  seq: number,
  finishedSeq: number | null,
  given: Partial<StepRecord> = {},
): StepRecord {
  return {
    conversationId: 'conv_0000000000000000',
    seq,
    turnId: 'turn_0000000000000000',
    taskId: 'task_0000000000000000',
    runId: 'run_0000000000000000',
    ordinal: 1,
    kind: 'tool',
    state: finishedSeq === null ? 'started' : 'finished',
    tries: 1,
    id: `evt_${String(seq).padStart(16, '0')}`,
    startedAt: AT,
    tool: 'look',
    callId: 'c',
    repeatable: 'yes',
    input: '{}',
    output: finishedSeq === null ? null : 'seen',
    errorCode: null,
    provider: null,
    model: null,
    inputTokens: null,
    outputTokens: null,
    cost: null,
    finishedId: finishedSeq === null ? null : `evt_${String(finishedSeq).padStart(16, '0')}`,
    finishedSeq,
    finishedAt: finishedSeq === null ? null : AT,
    ...given,
  };
}

interface Rows {
  readonly events: readonly EventRecord[];
  readonly steps: readonly StepRecord[];
}

/** What a store answers for `after`: rows of which something lies above, in the order of their start. */
function read({ events, steps }: Rows, after: number, limit: number): Rows {
  return {
    events: events.filter(({ seq }) => seq > after).slice(0, limit),
    steps: steps
      .filter(({ seq, finishedSeq }) => seq > after || (finishedSeq ?? 0) > after)
      .slice(0, limit),
  };
}

/** Any history: each place is an event, a start, or the finish of a step that began before. */
const histories = fc.array(fc.tuple(fc.constantFrom('event', 'start', 'finish'), fc.nat()), {
  maxLength: 60,
});

function historyOf(moves: readonly (readonly [string, number])[]): Rows {
  const events: EventRecord[] = [];
  const steps: StepRecord[] = [];
  for (const [index, [kind, pick]] of moves.entries()) {
    const seq = index + 1;
    const open = steps.filter(({ finishedSeq }) => finishedSeq === null);
    const chosen = open[pick % Math.max(1, open.length)];
    if (kind === 'start') steps.push(step(seq, null));
    else if (kind === 'finish' && chosen !== undefined) {
      steps[steps.indexOf(chosen)] = step(chosen.seq, seq);
    } else events.push(event(seq));
  }
  return { events, steps };
}

/** As the reader does: a page that says nothing is read wider. */
function wideEnough(
  rows: Rows,
  after: number,
  { limit, committed }: { readonly limit: number; readonly committed: number },
): MomentPage {
  const page = orderMoments({ ...read(rows, after, limit), after, committed, limit });
  return page.upTo > after ? page : wideEnough(rows, after, { limit: limit * 2, committed });
}

describe('the order of a conversation', () => {
  test('design principle 5: whatever the pages, every place comes once and in order', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 1, max: 7 }), fc.nat(60), (moves, limit, from) => {
        const rows = historyOf(moves);
        const seen: number[] = [];
        let after = Math.min(from, moves.length);
        const first = after;
        for (let turns = 0; after < moves.length; turns += 1) {
          assert.ok(turns <= moves.length, 'a page that moves nothing on would loop for ever');
          const committed = moves.length;
          const { upTo, moments } = wideEnough(rows, after, { limit, committed });
          seen.push(...moments.map(({ seq }) => seq));
          after = upTo;
        }
        const wanted = Array.from(
          { length: moves.length - first },
          (_, index) => first + index + 1,
        );
        assert.deepEqual(seen, wanted);
      }),
    );
  });

  test('what is above the committed place waits, since its neighbours may be missing', () => {
    // The event at 3 was committed after the events and before the steps were read.
    const rows = { events: [event(1), event(2)], steps: [step(4, null)] };
    const page = orderMoments({ ...rows, after: 0, committed: 2, limit: 100 });
    assert.deepEqual(
      page.moments.map(({ seq }) => seq),
      [1, 2],
    );
    assert.equal(page.upTo, 2);
  });

  test('a start and a finish have ids of their own, a step that runs has one', () => {
    const page = orderMoments({
      events: [],
      steps: [step(1, 2)],
      after: 0,
      committed: 2,
      limit: 9,
    });
    assert.deepEqual(page.moments.map(idOf), ['evt_0000000000000001', 'evt_0000000000000002']);
  });
});

describe('a moment is told', () => {
  const RUN = 'run_0000000000000000';
  const moment = (given: Partial<EventRecord>): Moment => ({
    seq: 1,
    kind: 'event',
    event: event(1, { runId: RUN, ...given }),
  });

  test('on a run only for that run, and without the talk of its conversation', () => {
    assert.equal(tellMoment(moment({ type: 'run.queued' }), undefined, RUN)?.type, 'run.queued');
    assert.equal(tellMoment(moment({ type: 'run.queued' }), undefined, 'run_X'), undefined);
    for (const type of ['message.accepted', 'command.answered']) {
      assert.equal(tellMoment(moment({ type }), { text: 'x' }, RUN), undefined, type);
      assert.equal(tellMoment(moment({ type }), { text: 'x' }, null)?.type, 'message', type);
    }
    const foreign: Moment = { seq: 1, kind: 'started', step: step(1, null) };
    assert.equal(tellMoment(foreign, undefined, 'run_X'), undefined);
  });

  test('on a run for a question of it, and not twice for its last word', () => {
    const reply = moment({ type: 'reply.queued' });
    assert.equal(tellMoment(reply, { text: 'Which one?' }, RUN)?.type, 'message');
    assert.equal(tellMoment(reply, undefined, RUN), undefined);
  });

  test('for an approval with its id, on a run as in its conversation', () => {
    const about = { id: 'evt_0000000000000001', at: new Date(AT).toISOString(), taskId: null };
    const asked = moment({ type: 'approval.asked', data: '{"approvalId":"appr_1","tool":"x"}' });
    const decided = moment({
      type: 'approval.decided',
      data: '{"approvalId":"appr_1","state":"denied"}',
    });
    for (const runId of [RUN, null]) {
      assert.deepEqual(tellMoment(asked, undefined, runId), {
        ...about,
        runId: RUN,
        type: 'approval.asked',
        approvalId: 'appr_1',
        tool: 'x',
      });
      assert.deepEqual(tellMoment(decided, undefined, runId), {
        ...about,
        runId: RUN,
        type: 'approval.decided',
        approvalId: 'appr_1',
        state: 'denied',
      });
    }
  });

  test('not at all when streams do not know its type', () => {
    for (const type of ['task.moved', 'turn.started', 'toString', '__proto__']) {
      assert.equal(tellMoment(moment({ type }), undefined, null), undefined, type);
    }
    const model: Moment = { seq: 1, kind: 'started', step: step(1, null, { kind: 'model' }) };
    assert.equal(tellMoment(model, undefined, null), undefined);
  });

  test('for a call with its arguments as data, or as the text that the model wrote', () => {
    const args = (input: string): unknown => {
      const told = tellMoment(
        { seq: 1, kind: 'started', step: step(1, null, { input }) },
        undefined,
        null,
      );
      return told?.type === 'tool.started' ? told.args : undefined;
    };
    assert.deepEqual(args('{"a":1}'), { a: 1 });
    assert.equal(args('{"a":'), '{"a":');
  });

  test('E-2: for a call whose outcome is unknown without a result', () => {
    for (const state of ['uncertain', 'cut'] as const) {
      const one = step(1, 2, { state, output: null });
      const told = tellMoment({ seq: 2, kind: 'finished', step: one }, undefined, null);
      assert.ok(told?.type === 'tool.finished');
      assert.equal('result' in told, false);
      assert.deepEqual(told.error, { code: state, text: '' });
    }
  });
});
