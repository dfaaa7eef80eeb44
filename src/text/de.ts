import type { Catalogue, RefusalFacts } from './catalogue.ts';
import { DE_ANSWERS } from './de/answers.ts';
import {
  DE_MAINTENANCE,
  DE_MAINTENANCE_EVENTS,
  DE_MAINTENANCE_REFUSALS,
  DE_SESSIONS,
} from './de/maintenance.ts';
import { DE_NOTICES } from './de/notices.ts';
import { DE_RECOVERY } from './de/recovery.ts';
import { DE_WHY } from './de/why.ts';

const nearestOf = (facts: RefusalFacts): string =>
  facts.nearest === undefined ? '' : ` Am nächsten kommt \`${facts.nearest}\`.`;

const whyOf = ({ id }: RefusalFacts): string =>
  id?.startsWith('task_') === true ? ` Warum: \`/why ${id}\`.` : '';

const wayOf = ({ way, isReply = false }: RefusalFacts): string =>
  (isReply ? ' Eine Antwort lässt sie weitergehen.' : '') +
  (way === undefined ? '' : ` Möglich ist: \`${way}\`.`);

export const DE: Catalogue = {
  tag: 'de-DE',
  atTime: (time) => `um ${time}`,
  onDay: (day) => `am ${day}`,
  quotes: ['„', '“'],
  notices: DE_NOTICES,
  unknownNotice: (code, { request, why }) => `${request}: \`${code}\`. Warum: ${why}.`,
  refusals: {
    not_found: (facts) =>
      `Hier hat nichts ${facts.id === undefined ? 'diese Kennung' : `die Kennung \`${facts.id}\``}.` +
      nearestOf(facts),
    ambiguous_id: (facts) =>
      `${facts.id === undefined ? 'Diese Kennung' : `Die Kennung \`${facts.id}\``} passt auf ` +
      `mehr als eines. Bitte ganz eingeben${facts.nearest === undefined ? '.' : `: \`${facts.nearest}\`.`}`,
    forbidden: ({ who }) => `Das darf nur ${who ?? 'der, der es bestellt hat, oder ein Admin'}.`,
    version_conflict: ({ id }) =>
      'Es hat sich seit dem Lesen geändert, darum ist nichts geschehen. ' +
      'Bitte neu lesen, dann entscheiden.' +
      (id?.startsWith('mop_') === true ? ` Wie es steht: \`/why ${id}\`.` : ''),
    receipt_used: () =>
      'Diese Quittung wurde schon für etwas anderes benutzt, darum ist nichts geschehen. ' +
      'Bitte eine neue nehmen.',
    run_ended: () =>
      'Dieser Lauf ist beendet und nimmt keine Nachricht mehr an. Bitte einen neuen beginnen.',
    task_ended: (facts) =>
      `Diese Aufgabe ist beendet${facts.state === undefined ? '' : ` (${facts.state})`} und ` +
      `bleibt es. Für einen neuen Anfang schick die Anfrage noch einmal.`,
    nothing_to_stop: () =>
      'In dieser Unterhaltung läuft nichts und ist nichts offen. `/tasks` nennt die Aufgaben.',
    not_allowed_now: (facts) =>
      facts.cause !== undefined
        ? `${facts.cause} Darum ist nichts geschehen.${wayOf(facts)}${whyOf(facts)}`
        : `Das geht ${facts.state === undefined ? 'jetzt nicht' : `nicht, solange es ${facts.state} ist`}, ` +
          `darum ist nichts geschehen.${wayOf(facts)}` +
          (facts.id === undefined ? '' : ` Warum: \`/why ${facts.id}\`.`),
    not_here: ({ id }) =>
      'Eine ruhende Aufgabe wird in ihrer eigenen Unterhaltung oder am Terminal geweckt, deshalb ' +
      'wurde nichts getan.' +
      (id === undefined ? '' : ` Warum: \`/why ${id}\`.`),
    approval_closed: (facts) =>
      `Diese Freigabe ist geschlossen${facts.state === undefined ? '' : ` (${facts.state})`}, ` +
      `darum ist nichts geschehen.${wayOf(facts)}`,
    approver_other: () =>
      'Diese Freigabe muss jemand anderes beantworten als der, der es bestellt hat, darum ist ' +
      'nichts geschehen.',
    not_budget_blocked: (facts) =>
      'Diese Aufgabe ist nicht durch ein verbrauchtes Prüfbudget blockiert' +
      `${facts.standing === undefined ? '' : ` (${facts.standing})`}.` +
      (facts.isAsking === true ? ' Antworte einfach.' : wayOf(facts)) +
      (facts.hasEnded === true ? ' Für einen neuen Anfang schick die Anfrage noch einmal.' : ''),
    deadline_passed: (facts) =>
      `Die Frist dieser Aufgabe ist${facts.when === undefined ? '' : ` ${facts.when}`} verstrichen, ` +
      `darum ist nichts geschehen.` +
      (facts.way === undefined
        ? ' Für einen neuen Anfang schick die Anfrage noch einmal.'
        : wayOf(facts)),
    budget_exhausted: (facts) =>
      (facts.limit === undefined
        ? 'Ein Budget dieser Aufgabe ist verbraucht'
        : `Diese Aufgabe hat verbraucht, was an ${facts.limit} gewährt war`) +
      ', darum ist nichts geschehen.' +
      (facts.way === undefined
        ? ` Ein Admin gewährt mehr mit \`/extend ${facts.taskId ?? facts.id ?? 'ID'} turns=+10\` oder was sonst verbraucht ist.`
        : wayOf(facts)),
    conversation_busy: () =>
      'In der Unterhaltung dieser Aufgabe läuft ein Durchgang, darum ist nichts geschehen. Bitte noch ' +
      'einmal, wenn er beendet ist; `/stop` beendet ihn dort sofort.',
    not_a_task: (facts) =>
      `${facts.id === undefined ? 'Diese Kennung' : `Die Kennung \`${facts.id}\``} ist keine einer ` +
      'Aufgabe, darum ist nichts geschehen. `/tasks` nennt die Aufgaben.',
    ...DE_MAINTENANCE_REFUSALS,
    no_safe_mode: () => 'Der abgesicherte Betrieb ist nicht an, darum ist nichts geschehen.',
    still_exhausted: (facts) =>
      `Auch damit wäre mehr verbraucht als gewährt, darum ist nichts geschehen.${wayOf(facts)}`,
    unknown_model: (facts) =>
      `Kein konfiguriertes Modell heißt ${facts.word === undefined ? 'so' : `\`${facts.word}\``}.` +
      `${nearestOf(facts)} Alle: \`/model\`.`,
    clock_trusted: () => 'Der Uhr wird schon getraut, darum ist nichts geschehen.',
    idempotency_conflict: () =>
      'Derselbe Idempotenzschlüssel kam schon mit einer anderen Anfrage, darum ist nichts geschehen. ' +
      'Bitte für eine neue Anfrage einen neuen nehmen.',
    unknown_command: (facts) =>
      `Es gibt keinen Befehl${facts.word === undefined ? ' dieses Namens' : ` \`/${facts.word}\``}.` +
      `${nearestOf(facts)} Alle: \`/help\`.`,
    draining: () =>
      'Der Host fährt herunter und nimmt nichts Neues an. Bitte noch einmal schicken, wenn er ' +
      'wieder da ist.',
    store_failed: () =>
      'Der Speicher ist ausgefallen; es wurde nichts gespeichert, und der Host endet. ' +
      'Wer ihn betreibt, findet die Ursache im Protokoll.',
    disk_full: () =>
      'Die Platte des Speichers ist voll, es wurde nichts gespeichert. ' +
      'Bitte Platz schaffen, dann noch einmal schicken.',
  },
  states: {
    active: 'aktiv',
    waiting: 'wartend',
    paused: 'pausiert',
    blocked: 'blockiert',
    completed: 'erledigt',
    failed: 'gescheitert',
    stopped: 'angehalten',
    cancelled: 'abgebrochen',
    expired: 'abgelaufen',
  },
  waits: {
    instant: 'auf den Zeitpunkt, den sie sich gesetzt hat',
    worker: 'auf einen Worker',
    answer: 'auf deine Antwort',
    approval: 'auf eine Freigabe',
    quota: 'auf das Kontingent des Modellanbieters',
    provider: 'auf den Modellanbieter',
    assessment: 'auf die Prüfung nach einer Unterbrechung',
  },
  causes: {
    interrupted:
      'Der Host endete, während er daran arbeitete; eine unabhängige Prüfung entscheidet, ob sie ' +
      'weitergeht.',
    awaits_instant: 'Sie hat sich den Zeitpunkt gesetzt, zu dem sie weitergeht.',
    awaits_answer: 'Sie hat eine Frage gestellt.',
    awaits_approval: 'Einer ihrer Aufrufe braucht die Freigabe einer Person.',
    awaits_quota: 'Das Kontingent des Modellanbieters ist vorerst verbraucht.',
    awaits_provider:
      'Der Modellanbieter gab keine brauchbare Antwort; er wird von selbst wieder gefragt.',
    paused: 'Eine Person hat sie beiseitegelegt.',
    wait_elapsed: 'Die Zeit für das, worauf sie wartete, ist um.',
    no_outcome: 'Zweimal hintereinander endete das Modell ohne Antwort.',
    no_progress: 'Das Modell arbeitete, ohne voranzukommen, auch nach einem Hinweis.',
    quota: 'Das Kontingent des Modellanbieters kam nicht rechtzeitig zurück.',
    budget_exhausted: 'Eines ihrer Budgets ist verbraucht.',
    base_too_large: 'Sie passt nicht in das, was das Modell auf einmal sieht.',
    recovery_assessment_failed:
      'Die Prüfung, ob unterbrochene Arbeit weitergehen darf, ist dreimal gescheitert.',
    recovery_no_progress:
      'Die Prüfung ließ sie weitergehen, aber sie wurde wieder unterbrochen, bevor ein Durchgang ' +
      'fertig war, und alle drei Prüfungen sind verbraucht.',
    recovery_inconclusive:
      'Die Prüfung, ob unterbrochene Arbeit weitergehen darf, konnte es nicht entscheiden.',
    order_late: 'Der Zeitpunkt, zu dem sie ausgeführt werden sollte, ist vorbei.',
    held_legacy:
      'Es ist eine ältere Aufgabe, für deren Fortgang nichts spricht; sie bleibt, wie sie war, und ' +
      'läuft nicht von selbst.',
    ended_by_assessment:
      'Sie wurde unterbrochen, und die Prüfung, ob sie weitergehen darf, sagte nein.',
    stopped_by_person: 'Eine Person hat sie angehalten.',
    cancelled_by_caller: 'Das Programm, das sie bestellt hatte, hat sie abgebrochen.',
    deadline_passed: 'Ihre Frist ist verstrichen.',
    model_refused: 'Der Modellanbieter hat den Aufruf abgelehnt.',
    model_unavailable: 'Das Modell gab keine brauchbare Antwort.',
    answered: 'Ihre Antwort wurde gegeben.',
  },
  absences: {
    due: 'Ihr Zeitpunkt kam, als kein Host lief; eine unabhängige Prüfung entscheidet, ob sie weitergeht.',
    wait:
      'Der Host endete ohne Vorwarnung, während sie wartete; eine unabhängige Prüfung entscheidet, ob ' +
      'sie weitergeht.',
    void:
      'Sie durfte weitergehen, aber kein Durchgang begann rechtzeitig; es wird neu geprüft, ob sie ' +
      'weitergeht.',
  },
  mends: {
    key: 'Es hilft ein gültiger Schlüssel für diesen Anbieter in der Konfiguration und ein neuer Start des Hosts.',
    balance: 'Es hilft Guthaben auf dem Konto bei diesem Anbieter.',
    rights: 'Es hilft ein Schlüssel, der dieses Modell benutzen darf, oder ein anderes Modell.',
    name: 'Es hilft der richtige Name des Modells in der Konfiguration und ein neuer Start des Hosts.',
  },
  approvals: {
    open: 'offen',
    approved: 'freigegeben',
    denied: 'abgelehnt',
    expired: 'abgelaufen',
  },
  limits: {
    turns: 'Durchgängen',
    tokens: 'Token',
    costUsd: 'Geld',
    continuations: 'Fortsetzungen hintereinander',
    budget: 'Budget',
  },
  shown: {
    folder: (path) => `im Ordner ${path}`,
    environment: (names) => `mit den Umgebungsvariablen ${names}`,
    file: (path) => `mit der Datei ${path}, wie sie jetzt ist`,
    missingFile: (path) => `mit der Datei ${path}, die es jetzt nicht gibt`,
  },
  drift: { ahead: (time) => `${time} vor`, behind: (time) => `${time} nach` },
  who: {
    task_principal_or_admin: 'wer es bestellt hat, oder ein Admin',
    admin: 'ein Admin',
    other_admin: 'ein anderer Admin als der, der gefragt hat',
    person: 'wer hier schreiben darf',
  },
  effects: {
    stop: 'beendet die Aufgabe; was getan war, bleibt',
    pause: 'legt die Aufgabe beiseite, bis sie fortgesetzt wird',
    resume: 'lässt die Aufgabe mit einem neuen Durchgang weitergehen',
    late: 'führt die Aufgabe verspätet aus',
    enrol: 'weckt genau diese Aufgabe; eine Prüfung entscheidet dann, ob sie weitergeht',
    reopen: 'lässt neu prüfen, bis zu dreimal, ob die Aufgabe weitergehen darf',
    extend: 'gewährt der Aufgabe mehr, und sie geht weiter',
    approve: 'lässt genau den gezeigten Aufruf laufen, einmal',
    approve_again:
      'lässt genau den gezeigten Aufruf noch einmal laufen, wenn die Aufgabe weitergeht',
    deny_again: 'lässt den Aufruf nicht noch einmal laufen',
    deny: 'lehnt den Aufruf ab, und die Aufgabe geht ohne ihn weiter',
    safe_mode_off:
      'beendet den abgesicherten Betrieb; was warten musste, beginnt wieder von selbst',
    fresh: 'beginnt eine neue Sitzung, in der die Aufgabe von ihrer Anfrage an neu anfängt',
    admit: 'lässt die Unterhaltung weitergehen, mit bis zu sieben weiteren Fehlschlägen',
    handover:
      'lässt die Unterhaltung in einer nächsten Sitzung weitergehen, ohne zu wiederholen, was kein sicheres Ende hat',
    drop: 'gibt es auf und beginnt eine neue Sitzung, in der beantwortet wird, was aufgehoben ist',
  },
  principals: {
    host: () => 'dem Host',
    model: () => 'dem Modell',
    other: (name) => name,
  },
  turnEnds: {
    answered: 'mit einer Antwort',
    waited: 'mit Warten',
    continued: 'so, dass ein weiterer Durchgang weitermacht',
    parked: 'an der Grenze eines Schritts, und was getan war, ist gespeichert',
    yielded: 'an der Grenze eines Schritts, wegen einer neuen Nachricht',
    blocked: 'bevor mehr verbraucht war, als die Aufgabe darf',
    failed: 'mit einem Fehler',
    invalid: 'ohne Antwort',
    stopped: 'durch einen Stopp',
    interrupted: 'durch eine Unterbrechung: Der Host endete, bevor er fertig war',
  },
  hostStates: {
    starting: 'startet',
    ready: 'ist bereit',
    draining: 'fährt herunter',
    failed: 'ist ausgefallen',
    stopped: 'ist beendet',
  },
  events: {
    'conversation.created': () => 'Die Unterhaltung begann.',
    'message.accepted': ({ by }) => `Eine Nachricht von ${by} wurde angenommen.`,
    'command.answered': () => 'Ein Befehl wurde beantwortet.',
    'task.created': ({ by, to }) => `Die Aufgabe wurde für ${by} angelegt; sie war ${to}.`,
    'task.moved': ({ from, to, cause }) =>
      `${from === to ? `Die Aufgabe blieb ${to}` : `Die Aufgabe ging von ${from} zu ${to} über`}. ${cause}`.trim(),
    'task.noted': ({ note }) => `Die Aufgabe hat notiert, wie weit sie ist: ${note}.`,
    'task.continued': () => 'Die Aufgabe geht von selbst in einem weiteren Durchgang weiter.',
    'task.extended': ({ by }) => `Der Aufgabe wurde von ${by} mehr gewährt.`,
    'task.held': ({ was }) => `Die Aufgabe wurde als ältere beiseitegelegt. ${was}`.trim(),
    'task.enrolled': ({ outcome }) => `Die Aufgabe gehört zur laufenden Arbeit. ${outcome}`.trim(),
    'worker.enrolled': ({ by }) => `Ein ruhender Worker der Aufgabe wurde von ${by} geweckt.`,
    'assessment.reserved': ({ attempt, attempts }) =>
      `Prüfung ${attempt} von ${attempts}, ob die Aufgabe weitergehen darf, begann.`,
    'assessment.ended': ({ attempt, attempts, outcome, note }) =>
      `Prüfung ${attempt} von ${attempts} endete. ${outcome}` +
      (note === '' ? '' : ` Ihr Grund: ${note}.`),
    'recovery.state': ({ outcome }) => outcome,
    'recovery.reset': ({ by }) => `Drei weitere Prüfungen wurden von ${by} gewährt.`,
    'turn.started': () => 'Ein Durchgang nahm seine Nachrichten auf.',
    'turn.continued': () => 'Der Durchgang nahm eine weitere Nachricht auf.',
    'turn.stopping': ({ by }) =>
      `Der Durchgang wurde von ${by} angehalten; seine laufenden Aufrufe wurden beendet.`,
    'turn.ended': ({ end }) => `Der Durchgang endete ${end}.`.replace('  ', ' '),
    'model.selected': ({ provider, model }) => `Es antwortet das Modell ${provider}/${model}.`,
    'model.retried': ({ provider, model, code }) =>
      `Ein Aufruf des Modells scheiterte (\`${code}\`); der nächste Versuch geht an ${provider}/${model}.`,
    'approval.asked': ({ tool, approvalId }) =>
      `Ein Aufruf von ${tool} wartet auf die Freigabe einer Person (${approvalId}).`,
    'approval.decided': ({ by, approvalId, decision }) =>
      `Die Freigabe ${approvalId} ist ${decision}; das kam von ${by}.`,
    'session.started': ({ by, outcome }) =>
      outcome === '' ? `Eine neue Sitzung wurde von ${by} begonnen.` : outcome,
    'conversation.model': ({ by, model }) => `Das Modell ${model} wurde von ${by} gewählt.`,
    ...DE_MAINTENANCE_EVENTS,
    'run.queued': ({ by }) => `Ein Lauf wurde von ${by} bestellt.`,
    'run.started': () => 'Der Lauf wurde aufgenommen.',
    'run.completed': () => 'Der Lauf endete mit einer Antwort.',
    'run.failed': ({ code }) => `Der Lauf endete ohne Antwort (\`${code}\`).`,
    'run.cancelled': () => 'Der Lauf wurde abgebrochen.',
    'reply.queued': () => 'Eine Antwort wurde gegeben.',
    'notice.queued': ({ code }) => `Eine Mitteilung wurde gegeben (\`${code}\`).`,
  },
  help: {
    stop: 'hält an, was hier läuft, sonst die neueste offene Aufgabe',
    stop_all: 'hält jede offene Aufgabe dieser Unterhaltung an',
    stop_id: 'hält genau diese Aufgabe an',
    tasks: 'nennt die offenen Aufgaben dieser Unterhaltung',
    tasks_held: 'nennt die älteren Aufgaben, die ruhen, Seite für Seite',
    why: 'sagt, wie eine Aufgabe oder Operation steht, was dazu führte und was das ändert',
    status: 'sagt, wie es dem Host geht',
    new: 'beginnt eine neue Sitzung und sagt, was bleibt (solange Platz geschaffen wird: ein Admin)',
    reset: 'tut dasselbe wie `/new`',
    model: 'sagt, welches Modell diese Unterhaltung nutzt, was es kostet und welche es sonst gibt',
    model_name: 'wählt das Modell dieser Unterhaltung (ein Admin)',
    context: 'sagt, was das Fenster des Modells füllt, nach Teilen',
    usage: 'sagt, was an Token und Geld verbraucht wurde, nach Aufgabe und Tag',
    pause: 'legt diese Aufgabe beiseite, bis sie fortgesetzt wird',
    extend: 'gibt dieser Aufgabe mehr von den Budgets, die er nennt (ein Admin)',
    task_resume:
      'lässt diese Aufgabe mit einem neuen Durchgang weitergehen; eine ruhende oder unentschiedene wird erst geprüft (ein Admin)',
    task_resume_late: 'führt verspätet aus, was zu einem vergangenen Zeitpunkt geschehen sollte',
    budget_reset:
      'lässt eine unterbrochene Aufgabe neu prüfen, deren drei Prüfungen verbraucht sind (ein Admin)',
    approve: 'lässt genau den gezeigten Aufruf laufen, einmal',
    deny: 'lehnt den gezeigten Aufruf ab',
    admit: 'lässt eine ruhende Unterhaltung weitergehen (ein Admin)',
    admit_handover:
      'dasselbe in einer nächsten Sitzung, wo das Kürzen der alten kein sicheres Ende hat (ein Admin)',
    session: 'nennt die Sitzungen dieser Unterhaltung',
    session_id:
      'sagt, was eine Sitzung enthält: wann sie war, ihre Zusammenfassung, was zuletzt gesagt wurde',
    clock_confirm: 'sagt, dass die Uhr der Maschine so stimmt, wie sie steht (ein Admin)',
    safe_mode_off: 'lässt den Host wieder von selbst Arbeit beginnen (ein Admin)',
    help: 'zeigt diese Zeilen',
  },
  why: DE_WHY,
  recovery: DE_RECOVERY,
  maintenance: DE_MAINTENANCE,
  sessions: DE_SESSIONS,
  answers: DE_ANSWERS,
  modelCall: 'der Aufruf des Modells',
  someCall: 'ein Aufruf',
  andMore: (count) => `${count} weitere`,
};
