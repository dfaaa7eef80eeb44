import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { optionsOf } from './options.ts';
import { describeReplay, firstDifference, playSteps, readScript, saveScript } from './saved.ts';

describe('the script of a seed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-script-'));
  after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'seed.json');

  test('is played again step by step, and another version is seen at its first other step', async () => {
    const options = optionsOf(11);
    const { outcome, steps } = await playSteps(options);
    saveScript(path, { options, defect: null, steps, problems: outcome.problems });
    const script = readScript(path);
    assert.ok(script.steps.length > 100);
    const again = await playSteps(script.options);
    assert.equal(firstDifference(script.steps, again.steps), undefined);
    assert.match(describeReplay(script, again)[0] ?? '', /^the same \d+ steps as saved, seed 11$/);
    const other = await playSteps({ ...script.options, actions: script.options.actions + 1 });
    const found = firstDifference(script.steps, other.steps);
    assert.ok(found !== undefined && found.saved !== found.now);
    assert.match(describeReplay(script, other).join('\n'), /^step \d+ differs.*\n[^]* {2}now: {3}/);
  });

  test('of another format is refused', () => {
    writeFileSync(path, '{"format":"another"}');
    assert.throws(() => readScript(path), /is no script/);
  });
});
