// The texts that the voice page gives whole, word for word.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeReset } from '../../src/core/recovery/orders.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import { taskRow } from '../../src/testing/store-rows.ts';
import { readCommand } from '../../src/core/inbox/command.ts';
import { renderNotice, renderRefusal } from '../../src/text/render.ts';
import { APPROVAL, AT, ID } from './golden.ts';
import { OPERATION } from './golden-maintenance.ts';

const EN = { locale: 'en', timeZone: 'Europe/Berlin' } as const;
const DE = { ...EN, locale: 'de' } as const;
/** Friday, 18:00 in Berlin, told on the Wednesday before. */
const FRIDAY = Date.UTC(2025, 10, 14, 17);
const WEDNESDAY = AT - 2 * 86_400_000;

test('the notice of a failed assessment is the voice page’s, in both languages', () => {
  const params = { taskId: ID, outcome: 'failed', detail: 'timeout', deadline: FRIDAY } as const;
  assert.equal(
    renderNotice(
      EN,
      'recovery_assessment_failed',
      { ...params, request: 'Summarise the March invoices' },
      WEDNESDAY,
    ),
    `■ I have stopped “Summarise the March invoices”. The check that decides whether interrupted work may go on failed three times (last: no answer in 60 s). Nothing is lost: its deadline (Fri 18:00) and its workers are unchanged. An admin can reopen it with \`/budget-reset ${ID}\`. Why: \`/why ${ID}\`.`,
  );
  assert.equal(
    renderNotice(
      DE,
      'recovery_assessment_failed',
      { ...params, request: 'Märzrechnungen zusammenfassen' },
      WEDNESDAY,
    ),
    `■ Ich habe „Märzrechnungen zusammenfassen“ angehalten. Die Prüfung, ob unterbrochene Arbeit weitergehen darf, ist dreimal gescheitert (zuletzt: 60 s ohne Antwort). Es ist nichts verloren: Frist (Fr 18:00) und Worker sind unverändert. Ein Admin öffnet sie wieder mit \`/budget-reset ${ID}\`. Warum: \`/why ${ID}\`.`,
  );
});

test('the summary of the boundary is the voice page’s, and begins a restart report', () => {
  const params = { request: '', taskId: '', held: 197, workersHeld: 0, unsent: 0 } as const;
  const said = {
    en: '▸ 197 older tasks were found that nothing proves to be ongoing. They are kept as they are and will not run by themselves. List: `/tasks held`. To wake exactly one: `/task-resume ID`.',
    de: '▸ 197 ältere Aufgaben gefunden, für deren Fortgang nichts spricht. Sie bleiben, wie sie sind, und laufen nicht von selbst. Liste: `/tasks held`. Genau eine wecken: `/task-resume ID`.',
  } as const;
  for (const reader of [EN, DE]) {
    const expected = said[reader.locale];
    assert.equal(renderNotice(reader, 'held_legacy', params, AT), expected);
    assert.ok(renderNotice(reader, 'restart_report', params, AT).startsWith(`${expected}\n`));
  }
});

test('the question about an uncertain effect begins with the voice page’s, in both languages', () => {
  const params = { taskId: ID, tool: 'send_payment', approvalId: APPROVAL, reason: 'interrupted' };
  const en = renderNotice(EN, 'uncertain_effect', { ...params, request: 'Pay the hosting bill' });
  const de = renderNotice(DE, 'uncertain_effect', { ...params, request: 'Hosting bezahlen' });
  assert.ok(
    en.startsWith(
      `! While “Pay the hosting bill” ran, the host stopped between starting \`send_payment\` and learning its result. I will not run it again by myself. Check, then: \`/approve ${APPROVAL}\` to run it, or tell me what happened. `,
    ),
    en,
  );
  assert.ok(
    de.startsWith(
      `! Während „Hosting bezahlen“ lief, endete der Host zwischen dem Start von \`send_payment\` und dessen Ergebnis. Ich führe es nicht von selbst noch einmal aus. Bitte prüfen, dann \`/approve ${APPROVAL}\` oder sag mir, was geschehen ist. `,
    ),
    de,
  );
});

describe('the notices of maintenance are the voice page’s, in both languages:', () => {
  const about = { request: '', taskId: '', operationId: OPERATION, code: 'eio', said: 'EIO' };
  /** Thursday, 03:12:05 in Berlin. */
  const night = Date.UTC(2025, 10, 13, 2, 12, 5);

  test('waiting', () => {
    const params = { ...about, nextAt: night + 35_000 };
    assert.equal(
      renderNotice(EN, 'maintenance_waiting', params, night),
      '… I am making room in this conversation and the last step failed (disk: input/output error). I will try again by myself, next at 03:12:40. Your messages are kept and will be answered in order.',
    );
    assert.equal(
      renderNotice(DE, 'maintenance_waiting', params, night),
      '… Ich schaffe gerade Platz in dieser Unterhaltung, der letzte Schritt ist gescheitert (Platte: Ein-/Ausgabefehler). Ich versuche es von selbst wieder, zuletzt geplant für 03:12:40. Deine Nachrichten bleiben und werden der Reihe nach beantwortet.',
    );
  });

  test('exhausted', () => {
    const params = { ...about, failures: 7, isSame: true };
    assert.equal(
      renderNotice(EN, 'maintenance_exhausted', params, night),
      '■ This conversation is paused: making room in it failed seven times in a row (each time: disk: input/output error). Nothing is lost and new messages are kept. When the cause is mended, an admin can let it go on with `/admit mop_3H8D0V5B7N2K6PQA`.',
    );
    assert.equal(
      renderNotice(DE, 'maintenance_exhausted', params, night),
      '■ Diese Unterhaltung ruht: Platz zu schaffen ist siebenmal hintereinander gescheitert (jedes Mal: Platte: Ein-/Ausgabefehler). Es ist nichts verloren, neue Nachrichten bleiben erhalten. Ist die Ursache behoben, lässt ein Admin sie mit `/admit mop_3H8D0V5B7N2K6PQA` weitergehen.',
    );
  });
});

describe('a reset of what has no used-up budget says how the task stands and the nearest way out:', () => {
  const ADMIN = { kind: 'admin', id: 'terminal', isAdmin: true } as const;
  const refused = (reader: typeof EN | typeof DE, over: Partial<TaskRecord>): string => {
    const task = taskRow({ changedAt: AT - 3_600_000, ...over });
    const refusal = judgeReset(task, { principal: ADMIN });
    assert.equal(refusal?.code, 'not_budget_blocked');
    const said = renderRefusal(reader, refusal.code, refusal.detail, AT);
    for (const [, typed = ''] of said.matchAll(/`(\/[^`]+)`/g)) {
      const command = readCommand(typed);
      assert.ok(command !== undefined && command.kind !== 'misused', typed);
    }
    return said.replaceAll(task.id, 'ID');
  };
  const question = {
    state: 'waiting',
    reason: 'awaits_answer',
    waitKind: 'answer',
    changedAt: AT,
  } as const;

  test('the voice page’s own row', () => {
    assert.equal(
      refused(EN, question),
      'This task is not blocked by a used-up recovery budget (it is waiting for you since 14:02). To answer it, just reply.',
    );
    assert.equal(
      refused(DE, question),
      'Diese Aufgabe ist nicht durch ein verbrauchtes Prüfbudget blockiert (sie wartet seit 14:02 auf dich). Antworte einfach.',
    );
  });

  const STANDING: readonly (readonly [string, Partial<TaskRecord>, en: string, de: string])[] = [
    [
      'one that is being assessed',
      { state: 'waiting', reason: 'interrupted', waitKind: 'assessment' },
      '(it is waiting for the check after an interruption since 13:02). What is possible: `/stop ID`.',
      '(sie wartet seit 13:02 auf die Prüfung nach einer Unterbrechung). Möglich ist: `/stop ID`.',
    ],
    [
      'a paused one',
      { state: 'paused', reason: 'paused' },
      '(it is paused since 13:02). A reply lets it go on. What is possible: `/task-resume ID`.',
      '(sie ist seit 13:02 pausiert). Eine Antwort lässt sie weitergehen. Möglich ist: `/task-resume ID`.',
    ],
    [
      'one that has ended',
      { state: 'completed', reason: 'answered', endedAt: AT - 7_200_000 },
      '(it has ended: completed, 12:02). To begin anew, send the request again.',
      '(sie ist beendet: erledigt, 12:02). Für einen neuen Anfang schick die Anfrage noch einmal.',
    ],
    [
      'a held one',
      { state: 'blocked', reason: 'held_legacy', enrollment: 'held-legacy' },
      '(it is blocked since 13:02). What is possible: `/task-resume ID`.',
      '(sie ist seit 13:02 blockiert). Möglich ist: `/task-resume ID`.',
    ],
    [
      'a silent one, which doctor repairs',
      { state: 'blocked', reason: null },
      '(it stands still since 13:02, and no reason is on record). What is possible: `sekisho doctor --repair`.',
      '(sie steht seit 13:02 still, ohne dass ein Grund vermerkt ist). Möglich ist: `sekisho doctor --repair`.',
    ],
  ];
  for (const [name, over, en, de] of STANDING) {
    test(name, () => {
      assert.equal(
        refused(EN, over),
        `This task is not blocked by a used-up recovery budget ${en}`,
      );
      assert.equal(
        refused(DE, over),
        `Diese Aufgabe ist nicht durch ein verbrauchtes Prüfbudget blockiert ${de}`,
      );
    });
  }
});

describe('a resume that a bound stands against names', () => {
  const REASON = { id: ID, state: 'waiting', reason: 'interrupted' } as const;

  test('the check that comes before', () => {
    assert.equal(
      renderRefusal(EN, 'not_allowed_now', { ...REASON, way: `/stop ${ID}` }, AT),
      'It was interrupted, and an independent check decides by itself whether it goes on. So nothing ' +
        `was done. What is possible: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    );
  });

  test('R-12: safe mode, until when, and what ends it', () => {
    const detail = { ...REASON, safeModeUntil: String(AT + 3_600_000), way: '/safe-mode off' };
    assert.equal(
      renderRefusal(EN, 'not_allowed_now', detail, AT),
      'Safe mode keeps the check from beginning: it begins once that is over, at 15:02 or later, or at ' +
        'once when an admin ends it with `/safe-mode off`. So nothing was done. What is possible: ' +
        `\`/safe-mode off\`. Why: \`/why ${ID}\`.`,
    );
    assert.equal(
      renderRefusal(DE, 'not_allowed_now', detail, AT),
      'Der abgesicherte Betrieb hält die Prüfung zurück: Sie beginnt, wenn er vorbei ist, um 15:02 oder ' +
        'später, oder sofort, wenn ein Admin ihn mit `/safe-mode off` beendet. Darum ist nichts ' +
        `geschehen. Möglich ist: \`/safe-mode off\`. Warum: \`/why ${ID}\`.`,
    );
  });

  test('the deadline and when it passed', () => {
    const detail = { id: ID, at: String(AT - 3_600_000), way: `/stop ${ID}` };
    assert.equal(
      renderRefusal(EN, 'deadline_passed', detail, AT),
      `The deadline of this task has passed, at 13:02, so nothing was done. What is possible: \`/stop ${ID}\`.`,
    );
    assert.equal(
      renderRefusal(DE, 'deadline_passed', detail, AT),
      `Die Frist dieser Aufgabe ist um 13:02 verstrichen, darum ist nichts geschehen. Möglich ist: \`/stop ${ID}\`.`,
    );
  });

  test('the budget, and the grant that alone moves it', () => {
    assert.equal(
      renderRefusal(EN, 'budget_exhausted', { id: ID, detail: 'turns' }, AT),
      `A budget of this task is used up (turns), so nothing was done. An admin grants it more with \`/extend ${ID} turns=+10\`, or whatever is used up.`,
    );
    assert.match(
      renderRefusal(DE, 'budget_exhausted', { id: ID, detail: 'costUsd' }, AT),
      /^Diese Aufgabe hat verbraucht, was an Geld gewährt war, darum ist nichts geschehen\. Ein Admin /,
    );
  });
});
