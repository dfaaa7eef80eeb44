import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LiveEvent } from '../../engine/turn/live.ts';
import { LiveQueue, type Heard } from './live-queue.ts';

const RUN = 'run_0000000000000000' as const;
const text = (piece: string, runId: typeof RUN | null = RUN, isAnew = false): LiveEvent => ({
  kind: 'text',
  turnId: 'turn_0000000000000000',
  taskId: 'task_0000000000000000',
  runId,
  piece,
  isAnew,
});

function drain(queue: LiveQueue): Heard[] {
  const all: Heard[] = [];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) all.push(next);
  return all;
}

const shown = (heard: readonly Heard[]): string[] =>
  heard.map((one) => (one.kind === 'delta' ? one.piece.text : `<${one.kind}>`));

describe('what a stream has heard', () => {
  test('keeps the order of text and hints, and joins what is alike', () => {
    const queue = new LiveQueue(null, undefined);
    for (const event of [
      text('a'),
      text('b'),
      { kind: 'hint' } as const,
      { kind: 'hint' } as const,
      text('c'),
    ]) {
      queue.push(event);
    }
    assert.deepEqual(shown(drain(queue)), ['<hint>', 'ab', '<hint>', 'c']);
  });

  test('joins no text with one that it does not go on with', () => {
    const queue = new LiveQueue(null, undefined);
    for (const event of [text('a'), text('b', RUN, true), text('c')]) queue.push(event);
    const heard = drain(queue).map((one) => one.kind === 'delta' && one.piece);
    assert.deepEqual(
      heard.map((piece) => piece && [piece.text, piece.isAnew]),
      [false, ['a', false], ['bc', true]],
    );
  });

  test('is of one run where the stream is', () => {
    const queue = new LiveQueue(RUN, undefined);
    queue.push(text('mine'));
    queue.push(text('theirs', null));
    assert.deepEqual(shown(drain(queue)), ['<hint>', 'mine']);
  });

  test('begins with a snapshot of a text in progress, which holds what comes before it is sent', () => {
    const inProgress = {
      turnId: 'turn_0000000000000000',
      taskId: 'task_0000000000000000',
      runId: RUN,
      text: 'a',
    } as const;
    const queue = new LiveQueue(RUN, inProgress);
    queue.push(text('b'));
    assert.deepEqual(shown(drain(queue)), ['<hint>', '<snapshot>']);
    assert.deepEqual(shown(drain(new LiveQueue('run_1111111111111111', inProgress))), ['<hint>']);
  });

  test('is bounded for a reader who does not read: pieces give way to one snapshot', () => {
    const queue = new LiveQueue(null, undefined);
    for (let index = 0; index < 10_000; index += 1) {
      queue.push(text('x'.repeat(1_000)));
      queue.push({ kind: 'hint' });
    }
    const heard = drain(queue);
    assert.ok(heard.length < 600, `${heard.length}`);
    const chars = heard.reduce(
      (sum, one) => sum + (one.kind === 'delta' ? one.piece.text.length : 0),
      0,
    );
    assert.ok(chars <= 262_144);
    assert.deepEqual(shown(heard).slice(0, 2), ['<hint>', '<snapshot>']);
  });

  test('wakes who waits for it', async () => {
    const queue = new LiveQueue(null, undefined);
    await queue.filled();
    drain(queue);
    const filled = queue.filled();
    queue.push(text('a'));
    await filled;
    assert.deepEqual(shown(drain(queue)), ['a']);
  });
});
