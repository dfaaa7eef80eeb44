import type { Catalogue } from '../catalogue.ts';

const ending = (calls: string | null): string =>
  calls === null ? '' : `Noch zu beenden: ${calls}. `;

export const DE_NOTICES: Catalogue['notices'] = {
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
};
