import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isId } from '../../kernel/ids.ts';
import { readCommand, readId, USAGES, type Command } from './command.ts';

const ID = 'task_7K2M9QX4R1T8WZ3C';
const stopOne: Command = { kind: 'stop', scope: 'one', id: ID };
const APPROVAL = 'appr_7K2M9QX4R1T8WZ3C';
const OPERATION = 'mop_3H8D0V5B7N2K6PQA';
const SESSION = 'sess_7K2M9QX4R1T8WZ3C';
const misused = (command: string): unknown => ({ kind: 'misused', command });
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
  ['/tasks held', { kind: 'tasks', held: true, page: 1 }],
  ['/tasks Held 2.', { kind: 'tasks', held: true, page: 2 }],
  ['/tasks held 9999', { kind: 'tasks', held: true, page: 9_999 }],
  ['/tasks open 2', misused('tasks')],
  ['/tasks held 0', misused('tasks')],
  ['/tasks held 10000', misused('tasks')],
  ['/tasks held 1e3', misused('tasks')],
  ['/tasks held all', misused('tasks')],
  ['/tasks 2', misused('tasks')],
  ['/tasks open', { kind: 'misused', command: 'tasks' }],
  ['/why', { kind: 'why', id: null }],
  [`/why\t${ID}`, { kind: 'why', id: ID }],
  ['/status', { kind: 'status' }],
  ['/status now', { kind: 'misused', command: 'status' }],
  ['/help', { kind: 'help' }],
  [`/pause ${ID}`, { kind: 'pause', id: ID }],
  ['/pause', misused('pause')],
  ['/pause 7k2m9qx4r1t8wz3c', { kind: 'pause', id: ID }],
  ['/why 7k2m9qx4r1t8wz3c', { kind: 'why', id: ID }],
  ['/task-resume 7k2m9qx4r1t8wz3c', { kind: 'resume', id: ID, late: false }],
  ['/task-resume 7k2m9qx4r1t8wz3c late', { kind: 'resume', id: ID, late: true }],
  ['/budget-reset 7k2m9qx4r1t8wz3c', { kind: 'budget_reset', id: ID }],
  ['/deny 7k2m9qx4r1t8wz3c', { kind: 'deny', id: APPROVAL }],
  ['/extend 7k2m9qx4r1t8wz3c turns=+1', { kind: 'extend', id: ID, grant: { turns: 1 } }],
  ['/admit 3h8d0v5b7n2k6pqa handover', { kind: 'admit', id: OPERATION, as: 'handover' }],
  [`/why ("${ID}").`, { kind: 'why', id: ID }],
  [`/model ${'x'.repeat(129)}`, { kind: 'model', name: 'x'.repeat(128) }],
  [`/${'x'.repeat(41)}`, { kind: 'unknown', word: 'x'.repeat(40), nearest: 'extend' }],
  [`/task-resume ${ID}`, { kind: 'resume', id: ID, late: false }],
  [`/Task-Resume ${ID.toLowerCase()}.`, { kind: 'resume', id: ID, late: false }],
  ['/task-resume', misused('task-resume')],
  [`/task-resume ${ID} late`, { kind: 'resume', id: ID, late: true }],
  [`/task-resume ${ID} \`Late\`.`, { kind: 'resume', id: ID, late: true }],
  [`/task-resume late ${ID}`, misused('task-resume')],
  [`/task-resume ${ID} later`, misused('task-resume')],
  [`/task-resume ${ID} ${ID}`, misused('task-resume')],
  [`/task-resume ${ID} late late`, misused('task-resume')],
  ['/task-resume all', misused('task-resume')],
  ['/budget-reset all', misused('budget-reset')],
  [`/budget-reset ${ID}`, { kind: 'budget_reset', id: ID }],
  [`/Budget-Reset ${ID.toLowerCase()}.`, { kind: 'budget_reset', id: ID }],
  ['/budget-reset', misused('budget-reset')],
  [`/budget-reset ${ID} ${ID}`, misused('budget-reset')],
  [`/admit ${OPERATION}`, { kind: 'admit', id: OPERATION, as: undefined }],
  [`/Admit \`${OPERATION.toLowerCase()}\`.`, { kind: 'admit', id: OPERATION, as: undefined }],
  ['/admit 3h8d0v5b7n2k6pqa', { kind: 'admit', id: OPERATION, as: undefined }],
  [`/admit ${OPERATION} handover`, { kind: 'admit', id: OPERATION, as: 'handover' }],
  [`/admit ${OPERATION} Handover.`, { kind: 'admit', id: OPERATION, as: 'handover' }],
  ['/admit', misused('admit')],
  ['/admit all', misused('admit')],
  ['/admit all handover', misused('admit')],
  [`/admit handover ${OPERATION}`, misused('admit')],
  [`/admit ${OPERATION} compact`, misused('admit')],
  [`/admit ${OPERATION} ${OPERATION}`, misused('admit')],
  ['/session', { kind: 'session', id: null }],
  [`/session ${SESSION}`, { kind: 'session', id: SESSION }],
  [`/session ${SESSION.slice(5).toLowerCase()}`, { kind: 'session', id: SESSION }],
  [`/session ${SESSION} ${SESSION}`, misused('session')],
  [`/why ${OPERATION.toLowerCase()}`, { kind: 'why', id: OPERATION }],
  [`/approve ${APPROVAL}`, { kind: 'approve', id: APPROVAL }],
  ['/approve 7k2m9qx4r1t8wz3c', { kind: 'approve', id: APPROVAL }],
  [`/approve ${ID}`, { kind: 'approve', id: ID }],
  [`/approve ${APPROVAL} yes`, misused('approve')],
  ['/approve', misused('approve')],
  [`/deny ${APPROVAL}`, { kind: 'deny', id: APPROVAL }],
  ['/new', { kind: 'fresh' }],
  ['/reset', { kind: 'fresh' }],
  ['/new invoice for March', misused('new')],
  ['/model', { kind: 'models' }],
  ['/model default', { kind: 'model', name: 'default' }],
  ['/model `openai/GPT-5.1`', { kind: 'model', name: 'openai/GPT-5.1' }],
  ['/model a b', misused('model')],
  ['/model `', misused('model')],
  ['/context', { kind: 'context' }],
  ['/usage', { kind: 'usage' }],
  ['/usage today', misused('usage')],
  ['/clock confirm', { kind: 'clock_confirm' }],
  ['/safe-mode off', { kind: 'safe_mode_off' }],
  ['/safe-mode `OFF`.', { kind: 'safe_mode_off' }],
  ['/safe-mode', { kind: 'misused', command: 'safe-mode' }],
  ['/safe-mode on', { kind: 'misused', command: 'safe-mode' }],
  ['/clock', misused('clock')],
  ['/clock set', misused('clock')],
  ['/stopp', unknown('stopp', 'stop')],
  ['/tsaks', unknown('tsaks', 'tasks')],
  ['/hlep me', unknown('hlep', 'help')],
  ['/Wy', unknown('wy', 'why')],
  ['/tmp is full', unknown('tmp', 'stop')],
  ['/resume it', unknown('resume', 'reset')],
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
  const later = ['admitt', 'schedule', 'jobs', 'sessions', 'accept', 'x'];
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

const GRANTS: readonly [words: string, grant: unknown][] = [
  ['turns=+10000', { turns: 10_000 }],
  ['cost=+100000', { costMicroUsd: 100_000_000_000 }],
  ['turns=+50', { turns: 50 }],
  ['TURNS=+1 tokens=+1000000', { turns: 1, tokens: 1_000_000 }],
  ['cost=+5', { costMicroUsd: 5_000_000 }],
  ['cost=+0.000001', { costMicroUsd: 1 }],
  ['cost=+12.5 continuations=+20', { costMicroUsd: 12_500_000, continuations: 20 }],
  ['deadline=+90m', { deadline: { addMs: 5_400_000 } }],
  ['deadline=+2D', { deadline: { addMs: 172_800_000 } }],
  ['deadline=2026-01-02T03:04:05Z', { deadline: { at: Date.UTC(2026, 0, 2, 3, 4, 5) } }],
  ['deadline=2026-01-02T03:04+01:00', { deadline: { at: Date.UTC(2026, 0, 2, 2, 4) } }],
];
const NO_GRANTS = [
  '',
  'turns',
  'turns=',
  'turns=50',
  'turns=-50',
  'turns=+0',
  'turns=+5.',
  'turns=+5x',
  'turns=+1e3',
  'turns=+0x10',
  'turns=+10001',
  'turns=+٣',
  'turns= +5',
  'turns=+5 turns=+5',
  'turns=+5 please',
  'turns=+5,tokens=+5',
  'please turns=+5',
  'cost=+0',
  'cost=+1.0000001',
  'cost=+100001',
  'cost=+.5',
  'cost=x+5',
  'deadline=+0d',
  'deadline=+2w',
  'deadline=+9999d',
  'deadline=2026-01-02',
  'deadline=2026-02-30T00:00:00Z',
  'deadline=2026-01-02T03:04:05',
  'deadline=tomorrow',
  '__proto__=+5',
  'constructor=+5',
];

describe('W-7 the grammar of /extend is strict:', () => {
  for (const [words, grant] of GRANTS)
    test(`${words} is a grant`, () => {
      assert.deepEqual(readCommand(`/extend ${ID} ${words}`), { kind: 'extend', id: ID, grant });
    });
  for (const words of NO_GRANTS)
    test(`${JSON.stringify(words)} is misused`, () => {
      assert.deepEqual(readCommand(`/extend ${ID} ${words}`), misused('extend'));
    });

  test('what is cut off at the end of a long line is not granted in part', () => {
    const far = ' '.repeat(200 - `/extend ${ID} turns=+1`.length);
    const at = `/extend ${ID} ${far}turns=+1`;
    assert.deepEqual(readCommand(`${at}\n0`), {
      kind: 'extend',
      id: ID,
      grant: { turns: 1 },
    });
    assert.deepEqual(readCommand(`${at}0`), misused('extend'));
    assert.deepEqual(readCommand(`${at} tokens=+5`), misused('extend'));
  });

  test('nor is an order carried out late or as a handover for a word that was cut', () => {
    const far = ' '.repeat(200 - `/task-resume ${ID} late`.length);
    const late = `/task-resume ${ID} ${far}late`;
    assert.deepEqual(readCommand(late), { kind: 'resume', id: ID, late: true });
    assert.deepEqual(readCommand(`${late}r`), misused('task-resume'));
    const wide = ' '.repeat(200 - `/admit ${OPERATION} handover`.length);
    const over = `/admit ${OPERATION} ${wide}handover`;
    assert.deepEqual(readCommand(over), { kind: 'admit', id: OPERATION, as: 'handover' });
    assert.deepEqual(readCommand(`${over}s`), misused('admit'));
  });
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
    test(text, () => assert.equal(readId('task', text), ID));
  }

  test('an O is a zero, and the prefix of another kind stays', () => {
    assert.equal(readId('task', '7K2M9QX4R1T8WZ3o'), 'task_7K2M9QX4R1T8WZ30');
    assert.equal(readId('task', 'RUN_7k2m9qx4r1t8wz3c'), 'run_7K2M9QX4R1T8WZ3C');
  });

  test('one that is far too long is cut', () => {
    assert.equal(readId('task', 'x'.repeat(300)), `task_${'X'.repeat(40)}`);
  });

  test('every id reads as itself, in either case', () => {
    const letters = fc.constantFrom(...Array.from('0123456789ABCDEFGHJKMNPQRSTVWXYZ'));
    fc.assert(
      fc.property(fc.array(letters, { minLength: 16, maxLength: 16 }), (body) => {
        const id = `task_${body.join('')}`;
        assert.ok(isId('task', id));
        assert.equal(readId('task', id), id);
        assert.equal(readId('task', id.toLowerCase()), id);
      }),
    );
  });
});
