// What each notice says, word by word. A text that changes here changes on somebody's phone.
import type { NoticeCode } from '../../src/text/catalogue.ts';

export const ID = 'task_7K2M9QX4R1T8WZ3C';
export const APPROVAL = 'appr_5N8T2W4Q9X1C7K3M';
/** When the notices were written: Friday, 14:02:05 in Berlin. */
export const AT = Date.UTC(2025, 10, 14, 13, 2, 5);
export const REQUEST = 'Summarise the March invoices';

const UNTIL = AT + 3 * 3_600_000;
const EXPIRES = AT + 24 * 3_600_000;
const SHOWN = JSON.stringify({
  argv: ['/bin/sh', '-c', "curl -X POST 'https://pay.example/bill'\necho done"],
  env: { HOME: '/srv/bills', PATH: '/usr/bin' },
  files: [
    { hash: '9f2c', path: 'bill.json' },
    { hash: null, path: 'old bill.json' },
  ],
  folder: '/srv/bills',
});
const ASKED = { approvalId: APPROVAL, tool: 'command', shown: SHOWN, expiresAt: EXPIRES };

/** Code, parameters beside the request and the task, and what is said in English and in German. */
export const GOLDEN: readonly (readonly [
  code: NoticeCode,
  more: object,
  en: string,
  de: string,
])[] = [
  [
    'interrupted',
    {},
    `… “Summarise the March invoices” was interrupted: the host stopped while it worked on it. What was done is saved, and an independent check decides whether it goes on. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `… „Summarise the March invoices“ wurde unterbrochen: Der Host endete, während er daran arbeitete. Was getan war, ist gespeichert, und eine unabhängige Prüfung entscheidet, ob es weitergeht. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'interrupted',
    { tools: ['send_payment', 'edit'] },
    `… “Summarise the March invoices” was interrupted: the host stopped while it worked on it. Whether \`send_payment\` and \`edit\` took effect is unknown; I will not run it again, so please check. What was done is saved, and an independent check decides whether it goes on. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `… „Summarise the March invoices“ wurde unterbrochen: Der Host endete, während er daran arbeitete. Ob \`send_payment\` und \`edit\` gewirkt hat, ist unbekannt; ich führe es nicht noch einmal aus, bitte prüfen. Was getan war, ist gespeichert, und eine unabhängige Prüfung entscheidet, ob es weitergeht. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'interrupted',
    { absent: 'due' },
    `… “Summarise the March invoices” was interrupted: its time came while no host ran. What was done is saved, and an independent check decides whether it goes on. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `… „Summarise the March invoices“ wurde unterbrochen: Der Zeitpunkt dafür kam, als kein Host lief. Was getan war, ist gespeichert, und eine unabhängige Prüfung entscheidet, ob es weitergeht. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'interrupted',
    { absent: 'wait' },
    `… “Summarise the March invoices” was interrupted: the host stopped without warning while it waited. What was done is saved, and an independent check decides whether it goes on. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `… „Summarise the March invoices“ wurde unterbrochen: Der Host endete ohne Vorwarnung, während es wartete. Was getan war, ist gespeichert, und eine unabhängige Prüfung entscheidet, ob es weitergeht. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'interrupted',
    { absent: 'void' },
    `… “Summarise the March invoices” was interrupted: it was let go on, but no turn of it began in time. What was done is saved, and an independent check decides whether it goes on. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `… „Summarise the March invoices“ wurde unterbrochen: Es durfte weitergehen, aber kein Durchgang begann rechtzeitig. Was getan war, ist gespeichert, und eine unabhängige Prüfung entscheidet, ob es weitergeht. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'awaits_instant',
    { until: UNTIL },
    `… “Summarise the March invoices” waits and goes on by itself at 17:02, if the host runs until then. What was done is saved. To end it: \`/stop ${ID}\`; to set it aside: \`/pause ${ID}\`. Why: \`/why ${ID}\`.`,
    `… „Summarise the March invoices“ wartet und geht um 17:02 von selbst weiter, wenn der Host bis dahin läuft. Was getan war, ist gespeichert. Beenden: \`/stop ${ID}\`; beiseitelegen: \`/pause ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'awaits_approval',
    ASKED,
    `… “Summarise the March invoices” needs your approval before \`command\` runs. Nothing of this has run yet:
    │ /bin/sh -c "curl -X POST 'https://pay.example/bill'
    │ echo done"
    in the folder /srv/bills
    with the environment variables HOME, PATH
    with the file bill.json as it is now
    with the file 'old bill.json', which is not there now
To let exactly this run, once: \`/approve ${APPROVAL}\`; to refuse it: \`/deny ${APPROVAL}\`. Without an answer it is refused on Sat 15 Nov, 14:02. To end the task: \`/stop ${ID}\`; to set it aside: \`/pause ${ID}\`. Why: \`/why ${ID}\`.`,
    `… „Summarise the March invoices“ braucht deine Freigabe, bevor \`command\` läuft. Davon ist noch nichts gelaufen:
    │ /bin/sh -c "curl -X POST 'https://pay.example/bill'
    │ echo done"
    im Ordner /srv/bills
    mit den Umgebungsvariablen HOME, PATH
    mit der Datei bill.json, wie sie jetzt ist
    mit der Datei 'old bill.json', die es jetzt nicht gibt
Genau das einmal laufen lassen: \`/approve ${APPROVAL}\`; ablehnen: \`/deny ${APPROVAL}\`. Ohne Antwort gilt es am Sa., 15. Nov., 14:02 als abgelehnt. Die Aufgabe beenden: \`/stop ${ID}\`; beiseitelegen: \`/pause ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'awaits_approval',
    { ...ASKED, approver: 'other' },
    `… “Summarise the March invoices” needs your approval before \`command\` runs. Nothing of this has run yet:
    │ /bin/sh -c "curl -X POST 'https://pay.example/bill'
    │ echo done"
    in the folder /srv/bills
    with the environment variables HOME, PATH
    with the file bill.json as it is now
    with the file 'old bill.json', which is not there now
To let exactly this run, once: \`/approve ${APPROVAL}\`; to refuse it: \`/deny ${APPROVAL}\`. Somebody other than the one who asked has to answer. Without an answer it is refused on Sat 15 Nov, 14:02. To end the task: \`/stop ${ID}\`; to set it aside: \`/pause ${ID}\`. Why: \`/why ${ID}\`.`,
    `… „Summarise the March invoices“ braucht deine Freigabe, bevor \`command\` läuft. Davon ist noch nichts gelaufen:
    │ /bin/sh -c "curl -X POST 'https://pay.example/bill'
    │ echo done"
    im Ordner /srv/bills
    mit den Umgebungsvariablen HOME, PATH
    mit der Datei bill.json, wie sie jetzt ist
    mit der Datei 'old bill.json', die es jetzt nicht gibt
Genau das einmal laufen lassen: \`/approve ${APPROVAL}\`; ablehnen: \`/deny ${APPROVAL}\`. Antworten muss jemand anderes als der, der es bestellt hat. Ohne Antwort gilt es am Sa., 15. Nov., 14:02 als abgelehnt. Die Aufgabe beenden: \`/stop ${ID}\`; beiseitelegen: \`/pause ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'awaits_quota',
    { until: UNTIL, detail: 'http_429', said: 'Rate limit reached' },
    `… “Summarise the March invoices” waits for the quota of the model provider (http_429: “Rate limit reached”), which is to be back at 17:02. What was done is saved, and it then goes on by itself from there, if the host runs until then. To end it: \`/stop ${ID}\`; to set it aside: \`/pause ${ID}\`. Why: \`/why ${ID}\`.`,
    `… „Summarise the March invoices“ wartet auf das Kontingent des Modellanbieters (http_429: „Rate limit reached“), das um 17:02 wieder da sein soll. Was getan war, ist gespeichert, und von dort geht es dann von selbst weiter, wenn der Host bis dahin läuft. Beenden: \`/stop ${ID}\`; beiseitelegen: \`/pause ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'awaits_provider',
    { detail: 'http_503', said: 'Overloaded', model: 'anthropic/claude-haiku-4-5' },
    `… “Summarise the March invoices” waits for the model provider, which gives no usable answer for \`anthropic/claude-haiku-4-5\` (http_503: “Overloaded”). What was done is saved. I look again by myself, and it goes on from there when the provider answers, if its deadline allows. To end it: \`/stop ${ID}\`; to set it aside: \`/pause ${ID}\`. Why: \`/why ${ID}\`.`,
    `… „Summarise the March invoices“ wartet auf den Modellanbieter, der auf Aufrufe an \`anthropic/claude-haiku-4-5\` keine brauchbare Antwort gibt (http_503: „Overloaded“). Was getan war, ist gespeichert. Ich sehe von selbst wieder nach, und es geht von dort weiter, sobald der Anbieter antwortet, wenn die Frist es zulässt. Beenden: \`/stop ${ID}\`; beiseitelegen: \`/pause ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'awaits_provider',
    { detail: 'connect' },
    `… “Summarise the March invoices” waits for the model provider, which gives no usable answer (connect). What was done is saved. I look again by myself, and it goes on from there when the provider answers, if its deadline allows. To end it: \`/stop ${ID}\`; to set it aside: \`/pause ${ID}\`. Why: \`/why ${ID}\`.`,
    `… „Summarise the March invoices“ wartet auf den Modellanbieter, der auf Aufrufe keine brauchbare Antwort gibt (connect). Was getan war, ist gespeichert. Ich sehe von selbst wieder nach, und es geht von dort weiter, sobald der Anbieter antwortet, wenn die Frist es zulässt. Beenden: \`/stop ${ID}\`; beiseitelegen: \`/pause ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'goes_on',
    {},
    `▸ “Summarise the March invoices” goes on from what was saved. Why: \`/why ${ID}\`.`,
    `▸ „Summarise the March invoices“ geht von dem aus weiter, was gespeichert war. Warum: \`/why ${ID}\`.`,
  ],
  [
    'paused',
    {},
    `▸ “Summarise the March invoices” is paused. What was done is kept, and nothing of it runs meanwhile. To let it go on: \`/task-resume ${ID}\`. A reply to this, or a message that names \`${ID}\`, lets it go on too. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `▸ „Summarise the March invoices“ ist pausiert. Was getan war, bleibt, und solange läuft nichts davon. Weitergehen lassen: \`/task-resume ${ID}\`. Auch eine Antwort hierauf oder eine Nachricht, die \`${ID}\` nennt, lässt es weitergehen. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'wait_elapsed',
    { wait: 'answer' },
    `■ “Summarise the March invoices” has waited for your answer, and the time for that is over. What was done is saved, and it stays as it is until you decide. To let it go on all the same: \`/task-resume ${ID}\`. A reply to this, or a message that names \`${ID}\`, lets it go on too. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ „Summarise the March invoices“ hat auf deine Antwort gewartet, und die Zeit dafür ist um. Was getan war, ist gespeichert, und so bleibt es, bis du entscheidest. Auch so weitergehen lassen: \`/task-resume ${ID}\`. Auch eine Antwort hierauf oder eine Nachricht, die \`${ID}\` nennt, lässt es weitergehen. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'no_outcome',
    {},
    `■ I could not finish “Summarise the March invoices”: twice in a row the model ended without an answer. What was done is saved, and it stays as it is until you decide. To let it try once more: \`/task-resume ${ID}\`. A reply to this, or a message that names \`${ID}\`, lets it go on too. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ Ich konnte „Summarise the March invoices“ nicht abschließen: Zweimal hintereinander endete das Modell ohne Antwort. Was getan war, ist gespeichert, und so bleibt es, bis du entscheidest. Noch einmal versuchen lassen: \`/task-resume ${ID}\`. Auch eine Antwort hierauf oder eine Nachricht, die \`${ID}\` nennt, lässt es weitergehen. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'no_progress',
    {},
    `■ I could not finish “Summarise the March invoices”: the model kept working without getting on, even after a reminder. What was done is saved, and it stays as it is until you decide. To let it try once more: \`/task-resume ${ID}\`. A reply to this, or a message that names \`${ID}\`, lets it go on too. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ Ich konnte „Summarise the March invoices“ nicht abschließen: Das Modell arbeitete, ohne voranzukommen, auch nach einem Hinweis. Was getan war, ist gespeichert, und so bleibt es, bis du entscheidest. Noch einmal versuchen lassen: \`/task-resume ${ID}\`. Auch eine Antwort hierauf oder eine Nachricht, die \`${ID}\` nennt, lässt es weitergehen. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'quota',
    { detail: 'count' },
    `■ I have stopped waiting with “Summarise the March invoices”: the quota of the model provider was used up again each time that it came back. What was done is saved, and it stays as it is until you decide. To let it try once more: \`/task-resume ${ID}\`. A reply to this, or a message that names \`${ID}\`, lets it go on too. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ Ich warte mit „Summarise the March invoices“ nicht weiter: Das Kontingent des Modellanbieters war jedes Mal, wenn es zurückkam, gleich wieder verbraucht. Was getan war, ist gespeichert, und so bleibt es, bis du entscheidest. Noch einmal versuchen lassen: \`/task-resume ${ID}\`. Auch eine Antwort hierauf oder eine Nachricht, die \`${ID}\` nennt, lässt es weitergehen. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'quota',
    { detail: 'deadline' },
    `■ I have stopped waiting with “Summarise the March invoices”: the quota of the model provider comes back only after its deadline. What was done is saved, and it stays as it is until you decide. To let it try once more: \`/task-resume ${ID}\`. A reply to this, or a message that names \`${ID}\`, lets it go on too. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ Ich warte mit „Summarise the March invoices“ nicht weiter: Das Kontingent des Modellanbieters kommt erst nach der Frist zurück. Was getan war, ist gespeichert, und so bleibt es, bis du entscheidest. Noch einmal versuchen lassen: \`/task-resume ${ID}\`. Auch eine Antwort hierauf oder eine Nachricht, die \`${ID}\` nennt, lässt es weitergehen. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'budget_exhausted',
    { detail: 'turns', grant: 'turns=+50' },
    `■ “Summarise the March invoices” has used up the turns that it was granted. What was done is saved, and its deadline is unchanged. An admin grants it more with \`/extend ${ID} turns=+50\`. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ „Summarise the March invoices“ hat verbraucht, was an Durchgängen gewährt war. Was getan war, ist gespeichert, die Frist ist unverändert. Ein Admin gewährt mehr mit \`/extend ${ID} turns=+50\`. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'budget_exhausted',
    { detail: 'costUsd', grant: 'cost=+20' },
    `■ “Summarise the March invoices” has used up the money that it was granted. What was done is saved, and its deadline is unchanged. An admin grants it more with \`/extend ${ID} cost=+20\`. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ „Summarise the March invoices“ hat verbraucht, was an Geld gewährt war. Was getan war, ist gespeichert, die Frist ist unverändert. Ein Admin gewährt mehr mit \`/extend ${ID} cost=+20\`. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'base_too_large',
    { window: 128000, base: 30000, message: 120000 },
    `■ “Summarise the March invoices” does not fit what the model can see at once (128,000 tokens): the instructions and tools take 30,000, its newest words 120,000. Nothing is lost. Shorten the instructions or configure a model with a larger window; then \`/new\` begins a fresh session, in which it starts over from its request. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `■ „Summarise the March invoices“ passt nicht in das, was das Modell auf einmal sieht (128.000 Token): Anweisungen und Werkzeuge brauchen 30.000, die neuesten Worte 120.000. Es ist nichts verloren. Kürze die Anweisungen oder konfiguriere ein Modell mit größerem Fenster; dann beginnt \`/new\` eine neue Sitzung, in der es von der Anfrage an neu anfängt. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'stopped',
    {},
    `▸ “Summarise the March invoices” is stopped. What was done is kept, and nothing more of it will start. To begin anew, send the request again. Why: \`/why ${ID}\`.`,
    `▸ „Summarise the March invoices“ ist angehalten. Was getan war, bleibt, und nichts davon beginnt noch. Für einen neuen Anfang schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
  ],
  [
    'stopped',
    { tools: ['model', 'command'] },
    `▸ “Summarise the March invoices” is stopped. Still being ended: the call of the model and \`command\`. What was done is kept, and nothing more of it will start. To begin anew, send the request again. Why: \`/why ${ID}\`.`,
    `▸ „Summarise the March invoices“ ist angehalten. Noch zu beenden: der Aufruf des Modells und \`command\`. Was getan war, bleibt, und nichts davon beginnt noch. Für einen neuen Anfang schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
  ],
  [
    'cancelled',
    {},
    `▸ “Summarise the March invoices” was cancelled by the program that had asked for it. What was done is kept, and nothing more of it will start. Why: \`/why ${ID}\`.`,
    `▸ „Summarise the March invoices“ wurde von dem Programm abgebrochen, das es bestellt hatte. Was getan war, bleibt, und nichts davon beginnt noch. Warum: \`/why ${ID}\`.`,
  ],
  [
    'deadline_passed',
    {},
    `▸ “Summarise the March invoices” has run out of time: its deadline has passed. What was done is kept, and nothing more of it will start. To begin anew, send the request again. Why: \`/why ${ID}\`.`,
    `▸ Für „Summarise the March invoices“ ist die Zeit um: Die Frist ist verstrichen. Was getan war, bleibt, und nichts davon beginnt noch. Für einen neuen Anfang schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
  ],
  [
    'model_refused',
    { detail: 'http_401' },
    `▸ “Summarise the March invoices” has failed: the model provider refused the call (http_401). What helps is a valid key for this provider in the configuration, and a new start of the host. What was done is kept. When the cause is mended, send the request again. Why: \`/why ${ID}\`.`,
    `▸ „Summarise the March invoices“ ist gescheitert: Der Modellanbieter hat den Aufruf abgelehnt (http_401). Es hilft ein gültiger Schlüssel für diesen Anbieter in der Konfiguration und ein neuer Start des Hosts. Was getan war, bleibt. Ist die Ursache behoben, schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
  ],
  [
    'model_refused',
    { detail: 'insufficient_quota', said: 'You exceeded your quota', model: 'openai/gpt-5' },
    `▸ “Summarise the March invoices” has failed: the model provider refused the call to \`openai/gpt-5\` (insufficient_quota: “You exceeded your quota”). What helps is balance on the account at this provider. What was done is kept. When the cause is mended, send the request again. Why: \`/why ${ID}\`.`,
    `▸ „Summarise the March invoices“ ist gescheitert: Der Modellanbieter hat den Aufruf an \`openai/gpt-5\` abgelehnt (insufficient_quota: „You exceeded your quota“). Es hilft Guthaben auf dem Konto bei diesem Anbieter. Was getan war, bleibt. Ist die Ursache behoben, schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
  ],
  [
    'model_refused',
    { detail: 'http_403', model: 'openai/gpt-5' },
    `▸ “Summarise the March invoices” has failed: the model provider refused the call to \`openai/gpt-5\` (http_403). What helps is a key that may use this model, or another model. What was done is kept. When the cause is mended, send the request again. Why: \`/why ${ID}\`.`,
    `▸ „Summarise the March invoices“ ist gescheitert: Der Modellanbieter hat den Aufruf an \`openai/gpt-5\` abgelehnt (http_403). Es hilft ein Schlüssel, der dieses Modell benutzen darf, oder ein anderes Modell. Was getan war, bleibt. Ist die Ursache behoben, schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
  ],
  [
    'model_refused',
    { detail: 'model_not_found', model: 'openai/gpt-55' },
    `▸ “Summarise the March invoices” has failed: the model provider refused the call to \`openai/gpt-55\` (model_not_found). What helps is the right name of the model in the configuration, and a new start of the host. What was done is kept. When the cause is mended, send the request again. Why: \`/why ${ID}\`.`,
    `▸ „Summarise the March invoices“ ist gescheitert: Der Modellanbieter hat den Aufruf an \`openai/gpt-55\` abgelehnt (model_not_found). Es hilft der richtige Name des Modells in der Konfiguration und ein neuer Start des Hosts. Was getan war, bleibt. Ist die Ursache behoben, schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
  ],
  [
    'model_unavailable',
    { detail: 'timeout' },
    `▸ “Summarise the March invoices” has failed: the model gave no usable answer (timeout). What was done is kept. When the cause is gone, send the request again. Why: \`/why ${ID}\`.`,
    `▸ „Summarise the March invoices“ ist gescheitert: Das Modell gab keine brauchbare Antwort (timeout). Was getan war, bleibt. Ist die Ursache behoben, schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
  ],
  [
    'uncertain_effect',
    { ...ASKED, reason: 'interrupted' },
    `! While “Summarise the March invoices” ran, the host stopped between starting \`command\` and learning its result. I will not run it again by myself. Check, then: \`/approve ${APPROVAL}\` to run it, or tell me what happened. This is what would run:
    │ /bin/sh -c "curl -X POST 'https://pay.example/bill'
    │ echo done"
    in the folder /srv/bills
    with the environment variables HOME, PATH
    with the file bill.json as it is now
    with the file 'old bill.json', which is not there now
It runs once, exactly so, when the task goes on, which an independent check decides. To keep it from running: \`/deny ${APPROVAL}\`. You tell me in a reply to this or in a message that names \`${ID}\`. The offer to run it ends on Sat 15 Nov, 14:02. Why: \`/why ${ID}\`.`,
    `! Während „Summarise the March invoices“ lief, endete der Host zwischen dem Start von \`command\` und dessen Ergebnis. Ich führe es nicht von selbst noch einmal aus. Bitte prüfen, dann \`/approve ${APPROVAL}\` oder sag mir, was geschehen ist. Laufen würde das:
    │ /bin/sh -c "curl -X POST 'https://pay.example/bill'
    │ echo done"
    im Ordner /srv/bills
    mit den Umgebungsvariablen HOME, PATH
    mit der Datei bill.json, wie sie jetzt ist
    mit der Datei 'old bill.json', die es jetzt nicht gibt
Es läuft einmal, genau so, wenn die Aufgabe weitergeht; darüber entscheidet eine unabhängige Prüfung. Nicht laufen lassen: \`/deny ${APPROVAL}\`. Sagen kannst du es mir in einer Antwort hierauf oder einer Nachricht, die \`${ID}\` nennt. Das Angebot, es laufen zu lassen, endet am Sa., 15. Nov., 14:02. Warum: \`/why ${ID}\`.`,
  ],
  [
    'kept',
    { reason: 'awaits_quota' },
    `▸ Your message is kept for “Summarise the March invoices”; its next turn reads it. Why not now: The quota of the model provider is used up for now. How it goes on: \`/why ${ID}\`.`,
    `▸ Deine Nachricht ist für „Summarise the March invoices“ aufgehoben; der nächste Durchgang liest sie. Warum nicht jetzt: Das Kontingent des Modellanbieters ist vorerst verbraucht. Wie es weitergeht: \`/why ${ID}\`.`,
  ],
  [
    'kept_for_interrupted',
    {},
    `▸ Your message is kept for “Summarise the March invoices”, which was interrupted: an independent check decides whether that goes on, and its next turn then reads it. To end it: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    `▸ Deine Nachricht ist für „Summarise the March invoices“ aufgehoben. Das wurde unterbrochen: Eine unabhängige Prüfung entscheidet, ob es weitergeht, und der nächste Durchgang liest sie dann. Beenden: \`/stop ${ID}\`. Warum: \`/why ${ID}\`.`,
  ],
  [
    'clock_distrusted',
    { drift: -12_000_000 },
    `! The machine's clock stands 3 hours, 20 minutes behind what I counted, so I do not trust it for now. Messages are answered as ever, but for at most ten minutes nothing expires and nothing begins by itself. If the clock is right as it stands, an admin says so with \`/clock confirm\`. More: \`/status\`.`,
    `! Die Uhr der Maschine geht gegenüber dem, was ich gezählt habe, 3 Stunden, 20 Minuten nach, darum traue ich ihr vorerst nicht. Nachrichten werden beantwortet wie immer, aber für höchstens zehn Minuten läuft nichts ab und beginnt nichts von selbst. Stimmt die Uhr so, wie sie steht, sagt das ein Admin mit \`/clock confirm\`. Mehr: \`/status\`.`,
  ],
  [
    'clock_trusted',
    {},
    `▸ I trust the machine's clock again. What fell due meanwhile happens now. More: \`/status\`.`,
    `▸ Ich traue der Uhr der Maschine wieder. Was inzwischen fällig war, geschieht jetzt. Mehr: \`/status\`.`,
  ],
];
