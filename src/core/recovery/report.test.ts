import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvalRow, idOf, taskRow } from '../../testing/store-rows.ts';
import { reportItems } from './report.ts';

const SINCE = 5_000;

const SAID = { since: SINCE, ahead: SINCE, now: 10_000 };

test('each thing that a restart leaves to a person has its way out, and what has ended has none', () => {
  const blocked = taskRow({
    state: 'blocked',
    reason: 'recovery_assessment_failed',
    changedAt: 6_000,
  });
  const expired = taskRow({
    id: idOf('task', 2),
    state: 'expired',
    reason: 'deadline_passed',
    changedAt: 7_000,
  });
  const approval = approvalRow({ kind: 'uncertain', state: 'open', at: 6_000 });
  const items = reportItems({
    tasks: [expired, blocked],
    questions: [{ approval, task: blocked }],
    said: SAID,
  });
  assert.deepEqual(
    items.map(({ code, taskId, command }) => [code, taskId, command]),
    [
      ['uncertain_effect', blocked.id, `/approve ${approval.id}`],
      ['deadline_passed', expired.id, null],
      ['recovery_assessment_failed', blocked.id, `/budget-reset ${blocked.id}`],
    ],
  );
  assert.equal(items[0]?.request, blocked.mandateText);
});

test('what an earlier restart report said is not said again', () => {
  const task = taskRow({ state: 'blocked', reason: 'no_progress', changedAt: SINCE });
  const approval = approvalRow({ kind: 'uncertain', state: 'open', at: SINCE });
  const questions = [{ approval, task }];
  assert.deepEqual(reportItems({ tasks: [task], questions, said: SAID }), []);
  const answered = { ...approval, at: SINCE + 1, state: 'denied' } as const;
  assert.deepEqual(
    reportItems({ tasks: [], questions: [{ approval: answered, task }], said: SAID }),
    [],
  );
});

test('what was told under a clock that was ahead is not told anew once it is put right', () => {
  const task = taskRow({ state: 'blocked', reason: 'no_progress', changedAt: 90_000 });
  const said = { since: SINCE, ahead: 95_000, now: 10_000 };
  assert.deepEqual(reportItems({ tasks: [task], questions: [], said }), []);
  const since = { ...task, changedAt: 9_000 };
  assert.equal(reportItems({ tasks: [since], questions: [], said }).length, 1);
  assert.equal(
    reportItems({ tasks: [{ ...task, changedAt: 10_000 }], questions: [], said }).length,
    1,
  );
  const told = { ...task, changedAt: 95_000 };
  assert.deepEqual(reportItems({ tasks: [told], questions: [], said }), []);
  const later = { ...task, changedAt: 96_000 };
  assert.equal(reportItems({ tasks: [later], questions: [], said }).length, 1);
});
