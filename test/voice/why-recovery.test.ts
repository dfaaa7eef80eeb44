// `why` of interrupted work, of orders that are late and of history, from records in a real store.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { readCommand } from '../../src/core/inbox/command.ts';
import type { EventRecord } from '../../src/core/session/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { EngineParts } from '../../src/engine/engine.ts';
import { explainTask, type Explanation } from '../../src/engine/task/why.ts';
import type { EventType } from '../../src/kernel/event.ts';
import { hostRow, idOf } from '../../src/testing/store-rows.ts';
import { BERLIN, events, ID, LEFT, NOW, openParts, put, task, USED } from './records.ts';

let parts: EngineParts;
beforeEach(async () => {
  parts = await openParts();
});
afterEach(() => parts.store.close());

const DE = { ...BERLIN, locale: 'de' } as const;

async function explain(audience: typeof BERLIN | typeof DE = BERLIN): Promise<Explanation> {
  const told = await explainTask(parts, ID, audience);
  assert.ok(told !== undefined);
  for (const { command } of told.commands) {
    const read = readCommand(command);
    assert.ok(read !== undefined && read.kind !== 'unknown' && read.kind !== 'misused', command);
  }
  return told;
}

const named = ({ commands }: Explanation): readonly (readonly [string, string, string])[] =>
  commands.map(({ command, who, effect }) => [command, who, effect]);

const OWN = 'the one who asked for it, or an admin';
const STOP = [`/stop ${ID}`, OWN, 'ends it; what was done is kept'] as const;
const INTERRUPTED = {
  state: 'waiting',
  reason: 'interrupted',
  waitKind: 'assessment',
  recoveryState: 'needed',
} as const;
const BEGINS = `“Summarise the March invoices” (${ID}) has been `;
const left = (of: string, made: string): string =>
  LEFT.replace('3 of 3 checks', `${of} of 3 checks`).replace('far: 0', `far: ${made}`);

describe('W-6: why tells a task that waits for its assessment', () => {
  const CAUSE =
    'The host stopped while it worked on it; an independent check decides whether it goes on. ';

  test('with the attempts used, when the next is due, and that nothing goes on before', async () => {
    await put(
      parts,
      task({
        ...INTERRUPTED,
        recoveryAttempts: 1,
        recoveryLifetimeAttempts: 4,
        recoveryOutcome: 'failed',
        recoveryNextAt: NOW + 55_000,
      }),
    );
    const told = await explain();
    assert.equal(
      told.sentence,
      `${BEGINS}waiting for the check after an interruption since 14:01. ${CAUSE}` +
        'Checks used: 1 of 3; the next one is due at 14:03:00. Nothing of it goes on before. ' +
        left('2', '4'),
    );
    assert.deepEqual(named(told), [STOP]);
    assert.match(
      (await explain(DE)).sentence,
      /^„Summarise the March invoices“ \(task_\w+\) wartet seit 14:01 auf die Prüfung nach einer Unterbrechung\. Der Host endete, während er daran arbeitete; eine unabhängige Prüfung entscheidet, ob sie weitergeht\. Verbrauchte Prüfungen: 1 von 3; die nächste ist um 14:03:00 fällig\. Vorher geht nichts davon weiter\. Übrig: .+, 2 von 3 Prüfungen nach einer Unterbrechung \(bisher gemacht: 4\); Frist: /,
    );
  });

  const OTHER = { id: idOf('host', 2), stoppedAt: null } as const;
  const RESERVED = {
    ...INTERRUPTED,
    recoveryAttempts: 2,
    recoveryLifetimeAttempts: 2,
    recoveryOutcome: 'reserved',
    recoveryNextAt: NOW + 55_000,
  } as const;
  const reserved = [
    'assessment.reserved',
    { by: `host:${idOf('host', 2)}`, data: '{"epoch":1,"attempt":2}' },
  ] as const;

  test('that is being made now, by a host that lives', async () => {
    await put(
      parts,
      { write: 'host.insert', row: hostRow({ ...OTHER, aliveUntil: NOW + 15_000 }) },
      task(RESERVED),
      ...events(reserved),
    );
    const told = await explain();
    assert.match(
      told.sentence,
      /\. Check 2 of 3 is being made now\. Nothing of it goes on before\. /,
    );
    assert.deepEqual(told.chain, ['14:01:00: Check 2 of 3 whether the task may go on was begun.']);
    assert.match((await explain(DE)).sentence, / Prüfung 2 von 3 läuft gerade\. /);
  });

  test('whose last attempt a dead host made: the next one is due', async () => {
    await put(
      parts,
      { write: 'host.insert', row: hostRow({ ...OTHER, aliveUntil: NOW - 1 }) },
      task(RESERVED),
      ...events(reserved),
    );
    assert.match(
      (await explain()).sentence,
      /\. Checks used: 2 of 3; the next one is due at 14:03:00\. /,
    );
  });

  test('for the provider that is to make it', async () => {
    await put(
      parts,
      task({
        ...INTERRUPTED,
        waitKind: 'provider',
        waitId: 'local',
        waitUntil: NOW + 600_000,
        outcomeData: '{"tools":[],"detail":"connect"}',
      }),
    );
    const told = await explain();
    assert.equal(
      told.sentence,
      `${BEGINS}waiting for the model provider since 14:01. ${CAUSE}The model provider that is to ` +
        'make the check cannot be reached; no check is used until it is back, and nothing of it goes ' +
        `on before. Its code: \`connect\`. Checks used: 0 of 3. ${LEFT}`,
    );
    assert.deepEqual(named(told), [STOP]);
  });

  const STORM = {
    id: idOf('storm', 1),
    since: NOW - 300_000,
    lastAt: NOW - 60_000,
    endedAt: null,
    endedBy: null,
  } as const;
  const SAFE = [
    '/safe-mode off',
    'an admin',
    'ends safe mode, and what had to wait begins by itself again',
  ] as const;

  test('R-12: that safe mode holds back, until when, and what ends it', async () => {
    await put(parts, task(INTERRUPTED), { write: 'storm.insert', row: STORM });
    const told = await explain();
    assert.equal(
      told.sentence,
      `${BEGINS}waiting for the check after an interruption since 14:01. ${CAUSE}Checks used: 0 of 3. ` +
        'Safe mode keeps the check from beginning: it begins once that is over, at 15:01 or later, or at ' +
        `once when an admin ends it with \`/safe-mode off\`. Nothing of it goes on before. ${LEFT}`,
    );
    assert.deepEqual(named(told), [SAFE, STOP]);
    assert.match(
      (await explain(DE)).sentence,
      / Der abgesicherte Betrieb hält die Prüfung zurück: Sie beginnt, wenn er vorbei ist, um 15:01 oder später, /,
    );
  });

  test('R-12: that safe mode, which is over, does not hold back', async () => {
    const over = { ...STORM, endedAt: NOW - 1, endedBy: 'key:ops' };
    await put(parts, task(INTERRUPTED), { write: 'storm.insert', row: over });
    const told = await explain();
    assert.match(told.sentence, / Checks used: 0 of 3; the next one is due now\. Nothing/);
    assert.deepEqual(named(told), [STOP]);
  });

  test('R-12: or for an instant, which safe mode does not let wake it either', async () => {
    const wait = { state: 'waiting', reason: 'awaits_instant', waitKind: 'instant' } as const;
    await put(parts, task({ ...wait, waitUntil: NOW + 60_000 }), {
      write: 'storm.insert',
      row: STORM,
    });
    const told = await explain();
    assert.match(
      told.sentence,
      / It goes on at 14:03\. Safe mode is on: it does not go on by itself /,
    );
    assert.deepEqual(named(told)[0], SAFE);
  });

  test('because no turn followed in time', async () => {
    await put(parts, task({ ...INTERRUPTED, outcomeData: '{"tools":[],"absent":"void"}' }));
    assert.match(
      (await explain()).sentence,
      / It was let go on, but no turn of it began in time; it is checked anew whether it goes on\. /,
    );
  });
});

describe('W-6: why tells a task that an assessment or the boundary has', () => {
  const REOPEN = [
    `/budget-reset ${ID}`,
    'an admin',
    'has it checked anew, up to three times, whether it may go on',
  ] as const;
  interface Told {
    readonly name: string;
    readonly over: Partial<TaskRecord>;
    readonly says: string;
    readonly says_de: RegExp;
    readonly ways: readonly (readonly [string, string, string])[];
  }
  const blocked = (over: Partial<TaskRecord>, data: object): Partial<TaskRecord> => ({
    state: 'blocked',
    ...over,
    outcomeData: JSON.stringify(data),
  });
  const TOLD: readonly Told[] = [
    {
      name: 'blocked after three failures, with the last',
      over: blocked(
        { reason: 'recovery_assessment_failed' },
        { outcome: 'failed', detail: 'http_500', said: 'Internal error', workers: 0 },
      ),
      says:
        'The check that decides whether interrupted work may go on failed three times. The last one: ' +
        'the model provider gave no usable answer: http_500, “Internal error”. ',
      says_de:
        / ist dreimal gescheitert\. Die letzte: der Modellanbieter gab keine brauchbare Antwort: http_500, „Internal error“\. /,
      ways: [REOPEN, STOP],
    },
    {
      name: 'blocked because it got nowhere after a verdict',
      over: blocked({ reason: 'recovery_no_progress' }, { outcome: 'continue' }),
      says:
        'Its check let it go on, but it was interrupted again before it had completed a turn, and all ' +
        'three checks are used. ',
      says_de: / ließ sie weitergehen, .+ alle drei Prüfungen sind verbraucht\. /,
      ways: [REOPEN, STOP],
    },
    {
      name: 'blocked because it could not tell, in its own words',
      over: blocked(
        { reason: 'recovery_inconclusive' },
        { said: 'The request names no file.\n`/stop all`' },
      ),
      says:
        'The check that decides whether interrupted work may go on could not tell. What the check gave ' +
        "as its reason: “The request names no file. '/stop all'”. ",
      says_de: / Was die Prüfung als Grund nannte: „The request names no file\. '\/stop all'“\. /,
      ways: [
        [
          `/task-resume ${ID}`,
          'an admin',
          'has it checked anew, up to three times, whether it may go on',
        ],
        STOP,
      ],
    },
    {
      name: 'late',
      over: blocked({ reason: 'order_late' }, { at: NOW - 3_600_000 }),
      says: 'The time at which it was to be carried out has passed. It was to be carried out at 13:02. ',
      says_de: / Ausgeführt werden sollte sie um 13:02\. /,
      ways: [[`/task-resume ${ID} late`, OWN, 'carries it out late'], STOP],
    },
    {
      name: 'held, with how it stood, why, and who wakes it',
      over: {
        ...blocked(
          { reason: 'held_legacy', enrollment: 'held-legacy' },
          {
            was: {
              state: 'waiting',
              reason: 'awaits_answer',
              waitKind: 'answer',
              waitQuestion: 'Which March?',
            },
          },
        ),
      },
      says:
        'It is an older task that nothing proves to be ongoing; it is kept as it was and does not run ' +
        'by itself. Before that it was waiting for your answer. It had asked: “Which March?” An admin ' +
        'can wake exactly this one, in its own conversation or at the terminal; it is then checked first, and nothing old ' +
        'is replayed. ',
      says_de:
        / Vorher wartete sie auf deine Antwort\. Sie hatte gefragt: „Which March\?“ Ein Admin kann genau diese wecken, /,
      ways: [
        [
          `/task-resume ${ID}`,
          'an admin',
          'wakes exactly this one; a check then decides whether it goes on',
        ],
        STOP,
      ],
    },
  ];
  for (const { name, over, says, says_de: german, ways } of TOLD) {
    test(name, async () => {
      await put(parts, task(over));
      const told = await explain();
      assert.equal(told.sentence, `${BEGINS}blocked since 14:01. ${says}${LEFT}`);
      assert.deepEqual(named(told), ways);
      assert.match((await explain(DE)).sentence, german);
    });
  }

  test('ended, with its reason as somebody else’s words', async () => {
    const data = { said: 'What was asked for is done.' };
    await put(
      parts,
      task({
        state: 'failed',
        reason: 'ended_by_assessment',
        endedAt: NOW - 5_000,
        outcomeData: JSON.stringify(data),
      }),
    );
    const told = await explain();
    assert.equal(
      told.sentence,
      `“Summarise the March invoices” (${ID}) failed at 14:02. It was interrupted, and the check that ` +
        'decides whether it may go on said that it is not to. What the check gave as its reason: “What ' +
        `was asked for is done”. To begin anew, send the request again. ${USED}`,
    );
    assert.deepEqual(told.commands, []);
  });
});

describe('the events of recovery and the boundary:', () => {
  const was = '{"was":{"state":"blocked","reason":"no_outcome"}}';
  const TOLD: readonly [EventType, Partial<EventRecord>, en: string, de: string][] = [
    [
      'assessment.ended',
      { data: '{"epoch":1,"attempt":1,"outcome":"failed","code":"timeout"}' },
      'Check 1 of 3 ended. There was no answer in 60 s.',
      'Prüfung 1 von 3 endete. In 60 s kam keine Antwort.',
    ],
    [
      'assessment.ended',
      { data: '{"epoch":1,"attempt":2,"outcome":"invalid","code":"not_json"}' },
      'Check 2 of 3 ended. Its answer could not be used (not_json).',
      'Prüfung 2 von 3 endete. Ihre Antwort war nicht brauchbar (not_json).',
    ],
    [
      'assessment.ended',
      { data: '{"epoch":1,"attempt":3,"outcome":"continue","reason":"It is half done."}' },
      'Check 3 of 3 ended. It said that the task may go on. Its reason: “It is half done”.',
      'Prüfung 3 von 3 endete. Sie sagte, dass die Aufgabe weitergehen darf. Ihr Grund: „It is half done“.',
    ],
    [
      'assessment.ended',
      { data: '{"epoch":1,"attempt":1,"outcome":"end","reason":"Done"}' },
      'Check 1 of 3 ended. It said that the task is not to go on. Its reason: “Done”.',
      'Prüfung 1 von 3 endete. Sie sagte, dass die Aufgabe nicht weitergehen soll. Ihr Grund: „Done“.',
    ],
    [
      'recovery.state',
      { data: '{"recovery":"granted","epoch":1}' },
      'The task may go on.',
      'Die Aufgabe darf weitergehen.',
    ],
    [
      'recovery.reset',
      { by: 'admin:terminal', data: '{"epoch":2}' },
      'Three further checks were granted by admin:terminal.',
      'Drei weitere Prüfungen wurden von admin:terminal gewährt.',
    ],
    [
      'task.held',
      { fromState: 'blocked', toState: 'blocked', data: was },
      'The task was set aside as an older one. Before that it was blocked.',
      'Die Aufgabe wurde als ältere beiseitegelegt. Vorher war sie blockiert.',
    ],
    [
      'task.enrolled',
      { data: '{"by":"resume"}' },
      'The task belongs to ongoing work. An admin has woken it.',
      'Die Aufgabe gehört zur laufenden Arbeit. Ein Admin hat sie geweckt.',
    ],
    [
      'task.enrolled',
      { data: '{"by":"newer"}' },
      'The task belongs to ongoing work.',
      'Die Aufgabe gehört zur laufenden Arbeit.',
    ],
  ];
  for (const [type, over, en, de] of TOLD) {
    test(`${type} ${over.data ?? ''}`, async () => {
      await put(parts, task(), ...events([type, over]));
      assert.deepEqual((await explain()).chain, [`14:01:00: ${en}`]);
      assert.deepEqual((await explain(DE)).chain, [`14:01:00: ${de}`]);
    });
  }
});
