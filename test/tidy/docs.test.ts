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

test('T-3: the page of states shows nine for a task, of which five are ends that it never leaves', () => {
  const [, drawing = ''] =
    /## Task\n\n```mermaid\n([^`]*)```/.exec(docs.get('docs/states.md') ?? '') ?? [];
  const arrows = [...drawing.matchAll(/^ {2}(\w+) --> (\w+)$/gm)].map(([, from, to]) => [from, to]);
  const left = new Set(arrows.map(([from]) => from));
  const ends = new Set(arrows.map(([, to]) => to).filter((to) => !left.has(to)));
  assert.deepEqual(left, new Set(['active', 'waiting', 'paused', 'blocked']));
  assert.deepEqual(ends, new Set(['completed', 'failed', 'stopped', 'cancelled', 'expired']));
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
