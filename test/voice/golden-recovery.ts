// What the notices about interrupted work, history and safe mode say, word by word.
import type { NoticeCode } from '../../src/text/catalogue.ts';
import { APPROVAL, AT, ID, REQUEST } from './golden.ts';

const HOUR = 3_600_000;
/** Wednesday, 18:00 in Berlin. */
const WEDNESDAY = Date.UTC(2025, 10, 19, 17);
const ITEMS = [
  {
    code: 'recovery_assessment_failed',
    taskId: ID,
    request: REQUEST,
    command: `/budget-reset ${ID}`,
  },
  { code: 'deadline_passed', taskId: ID, request: 'Pay', command: null },
  {
    code: 'uncertain_effect',
    taskId: ID,
    request: 'Pay the bill',
    command: `/approve ${APPROVAL}`,
  },
];

/** As `GOLDEN`. */
export const GOLDEN_RECOVERY: readonly (readonly [
  code: NoticeCode,
  more: object,
  en: string,
  de: string,
])[] = [
  [
    'recovery_assessment_failed',
    { outcome: 'failed', detail: 'connect', deadline: WEDNESDAY },
    `■ I have stopped “Summarise the March invoices”. The check that decides whether interrupted work may go on failed three times (last: the model provider could not be reached: connect). Nothing is lost: its deadline (Wed 18:00) and its workers are unchanged. An admin can reopen it with \`/budget-reset ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ Ich habe „Summarise the March invoices“ angehalten. Die Prüfung, ob unterbrochene Arbeit weitergehen darf, ist dreimal gescheitert (zuletzt: der Modellanbieter war nicht erreichbar: connect). Es ist nichts verloren: Frist (Mi 18:00) und Worker sind unverändert. Ein Admin öffnet sie wieder mit \`/budget-reset ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'recovery_assessment_failed',
    { outcome: 'failed', detail: 'http_500', said: 'Internal error' },
    `■ I have stopped “Summarise the March invoices”. The check that decides whether interrupted work may go on failed three times (last: the model provider gave no usable answer: http_500, “Internal error”). Nothing is lost: it has no deadline, and its workers are unchanged. An admin can reopen it with \`/budget-reset ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ Ich habe „Summarise the March invoices“ angehalten. Die Prüfung, ob unterbrochene Arbeit weitergehen darf, ist dreimal gescheitert (zuletzt: der Modellanbieter gab keine brauchbare Antwort: http_500, „Internal error“). Es ist nichts verloren: Eine Frist gibt es nicht, und die Worker sind unverändert. Ein Admin öffnet sie wieder mit \`/budget-reset ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'recovery_assessment_failed',
    { outcome: 'failed', detail: 'http_429', deadline: AT + 4 * HOUR },
    `■ I have stopped “Summarise the March invoices”. The check that decides whether interrupted work may go on failed three times (last: the model provider let no call through: http_429). Nothing is lost: its deadline (18:02) and its workers are unchanged. An admin can reopen it with \`/budget-reset ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ Ich habe „Summarise the March invoices“ angehalten. Die Prüfung, ob unterbrochene Arbeit weitergehen darf, ist dreimal gescheitert (zuletzt: der Modellanbieter ließ keinen Aufruf durch: http_429). Es ist nichts verloren: Frist (18:02) und Worker sind unverändert. Ein Admin öffnet sie wieder mit \`/budget-reset ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'recovery_assessment_failed',
    { outcome: 'invalid', detail: 'not_json', deadline: WEDNESDAY },
    `■ I have stopped “Summarise the March invoices”. The check that decides whether interrupted work may go on failed three times (last: its answer could not be used: not_json). Nothing is lost: its deadline (Wed 18:00) and its workers are unchanged. An admin can reopen it with \`/budget-reset ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ Ich habe „Summarise the March invoices“ angehalten. Die Prüfung, ob unterbrochene Arbeit weitergehen darf, ist dreimal gescheitert (zuletzt: ihre Antwort war nicht brauchbar: not_json). Es ist nichts verloren: Frist (Mi 18:00) und Worker sind unverändert. Ein Admin öffnet sie wieder mit \`/budget-reset ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'recovery_assessment_failed',
    { outcome: 'reserved', deadline: WEDNESDAY },
    `■ I have stopped “Summarise the March invoices”. The check that decides whether interrupted work may go on failed three times (last: the host ended before the answer came). Nothing is lost: its deadline (Wed 18:00) and its workers are unchanged. An admin can reopen it with \`/budget-reset ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ Ich habe „Summarise the March invoices“ angehalten. Die Prüfung, ob unterbrochene Arbeit weitergehen darf, ist dreimal gescheitert (zuletzt: der Host endete, bevor die Antwort kam). Es ist nichts verloren: Frist (Mi 18:00) und Worker sind unverändert. Ein Admin öffnet sie wieder mit \`/budget-reset ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'recovery_no_progress',
    { outcome: 'continue', deadline: WEDNESDAY },
    `■ I have stopped “Summarise the March invoices”. The check let it go on, but it was interrupted again before it had completed a turn, and all three checks that it had are used. Nothing is lost: its deadline (Wed 18:00) and its workers are unchanged. An admin can reopen it with \`/budget-reset ${ID}\`. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ Ich habe „Summarise the March invoices“ angehalten. Die Prüfung ließ es weitergehen, aber es wurde wieder unterbrochen, bevor ein Durchgang fertig war, und alle drei Prüfungen sind verbraucht. Es ist nichts verloren: Frist (Mi 18:00) und Worker sind unverändert. Ein Admin öffnet sie wieder mit \`/budget-reset ${ID}\`. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'recovery_inconclusive',
    { said: 'The request names no file.' },
    `■ I have stopped “Summarise the March invoices”. The check that decides whether interrupted work may go on could not tell: “The request names no file”. What was done is saved, and its deadline and its workers are unchanged. An admin has it checked anew with \`/task-resume ${ID}\`. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ Ich habe „Summarise the March invoices“ angehalten. Die Prüfung, ob unterbrochene Arbeit weitergehen darf, konnte es nicht entscheiden: „The request names no file“. Was getan war, ist gespeichert; Frist und Worker sind unverändert. Ein Admin lässt neu prüfen mit \`/task-resume ${ID}\`. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'recovery_inconclusive',
    {},
    `■ I have stopped “Summarise the March invoices”. The check that decides whether interrupted work may go on could not tell. What was done is saved, and its deadline and its workers are unchanged. An admin has it checked anew with \`/task-resume ${ID}\`. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ Ich habe „Summarise the March invoices“ angehalten. Die Prüfung, ob unterbrochene Arbeit weitergehen darf, konnte es nicht entscheiden. Was getan war, ist gespeichert; Frist und Worker sind unverändert. Ein Admin lässt neu prüfen mit \`/task-resume ${ID}\`. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'order_late',
    { at: AT - 3 * HOUR },
    `■ “Summarise the March invoices” was to be carried out at 11:02, and that was not done in time. I will not do it late by myself. What was done is saved. To have it carried out late: \`/task-resume ${ID} late\`; to end it: \`/stop ${ID}\`, or its deadline ends it. Why: \`/why ${ID}\`.`,
    `■ „Summarise the March invoices“ sollte um 11:02 ausgeführt werden, und das ist nicht rechtzeitig geschehen. Von selbst hole ich es nicht nach. Was getan war, ist gespeichert. Verspätet ausführen lassen: \`/task-resume ${ID} late\`; beenden: \`/stop ${ID}\`, sonst beendet es die Frist. Warum: \`/why ${ID}\`.`,
  ],
  [
    'ended_by_assessment',
    { said: 'What was asked for is done.' },
    `▸ “Summarise the March invoices” has ended: it was interrupted, and the check that decides whether it may go on said that it is not to: “What was asked for is done”. What was done is kept, and nothing more of it will start. To begin anew, send the request again. Why: \`/why ${ID}\`.`,
    `▸ „Summarise the March invoices“ ist beendet: Es wurde unterbrochen, und die Prüfung, ob es weitergehen darf, sagte nein: „What was asked for is done“. Was getan war, bleibt, und nichts davon beginnt noch. Für einen neuen Anfang schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
  ],
  [
    'assessment_unreached',
    { detail: 'connect' },
    `… “Summarise the March invoices” was interrupted, and the model provider that is to check whether it may go on cannot be reached (connect). No check is used meanwhile; I look again by myself, until its deadline. What was done is saved. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `… „Summarise the March invoices“ wurde unterbrochen, und der Modellanbieter, der prüfen soll, ob es weitergehen darf, ist nicht erreichbar (connect). Solange wird keine Prüfung verbraucht; ich sehe von selbst wieder nach, bis zur Frist. Was getan war, ist gespeichert. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'assessment_missed',
    { attempt: 1, detail: 'http_500', said: 'Overloaded', nextAt: AT + 60_000 },
    `▸ Check 1 of 3 whether “Summarise the March invoices” may go on failed (the model provider gave no usable answer: http_500, “Overloaded”). The next one is due at 14:03:05, and nothing of it goes on before. Why: \`/why ${ID}\`.`,
    `▸ Prüfung 1 von 3, ob „Summarise the March invoices“ weitergehen darf, ist gescheitert (der Modellanbieter gab keine brauchbare Antwort: http_500, „Overloaded“). Die nächste ist um 14:03:05 fällig; vorher geht nichts davon weiter. Warum: \`/why ${ID}\`.`,
  ],
  [
    'assessment_continues',
    {},
    `▸ “Summarise the March invoices” was interrupted and may go on, as its check said. Why: \`/why ${ID}\`.`,
    `▸ „Summarise the March invoices“ wurde unterbrochen und darf laut Prüfung weitergehen. Warum: \`/why ${ID}\`.`,
  ],
  [
    'held_legacy',
    { held: 1, workersHeld: 0, unsent: 0 },
    `▸ 1 older task was found that nothing proves to be ongoing. It is kept as it is and will not run by itself. List: \`/tasks held\`. To wake exactly one: \`/task-resume ID\`.`,
    `▸ 1 ältere Aufgabe gefunden, für deren Fortgang nichts spricht. Sie bleibt, wie sie ist, und läuft nicht von selbst. Liste: \`/tasks held\`. Genau eine wecken: \`/task-resume ID\`.`,
  ],
  [
    'restart_report',
    { held: 0, items: ITEMS, more: 3 },
    `▸ The host was started again. This is for you to decide:
- “Summarise the March invoices”: The check that decides whether interrupted work may go on failed three times. \`/budget-reset ${ID}\`
- “Pay”: Its deadline has passed. To begin anew, send the request again.
- “Pay the bill”: Whether a call of it took effect is unknown. Check, then: \`/deny ${APPROVAL}\` keeps it from running once more, \`/approve ${APPROVAL}\` lets it.
and 3 more; \`/status\` names them
How the host is: \`/status\`.`,
    `▸ Der Host wurde neu gestartet. Zu entscheiden ist:
- „Summarise the March invoices“: Die Prüfung, ob unterbrochene Arbeit weitergehen darf, ist dreimal gescheitert. \`/budget-reset ${ID}\`
- „Pay“: Ihre Frist ist verstrichen. Für einen neuen Anfang schick die Anfrage noch einmal.
- „Pay the bill“: Ob einer ihrer Aufrufe gewirkt hat, ist unbekannt. Bitte prüfen, dann: \`/deny ${APPROVAL}\` verhindert, dass er noch einmal läuft, \`/approve ${APPROVAL}\` erlaubt es.
und 3 weitere; \`/status\` nennt sie
Wie es dem Host geht: \`/status\`.`,
  ],
  [
    'restart_report',
    { held: 1_197, workersHeld: 6, unsent: 1, items: ITEMS.slice(0, 1), more: 0 },
    `▸ 1,197 older tasks were found that nothing proves to be ongoing. They are kept as they are and will not run by themselves. List: \`/tasks held\`. To wake exactly one: \`/task-resume ID\`.
6 workers are held too and do not start by themselves.
Whether 1 message was sent before is unknown; it is not sent again by itself.
The host was started again. This is for you to decide:
- “Summarise the March invoices”: The check that decides whether interrupted work may go on failed three times. \`/budget-reset ${ID}\`
How the host is: \`/status\`.`,
    `▸ 1.197 ältere Aufgaben gefunden, für deren Fortgang nichts spricht. Sie bleiben, wie sie sind, und laufen nicht von selbst. Liste: \`/tasks held\`. Genau eine wecken: \`/task-resume ID\`.
Auch 6 Worker ruhen und beginnen nicht von selbst.
Ob 1 Nachricht vorher gesendet wurde, ist unbekannt; von selbst wird sie nicht noch einmal gesendet.
Der Host wurde neu gestartet. Zu entscheiden ist:
- „Summarise the March invoices“: Die Prüfung, ob unterbrochene Arbeit weitergehen darf, ist dreimal gescheitert. \`/budget-reset ${ID}\`
Wie es dem Host geht: \`/status\`.`,
  ],
  [
    'safe_mode',
    { starts: 3, until: AT + HOUR },
    `! The host ended without warning 3 times within ten minutes, so it has started in safe mode: messages and commands are answered as ever, but nothing begins by itself, and nothing is lost. Safe mode ends by itself at 15:02, unless the host ends without warning again before; an admin ends it now with \`/safe-mode off\`. More: \`/status\`.`,
    `! Der Host endete binnen zehn Minuten 3-mal ohne Vorwarnung, darum ist er im abgesicherten Betrieb gestartet: Nachrichten und Befehle werden beantwortet wie immer, aber von selbst beginnt nichts, und verloren ist nichts. Das endet um 15:02 von selbst, wenn der Host bis dahin nicht wieder ohne Vorwarnung endet; ein Admin beendet es jetzt mit \`/safe-mode off\`. Mehr: \`/status\`.`,
  ],
  [
    'safe_mode_over',
    {},
    `▸ Safe mode is over: what had to wait begins by itself again. More: \`/status\`.`,
    `▸ Der abgesicherte Betrieb ist vorbei: Was warten musste, beginnt wieder von selbst. Mehr: \`/status\`.`,
  ],
];
