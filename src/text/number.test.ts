import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DE } from './de.ts';
import { EN } from './en.ts';
import { sayCount, sayMoney } from './number.ts';

test('a number is written as its reader writes it', () => {
  assert.equal(sayCount(EN, 1_999_000), '1,999,000');
  assert.equal(sayCount(DE, 1_999_000), '1.999.000');
});

test('money is told to the cent, and below it so that a cheap call is not free', () => {
  assert.equal(sayMoney(EN, 19_500_000), 'US$19.50');
  assert.equal(sayMoney(EN, 0), 'US$0.00');
  assert.equal(sayMoney(EN, 420), 'US$0.00042');
  assert.equal(sayMoney(DE, 420).replaceAll('\u00A0', ' '), '0,00042 $');
});
