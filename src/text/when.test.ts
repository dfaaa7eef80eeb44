import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DE } from './de.ts';
import { EN } from './en.ts';
import { sayInstant, sayLength, saySecond, sayWhen } from './when.ts';

const NOW = Date.UTC(2025, 10, 14, 13, 2, 5);
const BERLIN = { locale: 'en', timeZone: 'Europe/Berlin', hostTimeZone: 'Europe/Berlin' } as const;

test('a time of today is the clock of the reader', () => {
  assert.equal(sayInstant(BERLIN, EN.tag, NOW, NOW), '14:02');
  assert.equal(saySecond(BERLIN, EN.tag, NOW, NOW), '14:02:05');
  assert.equal(sayWhen(BERLIN, EN, NOW, NOW), 'at 14:02');
  assert.equal(sayWhen(BERLIN, DE, NOW, NOW), 'um 14:02');
});

test('midnight is that of the reader, and reads 00:30', () => {
  const late = Date.UTC(2025, 10, 13, 23, 30);
  assert.equal(sayInstant(BERLIN, EN.tag, late, NOW), '00:30');
  const london = { ...BERLIN, timeZone: 'Europe/London', hostTimeZone: 'Europe/London' };
  assert.equal(sayInstant(london, EN.tag, late, NOW), 'Thu 13 Nov, 23:30');
});

test('another day is named, another year too', () => {
  const friday = Date.UTC(2025, 10, 21, 17, 0);
  assert.equal(sayWhen(BERLIN, EN, friday, NOW), 'on Fri 21 Nov, 18:00');
  assert.equal(sayWhen(BERLIN, DE, friday, NOW), 'am Fr., 21. Nov., 18:00');
  assert.equal(sayInstant(BERLIN, EN.tag, Date.UTC(2026, 0, 2, 8), NOW), 'Fri, 2 Jan 2026, 09:00');
});

test('the zone is named when the reader is not in that of the host', () => {
  const away = { ...BERLIN, timeZone: 'America/New_York' };
  assert.equal(sayInstant(away, EN.tag, NOW, NOW), '08:02 GMT-5');
  const { hostTimeZone: _, ...unknown } = away;
  assert.equal(sayInstant(unknown, EN.tag, NOW, NOW), '08:02');
});

test('a length of time is told by its two largest units', () => {
  const LENGTHS: readonly [length: number, en: string, de: string][] = [
    [0, '0 seconds', '0 Sekunden'],
    [-90_000, '1 minute, 30 seconds', '1 Minute, 30 Sekunden'],
    [3 * 3_600_000 + 59_000, '3 hours', '3 Stunden'],
    [26 * 3_600_000, '1 day, 2 hours', '1 Tag, 2 Stunden'],
  ];
  for (const [length, en, de] of LENGTHS) {
    assert.equal(sayLength(EN.tag, length), en);
    assert.equal(sayLength(DE.tag, length).replace(' und', ','), de);
  }
});
