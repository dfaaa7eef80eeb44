import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { printDocs } from '../../tools/print-docs.ts';
import { readFiles } from './source.ts';

const docs = readFiles('docs/*.md');

describe('the pages that the code prints', () => {
  const printed = printDocs();

  test('are there', () => {
    assert.deepEqual([...printed.keys()].toSorted(), [
      'docs/events.md',
      'docs/reasons.md',
      'docs/states.md',
    ]);
  });

  for (const [path, text] of printed) {
    test(`${path} matches; \`node tools/print-docs.ts --write\` mends it`, () => {
      assert.equal(docs.get(path), text);
    });
  }
});

test('docs/words.md explains each word once', () => {
  const words = [...(docs.get('docs/words.md') ?? '').matchAll(/^\| (\S+) +\|/gm)].map(
    ([, word]) => word,
  );
  assert.equal(new Set(words).size, words.length);
  const needed =
    'host principal conversation session turn step input task mandate checkpoint evidence ' +
    'assessment attempt admission enrollment operation execution epoch firing delivery notice event';
  assert.deepEqual(
    needed.split(' ').filter((word) => !words.includes(word)),
    [],
  );
});
