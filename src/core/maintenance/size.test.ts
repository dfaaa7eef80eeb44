import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS } from '../../kernel/limits.ts';
import {
  answerReserve,
  charsFor,
  countTokens,
  freeChars,
  heldWindow,
  judgeFill,
  mayMaintain,
  mostChars,
  requestRoom,
} from './size.ts';

describe('what a request takes of a window', () => {
  test('is counted as the provider counted the last one', () => {
    assert.equal(countTokens(300), 100);
    assert.equal(countTokens(300, { tokens: 75, chars: 300 }), 75);
    assert.equal(charsFor(75, { tokens: 75, chars: 300 }), 300);
  });

  test('never strays beyond what any language takes', () => {
    assert.equal(countTokens(600, { tokens: 1, chars: 1_000_000 }), 100);
    assert.equal(countTokens(600, { tokens: 1_000_000, chars: 1 }), 600);
    assert.equal(countTokens(300, { tokens: 0, chars: 300 }), 100);
    assert.equal(countTokens(300, { tokens: 300, chars: 0 }), 100);
  });

  test('has so much room beside its base, and never less than none', () => {
    assert.equal(freeChars(1_000, 700, null), 2_000);
    assert.equal(freeChars(1_000, 9_000, null), 0);
    assert.equal(freeChars(1_000, 700, { tokens: 1, chars: 1 }), 200);
    assert.equal(mostChars(1_000), 5_400);
  });

  test('leaves a part of the window for the answer', () => {
    assert.equal(requestRoom(8_000) + answerReserve(8_000), 8_000);
    assert.equal(answerReserve(8_000), 800);
  });
});

describe('when a session is maintained at the end of a turn', () => {
  const fill = { window: 8_000, base: 2_000, used: 6_400, steps: 10 };

  test('from the configured share of the window on', () => {
    assert.equal(judgeFill(fill, 0.8), 'usage');
    assert.equal(judgeFill({ ...fill, used: 6_399 }, 0.8), undefined);
  });

  test('not when there is too little that could be freed', () => {
    assert.equal(judgeFill({ ...fill, base: 6_000 }, 0.8), undefined);
  });

  test('when more steps stand in its requests than may', () => {
    const { sessionStepsMax: steps } = LIMITS;
    assert.equal(judgeFill({ ...fill, used: 100, steps }, 0.8), 'steps');
    assert.equal(judgeFill({ ...fill, used: 100, steps: steps - 1 }, 0.8), undefined);
  });

  test('never for what the host began by itself in the background', () => {
    assert.equal(mayMaintain({ mandateOrigin: 'job' }), false);
    assert.equal(mayMaintain({ mandateOrigin: 'terminal' }), true);
  });
});

test('M-19 a session is measured by the window that was refused, where that is less', () => {
  assert.equal(heldWindow(8_000, null), 8_000);
  assert.equal(heldWindow(8_000, {}), 8_000);
  assert.equal(heldWindow(8_000, { window: 6_000 }), 6_000);
  assert.equal(heldWindow(8_000, { window: 9_000 }), 8_000);
});

test('M-13 what takes just half of what is free is maintained', () => {
  const free = requestRoom(1_000) - 100;
  const full = (used: number): unknown =>
    judgeFill({ window: 1_000, base: 100, used, steps: 0 }, 0);
  assert.equal(full(100 + free / 2), 'usage');
  assert.equal(full(99 + free / 2), undefined);
});
