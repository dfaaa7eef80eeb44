import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printError, printJson, printText } from '../../src/cli/print.ts';

const STEERING = 'a\u001B]52;c;aGk=\u0007 \u009B2J \u202Eb\r\n\tc';

test('nothing that a command prints can steer the terminal', (t) => {
  const said: string[] = [];
  const hear = (line: string): void => void said.push(line);
  t.mock.method(console, 'log', hear);
  t.mock.method(console, 'error', hear);
  printText(STEERING);
  printError(STEERING);
  assert.deepEqual(said, ['a]52;c;aGk= 2J b\n\tc', 'a]52;c;aGk= 2J b\n\tc']);
});

test('a document keeps such characters, escaped', (t) => {
  const said: string[] = [];
  t.mock.method(console, 'log', (line: string) => void said.push(line));
  printJson({ text: STEERING });
  assert.match(said[0] ?? '', /^[\n\x20-\x7e]+$/);
  assert.deepEqual(JSON.parse(said[0] ?? ''), { text: STEERING });
});
