import type { Catalogue, RefusalFacts } from './catalogue.ts';

const nearestOf = (facts: RefusalFacts): string =>
  facts.nearest === undefined ? '' : ` Am nächsten kommt \`${facts.nearest}\`.`;

const ending = (calls: string | null): string =>
  calls === null ? '' : `Noch zu beenden: ${calls}. `;

export const DE: Catalogue = {
  tag: 'de-DE',
  atTime: (time) => `um ${time}`,
  onDay: (day) => `am ${day}`,
  quotes: ['„', '“'],
  notices: {
    interrupted: ({ request, id, tools }) =>
      `${request} wurde unterbrochen: Der Host endete, während er daran arbeitete. ` +
      (tools === null
        ? ''
        : `Ob ${tools} gewirkt hat, ist unbekannt; ich führe es nicht noch einmal aus, ` +
          `bitte prüfen. `) +
      `Was getan war, ist gespeichert, und nichts davon geht von selbst weiter. ` +
      `Beenden: \`/stop ${id}\`; für einen neuen Anlauf schick die Anfrage noch einmal. ` +
      `Warum: \`/why ${id}\`.`,
    stopped: ({ request, id, tools }) =>
      `${request} ist angehalten. ${ending(tools)}` +
      `Was getan war, bleibt, und nichts davon beginnt noch. ` +
      `Für einen neuen Anfang schick die Anfrage noch einmal. Warum: \`/why ${id}\`.`,
    cancelled: ({ request, id, tools }) =>
      `${request} wurde von dem Programm abgebrochen, das es bestellt hatte. ${ending(tools)}` +
      `Was getan war, bleibt, und nichts davon beginnt noch. Warum: \`/why ${id}\`.`,
    no_outcome: ({ request, id }) =>
      `Ich konnte ${request} nicht abschließen: Zweimal hintereinander endete das Modell ohne ` +
      `Antwort. Was getan war, ist gespeichert, und so bleibt es, bis du entscheidest. ` +
      `Beenden: \`/stop ${id}\`; für einen neuen Versuch schick die Anfrage noch einmal. ` +
      `Warum: \`/why ${id}\`.`,
    no_progress: ({ request, id }) =>
      `Ich konnte ${request} nicht abschließen: Das Modell arbeitete, ohne voranzukommen, auch ` +
      `nach einem Hinweis. Was getan war, ist gespeichert, und so bleibt es, bis du ` +
      `entscheidest. Beenden: \`/stop ${id}\`; für einen neuen Versuch schick die Anfrage noch ` +
      `einmal. Warum: \`/why ${id}\`.`,
    model_refused: ({ request, id, detail }) =>
      `${request} ist gescheitert: Der Modellanbieter hat den Aufruf abgelehnt ` +
      `(${detail ?? 'ohne Code'}). Was getan war, bleibt. Ist die Ursache behoben, schick die ` +
      `Anfrage noch einmal. Warum: \`/why ${id}\`.`,
    model_unavailable: ({ request, id, detail }) =>
      `${request} ist gescheitert: Das Modell gab keine brauchbare Antwort ` +
      `(${detail ?? 'ohne Code'}). Was getan war, bleibt. Ist die Ursache behoben, schick die Anfrage ` +
      `noch einmal. Warum: \`/why ${id}\`.`,
  },
  unknownNotice: (code, { request, id }) => `${request}: \`${code}\`. Warum: \`/why ${id}\`.`,
  refusals: {
    not_found: (facts) =>
      `Hier hat nichts ${facts.id === undefined ? 'diese Kennung' : `die Kennung \`${facts.id}\``}.` +
      nearestOf(facts),
    ambiguous_id: (facts) =>
      `${facts.id === undefined ? 'Diese Kennung' : `Die Kennung \`${facts.id}\``} passt auf ` +
      `mehr als eines. Bitte ganz eingeben.${nearestOf(facts)}`,
    forbidden: () => 'Das darf nur, wer es bestellt hat, oder ein Admin.',
    version_conflict: () =>
      'Es hat sich seit dem Lesen geändert, darum ist nichts geschehen. ' +
      'Bitte neu lesen, dann entscheiden.',
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
      `Das geht ${facts.state === undefined ? 'jetzt nicht' : `nicht, solange es ${facts.state} ist`}, ` +
      `darum ist nichts geschehen.${facts.id === undefined ? '' : ` Warum: \`/why ${facts.id}\`.`}`,
    idempotency_conflict: () =>
      'Derselbe Idempotenzschlüssel kam schon mit anderem Inhalt, darum ist nichts geschehen. ' +
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
    assessment: 'auf die Prüfung, ob unterbrochene Arbeit weitergehen darf',
  },
  causes: {
    interrupted: 'Der Host endete, während er daran arbeitete; von selbst geht nichts weiter.',
    no_outcome: 'Zweimal hintereinander endete das Modell ohne Antwort.',
    no_progress: 'Das Modell arbeitete, ohne voranzukommen, auch nach einem Hinweis.',
    stopped_by_person: 'Eine Person hat sie angehalten.',
    cancelled_by_caller: 'Das Programm, das sie bestellt hatte, hat sie abgebrochen.',
    model_refused: 'Der Modellanbieter hat den Aufruf abgelehnt.',
    model_unavailable: 'Das Modell gab keine brauchbare Antwort.',
    answered: 'Ihre Antwort wurde gegeben.',
  },
  who: {
    task_principal_or_admin: 'wer es bestellt hat, oder ein Admin',
    admin: 'ein Admin',
  },
  effects: { stop: 'beendet die Aufgabe; was getan war, bleibt' },
  principals: {
    host: () => 'dem Host',
    model: () => 'dem Modell',
    other: (name) => name,
  },
  turnEnds: {
    answered: 'mit einer Antwort',
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
      `Die Aufgabe ging von ${from} zu ${to} über. ${cause}`.trim(),
    'turn.started': () => 'Ein Durchgang nahm seine Nachrichten auf.',
    'turn.continued': () => 'Der Durchgang nahm eine weitere Nachricht auf.',
    'turn.stopping': ({ by }) =>
      `Der Durchgang wurde von ${by} angehalten; seine laufenden Aufrufe wurden beendet.`,
    'turn.ended': ({ end }) => `Der Durchgang endete ${end}.`.replace('  ', ' '),
    'model.selected': ({ provider, model }) => `Es antwortet das Modell ${provider}/${model}.`,
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
    tasks_held: 'nennt die älteren Aufgaben, die ruhen',
    why: 'sagt, wie eine Aufgabe steht, was dazu führte und was sie ändert',
    status: 'sagt, wie es dem Host geht',
    help: 'zeigt diese Zeilen',
  },
  why: {
    standing: {
      queued: ({ request, id, since }) =>
        `${request} (${id}) wartet seit ${since} darauf, an die Reihe zu kommen.`,
      running: ({ request, id, since }) => `${request} (${id}) läuft seit ${since}.`,
      stopping: ({ request, id, when }) =>
        `${request} (${id}) wurde ${when} beendet; die laufenden Aufrufe werden noch beendet.`,
      waiting: ({ request, id, since, wait }) => `${request} (${id}) wartet seit ${since} ${wait}.`,
      paused: ({ request, id, since }) => `${request} (${id}) ist seit ${since} pausiert.`,
      blocked: ({ request, id, since }) => `${request} (${id}) ist seit ${since} blockiert.`,
      completed: ({ request, id, when }) => `${request} (${id}) wurde ${when} erledigt.`,
      failed: ({ request, id, when }) => `${request} (${id}) ist ${when} gescheitert.`,
      stopped: ({ request, id, when }) => `${request} (${id}) wurde ${when} angehalten.`,
      cancelled: ({ request, id, when }) => `${request} (${id}) wurde ${when} abgebrochen.`,
      expired: ({ request, id, when }) => `${request} (${id}) ist ${when} abgelaufen.`,
    },
    behind: 'Vorher kommt ein anderer Durchgang dieser Unterhaltung.',
    detail: (code) => `Der Code: \`${code}\`.`,
    again: 'Für einen neuen Anfang schick die Anfrage noch einmal.',
    held: 'Es ist eine ältere Aufgabe; sie ruht und läuft nicht von selbst.',
    step: ({ ordinal, tool }) =>
      tool === null
        ? `Schritt ${ordinal}: Das Modell ist gefragt.`
        : `Schritt ${ordinal}: der Aufruf von ${tool}.`,
    question: (question) => `Ihre Frage: ${question}`,
    until: (when) => `Angesehen wird sie wieder ${when}.`,
    uncertain: (tools) =>
      `Ob ${tools} gewirkt hat, ist unbekannt; es wird nicht noch einmal ausgeführt.`,
    left: (facts) =>
      `Übrig: ${facts.turnsLeft} von ${facts.turns} Durchgängen, ` +
      `${facts.tokensLeft} von ${facts.tokens} Token, ` +
      `${facts.costLeft} von ${facts.cost}, ` +
      `${facts.continuationsLeft} von ${facts.continuations} Fortsetzungen, ` +
      `${facts.correctionsLeft} von ${facts.corrections} Korrekturdurchgängen; ` +
      `Prüfungen nach Unterbrechung: ${facts.assessments}; ` +
      `Frist: ${facts.deadline ?? 'keine'}.`,
    used: ({ turns, tokens, cost }) =>
      `Verbraucht: ${tokens} Token (${cost}); Durchgänge: ${turns}.`,
    calls: {
      finished: (tool) => `${tool} wurde aufgerufen und gab sein Ergebnis.`,
      failed: (tool, code) => `${tool} wurde aufgerufen und scheiterte (${code}).`,
      cut: (tool) => `Der Aufruf von ${tool} wurde beendet, bevor er fertig war.`,
      uncertain: (tool) => `Der Aufruf von ${tool} begann; sein Ergebnis ist unbekannt.`,
    },
    earlier: (count) => `Frühere Ereignisse, die hier fehlen: ${count}.`,
    later: 'Es gibt spätere Ereignisse, die hier fehlen.',
    event: (time, sentence) => `${time}: ${sentence}`,
  },
  answers: {
    helpHead: 'Befehle:',
    helpFoot: 'Alles andere, was du schreibst, ist eine Nachricht an den Agenten.',
    usage: (usage) => `Eingegeben wird das als ${usage}. Alle Befehle: \`/help\`.`,
    noTasks: 'In dieser Unterhaltung ist keine Aufgabe offen.',
    noHeldTasks: 'In dieser Unterhaltung ruht keine Aufgabe.',
    noTaskYet: 'Diese Unterhaltung hat noch keine Aufgabe.',
    held: (count) => `Es ruhen: ${count}. Liste: \`/tasks held\`.`,
    more: (count) => `und ${count} weitere`,
    moreThan: (count) => `und mehr als ${count} weitere`,
    taskLine: ({ request, id, state, since }) => `${request}: ${state} seit ${since}. ${id}`,
    waitingFor: (wait) => `wartet ${wait},`,
    queued: 'in der Reihe',
    running: 'läuft',
    commands: 'Was sie ändert:',
    noCommands: 'Kein Befehl ändert sie mehr.',
    commandLine: ({ command, who, effect }) => `${command} (${who}): ${effect}.`,
    host: (state, when) => `Der Host ${state}${when === null ? '' : `; gestartet ${when}`}.`,
    hostReason: (reason) => `Was der Speicher sagte: ${reason}`,
    modelConfigured: (name) => `Modell laut Konfiguration: ${name}.`,
    modelAnswered: (name, when) => `Zuletzt geantwortet hat ${name}, ${when}.`,
    modelSilent: 'Seit dem Start des Hosts hat kein Modell geantwortet.',
    open: (counts) => `Offene Aufgaben: ${counts}.`,
    openNone: 'Keine Aufgabe ist offen.',
    openAtLeast: (counts) => `Offene Aufgaben, mindestens: ${counts}.`,
    openCount: (count, state) => `${count} ${state}`,
    here: (request, id) => `Hier läuft: ${request}. ${id}`,
    droppedMessages: (count) => `Ohne Antwort beiseitegelegt: ${count} wartende Nachrichten.`,
    hereNothing: 'In dieser Unterhaltung läuft nichts.',
  },
  modelCall: 'der Aufruf des Modells',
  andMore: (count) => `${count} weitere`,
};
