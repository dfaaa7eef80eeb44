import type { RecoveryNotices } from '../en/recovery.ts';
import { sayCount } from '../number.ts';
import type { RecoveryTexts } from '../recovery-texts.ts';

const say = (count: number): string => sayCount({ tag: 'de-DE' }, count);

const behind = (detail: string): string => (detail === '' ? '' : ` (${detail})`);

const colon = (detail: string): string => (detail === '' ? '' : `: ${detail}`);

const quoted = (said: string | null): string => (said === null ? '' : `: ${said}`);

const unchanged = (deadline: string | null): string =>
  deadline === null
    ? 'Es ist nichts verloren: Eine Frist gibt es nicht, und die Worker sind unverändert.'
    : `Es ist nichts verloren: Frist (${deadline}) und Worker sind unverändert.`;

/** The notices about interrupted work, history and safe mode. */
export const DE_RECOVERY_NOTICES: RecoveryNotices = {
  recovery_assessment_failed: ({ request, failure, deadline, reset, why }) =>
    `Ich habe ${request} angehalten. Die Prüfung, ob unterbrochene Arbeit weitergehen darf, ist ` +
    `dreimal gescheitert (zuletzt: ${failure}). ${unchanged(deadline)} ` +
    `Ein Admin öffnet sie wieder mit ${reset}. Warum: ${why}.`,
  recovery_no_progress: ({ request, deadline, reset, stop, why }) =>
    `Ich habe ${request} angehalten. Die Prüfung ließ es weitergehen, aber es wurde wieder ` +
    `unterbrochen, bevor ein Durchgang fertig war, und alle drei Prüfungen sind verbraucht. ` +
    `${unchanged(deadline)} Ein Admin öffnet sie wieder mit ${reset}. Beenden: ${stop}. Warum: ${why}.`,
  recovery_inconclusive: ({ request, said, resume, stop, why }) =>
    `Ich habe ${request} angehalten. Die Prüfung, ob unterbrochene Arbeit weitergehen darf, konnte es ` +
    `nicht entscheiden${quoted(said)}. Was getan war, ist gespeichert; Frist und Worker sind ` +
    `unverändert. Ein Admin lässt neu prüfen mit ${resume}. Beenden: ${stop}. Warum: ${why}.`,
  order_late: ({ request, at, late, stop, why }) =>
    `${request} sollte ${at ?? 'zu einem Zeitpunkt, der vorbei ist,'} ausgeführt werden, und das ` +
    `ist nicht rechtzeitig geschehen. Von selbst hole ich es nicht nach. Was getan war, ist gespeichert. ` +
    `Verspätet ausführen lassen: ${late}; beenden: ${stop}, sonst beendet es die Frist. Warum: ${why}.`,
  ended_by_assessment: ({ request, said, why }) =>
    `${request} ist beendet: Es wurde unterbrochen, und die Prüfung, ob es weitergehen darf, sagte ` +
    `nein${quoted(said)}. Was getan war, bleibt, und nichts davon beginnt noch. ` +
    `Für einen neuen Anfang schick die Anfrage noch einmal. Warum: ${why}.`,
  assessment_unreached: ({ request, detail, stop, why }) =>
    `${request} wurde unterbrochen, und der Modellanbieter, der prüfen soll, ob es weitergehen darf, ` +
    `ist nicht erreichbar (${detail ?? 'ohne Code'}). Solange wird keine Prüfung verbraucht; ich sehe ` +
    `von selbst wieder nach, bis zur Frist. Was getan war, ist gespeichert. Beenden: ${stop}. ` +
    `Warum: ${why}.`,
  assessment_missed: ({ request, attempt, attempts, failure, next, why }) =>
    `Prüfung ${attempt} von ${attempts}, ob ${request} weitergehen darf, ist gescheitert (${failure}). ` +
    `Die nächste ist ${next ?? 'bald'} fällig; vorher geht nichts davon weiter. Warum: ${why}.`,
  assessment_continues: ({ request, why }) =>
    `${request} wurde unterbrochen und darf laut Prüfung weitergehen. Warum: ${why}.`,
  held_legacy: ({ summary }) => summary,
  restart_report: ({ summary, lines }) =>
    [
      ...(summary === '' ? [] : [summary]),
      ...(lines === '' ? [] : [`Der Host wurde neu gestartet. Zu entscheiden ist:\n${lines}`]),
      'Wie es dem Host geht: `/status`.',
    ].join('\n'),
  safe_mode: ({ starts, when }) =>
    `Der Host endete binnen zehn Minuten ${starts}-mal ohne Vorwarnung, darum ist er im abgesicherten ` +
    `Betrieb gestartet: Nachrichten und Befehle werden beantwortet wie immer, aber von selbst beginnt ` +
    `nichts, und verloren ist nichts. Das endet ${when ?? 'nach einer Stunde'} von selbst, wenn der Host ` +
    `bis dahin nicht wieder ohne Vorwarnung endet; ein Admin beendet es jetzt mit ` +
    `\`/safe-mode off\`. Mehr: \`/status\`.`,
  safe_mode_over: () =>
    'Der abgesicherte Betrieb ist vorbei: Was warten musste, beginnt wieder von selbst. ' +
    'Mehr: `/status`.',
};

export const DE_RECOVERY: RecoveryTexts = {
  failures: {
    timeout: ({ time }) => `${time} ohne Antwort`,
    unreached: ({ detail }) => `der Modellanbieter war nicht erreichbar${colon(detail)}`,
    limited: ({ detail }) => `der Modellanbieter ließ keinen Aufruf durch${colon(detail)}`,
    failed: ({ detail }) => `der Modellanbieter gab keine brauchbare Antwort${colon(detail)}`,
    invalid: ({ detail }) => `ihre Antwort war nicht brauchbar${colon(detail)}`,
    reserved: () => 'der Host endete, bevor die Antwort kam',
    continue: () => 'die Aufgabe durfte weitergehen',
  },
  attempts: ({ used, attempts, next }) =>
    `Verbrauchte Prüfungen: ${used} von ${attempts}; die nächste ist ${next ?? 'jetzt'} fällig.`,
  attemptsUsed: ({ used, attempts }) => `Verbrauchte Prüfungen: ${used} von ${attempts}.`,
  assessing: ({ attempt, attempts }) => `Prüfung ${attempt} von ${attempts} läuft gerade.`,
  last: (failure) => `Die letzte: ${failure}.`,
  nothingBefore: 'Vorher geht nichts davon weiter.',
  unreached:
    'Der Modellanbieter, der prüfen soll, ist nicht erreichbar; bis er wieder da ist, wird keine ' +
    'Prüfung verbraucht, und vorher geht nichts davon weiter.',
  safeModeChecks: (when) =>
    `Der abgesicherte Betrieb hält die Prüfung zurück: Sie beginnt, wenn er vorbei ist, ${when} oder ` +
    'später, oder sofort, wenn ein Admin ihn mit `/safe-mode off` beendet.',
  safeModeWaits: (when) =>
    `Der abgesicherte Betrieb ist an: Von selbst geht sie erst weiter, wenn er vorbei ist, ${when} oder ` +
    'später, oder wenn ein Admin ihn mit `/safe-mode off` beendet.',
  checkDecides:
    'Sie wurde unterbrochen, und eine unabhängige Prüfung entscheidet von selbst, ob sie weitergeht.',
  said: (said) => `Was die Prüfung als Grund nannte: ${said}.`,
  orderAt: (when) => `Ausgeführt werden sollte sie ${when}.`,
  was: {
    active: () => 'Vorher wurde an ihr gearbeitet.',
    waiting: (wait) => `Vorher wartete sie${wait === '' ? '' : ` ${wait}`}.`,
    paused: () => 'Vorher war sie pausiert.',
    blocked: () => 'Vorher war sie blockiert.',
  },
  wasAsking: (question) => `Sie hatte gefragt: ${question}`,
  wakes:
    'Ein Admin kann genau diese wecken, in ihrer eigenen Unterhaltung oder am Terminal; sie wird dann ' +
    'zuerst geprüft, und nichts Altes wird wiederholt.',
  outcomes: {
    timeout: ({ time }) => `In ${time} kam keine Antwort.`,
    unreached: ({ detail }) => `Der Modellanbieter war nicht erreichbar${behind(detail)}.`,
    limited: ({ detail }) => `Der Modellanbieter ließ keinen Aufruf durch${behind(detail)}.`,
    failed: ({ detail }) => `Der Modellanbieter gab keine brauchbare Antwort${behind(detail)}.`,
    invalid: ({ detail }) => `Ihre Antwort war nicht brauchbar${behind(detail)}.`,
    reserved: () => 'Der Host endete, bevor die Antwort kam.',
    continue: () => 'Sie sagte, dass die Aufgabe weitergehen darf.',
    end: () => 'Sie sagte, dass die Aufgabe nicht weitergehen soll.',
    inconclusive: () => 'Sie konnte es nicht entscheiden.',
  },
  proofs: {
    input: 'Eine unerledigte Nachricht belegt es.',
    worker: 'Ein Worker von ihr belegt es.',
    resume: 'Ein Admin hat sie geweckt.',
  },
  states: {
    none: 'Ein Durchgang der Aufgabe ist fertig, und ihre Prüfungen zählen neu.',
    needed: 'Ob die Aufgabe weitergeht, sagt eine Prüfung.',
    granted: 'Die Aufgabe darf weitergehen.',
    followed: 'Ein Durchgang der Aufgabe begann nach ihrer Prüfung.',
  },
  summary: ({ held, workersHeld, unsent }) =>
    [
      ...(held === 0 ? [] : [heldTasks(held)]),
      ...(workersHeld === 0 ? [] : [heldWorkers(workersHeld)]),
      ...(unsent === 0 ? [] : [heldMessages(unsent)]),
    ].join('\n'),
  reportLine: ({ request, cause, command }) =>
    `- ${request}: ${cause} ${command === '' ? 'Für einen neuen Anfang schick die Anfrage noch einmal.' : command}`,
  reportUncertain: ({ request, approve, deny }) =>
    `- ${request}: Ob einer ihrer Aufrufe gewirkt hat, ist unbekannt. Bitte prüfen, dann: ${deny} ` +
    `verhindert, dass er noch einmal läuft, ${approve} erlaubt es.`,
  reportMore: (count) => `und ${count} weitere; \`/status\` nennt sie`,
  stands: {
    asking: ({ since }) => `sie wartet seit ${since} auf dich`,
    active: ({ since }) => `sie ist seit ${since} aktiv`,
    waiting: ({ since, wait }) => `sie wartet seit ${since} ${wait}`.trimEnd(),
    paused: ({ since }) => `sie ist seit ${since} pausiert`,
    blocked: ({ since }) => `sie ist seit ${since} blockiert`,
    completed: ({ since }) => `sie ist beendet: erledigt, ${since}`,
    failed: ({ since }) => `sie ist beendet: gescheitert, ${since}`,
    stopped: ({ since }) => `sie ist beendet: angehalten, ${since}`,
    cancelled: ({ since }) => `sie ist beendet: abgebrochen, ${since}`,
    expired: ({ since }) => `sie ist beendet: ihre Frist verstrich, ${since}`,
  },
  workers: {
    not_held: 'Dieser Worker ruht nicht.',
    no_task: 'Zu welcher Aufgabe dieser Worker gehört, weiß niemand.',
    other_mandate: 'Dieser Worker gehört zu einem anderen Auftrag als dem seiner Aufgabe.',
    task_held: 'Die Aufgabe dieses Workers ruht selbst.',
  },
  silent: ({ since }) => `sie steht seit ${since} still, ohne dass ein Grund vermerkt ist`,
};

function heldTasks(count: number): string {
  const found =
    count === 1
      ? '1 ältere Aufgabe gefunden, für deren Fortgang nichts spricht. Sie bleibt, wie sie ist, und ' +
        'läuft nicht von selbst.'
      : `${say(count)} ältere Aufgaben gefunden, für deren Fortgang nichts spricht. Sie bleiben, wie sie ` +
        'sind, und laufen nicht von selbst.';
  return `${found} Liste: \`/tasks held\`. Genau eine wecken: \`/task-resume ID\`.`;
}

function heldWorkers(count: number): string {
  return count === 1
    ? 'Auch 1 Worker ruht und beginnt nicht von selbst.'
    : `Auch ${say(count)} Worker ruhen und beginnen nicht von selbst.`;
}

function heldMessages(count: number): string {
  return count === 1
    ? 'Ob 1 Nachricht vorher gesendet wurde, ist unbekannt; von selbst wird sie nicht noch einmal gesendet.'
    : `Ob ${say(count)} Nachrichten vorher gesendet wurden, ist unbekannt; von selbst werden sie nicht noch ` +
        'einmal gesendet.';
}
