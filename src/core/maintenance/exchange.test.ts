import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { messageRow, stepRow } from '../../testing/store-rows.ts';
import { HOST_CHANNELS, type MessageRecord } from '../inbox/record.ts';
import type { TurnId } from '../../kernel/ids.ts';
import type { StepRecord, StepState } from '../turn/record.ts';
import { buildTranscript, charsIn } from '../turn/transcript.ts';
import { planCut, type Keep } from './cut.ts';
import { exchangesOf, type Exchange } from './exchange.ts';

interface History {
  readonly messages: readonly MessageRecord[];
  readonly steps: readonly StepRecord[];
}

function input(claimedSeq: number, over: Partial<MessageRecord> = {}): MessageRecord {
  const { seq = claimedSeq } = over;
  return messageRow({ seq, claimedSeq, state: 'done', turnId: 'turn_1', ...over });
}

function reply(seq: number, ordinal: number, calls: readonly string[] = []): StepRecord {
  const asked = calls.map((id) => ({ id, name: 'look', args: '{}' }));
  const output = JSON.stringify({ text: `reply ${seq}`, calls: asked });
  const ofModel = { kind: 'model', tool: null, callId: null, repeatable: null } as const;
  return stepRow({ seq, ordinal, turnId: 'turn_1', state: 'finished', output, ...ofModel });
}

function result(seq: number, ordinal: number, callId: string): StepRecord {
  return stepRow({ seq, ordinal, turnId: 'turn_1', state: 'finished', callId, output: 'found' });
}

function spans({ messages, steps }: Partial<History>): readonly (readonly [number, number])[] {
  return exchangesOf(messages ?? [], steps ?? []).map(({ firstSeq, lastSeq }) => [
    firstSeq,
    lastSeq,
  ]);
}

describe('the exchanges of a session', () => {
  test('are its inputs, and its replies with all their results', () => {
    const messages = [input(2), input(9)];
    const steps = [reply(3, 1, ['a', 'b']), result(4, 2, 'a'), result(6, 3, 'b'), reply(7, 4)];
    assert.deepEqual(spans({ messages, steps: steps.toReversed() }), [
      [2, 2],
      [3, 6],
      [7, 7],
      [9, 9],
    ]);
  });

  test('hold an approval together with the call that it ran', () => {
    const messages = [input(2, { channel: HOST_CHANNELS.approval })];
    const steps = [result(4, 1, 'appr_1'), reply(5, 2)];
    const [approved] = exchangesOf(messages, steps);
    assert.deepEqual(spans({ messages, steps }), [
      [2, 4],
      [5, 5],
    ]);
    assert.match(approved?.items[0]?.text ?? '', /\n\nfound$/);
    assert.deepEqual(spans({ messages: [input(2), input(3)], steps }), [
      [2, 2],
      [3, 4],
      [5, 5],
    ]);
    const further = [...steps.slice(0, 1), reply(5, 2, ['a']), result(6, 3, 'a')];
    assert.deepEqual(spans({ messages, steps: further }), [
      [2, 4],
      [5, 6],
    ]);
    assert.deepEqual(spans({ messages, steps: [reply(3, 1)] }), [
      [2, 2],
      [3, 3],
    ]);
    const between = [...messages, input(3)];
    assert.deepEqual(spans({ messages: between, steps }), [
      [2, 4],
      [5, 5],
    ]);
    const joined = [...messages, input(3, { text: 'quickly' })];
    assert.deepEqual(spans({ messages: joined, steps }), [
      [2, 4],
      [5, 5],
    ]);
  });

  test('hold what one claim took up together, and who said what in it', () => {
    const messages = [
      input(4, { seq: 2, text: 'second', at: 2 }),
      input(4, { seq: 1, text: 'first', at: 1 }),
      input(4, { seq: 3, kind: 'generated', text: 'from the host' }),
    ];
    const [only, ...others] = exchangesOf(messages, []);
    assert.equal(others.length, 0);
    assert.deepEqual(
      only?.items.map(({ text }) => text),
      ['first', 'second', 'from the host'],
    );
    assert.deepEqual(only?.said, [
      { at: 1, text: 'first' },
      { at: 2, text: 'second' },
    ]);
  });

  test('are not parted by words that came between a call and its result', () => {
    const steps = [reply(3, 1, ['a']), result(6, 2, 'a'), reply(8, 3)];
    const messages = [input(2), input(5, { text: 'stop that' })];
    assert.deepEqual(spans({ messages, steps }), [
      [2, 2],
      [3, 6],
      [8, 8],
    ]);
    assert.deepEqual(
      exchangesOf(messages, steps)[1]?.items.map(({ role }) => role),
      ['assistant', 'tool', 'user'],
    );
  });

  test('take what left nothing with the one before, and the first what stands before it', () => {
    const cut = { ...reply(7, 4), state: 'cut', output: null } as const;
    const silent = input(8, { text: '' });
    const early = { ...reply(1, 9), state: 'failed', output: null } as const;
    assert.deepEqual(spans({ messages: [input(2), silent], steps: [early, reply(3, 1), cut] }), [
      [1, 2],
      [3, 8],
    ]);
  });

  test('are one without items where nothing was said, and none where nothing is', () => {
    const lost = [7, 5].map((seq) => ({ ...reply(seq, seq), state: 'cut' }) as const);
    assert.deepEqual(exchangesOf([], lost), [
      { firstSeq: 5, lastSeq: 7, items: [], chars: 0, said: [] },
    ]);
    assert.deepEqual(exchangesOf([input(3, { kind: 'command' })], []), []);
    assert.deepEqual(exchangesOf([messageRow()], []), []);
  });
});

const STATES = ['started', 'finished', 'failed', 'cut', 'uncertain'] as const;

const turns = fc.array(
  fc.record({
    inputs: fc.array(fc.constantFrom('genuine', 'generated', 'empty', 'approval'), {
      minLength: 1,
      maxLength: 3,
    }),
    replies: fc.array(
      fc.record({
        calls: fc.integer({ min: 0, max: 3 }),
        made: fc.integer({ min: 0, max: 3 }),
        state: fc.constantFrom<StepState>(...STATES),
        reply: fc.constantFrom<StepState>('finished', 'finished', 'finished', 'failed', 'cut'),
        // After how many of its calls a message joins the turn.
        joins: fc.option(fc.integer({ min: 0, max: 3 }), { nil: -1 }),
      }),
      { maxLength: 4 },
    ),
    gap: fc.integer({ min: 1, max: 3 }),
    joinsFirst: fc.boolean(),
  }),
  { maxLength: 6 },
);
type Turn = typeof turns extends fc.Arbitrary<(infer T)[]> ? T : never;

/** Turns as a host leaves them: call ids repeat, calls may be missing, messages join at any place. */
function historyOf(drawn: readonly Turn[]): History {
  const history = new Drawn();
  for (const [index, turn] of drawn.entries()) history.add(`turn_${index}`, turn);
  return history;
}

class Drawn implements History {
  readonly messages: MessageRecord[] = [];
  readonly steps: StepRecord[] = [];
  #seq = 0;
  #ordinal = 0;

  add(turnId: TurnId, { inputs, replies, gap, joinsFirst }: Turn): void {
    const claim = (over: Partial<MessageRecord>): void => {
      const seq = this.messages.length + 1;
      this.messages.push(input(this.#seq, { turnId, ...over, seq }));
    };
    const join = (): void => {
      this.#seq += gap;
      claim({ text: 'and this' });
    };
    const step = (make: (seq: number, ordinal: number) => StepRecord): void => {
      [this.#seq, this.#ordinal] = [this.#seq + gap, this.#ordinal + 1];
      this.steps.push({ ...make(this.#seq, this.#ordinal), turnId });
    };
    [this.#seq, this.#ordinal] = [this.#seq + gap, 0];
    for (const kind of inputs) claim(inputOf(kind));
    if (joinsFirst) join();
    if (inputs.includes('approval')) step((seq, ordinal) => result(seq, ordinal, 'appr_1'));
    for (const { calls, made, state, reply: end, joins } of replies) {
      const ids = Array.from({ length: calls }, (_, at) => `c${at}`);
      step((seq, ordinal) => ({ ...reply(seq, ordinal, ids), state: end }));
      const ran = end === 'finished' ? ids.slice(0, made) : [];
      for (const [at, id] of ran.entries()) {
        if (joins === at) join();
        step((seq, ordinal) => ({ ...result(seq, ordinal, id), state }));
      }
      if (joins >= ran.length) join();
    }
  }
}

function inputOf(kind: string): Partial<MessageRecord> {
  if (kind === 'genuine') return { text: 'please' };
  if (kind === 'empty') return { kind: 'generated', channel: HOST_CHANNELS.maintenance, text: '' };
  if (kind === 'generated') return { kind: 'generated', text: 'go on' };
  return { kind: 'generated', channel: HOST_CHANNELS.approval, text: 'approved' };
}

function rowsIn({ messages, steps }: History, from: number, to: number): History {
  const isIn = (seq: number | null): boolean => seq !== null && seq > from && seq <= to;
  return {
    messages: messages.filter(({ claimedSeq }) => isIn(claimedSeq)),
    steps: steps.filter(({ seq }) => isIn(seq)),
  };
}

function itemsOf(exchanges: readonly Exchange[]): readonly unknown[] {
  return exchanges.flatMap(({ items }) => items);
}

describe('for any history', () => {
  test('exchanges are the transcript, cover each row once and overlap nowhere', () => {
    fc.assert(
      fc.property(turns, (drawn) => {
        const history = historyOf(drawn);
        const { messages, steps } = history;
        const exchanges = exchangesOf(messages, steps.toReversed());
        assert.deepEqual(itemsOf(exchanges), buildTranscript(messages, steps));
        let last = 0;
        for (const { firstSeq, lastSeq, items, chars } of exchanges) {
          assert.ok(firstSeq > last && lastSeq >= firstSeq);
          assert.equal(chars, charsIn(items));
          const none = rowsIn(history, last, firstSeq - 1);
          assert.deepEqual([...none.messages, ...none.steps], []);
          last = lastSeq;
        }
        const rest = rowsIn(history, last, Number.POSITIVE_INFINITY);
        assert.deepEqual([...rest.messages, ...rest.steps], []);
      }),
      { numRuns: 300 },
    );
  });

  test('INC-014 a cut leaves on both sides what was there: no call loses its result', () => {
    fc.assert(
      fc.property(turns, fc.nat(2_000), (drawn, keepChars) => {
        const history = historyOf(drawn);
        const { messages, steps } = history;
        const exchanges = exchangesOf(messages, steps);
        const cut = planCut(exchanges, { chars: keepChars, steps: 1_000 });
        assert.equal(cut === undefined, exchanges.length === 0);
        if (cut === undefined) return;
        const older = rowsIn(history, 0, cut.cutSeq);
        const newer = rowsIn(history, cut.cutSeq, Number.POSITIVE_INFINITY);
        const kept = exchangesOf(newer.messages, newer.steps);
        assert.deepEqual(
          [
            ...buildTranscript(older.messages, older.steps),
            ...buildTranscript(newer.messages, newer.steps),
          ],
          buildTranscript(messages, steps),
        );
        assert.equal(
          kept.reduce((sum, { chars }) => sum + chars, 0),
          cut.keptChars,
        );
        assert.ok(cut.keptChars <= keepChars);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a cut', () => {
  const at = (lastSeq: number, chars: number): Exchange => ({
    firstSeq: lastSeq,
    lastSeq,
    chars,
    items: [],
    said: [],
  });
  const exchanges = [at(1, 100), at(2, 50), at(3, 30)];
  const chars = (most: number): Keep => ({ chars: most, steps: 100 });

  test('keeps the newest exchanges that fit, whole', () => {
    assert.deepEqual(planCut(exchanges, chars(80)), { cutSeq: 1, keptChars: 80 });
    assert.deepEqual(planCut(exchanges, chars(79)), { cutSeq: 2, keptChars: 30 });
    assert.deepEqual(planCut(exchanges, chars(29)), { cutSeq: 3, keptChars: 0 });
  });

  test('takes the oldest one away however much may be kept', () => {
    assert.deepEqual(planCut(exchanges, chars(1_000)), { cutSeq: 1, keptChars: 80 });
    assert.deepEqual(planCut([at(7, 0)], chars(1_000)), { cutSeq: 7, keptChars: 0 });
  });

  test('keeps no older one behind a newer one that does not fit', () => {
    assert.deepEqual(planCut([at(1, 1), at(2, 1), at(3, 500)], chars(100)), {
      cutSeq: 3,
      keptChars: 0,
    });
  });

  test('keeps no more steps than it may, however little room they take', () => {
    const said = { seq: 1, taskId: 'task_1', at: 0 } as const;
    const answer = { role: 'assistant', text: 'ok', calls: [], ...said } as const;
    const asked = { role: 'user', text: 'go on', ...said } as const;
    const short = [1, 2, 3, 4, 5].map((seq) => ({ ...at(seq, 1), items: [asked, asked, answer] }));
    const cut = (steps: number): unknown => planCut(short, { chars: 1_000, steps });
    assert.deepEqual(cut(3), { cutSeq: 2, keptChars: 3 });
    assert.deepEqual(cut(0), { cutSeq: 5, keptChars: 0 });
  });

  test('is none where there is nothing', () => {
    assert.equal(planCut([], chars(100)), undefined);
  });
});
