import type { WhyTexts } from '../why-texts.ts';

export const DE_WHY: WhyTexts = {
  standing: {
    queued: ({ request, id, since }) =>
      `${request} (${id}) wartet seit ${since} darauf, an die Reihe zu kommen.`,
    running: ({ request, id, since }) => `${request} (${id}) läuft seit ${since}.`,
    cut: ({ request, id, when }) =>
      `An ${request} (${id}) wurde gearbeitet, als der Host ohne Vorwarnung endete; dieser Durchgang ` +
      `begann ${when}. Der nächste Start des Hosts lässt prüfen, ob sie weitergeht; vorher läuft nichts davon.`,
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
  step: (ordinal, doing) => `Schritt ${ordinal}: ${doing}.`,
  doing: {
    tool: ({ tool, since }) => `seit ${since} in ${tool}`,
    model: ({ when, calls, callsMax }) =>
      `das Modell wurde ${when} gefragt und hat noch nicht geantwortet` +
      (calls === '1' ? '' : `; das ist Aufruf ${calls} von höchstens ${callsMax}`),
    retry: ({ code, calls, callsMax, next }) =>
      `das Modell gab keine brauchbare Antwort (\`${code}\`); Aufrufe bisher: ${calls} von höchstens ` +
      `${callsMax}, der nächste geht ${next} hinaus`,
    pause: ({ code, next }) =>
      `sein Anbieter versagte zuletzt (\`${code}\`) und wird ${next} wieder angerufen`,
    between: (when) =>
      when === null
        ? 'noch hat kein Schritt begonnen'
        : `der letzte Schritt endete ${when}, und kein weiterer hat begonnen`,
    cut: (when) => `ein Durchgang begann ${when}, und sein Host endete, bevor der fertig war`,
  },
  question: (question) => `Ihre Frage: ${question}`,
  until: {
    instant: (when) => `Sie geht ${when} weiter.`,
    worker: (when) => `Angesehen wird sie wieder ${when}.`,
    answer: (when) => `Ohne Antwort ist sie ${when} blockiert.`,
    approval: (when) => `Ohne Antwort gilt der Aufruf ${when} als abgelehnt.`,
    quota: (when) => `Sie geht ${when} von selbst weiter.`,
    provider: (when) => `Das Warten endet ${when}.`,
    assessment: (when) => `Angesehen wird sie wieder ${when}.`,
  },
  approval: ({ tool, shown, id }) => `Sie möchte ${tool} laufen lassen (${id}): ${shown}.`,
  approvalAgain: ({ tool, shown, id }) =>
    `Offen ist, ob ${tool} noch einmal laufen darf; eine Antwort wird aufgehoben, bis die Aufgabe ` +
    `weitergeht (${id}): ${shown}.`,
  approvalKept: ({ tool, shown, id }) =>
    `Freigegeben ist, dass ${tool} läuft (${id}); das wird aufgehoben und läuft einmal, genau wie ` +
    `gezeigt, wenn die Aufgabe weitergeht: ${shown}.`,
  exhausted: (limit) => `Verbraucht ist, was an ${limit} gewährt war.`,
  checkpoint: (note) => `Was sie zu ihrem Stand notiert hat: ${note}.`,
  answerIt: 'Antworte einfach.',
  reply: (id) =>
    `Auch eine Antwort auf ihre Mitteilung oder eine Nachricht, die \`${id}\` nennt, lässt sie weitergehen.`,
  uncertain: (tools) =>
    `Ob ${tools} gewirkt hat, ist unbekannt; von selbst wird es nicht noch einmal ausgeführt.`,
  left: (facts) =>
    `Übrig: ${facts.turnsLeft} von ${facts.turns} Durchgängen, ` +
    `${facts.tokensLeft} von ${facts.tokens} Token, ` +
    `${facts.costLeft} von ${facts.cost}, ` +
    `${facts.continuationsLeft} von ${facts.continuations} Fortsetzungen, ` +
    `${facts.correctionsLeft} von ${facts.corrections} Korrekturdurchgängen, ` +
    `${facts.assessmentsLeft} von ${facts.assessments} Prüfungen nach einer Unterbrechung ` +
    `(bisher gemacht: ${facts.assessmentsMade}); ` +
    `Frist: ${facts.deadline ?? 'keine'}.`,
  used: ({ turns, tokens, cost }) => `Verbraucht: ${tokens} Token (${cost}); Durchgänge: ${turns}.`,
  calls: {
    asked: (tool) =>
      `${tool} wurde erbeten und musste auf Freigabe warten; gelaufen ist davon da nichts.`,
    finished: (tool) => `${tool} wurde aufgerufen und gab sein Ergebnis.`,
    failed: (tool, code) => `${tool} wurde aufgerufen und scheiterte (${code}).`,
    cut: (tool) => `Der Aufruf von ${tool} wurde beendet, bevor er fertig war.`,
    uncertain: (tool) => `Der Aufruf von ${tool} begann; sein Ergebnis ist unbekannt.`,
  },
  earlier: (count) => `Frühere Ereignisse, die hier fehlen: ${count}.`,
  later: 'Es gibt spätere Ereignisse, die hier fehlen.',
  event: (time, sentence) => `${time}: ${sentence}`,
};
