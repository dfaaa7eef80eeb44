import assert from 'node:assert/strict';
import { test } from 'node:test';
import { says } from '../../src/testing/model-answer.ts';
import { FORMATS, replyOf, stageOf } from './model-stage.ts';

const NONSENSE: readonly (readonly [named: string, input: unknown, output: unknown])[] = [
  ['negative', -5, -1],
  ['no whole number', 0.5, 2.25],
  ['no number', 'many', {}],
  ['more than is stored', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ['more than any call has', 1e15, 1e15],
];

for (const [name, spoken] of Object.entries(FORMATS)) {
  for (const [named, input, output] of NONSENSE) {
    test(`a usage that is ${named} counts as one that was not reported (${name})`, async () => {
      const usage = { input, output } as { readonly input: number; readonly output: number };
      const { ask } = await stageOf([says('12345678', { usage })], {}, spoken.format);
      const counted = replyOf(await ask()).usage;
      assert.ok(counted.inputTokens > 0 && counted.inputTokens < 10_000);
      assert.equal(counted.outputTokens, 2);
    });
  }
}
