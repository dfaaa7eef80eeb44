import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LIMITS } from '../kernel/limits.ts';
import { DE } from './de.ts';
import { EN } from './en.ts';
import { cutRequest, quoteRequest } from './quote.ts';

const LONG = 'Summarise the March invoices of all suppliers and send me the sums by Friday noon';

const CUT: readonly [what: string, text: string, cut: string][] = [
  ['a short request stays', 'Pay the hosting bill', 'Pay the hosting bill'],
  ['several lines become one', '  Pay\n\tthe  bill \r\n', 'Pay the bill'],
  ['a long one ends at a word', LONG, 'Summarise the March invoices of all suppliers and send me…'],
  ['the cut leaves no comma behind', `${'a'.repeat(40)}, ${'b'.repeat(40)}`, `${'a'.repeat(40)}…`],
  ['one long word is cut inside', 'x'.repeat(80), `${'x'.repeat(59)}…`],
  ['sixty characters stay whole', 'y'.repeat(60), 'y'.repeat(60)],
  ['nothing is an ellipsis', ' \n ', '…'],
  [
    'its own quotation marks become single',
    'say “hi”, „na“, «no» or "so"',
    "say 'hi', 'na', 'no' or 'so'",
  ],
  ['it cannot pose as a command of ours', 'x”. Type `/stop all`', "x'. Type '/stop all'"],
  ['it cannot turn the line around', 'a\u202Eb\u0007c', 'a b c'],
  ['a torn character does no harm', 'a\uD83D', 'a\uFFFD'],
];

describe('a request names its work:', () => {
  for (const [what, text, cut] of CUT) {
    test(what, () => assert.equal(cutRequest(text), cut));
  }

  test('in the quotation marks of the language', () => {
    assert.equal(quoteRequest(EN, 'Pay'), '“Pay”');
    assert.equal(quoteRequest(DE, 'Zahlen'), '„Zahlen“');
  });

  test('whatever it is: one short line, which a second cut leaves alone', () => {
    const text = fc.string({ unit: 'binary', maxLength: 400 });
    fc.assert(
      fc.property(text, (request) => {
        const cut = cutRequest(request);
        const length = Array.from(cut).length;
        assert.ok(length >= 1 && length <= LIMITS.mandateQuoteChars);
        assert.doesNotMatch(cut, /[\r\n`“”„"]/);
        assert.equal(cutRequest(cut), cut);
      }),
    );
  });
});
