// `why`, told from records in a real store.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { REASONS, waysOf, type ReasonEntry } from '../../src/core/notice/reasons.ts';
import type { EventRecord } from '../../src/core/session/record.ts';
import { hasEnded, type TaskReason } from '../../src/core/task/moves.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { EngineParts } from '../../src/engine/engine.ts';
import { explainTask, type Explanation } from '../../src/engine/task/why.ts';
import type { EventType } from '../../src/kernel/event.ts';
import type { Write } from '../../src/ports/store.ts';
import { eventRow, idOf, stepRow, turnRow } from '../../src/testing/store-rows.ts';
import type { NoticeCode } from '../../src/text/catalogue.ts';
import { renderNotice } from '../../src/text/render.ts';
import {
  APPROVAL,
  BERLIN,
  events,
  ID,
  LEFT,
  NOW,
  openParts,
  put,
  task,
  turn,
  TURN,
  USED,
} from './records.ts';

let parts: EngineParts;
beforeEach(async () => {
  parts = await openParts();
});
afterEach(() => parts.store.close());

async function explain(audience: Parameters<typeof explainTask>[2] = BERLIN): Promise<Explanation> {
  const told = await explainTask(parts, ID, audience);
  assert.ok(told !== undefined);
  return told;
}

const created = ['task.created', { by: 'member:anna', toState: 'active' }] as const;
const moved = (toState: string, reason: TaskReason): readonly [EventType, Partial<EventRecord>] => [
  'task.moved',
  { fromState: 'active', toState, reason },
];
const WHO = 'the one who asked for it, or an admin';
const STOP = { command: `/stop ${ID}`, who: WHO, effect: 'ends it; what was done is kept' };
const PAUSE = {
  command: `/pause ${ID}`,
  who: WHO,
  effect: 'sets it aside until it is resumed',
};

describe('W-6: why tells a task that', () => {
  test('is in line', async () => {
    await put(parts, task(), ...events(created));
    assert.deepEqual(await explain(), {
      sentence: `“Summarise the March invoices” (${ID}) has been in line since 14:01. ${LEFT}`,
      chain: ['14:01:00: The task was made for member:anna; it was active.'],
      commands: [STOP, PAUSE],
    });
  });

  test('waits behind another turn', async () => {
    await put(parts, task(), ...events(created), ...turn({ taskId: idOf('task', 2) }));
    const { sentence } = await explain();
    assert.match(
      sentence,
      /in line since 14:01\. Another turn of this conversation comes first\. /,
    );
  });

  test('T-9: runs, and names the model only once it was reported', async () => {
    await put(parts, task(), ...events(created, ['turn.started', { turnId: TURN }]), ...turn(), {
      write: 'step.insert',
      row: stepRow({
        seq: 10,
        kind: 'model',
        tool: null,
        callId: null,
        ordinal: 1,
        startedAt: NOW - 60_000,
      }),
    });
    const before = await explain();
    assert.match(
      before.sentence,
      /has been running since 14:01\. Step 1: the model was asked at 14:01 and has not answered yet\. L/,
    );
    assert.doesNotMatch(before.sentence, /llama/);
    await put(parts, {
      write: 'event.insert',
      row: eventRow({
        seq: 11,
        type: 'model.selected',
        taskId: ID,
        turnId: TURN,
        data: '{"provider":"x","model":"y"}',
      }),
    });
    assert.match((await explain()).sentence, /The model that answers is x\/y\. Left/);
  });

  test('runs a tool', async () => {
    await put(parts, task(), ...events(created), ...turn(), {
      write: 'step.insert',
      row: stepRow({ seq: 10, tool: 'command', ordinal: 2, startedAt: NOW - 60_000 }),
    });
    assert.match((await explain()).sentence, /Step 2: in `command` since 14:01\./);
  });

  test('was interrupted, with the calls whose outcome is unknown', async () => {
    await put(
      parts,
      task({ state: 'waiting', reason: 'interrupted', waitKind: 'assessment' }),
      ...events(
        created,
        ['turn.started', { turnId: TURN }],
        ['turn.ended', { turnId: TURN, seq: 8, data: '{"end":"interrupted"}' }],
        ['task.moved', { seq: 9, fromState: 'active', toState: 'waiting', reason: 'interrupted' }],
      ),
      { write: 'turn.insert', row: turnRow({ state: 'ended', end: 'interrupted' }) },
      {
        write: 'step.insert',
        row: stepRow({ seq: 5, tool: 'send_payment', state: 'uncertain', startedAt: NOW - 63_500 }),
      },
      {
        write: 'step.insert',
        row: stepRow({ seq: 6, tool: 'read', state: 'cut', startedAt: NOW - 63_000 }),
      },
      {
        write: 'step.insert',
        row: stepRow({
          seq: 7,
          tool: 'edit',
          state: 'failed',
          errorCode: 'invalid_args',
          startedAt: NOW - 62_800,
        }),
      },
    );
    assert.deepEqual(await explain(), {
      sentence:
        `“Summarise the March invoices” (${ID}) has been waiting for the check after an interruption ` +
        'since 14:01. The host stopped while it worked on it; an independent check decides whether it ' +
        'goes on. Checks used: 0 of 3; the next one is due now. Nothing of it goes on before. Whether ' +
        `\`send_payment\` took effect is unknown; it is not run again by itself. ${LEFT}`,
      chain: [
        '14:01:03: The task went from active to waiting. The host stopped while it worked on it; an independent check decides whether it goes on.',
        '14:01:02: The turn ended by an interruption: the host stopped before it was done.',
        '14:01:02: `edit` was called and failed (invalid_args).',
        '14:01:02: The call of `read` was ended before it was done.',
        '14:01:01: The call of `send_payment` began; its outcome is unknown.',
        '14:01:01: A turn took up its messages.',
        '14:01:00: The task was made for member:anna; it was active.',
      ],
      commands: [STOP],
    });
  });

  const ended = (state: TaskRecord['state'], reason: TaskReason): Write =>
    task({ state, reason, endedAt: NOW - 5_000, outcomeData: '{"detail":"http_401"}' });
  const ENDS: readonly [reason: TaskReason, sentence: string][] = [
    ['answered', 'was completed at 14:02. Its answer was given. '],
    [
      'model_refused',
      'failed at 14:02. The model provider refused the call. Its code: `http_401`. To begin anew, send the request again. ',
    ],
    [
      'deadline_passed',
      'ran out of time at 14:02. Its deadline has passed. To begin anew, send the request again. ',
    ],
    [
      'stopped_by_person',
      'was stopped at 14:02. A person stopped it. To begin anew, send the request again. ',
    ],
    [
      'cancelled_by_caller',
      'was cancelled at 14:02. The program that had asked for it cancelled it. ',
    ],
  ];
  for (const [reason, sentence] of ENDS) {
    test(`ended: ${reason}`, async () => {
      const { state } = REASONS[reason];
      await put(parts, ended(state, reason), ...events(created, moved(state, reason)));
      const told = await explain();
      assert.equal(told.sentence, `“Summarise the March invoices” (${ID}) ${sentence}${USED}`);
      assert.deepEqual(told.commands, []);
      assert.match(told.chain[0] ?? '', new RegExp(`^14:01:01: The task went from active to `));
    });
  }

  test('was stopped while its calls are still being ended', async () => {
    await put(parts, ended('stopped', 'stopped_by_person'), ...turn({ state: 'stopping' }));
    const { sentence, commands } = await explain();
    assert.match(sentence, /was ended at 14:02; its running calls are being ended\. A person/);
    assert.deepEqual(commands, []);
  });

  test('is blocked since it was blocked, not since its record last changed', async () => {
    const blocked = { state: 'blocked', reason: 'no_outcome', changedAt: NOW } as const;
    await put(parts, task(blocked), ...events(created, moved('blocked', 'no_outcome')));
    assert.match(
      (await explain()).sentence,
      /blocked since 14:01\. Twice in a row the model ended without an answer\. A reply to its /,
    );
  });

  test('is older and held', async () => {
    await put(parts, task({ enrollment: 'held-legacy', state: 'blocked' }));
    assert.match(
      (await explain()).sentence,
      /blocked since 14:01\. It is an older task that is held/,
    );
  });

  test('in German, with the zone of a reader who is elsewhere', async () => {
    await put(parts, task({ deadline: null }), ...events(created));
    const { sentence, chain } = await explain({ locale: 'de', timeZone: 'America/New_York' });
    assert.match(
      sentence,
      /^„Summarise the March invoices“ \(task_\w+\) wartet seit 08:01 GMT-5 darauf, an die Reihe zu kommen\. /,
    );
    assert.match(sentence, /19,50.\$ von 20,00.\$.*; Frist: keine\.$/);
    assert.deepEqual(chain, [
      '08:01:00 GMT-5: Die Aufgabe wurde für member:anna angelegt; sie war aktiv.',
    ]);
  });

  test('has a long history: the newest events and a count of the rest', async () => {
    const many = Array.from({ length: 40 }, () => ['turn.continued'] as const);
    await put(parts, task(), ...events(created, ...many));
    const { chain } = await explain();
    assert.equal(chain.length, 17);
    assert.equal(chain[0], '14:01:40: The turn took up a further message.');
    assert.equal(chain.at(-1), 'Earlier events that are not shown: 25.');
  });

  test('nobody made', async () => {
    assert.equal(await explainTask(parts, ID, BERLIN), undefined);
  });
});

describe('V8, W-6: why and the notice name the same commands for', () => {
  const reasons = Object.entries(REASONS) as [TaskReason, ReasonEntry][];
  for (const [reason, entry] of reasons) {
    test(reason, async () => {
      const { state, notice } = entry;
      const waitId = reason === 'awaits_approval' ? APPROVAL : null;
      const outcomeData = '{"grant":"turns=+50"}';
      await put(
        parts,
        task({ state, reason, waitId, outcomeData }),
        ...events(moved(state, reason)),
      );
      const { commands } = await explain();
      const named = commands.map(({ command }) => command);
      const standing = { id: ID, state, reason, waitId, outcomeData };
      assert.deepEqual(
        named,
        waysOf(standing).map(({ command }) => command),
      );
      assert.equal(hasEnded(state), named.length === 0);
      if (notice === null) return;
      const params = { request: 'Pay', taskId: ID, approvalId: APPROVAL, grant: 'turns=+50' };
      const text = renderNotice(BERLIN, notice as NoticeCode, params);
      // The voice page gives that one whole, and it names no stop.
      const isPage = notice === 'recovery_assessment_failed';
      const told = isPage ? named.filter((command) => !command.startsWith('/stop')) : named;
      for (const command of told) assert.ok(text.includes(`\`${command}\``), command);
    });
  }
});
