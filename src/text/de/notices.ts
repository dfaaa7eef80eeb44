import type { Catalogue } from '../catalogue.ts';
import { DE_MAINTENANCE_NOTICES } from './maintenance.ts';
import { DE_RECOVERY_NOTICES } from './recovery.ts';

const ending = (calls: string | null): string =>
  calls === null ? '' : `Noch zu beenden: ${calls}. `;

/** The call as a block of its own, between the sentences around it. */
const block = (shown: string): string => (shown === '' ? ' ' : `\n${shown}\n`);

const SAVED = 'Was getan war, ist gespeichert, und so bleibt es, bis du entscheidest.';

const reply = (id: string): string =>
  `Auch eine Antwort hierauf oder eine Nachricht, die \`${id}\` nennt, lässt es weitergehen.`;

const INTERRUPTIONS = {
  turn: 'Der Host endete, während er daran arbeitete',
  due: 'Der Zeitpunkt dafür kam, als kein Host lief',
  wait: 'Der Host endete ohne Vorwarnung, während es wartete',
  void: 'Es durfte weitergehen, aber kein Durchgang begann rechtzeitig',
} as const;

const to = (model: string | null): string => (model === null ? '' : ` an ${model}`);

export const DE_NOTICES: Catalogue['notices'] = {
  interrupted: ({ request, tools, absent, stop, why }) =>
    `${request} wurde unterbrochen: ${INTERRUPTIONS[absent ?? 'turn']}. ` +
    (tools === null
      ? ''
      : `Ob ${tools} gewirkt hat, ist unbekannt; ich führe es nicht noch einmal aus, ` +
        `bitte prüfen. `) +
    `Was getan war, ist gespeichert, und eine unabhängige Prüfung entscheidet, ob es weitergeht. ` +
    `Beenden: ${stop}. Warum: ${why}.`,
  awaits_instant: ({ request, when, stop, pause, why }) =>
    `${request} wartet und geht ${when ?? 'zu dem Zeitpunkt, der dafür gesetzt ist,'} von selbst ` +
    `weiter, wenn der Host bis dahin läuft. Was getan war, ist gespeichert. Beenden: ${stop}; ` +
    `beiseitelegen: ${pause}. Warum: ${why}.`,
  awaits_approval: ({ request, tool, shown, isOther, when, ...ways }) =>
    `${request} braucht deine Freigabe, bevor ${tool} läuft. Davon ist noch nichts gelaufen:` +
    block(shown) +
    `Genau das einmal laufen lassen: ${ways.approve}; ablehnen: ${ways.deny}. ` +
    (isOther ? 'Antworten muss jemand anderes als der, der es bestellt hat. ' : '') +
    (when === null ? '' : `Ohne Antwort gilt es ${when} als abgelehnt. `) +
    `Die Aufgabe beenden: ${ways.stop}; beiseitelegen: ${ways.pause}. Warum: ${ways.why}.`,
  awaits_quota: ({ request, detail, when, stop, pause, why }) =>
    `${request} wartet auf das Kontingent des Modellanbieters (${detail ?? 'ohne Code'})` +
    `${when === null ? '' : `, das ${when} wieder da sein soll`}. ` +
    `Was getan war, ist gespeichert, und von dort geht es dann von selbst weiter, wenn der Host bis dahin läuft. ` +
    `Beenden: ${stop}; beiseitelegen: ${pause}. Warum: ${why}.`,
  awaits_provider: ({ request, detail, model, help, stop, pause, why }) =>
    `${request} wartet auf den Modellanbieter, der auf Aufrufe${to(model)} keine brauchbare Antwort gibt ` +
    `(${detail ?? 'ohne Code'}). ${help}Was getan war, ist gespeichert. Ich sehe von selbst wieder nach, ` +
    `und es geht von dort weiter, sobald der Anbieter antwortet, wenn die Frist es zulässt. ` +
    `Beenden: ${stop}; beiseitelegen: ${pause}. Warum: ${why}.`,
  goes_on: ({ request, why }) =>
    `${request} geht von dem aus weiter, was gespeichert war. Warum: ${why}.`,
  paused: ({ request, id, resume, stop, why }) =>
    `${request} ist pausiert. Was getan war, bleibt, und solange läuft nichts davon. ` +
    `Weitergehen lassen: ${resume}. ${reply(id)} Beenden: ${stop}. Warum: ${why}.`,
  wait_elapsed: ({ request, id, wait, resume, stop, why }) =>
    `${request} hat${wait === null ? '' : ` ${wait}`} gewartet, und die Zeit dafür ist um. ${SAVED} ` +
    `Auch so weitergehen lassen: ${resume}. ${reply(id)} Beenden: ${stop}. Warum: ${why}.`,
  no_outcome: ({ request, id, resume, stop, why }) =>
    `Ich konnte ${request} nicht abschließen: Zweimal hintereinander endete das Modell ohne ` +
    `Antwort. ${SAVED} ` +
    `Noch einmal versuchen lassen: ${resume}. ${reply(id)} Beenden: ${stop}. Warum: ${why}.`,
  no_progress: ({ request, id, resume, stop, why }) =>
    `Ich konnte ${request} nicht abschließen: Das Modell arbeitete, ohne voranzukommen, auch ` +
    `nach einem Hinweis. ${SAVED} ` +
    `Noch einmal versuchen lassen: ${resume}. ${reply(id)} Beenden: ${stop}. Warum: ${why}.`,
  quota: ({ request, id, detail, resume, stop, why }) =>
    `Ich warte mit ${request} nicht weiter: Das Kontingent des Modellanbieters ` +
    `${detail === 'deadline' ? 'kommt erst nach der Frist zurück' : 'war jedes Mal, wenn es zurückkam, gleich wieder verbraucht'}. ` +
    `${SAVED} Noch einmal versuchen lassen: ${resume}. ${reply(id)} Beenden: ${stop}. ` +
    `Warum: ${why}.`,
  budget_exhausted: ({ request, limit, extend, stop, why }) =>
    `${request} hat verbraucht, was an ${limit} gewährt war. Was getan war, ist gespeichert, die ` +
    `Frist ist unverändert. Ein Admin gewährt mehr mit ${extend}. ` +
    `Beenden: ${stop}. Warum: ${why}.`,
  base_too_large: ({ request, window, base, message, stop, why }) =>
    `${request} passt nicht in das, was das Modell auf einmal sieht (${window} Token): ` +
    `Anweisungen und Werkzeuge brauchen ${base}, die neuesten Worte ${message}. Es ist nichts ` +
    `verloren. Kürze die Anweisungen oder konfiguriere ein Modell mit größerem Fenster; dann ` +
    `beginnt \`/new\` eine neue Sitzung, in der es von der Anfrage an neu anfängt. ` +
    `Beenden: ${stop}. Warum: ${why}.`,
  stopped: ({ request, tools, why }) =>
    `${request} ist angehalten. ${ending(tools)}` +
    `Was getan war, bleibt, und nichts davon beginnt noch. ` +
    `Für einen neuen Anfang schick die Anfrage noch einmal. Warum: ${why}.`,
  cancelled: ({ request, tools, why }) =>
    `${request} wurde von dem Programm abgebrochen, das es bestellt hatte. ${ending(tools)}` +
    `Was getan war, bleibt, und nichts davon beginnt noch. Warum: ${why}.`,
  deadline_passed: ({ request, tools, why }) =>
    `Für ${request} ist die Zeit um: Die Frist ist verstrichen. ${ending(tools)}` +
    `Was getan war, bleibt, und nichts davon beginnt noch. ` +
    `Für einen neuen Anfang schick die Anfrage noch einmal. Warum: ${why}.`,
  model_refused: ({ request, detail, model, help, why }) =>
    `${request} ist gescheitert: Der Modellanbieter hat den Aufruf${to(model)} abgelehnt ` +
    `(${detail ?? 'ohne Code'}). ${help}Was getan war, bleibt. Ist die Ursache behoben, schick die ` +
    `Anfrage noch einmal. Warum: ${why}.`,
  model_unavailable: ({ request, detail, why }) =>
    `${request} ist gescheitert: Das Modell gab keine brauchbare Antwort ` +
    `(${detail ?? 'ohne Code'}). Was getan war, bleibt. Ist die Ursache behoben, schick die Anfrage ` +
    `noch einmal. Warum: ${why}.`,
  uncertain_effect: ({ request, id, tool, shown, when, isInterrupted, approve, deny, why }) =>
    `Während ${request} lief, endete der Host zwischen dem Start von ${tool} und dessen Ergebnis. ` +
    `Ich führe es nicht von selbst noch einmal aus. Bitte prüfen, dann ${approve} oder sag mir, was ` +
    `geschehen ist.` +
    (shown === '' ? ' ' : ` Laufen würde das:${block(shown)}`) +
    `Es läuft einmal, genau so, wenn die Aufgabe weitergeht` +
    (isInterrupted ? '; darüber entscheidet eine unabhängige Prüfung' : '') +
    `. Nicht laufen lassen: ${deny}. ` +
    `Sagen kannst du es mir in einer Antwort hierauf oder einer Nachricht, die \`${id}\` nennt. ` +
    `${when === null ? '' : `Das Angebot, es laufen zu lassen, endet ${when}. `}Warum: ${why}.`,
  kept: ({ request, cause, why }) =>
    `Deine Nachricht ist für ${request} aufgehoben; der nächste Durchgang liest sie. ` +
    `${cause === '' ? '' : `Warum nicht jetzt: ${cause} `}Wie es weitergeht: ${why}.`,
  kept_for_interrupted: ({ request, stop, why }) =>
    `Deine Nachricht ist für ${request} aufgehoben. Das wurde unterbrochen: Eine unabhängige Prüfung ` +
    `entscheidet, ob es weitergeht, und der nächste Durchgang liest sie dann. Beenden: ${stop}. ` +
    `Warum: ${why}.`,
  ...DE_RECOVERY_NOTICES,
  ...DE_MAINTENANCE_NOTICES,
  clock_distrusted: ({ drift }) =>
    `Die Uhr der Maschine geht gegenüber dem, was ich gezählt habe, ${drift}, darum traue ich ihr ` +
    `vorerst nicht. Nachrichten werden beantwortet wie immer, aber für höchstens zehn Minuten ` +
    `läuft nichts ab und beginnt nichts von selbst. Stimmt die Uhr so, wie sie steht, sagt das ` +
    `ein Admin mit \`/clock confirm\`. Mehr: \`/status\`.`,
  clock_trusted: () =>
    'Ich traue der Uhr der Maschine wieder. Was inzwischen fällig war, geschieht jetzt. ' +
    'Mehr: `/status`.',
};
