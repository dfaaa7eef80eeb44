import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATION_REASONS, waysOfOperation } from '../../src/core/maintenance/reasons.ts';
import type { BlockReason } from '../../src/core/maintenance/record.ts';
import { waysOf, REASONS, type ReasonEntry } from '../../src/core/notice/reasons.ts';
import type { TaskReason } from '../../src/core/task/moves.ts';
import { createProgram } from '../../src/cli/program.ts';
import { shellCommand, shellSentence } from '../../src/cli/shell.ts';
import { renderNotice } from '../../src/text/render.ts';

const TASK = 'task_7K2M9QX4R1T8WZ3C' as const;
const APPROVAL = 'appr_5N8T2W4Q9X1C7K3M';

test('every way out has a command of the program, or is said to be of the chat', () => {
  const known = createProgram().commands.map((command) => command.name());
  for (const [reason, { state }] of Object.entries(REASONS) as [TaskReason, ReasonEntry][]) {
    const waitId = reason === 'awaits_approval' ? APPROVAL : null;
    const outcomeData = '{"grant":"turns=+50"}';
    const standing = { id: TASK, state, reason, waitId, outcomeData } as const;
    for (const { command } of waysOf(standing)) {
      const [first, name = ''] = shellCommand(command).split(' ');
      if (command === '/new') assert.equal(shellCommand(command), '/new (in the chat)');
      else assert.ok(first === 'sekisho' && known.includes(name), command);
    }
  }
  assert.equal(shellCommand(`/task-resume ${TASK}`), `sekisho resume ${TASK}`);
  assert.equal(shellCommand(`/task-resume ${TASK} late`), `sekisho resume ${TASK} --late`);
  assert.equal(shellCommand(`/budget-reset ${TASK}`), `sekisho budget-reset ${TASK}`);
  assert.equal(shellCommand(`/extend ${TASK} turns=+50`), `sekisho extend ${TASK} turns=+50`);
});

test('every way out of a blocked operation is typed in a shell, or is said to be of the chat', () => {
  const id = 'mop_3H8D0V5B7N2K6PQA';
  for (const reason of Object.keys(OPERATION_REASONS) as BlockReason[])
    for (const kind of ['compact', 'handover'] as const) {
      const ways = waysOfOperation({ id, kind, state: 'blocked', reason });
      const isHandedOver = reason === 'uncertain' && kind === 'compact';
      assert.deepEqual(
        ways.map(({ command }) => shellCommand(command)),
        [`sekisho admit ${id}${isHandedOver ? ' --as handover' : ''}`, '/new (in the chat)'],
      );
    }
  assert.equal(
    shellSentence(`Open it: \`/admit ${id} handover\`. Why: \`/why ${id}\`.`),
    `Open it: \`sekisho admit ${id} --as handover\`. Why: \`sekisho why ${id}\`.`,
  );
});

test('a sentence types its commands for a shell, and leaves what would run as it is', () => {
  const reader = { locale: 'en', timeZone: 'UTC' } as const;
  const shown = JSON.stringify({ argv: ['sh', '-c', `echo \`/stop ${TASK}\``], folder: '/w' });
  const params = { request: 'Pay', taskId: TASK, approvalId: APPROVAL, tool: 'command', shown };
  const said = renderNotice(reader, 'awaits_approval', params);
  const told = shellSentence(said);
  assert.match(
    told,
    new RegExp(`once: \`sekisho approve ${APPROVAL}\`; .*\`sekisho deny ${APPROVAL}`),
  );
  assert.match(told, new RegExp(`Why: \`sekisho why ${TASK}\`\\.$`));
  const ofCall = (text: string): readonly string[] =>
    text.split('\n').filter((line) => line.startsWith('    '));
  assert.deepEqual(ofCall(told), ofCall(said));
  assert.equal(shellSentence('All of them: `/model`.'), 'All of them: `/model`.');
  assert.equal(
    shellSentence('List: `/tasks held`. To wake exactly one: `/task-resume ID`.'),
    'List: `sekisho tasks --held`. To wake exactly one: `sekisho resume ID`.',
  );
});
