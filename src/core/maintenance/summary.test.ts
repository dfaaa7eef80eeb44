import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  judgeSummary,
  readSeed,
  readSummary,
  readWork,
  SUMMARY_SCHEMA,
  writeSeed,
  writeWork,
} from './summary.ts';

function codeOf(text: string, isCut = false): string | undefined {
  const read = readSummary(text, isCut);
  return read.kind === 'invalid' ? read.code : undefined;
}

describe('the answer of a summary call', () => {
  test('is its summary, without what stands around it', () => {
    assert.deepEqual(readSummary('{"summary": " We count files.\\n"}', false), {
      kind: 'summary',
      summary: 'We count files.',
    });
    assert.deepEqual(readSummary('{"summary":""}', false), { kind: 'summary', summary: '' });
  });

  test('is asked for in exactly the shape that it is read by', () => {
    assert.deepEqual(SUMMARY_SCHEMA, {
      type: 'object',
      properties: { summary: { type: 'string' } },
      required: ['summary'],
      additionalProperties: false,
    });
  });

  test('that is invalid is not quoted', () => {
    assert.deepEqual(readSummary('', false), { kind: 'invalid', code: 'empty', said: '' });
    assert.deepEqual(judgeSummary(' ', { charsMax: 9 }), { code: 'summary_empty', said: '' });
  });

  test('holds no half of a pair, which a provider may refuse', () => {
    const read = readSummary(String.raw`{"summary":"a\ud800"}`, false);
    assert.deepEqual(read, { kind: 'summary', summary: 'a\uFFFD' });
  });

  test('is invalid where it is not exactly of the shape, and says how', () => {
    const cases: readonly [text: string, code: string][] = [
      ['', 'empty'],
      [' \n', 'empty'],
      ['The person wants files counted.', 'not_json'],
      ['```json\n{"summary":"x"}\n```', 'not_json'],
      ['{"summary":"x"', 'not_json'],
      [`${'['.repeat(80)}${']'.repeat(80)}`, 'too_deep'],
      ['{"summary":"x","__proto__":{}}', 'forbidden_key'],
      ['["x"]', 'not_schema'],
      ['null', 'not_schema'],
      ['{"summary":["x"]}', 'not_schema'],
      ['{"summary":null}', 'not_schema'],
      ['{"summary":"x","done":true}', 'not_schema'],
      ['{}', 'summary_missing'],
      ['{"Summary":"x"}', 'summary_missing'],
    ];
    for (const [text, code] of cases) assert.equal(codeOf(text), code, text);
  });

  test('that was cut at the output limit is none, however whole it looks', () => {
    assert.equal(codeOf('{"summary":"x"}', true), 'cut_off');
  });

  test('is read or invalid whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), fc.boolean(), (text, isCut) => {
        const { kind } = readSummary(text, isCut);
        assert.ok(kind === 'summary' || kind === 'invalid');
      }),
    );
  });
});

test('a summary is judged before it is used', () => {
  const charsMax = 10;
  assert.equal(judgeSummary('x'.repeat(10), { charsMax }), undefined);
  assert.equal(judgeSummary('', { charsMax })?.code, 'summary_empty');
  assert.equal(judgeSummary(' \n\t', { charsMax })?.code, 'summary_empty');
  assert.deepEqual(judgeSummary('x'.repeat(11), { charsMax }), {
    code: 'summary_too_long',
    said: '11 characters of at most 10',
  });
});

describe('what is kept of a summary', () => {
  const conditions = [{ at: 1, text: 'Ask me before you delete “anything”.' }];

  test('is read as it was written', () => {
    const seed = { summary: 'So far.', conditions, sinceSeq: 12, reported: null };
    const counted = { ...seed, reported: { tokens: 400, chars: 1_200 } };
    for (const one of [seed, counted]) assert.deepEqual(readSeed(writeSeed(one)), one);
    const work = { cutSeq: 9, doneSeq: 4, summary: 'So far.', conditions };
    assert.deepEqual(readWork(writeWork(work)), work);
  });

  test('is null where there is nothing that can be read', () => {
    for (const damaged of [null, '', '{', '[]', '7', '{}', '{"summary":1}', '{"conditions":[]}']) {
      assert.equal(readSeed(damaged), null, String(damaged));
      assert.equal(readWork(damaged), null, String(damaged));
    }
    assert.equal(readWork('{"summary":"x","cutSeq":1}'), null);
    assert.equal(readWork('{"summary":"x","cutSeq":"1","doneSeq":1}'), null);
    assert.equal(readWork('{"cutSeq":1,"doneSeq":1}'), null);
  });

  test('keeps what can be read of it', () => {
    const damaged = [null, 'x', { at: 1 }, { at: '1', text: 'x' }, ...conditions, []];
    const json = JSON.stringify({ summary: 'x', conditions: damaged });
    assert.deepEqual(readSeed(json)?.conditions, conditions);
    assert.deepEqual(readSeed('{"summary":"x","conditions":{}}')?.conditions, []);
    const bare = { summary: 'x', conditions: [], sinceSeq: 0, reported: null };
    assert.deepEqual(readSeed('{"summary":"x"}'), bare);
    assert.deepEqual(readSeed('{"summary":"x","sinceSeq":"1","reported":{"tokens":1}}'), bare);
  });
});

test('M-19 a seed keeps the window that was refused, and what was reported, when they are that', () => {
  const seed = { summary: 'so far', conditions: [], sinceSeq: 3, reported: null };
  const read = (over: object): unknown => readSeed(JSON.stringify({ ...seed, ...over }));
  assert.deepEqual(read({ window: 8_000 }), { ...seed, window: 8_000 });
  for (const window of [0, -1, '8000', null]) assert.deepEqual(read({ window }), seed);
  const reported = { tokens: 5, chars: 9 };
  assert.deepEqual(read({ reported }), { ...seed, reported });
  for (const odd of [undefined, [], 'x', { tokens: 5 }, { chars: 9 }, { tokens: '5', chars: 9 }])
    assert.deepEqual(read({ reported: odd }), seed);
});
