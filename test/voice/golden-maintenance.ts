// What each notice about the upkeep of a conversation says, word by word.
import type { NoticeCode } from '../../src/text/catalogue.ts';
import { AT, ID } from './golden.ts';

export const OPERATION = 'mop_3H8D0V5B7N2K6PQA';

/** Code, parameters beside the operation, and what is said in English and in German. */
export const GOLDEN_MAINTENANCE: readonly (readonly [
  code: NoticeCode,
  more: object,
  en: string,
  de: string,
])[] = [
  [
    'maintenance_waiting',
    { code: 'eio', said: 'EIO: i/o error, write', nextAt: AT + 35_000 },
    `… I am making room in this conversation and the last step failed (disk: input/output error). I will try again by myself, next at 14:02:40. Your messages are kept and will be answered in order.`,
    `… Ich schaffe gerade Platz in dieser Unterhaltung, der letzte Schritt ist gescheitert (Platte: Ein-/Ausgabefehler). Ich versuche es von selbst wieder, zuletzt geplant für 14:02:40. Deine Nachrichten bleiben und werden der Reihe nach beantwortet.`,
  ],
  [
    'maintenance_waiting',
    { code: 'http_429', said: 'slow down', nextAt: AT + 86_400_000 },
    `… I am making room in this conversation and the last step failed (the model provider let no call through: http_429, “slow down”). I will try again by myself, next on Sat 15 Nov, 14:02:05. Your messages are kept and will be answered in order.`,
    `… Ich schaffe gerade Platz in dieser Unterhaltung, der letzte Schritt ist gescheitert (der Modellanbieter ließ keinen Aufruf durch: http_429, „slow down“). Ich versuche es von selbst wieder, zuletzt geplant für Sa., 15. Nov., 14:02:05. Deine Nachrichten bleiben und werden der Reihe nach beantwortet.`,
  ],
  [
    'maintenance_waiting',
    {},
    `… I am making room in this conversation and the last step failed. I will try again by myself, soon. Your messages are kept and will be answered in order.`,
    `… Ich schaffe gerade Platz in dieser Unterhaltung, der letzte Schritt ist gescheitert. Ich versuche es von selbst wieder. Deine Nachrichten bleiben und werden der Reihe nach beantwortet.`,
  ],
  [
    'maintenance_exhausted',
    { code: 'eio', said: 'x', failures: 7, isSame: true, kind: 'compact', step: 'compact' },
    `■ This conversation is paused: making room in it failed seven times in a row (each time: disk: input/output error). Nothing is lost and new messages are kept. When the cause is mended, an admin can let it go on with \`/admit ${OPERATION}\`.`,
    `■ Diese Unterhaltung ruht: Platz zu schaffen ist siebenmal hintereinander gescheitert (jedes Mal: Platte: Ein-/Ausgabefehler). Es ist nichts verloren, neue Nachrichten bleiben erhalten. Ist die Ursache behoben, lässt ein Admin sie mit \`/admit ${OPERATION}\` weitergehen.`,
  ],
  [
    'maintenance_exhausted',
    { code: 'http_500', said: 'overloaded', failures: 7, isSame: false },
    `■ This conversation is paused: making room in it failed seven times in a row (last: the model provider gave no usable answer: http_500, “overloaded”). Nothing is lost and new messages are kept. When the cause is mended, an admin can let it go on with \`/admit ${OPERATION}\`.`,
    `■ Diese Unterhaltung ruht: Platz zu schaffen ist siebenmal hintereinander gescheitert (zuletzt: der Modellanbieter gab keine brauchbare Antwort: http_500, „overloaded“). Es ist nichts verloren, neue Nachrichten bleiben erhalten. Ist die Ursache behoben, lässt ein Admin sie mit \`/admit ${OPERATION}\` weitergehen.`,
  ],
  [
    'maintenance_exhausted',
    { failures: 9 },
    `■ This conversation is paused: making room in it failed 9 times in a row. Nothing is lost and new messages are kept. When the cause is mended, an admin can let it go on with \`/admit ${OPERATION}\`.`,
    `■ Diese Unterhaltung ruht: Platz zu schaffen ist 9-mal hintereinander gescheitert. Es ist nichts verloren, neue Nachrichten bleiben erhalten. Ist die Ursache behoben, lässt ein Admin sie mit \`/admit ${OPERATION}\` weitergehen.`,
  ],
  [
    'maintenance_exhausted',
    { code: 'timeout', said: '', failures: 7, isSame: true },
    `■ This conversation is paused: making room in it failed seven times in a row (each time: no answer in 120 s). Nothing is lost and new messages are kept. When the cause is mended, an admin can let it go on with \`/admit ${OPERATION}\`.`,
    `■ Diese Unterhaltung ruht: Platz zu schaffen ist siebenmal hintereinander gescheitert (jedes Mal: 120 s ohne Antwort). Es ist nichts verloren, neue Nachrichten bleiben erhalten. Ist die Ursache behoben, lässt ein Admin sie mit \`/admit ${OPERATION}\` weitergehen.`,
  ],
  [
    'maintenance_exhausted',
    { code: 'interrupted', said: '', failures: 7, isSame: false },
    `■ This conversation is paused: making room in it failed seven times in a row (last: the host ended before the step was done). Nothing is lost and new messages are kept. When the cause is mended, an admin can let it go on with \`/admit ${OPERATION}\`.`,
    `■ Diese Unterhaltung ruht: Platz zu schaffen ist siebenmal hintereinander gescheitert (zuletzt: der Host endete, bevor der Schritt fertig war). Es ist nichts verloren, neue Nachrichten bleiben erhalten. Ist die Ursache behoben, lässt ein Admin sie mit \`/admit ${OPERATION}\` weitergehen.`,
  ],
  [
    'maintenance_exhausted',
    { code: 'summary_empty', said: '', failures: 7, isSame: true },
    `■ This conversation is paused: making room in it failed seven times in a row (each time: the summary was empty). Nothing is lost and new messages are kept. When the cause is mended, an admin can let it go on with \`/admit ${OPERATION}\`.`,
    `■ Diese Unterhaltung ruht: Platz zu schaffen ist siebenmal hintereinander gescheitert (jedes Mal: die Zusammenfassung war leer). Es ist nichts verloren, neue Nachrichten bleiben erhalten. Ist die Ursache behoben, lässt ein Admin sie mit \`/admit ${OPERATION}\` weitergehen.`,
  ],
  [
    'maintenance_exhausted',
    { code: 'too_long', said: '', failures: 7, isSame: true },
    `■ This conversation is paused: making room in it failed seven times in a row (each time: it still did not fit what the model can see). Nothing is lost and new messages are kept. When the cause is mended, an admin can let it go on with \`/admit ${OPERATION}\`.`,
    `■ Diese Unterhaltung ruht: Platz zu schaffen ist siebenmal hintereinander gescheitert (jedes Mal: es passte noch nicht in das, was das Modell sieht). Es ist nichts verloren, neue Nachrichten bleiben erhalten. Ist die Ursache behoben, lässt ein Admin sie mit \`/admit ${OPERATION}\` weitergehen.`,
  ],
  [
    'maintenance_uncertain',
    { code: 'interrupted', kind: 'compact', step: 'compact' },
    `■ This conversation is paused: shortening the session to make room in it came to no sure end (the host ended before the step was done). Whether it took effect is unknown, so I do not repeat it by myself. Nothing is lost and new messages are kept. An admin can let it go on in a following session, without repeating that, with \`/admit ${OPERATION} handover\`; to give it up and begin a fresh session: \`/new\`.`,
    `■ Diese Unterhaltung ruht: das Kürzen der Sitzung sollte Platz schaffen und hat kein sicheres Ende (der Host endete, bevor der Schritt fertig war). Ob das gewirkt hat, ist unbekannt, darum wiederhole ich es nicht von selbst. Es ist nichts verloren, neue Nachrichten bleiben erhalten. Ohne das zu wiederholen, lässt ein Admin sie in einer nächsten Sitzung weitergehen mit \`/admit ${OPERATION} handover\`; aufgeben und eine neue Sitzung beginnen: \`/new\`.`,
  ],
  [
    'maintenance_uncertain',
    { code: 'ECONNRESET', said: 'socket hang up', kind: 'handover', step: 'rotate' },
    `■ This conversation is paused: moving to the next session to make room in it came to no sure end (ECONNRESET, “socket hang up”). Whether it took effect is unknown, so I do not repeat it by myself. Nothing is lost and new messages are kept. An admin can let it go on with \`/admit ${OPERATION}\`, and it is first looked at how far it came; to give it up and begin a fresh session: \`/new\`.`,
    `■ Diese Unterhaltung ruht: der Wechsel in die nächste Sitzung sollte Platz schaffen und hat kein sicheres Ende (ECONNRESET, „socket hang up“). Ob das gewirkt hat, ist unbekannt, darum wiederhole ich es nicht von selbst. Es ist nichts verloren, neue Nachrichten bleiben erhalten. Ein Admin lässt sie weitergehen mit \`/admit ${OPERATION}\`, und zuerst wird nachgesehen, wie weit es kam; aufgeben und eine neue Sitzung beginnen: \`/new\`.`,
  ],
  [
    'maintenance_too_large',
    { window: 8192, reserve: 1639, instructions: 5200, tools: 1900, seed: 400, message: 2400 },
    `■ This conversation is paused: what every request has to hold does not fit what the model can see at once (8,192 tokens). The instructions take 5,200, the tools 1,900, the summary and what is restated beside it 400, the newest words 2,400, and 1,639 are kept free for the answer. Nothing is lost and new messages are kept. What helps is a model with a larger window, shorter instructions, fewer tools or a shorter message. After that an admin can let it go on with \`/admit ${OPERATION}\`; to give it up and begin a fresh session: \`/new\`.`,
    `■ Diese Unterhaltung ruht: Was in jeder Anfrage stehen muss, passt nicht in das, was das Modell auf einmal sieht (8.192 Token). Die Anweisungen brauchen 5.200, die Werkzeuge 1.900, die Zusammenfassung und was daneben wiederholt wird 400, die neuesten Worte 2.400, und 1.639 bleiben frei für die Antwort. Es ist nichts verloren, neue Nachrichten bleiben erhalten. Es hilft ein Modell mit größerem Fenster, kürzere Anweisungen, weniger Werkzeuge oder eine kürzere Nachricht. Danach lässt ein Admin sie weitergehen mit \`/admit ${OPERATION}\`; aufgeben und eine neue Sitzung beginnen: \`/new\`.`,
  ],
  [
    'maintenance_too_large',
    {
      window: 8192,
      reserve: 1639,
      instructions: 5200,
      tools: 1900,
      seed: 400,
      message: 2400,
      ends: `/stop ${ID}`,
    },
    `■ This conversation is paused: what every request has to hold does not fit what the model can see at once (8,192 tokens). The instructions take 5,200, the tools 1,900, the summary and what is restated beside it 400, the newest words 2,400, and 1,639 are kept free for the answer. Nothing is lost and new messages are kept. What helps is a model with a larger window, shorter instructions, fewer tools or a shorter message (\`/stop ${ID}\` ends the request that these words belong to). After that an admin can let it go on with \`/admit ${OPERATION}\`; to give it up and begin a fresh session: \`/new\`.`,
    `■ Diese Unterhaltung ruht: Was in jeder Anfrage stehen muss, passt nicht in das, was das Modell auf einmal sieht (8.192 Token). Die Anweisungen brauchen 5.200, die Werkzeuge 1.900, die Zusammenfassung und was daneben wiederholt wird 400, die neuesten Worte 2.400, und 1.639 bleiben frei für die Antwort. Es ist nichts verloren, neue Nachrichten bleiben erhalten. Es hilft ein Modell mit größerem Fenster, kürzere Anweisungen, weniger Werkzeuge oder eine kürzere Nachricht (\`/stop ${ID}\` beendet die Aufgabe, zu der diese Worte gehören). Danach lässt ein Admin sie weitergehen mit \`/admit ${OPERATION}\`; aufgeben und eine neue Sitzung beginnen: \`/new\`.`,
  ],
  [
    'maintenance_over',
    {},
    `▸ There is room in this conversation again, and work goes on: what was kept is answered in order. How it went: \`/why ${OPERATION}\`.`,
    `▸ In dieser Unterhaltung ist wieder Platz, und die Arbeit geht weiter: Was aufgehoben war, wird der Reihe nach beantwortet. Wie es verlief: \`/why ${OPERATION}\`.`,
  ],
  [
    'maintenance_kept',
    { reason: 'exhausted' },
    `▸ Your message is kept and not answered yet, because this conversation is paused (making room in it failed seven times in a row). It is answered in order once an admin lets the conversation go on. How: \`/why ${OPERATION}\`.`,
    `▸ Deine Nachricht ist aufgehoben und noch nicht beantwortet, denn diese Unterhaltung ruht (Platz zu schaffen ist siebenmal hintereinander gescheitert). Sie kommt an die Reihe, sobald ein Admin die Unterhaltung weitergehen lässt. Wie: \`/why ${OPERATION}\`.`,
  ],
];
