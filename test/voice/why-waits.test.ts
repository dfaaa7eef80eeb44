// `why` of a task that stands still, and the events that led there, from records in a real store.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { EventRecord } from '../../src/core/session/record.ts';
import { WAIT_KINDS, type TaskReason } from '../../src/core/task/moves.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { EngineParts } from '../../src/engine/engine.ts';
import { explainTask, type Explanation } from '../../src/engine/task/why.ts';
import type { EventType } from '../../src/kernel/event.ts';
import {
  approval,
  APPROVAL,
  BERLIN,
  events,
  ID,
  LEFT,
  NOW,
  openParts,
  put,
  task,
} from './records.ts';

let parts: EngineParts;
beforeEach(async () => {
  parts = await openParts();
});
afterEach(() => parts.store.close());

async function explain(): Promise<Explanation> {
  const told = await explainTask(parts, ID, BERLIN);
  assert.ok(told !== undefined);
  return told;
}

const WHO = 'the one who asked for it, or an admin';
const STOP = { command: `/stop ${ID}`, who: WHO, effect: 'ends it; what was done is kept' };
const PAUSE = {
  command: `/pause ${ID}`,
  who: WHO,
  effect: 'sets it aside until it is resumed',
};
const LATER = NOW + 60_000;

describe('W-6: why tells a task that', () => {
  const WAITS: readonly [reason: TaskReason, over: Partial<TaskRecord>, told: string][] = [
    [
      'awaits_answer',
      { waitQuestion: 'Which March?', waitUntil: LATER },
      'waiting for your answer since 14:01. It asked: “Which March?” ' +
        'Without an answer it is blocked at 14:03. To answer it, just reply. ',
    ],
    [
      'awaits_instant',
      { waitUntil: LATER },
      'waiting for the time that it set since 14:01. It goes on at 14:03. ',
    ],
    [
      'awaits_quota',
      { waitUntil: LATER, outcomeData: '{"detail":"http_429","said":"slow down"}' },
      'waiting for the quota of the model provider since 14:01. ' +
        'The quota of the model provider is used up for now. Its code: `http_429`. ' +
        'It goes on by itself at 14:03. ',
    ],
    [
      'awaits_provider',
      { outcomeData: '{"detail":"connect"}' },
      'waiting for the model provider since 14:01. The model provider gave no usable answer, ' +
        'and it is asked again by itself. Its code: `connect`. ',
    ],
  ];
  for (const [reason, over, told] of WAITS) {
    test(`waits: ${reason}`, async () => {
      const [, waitKind] = /^awaits_(\w+)$/.exec(reason) ?? [];
      const kind = WAIT_KINDS.find((known) => known === waitKind) ?? null;
      await put(parts, task({ state: 'waiting', reason, waitKind: kind, ...over }));
      const { sentence, commands } = await explain();
      assert.equal(sentence, `“Summarise the March invoices” (${ID}) has been ${told}${LEFT}`);
      assert.deepEqual(commands, [STOP, PAUSE]);
    });
  }

  test('waits for an approval, with all of what is asked and who may answer', async () => {
    const asked = { waitKind: 'approval', waitId: APPROVAL, waitUntil: LATER } as const;
    await put(
      parts,
      task({ state: 'waiting', reason: 'awaits_approval', ...asked }),
      approval({ approver: 'other' }),
    );
    const { sentence, commands } = await explain();
    assert.ok(
      sentence.includes(
        `for an approval since 14:01. It asks to run \`command\` (${APPROVAL}): /bin/sh -c ` +
          "'make && make install', in the folder /work. Without an answer the call is refused at 14:03.",
      ),
      sentence,
    );
    const who = 'an admin other than the one who asked';
    assert.deepEqual(commands, [
      {
        command: `/approve ${APPROVAL}`,
        who,
        effect: 'lets exactly the call that was shown run, once',
      },
      { command: `/deny ${APPROVAL}`, who, effect: 'refuses the call, and it goes on without' },
      STOP,
      PAUSE,
    ]);
  });

  test('was interrupted and is asked about an uncertain effect, beside its way out', async () => {
    await put(
      parts,
      task({ state: 'waiting', reason: 'interrupted', waitKind: 'assessment' }),
      approval({ kind: 'uncertain' }),
    );
    const { sentence, commands } = await explain();
    assert.match(sentence, /Whether `command` may run once more is open, .+ \(appr_/);
    assert.match(sentence, /Nothing of it goes on before\./);
    assert.deepEqual(
      commands.map(({ command }) => command),
      [STOP.command, `/approve ${APPROVAL}`, `/deny ${APPROVAL}`],
    );
    assert.match(commands[1]?.effect ?? '', /run once more, when the task goes on/);
  });

  test('is paused, with what it noted and how it goes on', async () => {
    const checkpoint = 'Read 3 of 5 files. Next: April.';
    await put(parts, task({ state: 'paused', reason: 'paused', checkpoint }));
    const { sentence, commands } = await explain();
    assert.equal(
      sentence,
      `“Summarise the March invoices” (${ID}) has been paused since 14:01. A person set it aside. ` +
        'What it noted of its progress: “Read 3 of 5 files. Next: April”. A reply to its notice, or ' +
        `a message that names \`${ID}\`, lets it go on too. ${LEFT}`,
    );
    assert.deepEqual(
      commands.map(({ command }) => command),
      [`/task-resume ${ID}`, STOP.command],
    );
  });

  test('has used up a budget, with what has to be granted', async () => {
    const outcomeData = '{"detail":"turns","grant":"turns=+50"}';
    await put(parts, task({ state: 'blocked', reason: 'budget_exhausted', outcomeData }));
    const { sentence, commands } = await explain();
    assert.match(sentence, /A budget of it is used up\. Used up: turns\. Left: /);
    assert.deepEqual(commands[0], {
      command: `/extend ${ID} turns=+50`,
      who: 'an admin',
      effect: 'grants it more, and it goes on',
    });
  });

  test('failed for a reason that only version 1 wrote', async () => {
    const failed = { state: 'failed', endedAt: NOW, outcomeData: '{"detail":"timeout"}' } as const;
    await put(parts, task({ ...failed, reason: 'model_unavailable' as TaskReason }));
    assert.match(
      (await explain()).sentence,
      /failed at 14:02\. The model gave no usable answer\. Its code: `timeout`\. It used /,
    );
  });

  test('waits or is blocked for a reason that a newer version wrote', async () => {
    const reason = 'newer_reason' as TaskReason;
    await put(parts, task({ state: 'blocked', reason, waitKind: 'newer' as 'answer' }));
    const { sentence, commands } = await explain();
    assert.match(sentence, /has been blocked since .* Its code: `newer_reason`\. Left: /);
    assert.deepEqual(commands, [STOP]);
  });
});

describe('the events of', () => {
  const TOLD: readonly [type: EventType, over: Partial<EventRecord>, told: string][] = [
    ['task.noted', { data: '{"text":"Half done"}' }, 'The task noted how far it is: “Half done”.'],
    ['task.continued', {}, 'The task goes on by itself in a further turn.'],
    ['task.extended', { by: 'admin:terminal' }, 'The task was granted more by admin:terminal.'],
    [
      'model.retried',
      { data: '{"provider":"x","model":"y","code":"http_503"}' },
      'A call of the model failed (`http_503`); the next try goes to x/y.',
    ],
    [
      'approval.asked',
      { data: `{"approvalId":"${APPROVAL}","tool":"command"}` },
      `A call of \`command\` waits for the approval of a person (${APPROVAL}).`,
    ],
    [
      'approval.decided',
      { by: 'member:anna', data: `{"approvalId":"${APPROVAL}","state":"denied"}` },
      `The approval ${APPROVAL} was denied; this came from member:anna.`,
    ],
    ['turn.ended', { data: '{"end":"waited"}' }, 'The turn ended in a wait.'],
    [
      'turn.ended',
      { data: '{"end":"parked"}' },
      'The turn ended at the border of a step, and what was done is saved.',
    ],
    [
      'task.moved',
      { fromState: 'active', toState: 'waiting', reason: 'awaits_answer' },
      'The task went from active to waiting. It asked a question.',
    ],
  ];
  for (const [type, over, told] of TOLD) {
    test(`${type} ${over.data ?? ''}`, async () => {
      await put(parts, task(), ...events([type, over]));
      assert.deepEqual((await explain()).chain, [`14:01:00: ${told}`]);
    });
  }
});
