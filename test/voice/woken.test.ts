// What whoever wakes, resets or has something carried out late is answered.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sayEnrolled } from '../../src/engine/boundary/enrol.ts';
import type { EngineOptions } from '../../src/engine/engine.ts';
import { sayReassessed, sayReset } from '../../src/engine/task/reset.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import { readCommand } from '../../src/core/inbox/command.ts';
import { taskRow } from '../../src/testing/store-rows.ts';
import { catalogueOf } from '../../src/text/reader.ts';
import { AT } from './golden.ts';

const DAY = 86_400_000;
const TASK: TaskRecord = taskRow({
  mandateText: 'Summarise the March invoices',
  state: 'waiting',
  reason: 'interrupted',
  waitKind: 'assessment',
  recoveryNextAt: AT + 60_000,
  deadline: AT + 3 * DAY,
});

type Say = typeof sayReset;

function said(say: Say, task: TaskRecord): readonly string[] {
  return (['en', 'de'] as const).map((locale) => {
    const options = { locale, timeZone: 'Europe/Berlin' } as EngineOptions;
    return say({ options }, task, AT).replaceAll(task.id, 'ID');
  });
}

describe('the answer says when it is checked, that nothing old is replayed and what stays as before:', () => {
  const SOON = { ...TASK, recoveryNextAt: AT - 1, deadline: null };
  test('R-16: safe mode, which holds the check back, is said instead of when it were due', () => {
    const texts = (['en', 'de'] as const).map((locale) => {
      const options = { locale, timeZone: 'Europe/Berlin' } as EngineOptions;
      return sayReset({ options, safeModeUntil: AT + 3_600_000 }, SOON, AT).split('.')[0];
    });
    assert.deepEqual(texts, [
      '“Summarise the March invoices” may be checked three times more whether it goes on; the next check is due once safe mode is over, at 15:02 or later, or at once when an admin ends it with `/safe-mode off`',
      'Ob „Summarise the March invoices“ weitergeht, darf noch dreimal geprüft werden; die nächste Prüfung ist fällig, sobald der abgesicherte Betrieb vorbei ist, um 15:02 oder später, oder ein Admin ihn mit `/safe-mode off` beendet',
    ]);
  });

  const TOLD: readonly (readonly [name: string, Say, TaskRecord, en: string, de: string])[] = [
    [
      'a reset, of which the spacing stays',
      sayReset,
      TASK,
      '“Summarise the March invoices” may be checked three times more whether it goes on; the next check is due at 14:03. Nothing old is replayed; its budgets and its deadline (Mon 14:02) are as before.',
      'Ob „Summarise the March invoices“ weitergeht, darf noch dreimal geprüft werden; die nächste Prüfung ist um 14:03 fällig. Nichts Altes wird wiederholt; Budgets und Frist (Mo 14:02) sind wie zuvor.',
    ],
    [
      'an assessment anew',
      sayReassessed,
      SOON,
      '“Summarise the March invoices” is checked anew whether it goes on: at once. Nothing old is replayed; its budgets and its deadline (none) are as before.',
      'Ob „Summarise the March invoices“ weitergeht, wird neu geprüft: sofort. Nichts Altes wird wiederholt; Budgets und Frist (keine) sind wie zuvor.',
    ],
    [
      'a held task',
      sayEnrolled,
      SOON,
      '“Summarise the March invoices” belongs to ongoing work again. It is checked first whether it goes on, at once. Nothing old is replayed; its budgets and its deadline (none) are as before.',
      '„Summarise the March invoices“ gehört wieder zur laufenden Arbeit. Erst wird geprüft, ob es weitergeht, sofort. Nichts Altes wird wiederholt; Budgets und Frist (keine) sind wie zuvor.',
    ],
    [
      'a held task whose attempts are used up',
      sayEnrolled,
      { ...SOON, state: 'blocked', reason: 'recovery_assessment_failed', waitKind: null },
      '“Summarise the March invoices” belongs to ongoing work again, but the checks that it had are used up, so nothing of it goes on. An admin has it checked anew with `/budget-reset ID`.',
      '„Summarise the March invoices“ gehört wieder zur laufenden Arbeit, aber alle Prüfungen sind verbraucht, darum geht nichts davon weiter. Ein Admin lässt neu prüfen mit `/budget-reset ID`.',
    ],
  ];
  for (const [name, say, task, en, de] of TOLD) {
    test(name, () => assert.deepEqual(said(say, task), [en, de]));
  }
});

test('the commands that help explains are read', () => {
  for (const typed of ['/budget-reset ID', '/task-resume ID late', '/tasks held 2'])
    assert.ok(!['unknown', 'misused', undefined].includes(readCommand(typed)?.kind), typed);
  for (const locale of ['en', 'de'] as const) {
    const { help } = catalogueOf(locale);
    assert.match(help.budget_reset, /admin/i);
    assert.ok(help.task_resume_late.length > 0);
  }
});
