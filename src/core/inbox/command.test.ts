import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isId } from '../../kernel/ids.ts';
import { readCommand, readTaskId, USAGES, type Command } from './command.ts';

const ID = 'task_7K2M9QX4R1T8WZ3C';
const stopOne: Command = { kind: 'stop', scope: 'one', id: ID };
const unknown = (word: string, nearest: string): unknown => ({ kind: 'unknown', word, nearest });

const READ: readonly [text: string, command: unknown][] = [
  ['/stop', { kind: 'stop', scope: 'current' }],
  ['/Stop', { kind: 'stop', scope: 'current' }],
  ['/stop!', { kind: 'stop', scope: 'current' }],
  ['/stop \n', { kind: 'stop', scope: 'current' }],
  ['/stop\nall', { kind: 'stop', scope: 'current' }],
  ['/stop all', { kind: 'stop', scope: 'all' }],
  ['/stop All.', { kind: 'stop', scope: 'all' }],
  [`/stop ${ID}`, stopOne],
  [`/stop ${ID.toLowerCase()}.`, stopOne],
  [`/stop 7k2m9qx4r1t8wz3c`, stopOne],
  [`/stop \`${ID}\``, stopOne],
  ['/stop all the invoices', { kind: 'misused', command: 'stop' }],
  [`/stop ${ID} please`, { kind: 'misused', command: 'stop' }],
  ['/tasks', { kind: 'tasks', held: false }],
  ['/tasks held', { kind: 'tasks', held: true }],
  ['/tasks open', { kind: 'misused', command: 'tasks' }],
  ['/why', { kind: 'why', id: null }],
  [`/why\t${ID}`, { kind: 'why', id: ID }],
  ['/status', { kind: 'status' }],
  ['/status now', { kind: 'misused', command: 'status' }],
  ['/help', { kind: 'help' }],
  ['/stopp', unknown('stopp', 'stop')],
  ['/tsaks', unknown('tsaks', 'tasks')],
  ['/hlep me', unknown('hlep', 'help')],
  ['/Wy', unknown('wy', 'why')],
  ['/tmp is full', unknown('tmp', 'stop')],
];

/** `undefined` for each: ordinary text of a person, handed to the agent as it is. */
const ORDINARY = [
  '',
  '/',
  '/ home',
  '//',
  '/2 of them are wrong',
  '/-stop',
  '/etc/hosts is broken',
  '/stop_all',
  '/stop@all',
  ' /stop',
  '\n/stop',
  '`/stop`',
  '> /stop',
  'please /stop',
  'stop',
  '／stop',
];

describe('a person types', () => {
  for (const [text, command] of READ) {
    test(`${JSON.stringify(text)}, which is ${JSON.stringify(command)}`, () => {
      assert.deepEqual(readCommand(text), command);
    });
  }
  for (const text of ORDINARY) {
    test(`${JSON.stringify(text)}, which is ordinary text`, () => {
      assert.equal(readCommand(text), undefined);
    });
  }
});

test('W-5: a command that does not exist is answered with the nearest that does', () => {
  const names = new Set(USAGES.map(({ command }) => command));
  const later = ['task-resume', 'budget-reset', 'admit', 'approve', 'new', 'reset', 'model', 'x'];
  for (const word of later) {
    const command = readCommand(`/${word}`);
    assert.equal(command?.kind, 'unknown');
    assert.equal(command.word, word);
    assert.ok(names.has(command.nearest));
  }
});

test('W-4: text that does not begin with a slash is never a command', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      fc.pre(!text.startsWith('/'));
      assert.equal(readCommand(text), undefined);
    }),
  );
});

test('no text makes the reader throw, and only the first line counts', () => {
  const line = fc.string({ unit: 'binary' }).filter((text) => !/[\r\n]/.test(text));
  const name = fc.constantFrom('stop', 'tasks', 'why', 'help', 'x');
  fc.assert(
    fc.property(fc.option(name), line, fc.string(), (word, rest, below) => {
      const text = `/${word ?? ''}${rest}`;
      assert.deepEqual(readCommand(`${text}\n${below}`), readCommand(text));
    }),
  );
});

test('a long message costs no more than a short one', () => {
  assert.deepEqual(readCommand(`/stop ${' '.repeat(100_000)}all`), {
    kind: 'stop',
    scope: 'current',
  });
  assert.equal(readCommand(`/why ${'.'.repeat(100_000)}a`)?.kind, 'why');
});

describe('an id is read as it was meant', () => {
  const typed = [
    ID,
    'TASK_7k2m9qx4r1t8wz3c',
    '7K2M9QX4R1T8WZ3C',
    '7K2M-9QX4-R1T8-WZ3C',
    'task_7K2M9QX4RIT8WZ3C',
    'task_7K2M9QX4RlT8WZ3C',
    `“${ID}”,`,
  ];
  for (const text of typed) {
    test(text, () => assert.equal(readTaskId(text), ID));
  }

  test('an O is a zero, and the prefix of another kind stays', () => {
    assert.equal(readTaskId('7K2M9QX4R1T8WZ3o'), 'task_7K2M9QX4R1T8WZ30');
    assert.equal(readTaskId('RUN_7k2m9qx4r1t8wz3c'), 'run_7K2M9QX4R1T8WZ3C');
  });

  test('every id reads as itself, in either case', () => {
    const letters = fc.constantFrom(...Array.from('0123456789ABCDEFGHJKMNPQRSTVWXYZ'));
    fc.assert(
      fc.property(fc.array(letters, { minLength: 16, maxLength: 16 }), (body) => {
        const id = `task_${body.join('')}`;
        assert.ok(isId('task', id));
        assert.equal(readTaskId(id), id);
        assert.equal(readTaskId(id.toLowerCase()), id);
      }),
    );
  });
});
