import type { RefusalFacts } from '../catalogue.ts';
import type {
  MaintenanceEvents,
  MaintenanceNotices,
  MaintenanceRefusals,
} from '../en/maintenance.ts';
import type { MaintenanceTexts, SessionTexts } from '../maintenance-texts.ts';

const brackets = (text: string | null): string => (text === null ? '' : ` (${text})`);

const PAUSED = 'Diese Unterhaltung ruht';
const KEPT = 'Es ist nichts verloren, neue Nachrichten bleiben erhalten.';

const howOf = ({ id }: RefusalFacts): string =>
  id?.startsWith('mop_') === true ? ` Wie es steht: \`/why ${id}\`.` : '';

/** The notices about the upkeep of a conversation's context. */
export const DE_MAINTENANCE_NOTICES: MaintenanceNotices = {
  maintenance_waiting: ({ fault, nextTime }) =>
    `Ich schaffe gerade Platz in dieser Unterhaltung, der letzte Schritt ist gescheitert${brackets(fault)}. ` +
    `Ich versuche es von selbst wieder${nextTime === null ? '' : `, zuletzt geplant für ${nextTime}`}. ` +
    `Deine Nachrichten bleiben und werden der Reihe nach beantwortet.`,
  maintenance_exhausted: ({ fault, isSame, times, admit }) =>
    `${PAUSED}: Platz zu schaffen ist ${times} hintereinander gescheitert` +
    `${brackets(fault === null ? null : `${isSame ? 'jedes Mal' : 'zuletzt'}: ${fault}`)}. ${KEPT} ` +
    `Ist die Ursache behoben, lässt ein Admin sie mit ${admit} weitergehen.`,
  maintenance_uncertain: ({ fault, step, isReconciled, admit, handover }) =>
    `${PAUSED}: ${step} sollte Platz schaffen und hat kein sicheres Ende${brackets(fault)}. ` +
    `Ob das gewirkt hat, ist unbekannt, darum wiederhole ich es nicht von selbst. ${KEPT} ` +
    (isReconciled
      ? `Ohne das zu wiederholen, lässt ein Admin sie in einer nächsten Sitzung weitergehen mit ${handover}; `
      : `Ein Admin lässt sie weitergehen mit ${admit}, und zuerst wird nachgesehen, wie weit es kam; `) +
    `aufgeben und eine neue Sitzung beginnen: \`/new\`.`,
  maintenance_too_large: ({ sizes, ends, admit }) =>
    `${PAUSED}: Was in jeder Anfrage stehen muss, passt nicht in das, was das Modell auf einmal sieht ` +
    `(${sizes.window} Token). Die Anweisungen brauchen ${sizes.instructions}, die Werkzeuge ` +
    `${sizes.tools}, die Zusammenfassung und was daneben wiederholt wird ${sizes.seed}, die neuesten ` +
    `Worte ${sizes.message}, und ${sizes.reserve} bleiben frei für die Antwort. ${KEPT} Es hilft ein Modell mit größerem Fenster, ` +
    `kürzere Anweisungen, weniger Werkzeuge oder eine kürzere Nachricht` +
    `${ends === null ? '' : ` (${ends} beendet die Aufgabe, zu der diese Worte gehören)`}. Danach lässt ein Admin sie ` +
    `weitergehen mit ${admit}; aufgeben und eine neue Sitzung beginnen: \`/new\`.`,
  maintenance_over: ({ why }) =>
    `In dieser Unterhaltung ist wieder Platz, und die Arbeit geht weiter: Was aufgehoben war, wird der ` +
    `Reihe nach beantwortet. Wie es verlief: ${why}.`,
  maintenance_kept: ({ paused, why }) =>
    `Deine Nachricht ist aufgehoben und noch nicht beantwortet, denn diese Unterhaltung ruht` +
    `${brackets(paused === '' ? null : paused)}. Sie kommt an die Reihe, sobald ein Admin die Unterhaltung ` +
    `weitergehen lässt. Wie: ${why}.`,
};

export const DE_MAINTENANCE_REFUSALS: MaintenanceRefusals = {
  not_blocked: (facts) =>
    `${facts.id === undefined ? 'Das' : `\`${facts.id}\``} ist nicht blockiert` +
    `${facts.state === undefined ? '' : ` (es ${facts.state})`}, darum ist nichts geschehen.${howOf(facts)}`,
  handover_only: (facts) =>
    'Das Kürzen der Sitzung hat kein sicheres Ende und wird nicht wiederholt, darum ist nichts ' +
    'geschehen. Ein Admin lässt die Unterhaltung in einer nächsten Sitzung weitergehen mit ' +
    `\`/admit ${facts.id ?? 'ID'} handover\`.`,
  no_handover: (facts) =>
    'Nur das Kürzen einer Sitzung ohne sicheres Ende geht als Übergabe weiter, darum ist nichts ' +
    `geschehen. Ein Admin lässt dies weitergehen mit \`/admit ${facts.id ?? 'ID'}\`.`,
  fenced: (facts) =>
    `In dieser Unterhaltung wird noch Platz geschaffen, darum ist nichts geschehen. Das aufgeben und ` +
    `eine neue Sitzung beginnen darf nur ${facts.who ?? 'ein Admin'}; Nachrichten bleiben ` +
    `erhalten.${howOf(facts)}`,
};

export const DE_MAINTENANCE_EVENTS: MaintenanceEvents = {
  'operation.started': ({ outcome }) =>
    `Es begann, dass in der Unterhaltung Platz geschaffen wird. ${outcome}`.trimEnd(),
  'operation.reserved': ({ step, attempt }) => `Versuch ${attempt} begann: ${step}.`,
  'operation.moved': ({ outcome }) => outcome,
  'operation.admitted': ({ by, step }) =>
    `Es darf weitergehen, mit bis zu sieben weiteren Fehlschlägen; das kam von ${by}. Der Schritt: ${step}.`,
  'conversation.fence': ({ outcome }) => outcome,
  'session.compacted': () =>
    'Der ältere Teil der Sitzung wurde zusammengefasst; was gesagt wurde, bleibt gespeichert.',
  'session.archived': () => 'Die Sitzung wurde mit der nächsten verbunden.',
  'session.seeded': () => 'Die nächste Sitzung bekam die Zusammenfassung.',
  'notice.prepared': ({ code }) =>
    `Eine Mitteilung wurde vorbereitet und geht hinaus, wenn es nicht bald vorbei ist (\`${code}\`).`,
  'notice.withdrawn': () =>
    'Die vorbereitete Mitteilung wurde zurückgezogen: Es war vorher vorbei.',
  'run.told': () => 'Dem Lauf wurde eine Mitteilung seiner Unterhaltung gesagt.',
};

export const DE_MAINTENANCE: MaintenanceTexts = {
  faults: {
    disk_io: () => 'Platte: Ein-/Ausgabefehler',
    disk_full: () => 'Platte: kein Platz mehr',
    disk_readonly: () => 'Platte: nur lesbar',
    disk_denied: () => 'Platte: kein Zugriff',
    summary_empty: () => 'die Zusammenfassung war leer',
    summary_long: () => 'die Zusammenfassung war zu lang',
    summary_unusable: ({ detail }) => `die Zusammenfassung war nicht brauchbar: ${detail}`,
    other_session: () => 'die Zusammenfassung war von einer anderen Sitzung',
    interrupted: () => 'der Host endete, bevor der Schritt fertig war',
    too_long: () => 'es passte noch nicht in das, was das Modell sieht',
    other: ({ detail }) => detail,
  },
  times: (failures) => (failures === 7 ? 'siebenmal' : `${failures}-mal`),
  steps: {
    compact: 'das Kürzen der Sitzung',
    summarise: 'das Zusammenfassen der Sitzung',
    'archive-link': 'das Verbinden der Sitzung mit der nächsten',
    rotate: 'der Wechsel in die nächste Sitzung',
    seed: 'die Weitergabe der Zusammenfassung an die nächste Sitzung',
  },
  states: {
    running: 'läuft',
    waiting: 'wartet und wird von selbst wieder versucht',
    blocked: 'ist blockiert',
    done: 'ist fertig',
    dropped: 'wurde aufgegeben',
  },
  reasons: {
    exhausted: 'Platz zu schaffen ist siebenmal hintereinander gescheitert',
    uncertain: 'ob ein Schritt beim Schaffen von Platz gewirkt hat, ist unbekannt',
    base_too_large:
      'was in jeder Anfrage stehen muss, passt nicht in das, was das Modell auf einmal sieht',
  },
  occasions: {
    usage: 'Was das Modell auf einmal sieht, war fast voll.',
    steps: 'Die Sitzung hatte sehr viele Schritte.',
    full: 'Die nächste Anfrage passte nicht in das, was das Modell auf einmal sieht.',
    too_long: 'Der Modellanbieter sagte, die Anfrage sei zu lang.',
  },
  fences: {
    none: 'Die Unterhaltung geht weiter wie immer.',
    shut: 'Bis Platz ist, beginnt in der Unterhaltung kein Durchgang.',
    blocked: 'Die Unterhaltung ruht, bis ein Admin sie weitergehen lässt.',
    passed: 'In der Unterhaltung beginnen wieder Durchgänge.',
  },
  standing: {
    running: ({ id, conversation, began }) =>
      `In der Unterhaltung ${conversation} wird Platz geschaffen (${id}); das begann ${began} und läuft.`,
    waiting: ({ id, conversation, began, since }) =>
      `In der Unterhaltung ${conversation} wird Platz geschaffen (${id}); das begann ${began} und wartet ` +
      `seit ${since} auf den nächsten Versuch.`,
    blocked: ({ id, conversation, began, since }) =>
      `In der Unterhaltung ${conversation} sollte Platz geschaffen werden (${id}); das begann ${began} ` +
      `und ist seit ${since} blockiert.`,
    done: ({ id, conversation, began, when }) =>
      `In der Unterhaltung ${conversation} wurde Platz geschaffen (${id}); das begann ${began} und war ` +
      `${when} fertig.`,
    dropped: ({ id, conversation, began, when }) =>
      `In der Unterhaltung ${conversation} sollte Platz geschaffen werden (${id}); das begann ${began} ` +
      `und wurde ${when} aufgegeben.`,
  },
  compacts: (session) =>
    `Es geht um die Sitzung ${session}: der ältere Teil zusammengefasst, der neueste Wort für Wort erhalten.`,
  handsOver: ({ session, next }) =>
    `Es geht um die Sitzung ${session}: zusammengefasst, und gefolgt von einer nächsten${next === null ? '' : `, ${next}`}.`,
  step: (step) => `Der Schritt: ${step}.`,
  trying: (since) => `Das wird seit ${since} versucht.`,
  because: (reason) => `Warum blockiert: ${reason}.`,
  sizes: ({ window, reserve, instructions, tools, seed, message }) =>
    `Token: Das Modell sieht ${window}, davon bleiben ${reserve} frei für die Antwort; die Anweisungen ` +
    `brauchen ${instructions}, die Werkzeuge ${tools}, die Zusammenfassung und was daneben wiederholt ` +
    `wird ${seed}, die neuesten Worte ${message}.`,
  failures: ({ failures, max, lifetime, attempts }) =>
    `Fehlschläge hintereinander: ${failures} von ${max}; insgesamt: ${lifetime}; Versuche insgesamt: ${attempts}.`,
  last: (fault) => `Was der letzte sagte: ${fault}.`,
  next: (when) => `Es wird von selbst wieder versucht, ${when ?? 'jetzt'}.`,
  quota: 'Gewartet wird auf das Kontingent des Modellanbieters; das ist kein Fehlschlag.',
  kept: (count) =>
    'Von der Unterhaltung ist nichts verloren; solange beginnt in ihr kein Durchgang, und Nachrichten ' +
    `bleiben und werden der Reihe nach beantwortet${count === null ? '' : ` (bisher aufgehoben: ${count})`}.`,
  used: ({ tokens, cost }) => `Verbraucht: ${tokens} Token (${cost}).`,
  noCommand: 'Es braucht keinen Befehl: Es geht von selbst weiter.',
  failed: ({ fault, failures, max }) =>
    `Ein Schritt ist gescheitert${fault === '' ? '' : ` (${fault})`}; Fehlschläge hintereinander: ` +
    `${failures} von ${max}.`,
  waits: 'Es wartet auf den nächsten Versuch.',
  goesOn: (step) => `Es ging weiter: ${step}.`,
  blocked: (reason) => `Es wurde blockiert${reason === '' ? '' : `: ${reason}`}.`,
  done: 'Es war fertig: In der Unterhaltung ist wieder Platz.',
  dropped: 'Es wurde aufgegeben.',
  nextSession: 'Die nächste Sitzung begann.',
  admitted: (step) =>
    `In der Unterhaltung wird weiter Platz geschaffen (${step}), mit bis zu sieben weiteren ` +
    'Fehlschlägen. Was aufgehoben ist, wird danach der Reihe nach beantwortet.',
  admittedHandover:
    'In der Unterhaltung wird durch eine Übergabe Platz geschaffen: Was in der Sitzung steht, wird ' +
    'zusammengefasst und geht in einer nächsten weiter, und was kein sicheres Ende hat, wird nicht ' +
    'wiederholt. Was aufgehoben ist, wird danach der Reihe nach beantwortet.',
  givenUp:
    'In der Sitzung davor wird kein Platz mehr geschaffen; was aufgehoben war, wird in dieser beantwortet.',
  here: {
    shut: ({ why }) =>
      'In dieser Unterhaltung wird Platz geschaffen; Nachrichten bleiben und werden danach der Reihe nach ' +
      `beantwortet. Wie es steht: ${why}.`,
    blocked: ({ reason, why }) =>
      `${PAUSED}${reason === '' ? '' : `: ${reason}`}. Nachrichten bleiben erhalten. Was es ändert: ${why}.`,
  },
  everywhere: ({ running, waiting, blocked }) =>
    `Unterhaltungen, in denen Platz geschaffen wird: ${running}; die auf den nächsten Versuch warten: ` +
    `${waiting}; die ruhen, bis ein Admin sie weitergehen lässt: ${blocked}.`,
  decision: ({ conversation, reason, command }) =>
    `- Die Unterhaltung ${conversation} ruht: ${reason}. ${command}`,
  fenced: {
    shut: (why) =>
      `In ihrer Unterhaltung wird Platz geschaffen, und vorher beginnt kein Durchgang von ihr: ${why}.`,
    blocked: (why) =>
      `Ihre Unterhaltung ruht, und bevor ein Admin sie weitergehen lässt, beginnt kein Durchgang: ${why}.`,
  },
};

export const DE_SESSIONS: SessionTexts = {
  line: ({ id, began, ended, links }) =>
    `${id}: begann ${began}, ${ended === null ? 'in Gebrauch' : `endete ${ended}`}.${links === '' ? '' : ` ${links}`}`,
  previous: (id) => `Sie geht weiter von ${id}.`,
  next: (id) => `Sie geht weiter in ${id}.`,
  more: 'Was eine von ihnen enthält: `/session ID`.',
  compactions: (count) =>
    `Wie oft sie gekürzt wurde: ${count}. Was gesagt wurde, bleibt Wort für Wort gespeichert.`,
  summary: (text) => `Die Zusammenfassung, die für das Ältere steht: ${text}`,
  noSummary: 'Nichts davon ist zusammengefasst: Das Modell sieht es Wort für Wort.',
  conditions: 'Was fortan gelten soll, wie es gesagt wurde:',
  last: 'Was zuletzt gesagt wurde:',
  nothingSaid: 'Gesagt wurde darin nichts.',
  said: (who, text) => `- ${who}: ${text}`,
  agent: 'der Agent',
};
