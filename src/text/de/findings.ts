import type { FindingTexts } from '../finding-texts.ts';

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

const saying = (detail: string): string => (detail === '' ? '' : ` (${detail})`);

/** What `doctor` says of an installation. */
export const DE_FINDINGS: FindingTexts = {
  since: (instant) => `seit ${instant}`,
  says: {
    check_failed: ({ check, detail }) =>
      `Die Prüfung „${check}“ ist nicht zustande gekommen${saying(detail)}. Was sie ansieht, ist nicht bekannt.`,
    host_unresponsive: ({ count, since }) =>
      `Ein Host (Prozess ${count}) hat diese Aufzeichnungen ${since} und antwortet nicht. ` +
      'Startet er nicht gerade, beende ihn und starte ihn neu.',
    store_whole: ({ description }) =>
      `Die Aufzeichnungen sind heil: Sie wurden ganz gelesen (${description}).`,
    store_answers: ({ description }) => `Der Speicher antwortet (${description}).`,
    store_damaged: ({ detail, count }) =>
      `Die Aufzeichnungen sind beschädigt: „${detail}“${count === 0 ? '' : ` und ${count} weitere`}. ` +
      'Halte den Host an, sichere das Zustandsverzeichnis und kehre zur letzten guten Kopie zurück.',
    store_unreachable: ({ description, detail }) =>
      `Die Aufzeichnungen lassen sich nicht lesen (${description})${saying(detail)}. Sind sie beschädigt, ` +
      'sichere das Zustandsverzeichnis und kehre zur letzten guten Kopie zurück.',
    store_log_large: ({ size, since }) =>
      `Jemand hält die Aufzeichnungen ${since} zum Lesen offen: Ihr Log ist auf ${size} gewachsen. ` +
      'Beende das Programm, das sie liest.',
    audit_whole: ({ count, hash }) =>
      count === 0
        ? 'Das Protokoll der Admins ist leer.'
        : `Das Protokoll der Admins ist heil: ${counted(count, 'Eintrag', 'Einträge')}, der letzte mit ` +
          `dem Hash ${hash}.`,
    audit_missing: ({ count }) =>
      `Das Protokoll der Admins wurde verändert: Eintrag ${count} fehlt.`,
    audit_displaced: ({ count }) =>
      `Das Protokoll der Admins wurde verändert: Was als Eintrag ${count} dasteht, folgte nicht auf den ` +
      'davor; Einträge wurden umgestellt oder ersetzt.',
    audit_altered: ({ count }) =>
      `Das Protokoll der Admins wurde verändert: Eintrag ${count} ist nicht mehr, was er war. ` +
      'Vergleiche es mit einer Kopie, der du traust; heilen lässt es sich nicht, und der Host läuft weiter.',
    tasks_sound: ({ count }) =>
      count === 0
        ? 'Keine Aufgabe ist offen.'
        : count === 1
          ? '1 Aufgabe ist offen, und es ist aufgezeichnet, warum sie steht, wie sie steht.'
          : `${count} Aufgaben sind offen, und von jeder ist aufgezeichnet, warum sie steht, wie sie steht.`,
    task_silent: ({ request, taskId, since }) =>
      `${request} (${taskId}) steht ${since} still, und ein Grund ist nicht aufgezeichnet.`,
    tasks_silent_more: () => 'Weitere Aufgaben stehen ohne aufgezeichneten Grund still.',
    tasks_held: ({ count }) =>
      count === 1
        ? '1 ältere Aufgabe ruht: Sie bleibt, wie sie war, und läuft nicht von selbst. ' +
          'Wecken: `/task-resume ID`.'
        : `${count} ältere Aufgaben ruhen: Sie bleiben, wie sie waren, und laufen nicht von ` +
          'selbst. Genau eine wecken: `/task-resume ID`.',
    notice_untold: ({ request, taskId, cause }) =>
      `${request} (${taskId}) ist blockiert${cause === '' ? '.' : `: ${cause}`} Gesagt werden konnte es niemandem.`,
    operation_blocked: ({ conversationId, operationId, cause, since }) =>
      `Die Unterhaltung ${conversationId} ruht ${since}${cause === '' ? '' : `: ${cause}`} ` +
      `(${operationId}). Ihre Nachrichten bleiben, bis ein Admin sie weitergehen lässt.`,
    operation_waiting: ({ conversationId, operationId, since, until }) =>
      `Platz zu schaffen in der Unterhaltung ${conversationId} (${operationId}) wartet ${since} auf den ` +
      `nächsten Versuch${until === null ? '' : `, ${until}`}; ihre Nachrichten bleiben.`,
    fence_unowned: ({ conversationId }) =>
      `In der Unterhaltung ${conversationId} beginnt kein Durchgang, und nichts ist mehr da, was das ` +
      'beendet. Eine Reparatur lässt sie weitergehen.',
    fence_missing: ({ conversationId }) =>
      `In der Unterhaltung ${conversationId} wird Platz geschaffen, und Durchgänge beginnen trotzdem. ` +
      'Eine Reparatur hält sie zurück.',
    operations_more: () => 'Weitere Unterhaltungen ruhen oder warten auf Platz.',
    work_cut: ({ count, others }) =>
      `Mitten in der Arbeit abgeschnitten, als ihr Host endete: ${counted(count, 'Durchgang', 'Durchgänge')} ` +
      `und ${counted(others, 'Worker', 'Worker')}. Der nächste Start lässt sie prüfen, bevor etwas davon ` +
      'weitergeht.',
    turn_unowned: ({ taskId, hostId, since }) =>
      `Ein Durchgang von ${taskId} läuft angeblich ${since}, und sein Host (${hostId}) lebt nicht.`,
    worker_unowned: ({ taskId, since }) =>
      `Ein Worker${taskId === '' ? '' : ` von ${taskId}`} läuft angeblich ${since}, und kein lebender ` +
      'Host hat ihn.',
    safe_mode_on: ({ since, until }) =>
      `Der abgesicherte Betrieb ist ${since} an, weil der Host zu oft ohne Warnung endete: Nichts beginnt ` +
      `von selbst. Er endet von selbst ${until ?? 'nach einer Stunde'}, wenn der Host ` +
      'bis dahin nicht wieder ohne Warnung endet.',
    storm_over: ({ began, endedAt }) =>
      `Der Host endete ${began} zu oft ohne Warnung; der abgesicherte Betrieb war ${endedAt} vorbei.`,
    boundary_unfinished: ({ since }) =>
      `Importierte Aufzeichnungen wurden ${since} unterschieden, und das wurde nicht fertig. Der nächste ` +
      'Start macht es fertig, bevor etwas davon weitergeht.',
    boundary_untold: ({ count, others }) =>
      `Niemandem konnte gesagt werden, was ruht: ${counted(count, 'ältere Aufgabe', 'ältere Aufgaben')}` +
      `${others === 0 ? '' : ` und ${counted(others, 'Worker', 'Worker')}`}.`,
    clock_believed: () => 'Der Uhr wird geglaubt.',
    clock_distrusted: ({ drift, until }) =>
      `Die Uhr dieser Maschine geht ${drift} der richtigen Zeit: Nichts läuft ab und nichts wacht auf, bis sie ` +
      `stimmt${until === null ? '' : `, spätestens ${until}`}.`,
    disk_roomy: ({ path, size }) => `Die Platte von ${path} hat Platz: ${size} sind frei.`,
    disk_low: ({ path, size }) =>
      `Die Platte von ${path} ist fast voll: ${size} sind frei. Schaffe Platz.`,
    disk_full: ({ path, size }) =>
      `Die Platte von ${path} ist voll: ${size} sind frei. Neue Arbeit wird abgelehnt, sobald sich nichts ` +
      'mehr speichern lässt. Schaffe Platz.',
    files_private: ({ path, count }) =>
      `Das Zustandsverzeichnis ${path} ist vor anderen verschlossen (${counted(count, 'Pfad', 'Pfade')}).`,
    file_open: ({ path, mode, wanted }) =>
      `${path} steht anderen offen: Der Modus ist ${mode} und sollte ${wanted} sein.`,
    files_open_more: ({ count }) =>
      count === 1
        ? '1 weiterer Pfad steht anderen offen.'
        : `${count} weitere Pfade stehen anderen offen.`,
    model_alive: ({ models }) => `${models} ist erreichbar.`,
    model_unreachable: ({ models }) =>
      `${models} ist nicht erreichbar. Was es braucht, wartet; sieh nach dem Server, der Adresse und dem Netz.`,
    models_unknown: ({ detail }) =>
      `Welche Modelle antworten, ließ sich von hier nicht ansehen${saying(detail)}.`,
    account_limited: ({ models, until }) =>
      `${models} darf gerade nicht gefragt werden: Der Anbieter hat eine Grenze gesetzt` +
      `${until === null ? '' : `, die ${until} endet`}.`,
    account_down: ({ models, since, detail }) =>
      `${models} antwortet ${since} nicht${saying(detail)}. Der Host sieht von selbst wieder nach.`,
    account_refused: ({ models, since, detail }) =>
      `Der Anbieter von ${models} lehnt dieses Konto ${since} ab${saying(detail)}. Sieh nach Schlüssel, ` +
      'Guthaben und Rechten.',
    sizes: ({ size, logSize, logsSize }) =>
      `Größen: Aufzeichnungen ${size}, ihr Log ${logSize}, was der Host über sich schrieb ${logsSize}.`,
    versions: ({ version, node, tz }) =>
      `Versionen: sekisho ${version}, Node ${node}, Zeitzonen ${tz}.`,
  },
};
