import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../kernel/limits.ts';
import { ASSESSMENT_SCHEMA, readVerdict } from './verdict.ts';

describe('the answer of an assessment', () => {
  test('R-2 is one of three verdicts with its reason', () => {
    for (const outcome of ['continue', 'end', 'inconclusive'] as const) {
      const text = JSON.stringify({ reason: '  it is wanted ', verdict: outcome });
      assert.deepEqual(readVerdict(text, false), { outcome, reason: 'it is wanted' });
    }
  });

  test('R-5 is asked for in exactly the shape that it is read by', () => {
    assert.deepEqual(ASSESSMENT_SCHEMA, {
      type: 'object',
      properties: {
        verdict: { type: 'string', enum: ['continue', 'end', 'inconclusive'] },
        reason: { type: 'string' },
      },
      required: ['verdict', 'reason'],
      additionalProperties: false,
    });
  });

  const INVALID: readonly (readonly [string, string, string])[] = [
    ['no text', '', 'empty'],
    ['blanks alone', ' \n\t', 'empty'],
    ['prose', 'I think that it may continue.', 'not_json'],
    ['half a document', '{"verdict":"continue","reason":"', 'not_json'],
    ['a fenced document', '```json\n{"verdict":"continue","reason":"x"}\n```', 'not_json'],
    ['a bare word', '"continue"', 'not_schema'],
    ['a list', '[{"verdict":"continue","reason":"x"}]', 'not_schema'],
    ['null', 'null', 'not_schema'],
    ['an unknown verdict', '{"verdict":"proceed","reason":"x"}', 'unknown_verdict'],
    ['a verdict in capitals', '{"verdict":"CONTINUE","reason":"x"}', 'unknown_verdict'],
    ['a verdict with blanks', '{"verdict":" continue","reason":"x"}', 'unknown_verdict'],
    ['a verdict of another type', '{"verdict":true,"reason":"x"}', 'not_schema'],
    ['no verdict', '{"reason":"x"}', 'not_schema'],
    ['no reason', '{"verdict":"continue"}', 'not_schema'],
    ['a reason of another type', '{"verdict":"continue","reason":null}', 'not_schema'],
    ['a field more', '{"verdict":"continue","reason":"x","then":"run"}', 'not_schema'],
    [
      'a key that reaches a prototype',
      '{"verdict":"continue","reason":"x","__proto__":{}}',
      'forbidden_key',
    ],
    ['depth without end', `${'['.repeat(5_000)}${']'.repeat(5_000)}`, 'too_deep'],
  ];

  for (const [name, text, code] of INVALID)
    test(`R-5 ${name} is invalid`, () => {
      assert.deepEqual(readVerdict(text, false), { outcome: 'invalid', code, said: '' });
    });

  test('R-5 one that was cut off is invalid, however it reads', () => {
    const whole = '{"verdict":"continue","reason":"x"}';
    assert.deepEqual(readVerdict(whole, true), { outcome: 'invalid', code: 'cut_off', said: '' });
  });

  test('a long reason is kept in part, and no half of a character', () => {
    const signs = `${'x'.repeat(LIMITS.recoveryReasonChars - 1)}😀`;
    const half = readVerdict(JSON.stringify({ verdict: 'end', reason: signs }), false);
    assert.ok('reason' in half && half.reason.isWellFormed());
    const reason = 'x'.repeat(LIMITS.recoveryReasonChars + 1);
    const read = readVerdict(JSON.stringify({ verdict: 'end', reason }), false);
    assert.equal('reason' in read && read.reason.length, LIMITS.recoveryReasonChars);
  });
});
