import type { AnswerTexts, ReopenedFacts } from '../answer-texts.ts';

/** Wenn der abgesicherte Betrieb die Prüfung zurückhält (R-16). */
const heldBack = (safeMode: string): string =>
  `sobald der abgesicherte Betrieb vorbei ist, ${safeMode} oder später, oder ein Admin ihn mit ` +
  '`/safe-mode off` beendet';

const dueOf = ({ when, safeMode }: Pick<ReopenedFacts, 'when' | 'safeMode'>): string =>
  safeMode === null ? (when ?? 'sofort') : heldBack(safeMode);

export const DE_ANSWERS: AnswerTexts = {
  helpHead: 'Befehle:',
  helpFoot: 'Alles andere, was du schreibst, ist eine Nachricht an den Agenten.',
  usage: (usage) => `Eingegeben wird das als ${usage}. Alle Befehle: \`/help\`.`,
  noTasks: 'In dieser Unterhaltung ist keine Aufgabe offen.',
  noHeldTasks: 'In dieser Unterhaltung ruht keine Aufgabe.',
  noneHeld: 'Es ruht keine Aufgabe.',
  heldMore: (count, next) => `und ${count} weitere: \`${next}\``,
  heldNoPage: (count) =>
    `Es ruhen ${count}, diese Seite gibt es also nicht. Die erste: \`/tasks held\`.`,
  heldWake:
    'Keine davon läuft von selbst. Genau eine weckt ein Admin mit `/task-resume ID` in ihrer eigenen ' +
    'Unterhaltung oder am Terminal.',
  noTaskYet: 'Diese Unterhaltung hat noch keine Aufgabe.',
  held: (count) => `Es ruhen: ${count}. Liste: \`/tasks held\`.`,
  more: (count) => `und ${count} weitere`,
  moreThan: (count) => `und mehr als ${count} weitere`,
  taskLine: ({ request, id, state, since }) => `${request}: ${state} (seit ${since}). ${id}`,
  doingLine: ({ request, id, doing }) => `${request}: ${doing}. ${id}`,
  waitingFor: (wait) => `wartet ${wait}`,
  queued: 'in der Reihe',
  running: 'läuft',
  commands: 'Was das ändert:',
  noCommands: 'Kein Befehl ändert das mehr.',
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
  here: ({ request, id, doing }) => `Hier läuft ${request}: ${doing}. ${id}`,
  stoppedAll: (requests) => `Angehalten: ${requests}.`,
  droppedMessages: (count) => `Wartende Nachrichten, ohne Antwort beiseitegelegt: ${count}.`,
  hereNothing: 'In dieser Unterhaltung läuft nichts.',

  limiter: ({ name, state, until }) =>
    `Der Modellanbieter von ${name} ${state}${until === null ? '' : `; der nächste Blick ist ${until}`}.`,
  limiterStates: {
    open: 'ist nutzbar',
    limited: 'lässt nur wenige Aufrufe durch',
    down: 'beantwortet keine Aufrufe',
    unreached: 'ist nicht erreichbar',
    refused: 'lehnt den Schlüssel oder das Konto ab',
  },
  safeMode: ({ since, until }) =>
    `Seit ${since} ist der abgesicherte Betrieb an: Bis ${until} beginnt nichts von selbst, ` +
    'und länger, wenn der Host vorher wieder ohne Vorwarnung endet. Ein Admin beendet ihn mit ' +
    '`/safe-mode off`.',
  decisions: 'Zu entscheiden ist:',
  interrupted: ({ count, now, until = null }) =>
    `Unterbrochene Aufgaben, über die eine Prüfung entscheidet: ${count}` +
    (now === null ? '' : `; gerade geprüft: ${now}`) +
    (until === null ? '.' : `; der abgesicherte Betrieb hält die Prüfungen bis ${until} zurück.`),
  heldEverywhere: (count) => `Ältere Aufgaben, die ruhen: ${count}. Hier: \`/tasks held\`.`,
  heldSince: (was) => (was === null ? 'ruht.' : `ruht; vorher: ${was}.`),
  clockDistrusted: ({ drift, when }) =>
    `Der Uhr wird nicht getraut: Sie geht gegenüber dem, was der Host gezählt hat, ${drift}. ` +
    `Bis ${when} läuft nichts ab und beginnt nichts von selbst. Stimmt sie so, wie sie steht: ` +
    '`/clock confirm`.',
  storeLogLarge: (size) =>
    `Das Protokoll des Speichers ist auf ${size} gewachsen, weil etwas den Speicher zum Lesen offen ` +
    'hält. Verloren ist nichts, und nichts wartet darauf; beende, was liest, etwa eine begonnene Kopie.',
  storeDiskFull: () =>
    'Die Platte des Speichers ist voll. Neues wird abgelehnt, Angenommenes bleibt erhalten; bitte ' +
    'Platz schaffen, dann geht es von selbst weiter.',

  newSession: ({ retained }) =>
    'Eine neue Sitzung beginnt: Das Modell sieht nicht mehr, was vorher gesagt wurde; gelöscht ' +
    `ist nichts.\n${retained === '' ? 'Sonst ist nichts offen.' : `Was bleibt:\n${retained}`}`,
  retainedApproval: ({ tool, request, id, when }) =>
    `die Freigabe von ${tool} für ${request}; ohne Antwort gilt sie ${when} als abgelehnt. ${id}`,
  setAside: (count) =>
    `Nachrichten, die noch niemand aufgenommen hatte, sind ohne Antwort beiseitegelegt: ${count}.`,

  modelInUse: ({ name, price }) => `Das Modell dieser Unterhaltung ist ${name} (${price}).`,
  prices: {
    free: 'kostenlos',
    'costs-money': 'kostet Geld',
    unpriced: 'sein Preis ist nicht bekannt, seine Kosten werden nicht gezählt',
  },
  rates: ({ input, output }) => `${input} je Million Token hinein, ${output} heraus`,
  modelChoice: ({ name, price }) => `- ${name} (${price})`,
  modelChoices: (list) => `Modelle zur Wahl mit \`/model NAME\`:\n${list}`,
  modelSet: (name) =>
    `Ab ihrem nächsten Schritt nutzt diese Unterhaltung ${name}. Was vorher gesagt wurde, bleibt in ihrer Sitzung.`,

  contextHead: ({ used, window, name }) =>
    `Die nächste Anfrage braucht etwa ${used} der ${window} Token, die ${name} sehen kann:`,
  contextParts: {
    instructions: 'die Anweisungen',
    tools: 'die Beschreibungen der Werkzeuge',
    summary: 'die Zusammenfassung von Älterem',
    facts: 'was der Host selbst wiederholt, offene Arbeit und was gelten soll',
    history: 'was vorher gesagt und getan wurde, Wort für Wort',
    reserve: 'frei gehalten für die Antwort',
    free: 'frei',
  },
  contextLine: (part, tokens) => `- ${part}: ${tokens}`,
  contextOver:
    'Das ist mehr, als eine Anfrage fasst: Bevor der nächste Durchgang weitergeht, wird Platz geschaffen, und wo ' +
    'keiner zu schaffen ist, ruht die Unterhaltung.',
  contextTurns: (part, turns) => `${part} (Durchgänge: ${turns})`,

  usageDay: ({ day, tokens, cost, calls }) =>
    `${day}: ${tokens} Token, ${cost}; Aufrufe von Modellen: ${calls}.`,
  usageModel: ({ name, tokens, cost, calls }) =>
    `- ${name}: ${tokens} Token, ${cost}; Aufrufe: ${calls}.`,
  usageTask: ({ request, id, tokens, cost, calls }) =>
    `- ${request}: ${tokens} Token, ${cost}; Aufrufe: ${calls}. ${id}`,
  usageTasks: 'Nach Aufgaben, die größten zuerst:',
  usageOwn: 'Deine Aufgaben in dieser Unterhaltung, die neuesten zuerst:',
  usageOwnTask: ({ request, id, tokens, cost }) => `- ${request}: ${tokens} Token, ${cost}. ${id}`,
  usageNone: (day) => `${day}: nichts verbraucht.`,
  usageUnpriced: (count) =>
    `Aufrufe, deren Preis nicht bekannt ist, so dass ihre Kosten nicht gezählt werden: ${count}.`,

  approved: ({ tool, request }) =>
    `Freigegeben: ${tool} für ${request} läuft einmal, genau wie gezeigt.`,
  approvedForLater: ({ tool, request }) =>
    `Freigegeben: ${tool} für ${request} wird aufgehoben und läuft einmal, genau wie gezeigt, ` +
    'sobald die Aufgabe weitergeht.',
  approvedForInterrupted: ({ tool, request, stop }) =>
    `Freigegeben: ${tool} für ${request} wird aufgehoben und läuft einmal, genau wie gezeigt, ` +
    `wenn eine unabhängige Prüfung die Aufgabe weitergehen lässt. Beenden: ${stop}.`,
  denied: ({ tool, request }) => `Abgelehnt: ${tool} für ${request} läuft nicht.`,
  deniedAgain: ({ tool, request }) =>
    `Abgelehnt: ${tool} für ${request} läuft nicht noch einmal. Ob es vorher lief, ist unbekannt.`,
  resumed: (request) =>
    `${request} geht mit einem neuen Durchgang von dem aus weiter, was gespeichert ist.`,
  enrolled: ({ request, deadline, ...due }) =>
    `${request} gehört wieder zur laufenden Arbeit. Erst wird geprüft, ob es weitergeht, ` +
    `${dueOf(due)}. Nichts Altes wird wiederholt; Budgets und Frist (${deadline ?? 'keine'}) ` +
    'sind wie zuvor.',
  enrolledSpent: ({ request, reset }) =>
    `${request} gehört wieder zur laufenden Arbeit, aber alle Prüfungen sind verbraucht, darum geht ` +
    `nichts davon weiter. Ein Admin lässt neu prüfen mit ${reset}.`,
  reassessed: ({ request, deadline, ...due }) =>
    `Ob ${request} weitergeht, wird neu geprüft: ${dueOf(due)}. Nichts Altes wird wiederholt; ` +
    `Budgets und Frist (${deadline ?? 'keine'}) sind wie zuvor.`,
  budgetReset: ({ request, when, deadline, safeMode }) =>
    `Ob ${request} weitergeht, darf noch dreimal geprüft werden; die nächste Prüfung ist ` +
    `${safeMode === null ? `${when ?? 'sofort'} fällig` : `fällig, ${heldBack(safeMode)}`}. Nichts Altes wird wiederholt; Budgets und Frist ` +
    `(${deadline ?? 'keine'}) sind wie zuvor.`,
  resumedLate: (request) =>
    `${request} wird verspätet ausgeführt, mit einem neuen Durchgang. Budgets und Frist sind wie zuvor.`,
  paused: (request) => `${request} ist pausiert: Was getan war, bleibt, und nichts davon läuft.`,
  extended: ({ request, left }) => `${request} hat mehr zur Verfügung. ${left}`,
  clockConfirmed: 'Der Uhr wird wieder getraut: Was inzwischen fällig war, geschieht jetzt.',
  safeModeEnded:
    'Der abgesicherte Betrieb ist vorbei: Was warten musste, beginnt wieder von selbst.',
  repeatedOrder:
    'Diese Anordnung wurde schon ausgeführt; es ist nichts noch einmal geschehen. Sie ergab:',
};
