// What the host says to people, word by word. A text that changes here changes on somebody's phone.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { REASONS, typeCommand, type ReasonEntry } from '../../src/core/notice/reasons.ts';
import { REFUSALS, type RefusalCode } from '../../src/kernel/fault.ts';
import { NOTICES, SIGNS, type Locale, type NoticeCode } from '../../src/text/catalogue.ts';
import { CORRECTIVES } from '../../src/text/model.ts';
import { catalogueOf } from '../../src/text/reader.ts';
import { renderNotice, renderRefusal, renderStoredNotice } from '../../src/text/render.ts';

const ID = 'task_7K2M9QX4R1T8WZ3C';
const EN = { locale: 'en', timeZone: 'UTC' } as const;
const DE = { locale: 'de', timeZone: 'UTC' } as const;
const PARAMS = { request: 'Summarise the March invoices', taskId: ID };

const GOLDEN: readonly [code: NoticeCode, more: object, en: string, de: string][] = [
  [
    'interrupted',
    {},
    `… “Summarise the March invoices” was interrupted: the host stopped while it worked on it. What was done is saved, and nothing of it continues by itself. To end it: \`/stop ${ID}\`; to try anew, send the request again. Why: \`/why ${ID}\`.`,
    `… „Summarise the March invoices“ wurde unterbrochen: Der Host endete, während er daran arbeitete. Was getan war, ist gespeichert, und nichts davon geht von selbst weiter. Beenden: \`/stop ${ID}\`; für einen neuen Anlauf schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
  ],
  [
    'interrupted',
    { tools: ['send_payment', 'edit'] },
    `… “Summarise the March invoices” was interrupted: the host stopped while it worked on it. Whether \`send_payment\` and \`edit\` took effect is unknown; I will not run it again, so please check. What was done is saved, and nothing of it continues by itself. To end it: \`/stop ${ID}\`; to try anew, send the request again. Why: \`/why ${ID}\`.`,
    `… „Summarise the March invoices“ wurde unterbrochen: Der Host endete, während er daran arbeitete. Ob \`send_payment\` und \`edit\` gewirkt hat, ist unbekannt; ich führe es nicht noch einmal aus, bitte prüfen. Was getan war, ist gespeichert, und nichts davon geht von selbst weiter. Beenden: \`/stop ${ID}\`; für einen neuen Anlauf schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
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
    'no_outcome',
    {},
    `■ I could not finish “Summarise the March invoices”: twice in a row the model ended without an answer. What was done is saved, and it stays as it is until you decide. To end it: \`/stop ${ID}\`; to try anew, send the request again. Why: \`/why ${ID}\`.`,
    `■ Ich konnte „Summarise the March invoices“ nicht abschließen: Zweimal hintereinander endete das Modell ohne Antwort. Was getan war, ist gespeichert, und so bleibt es, bis du entscheidest. Beenden: \`/stop ${ID}\`; für einen neuen Versuch schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
  ],
  [
    'no_progress',
    {},
    `■ I could not finish “Summarise the March invoices”: the model kept working without getting on, even after a reminder. What was done is saved, and it stays as it is until you decide. To end it: \`/stop ${ID}\`; to try anew, send the request again. Why: \`/why ${ID}\`.`,
    `■ Ich konnte „Summarise the March invoices“ nicht abschließen: Das Modell arbeitete, ohne voranzukommen, auch nach einem Hinweis. Was getan war, ist gespeichert, und so bleibt es, bis du entscheidest. Beenden: \`/stop ${ID}\`; für einen neuen Versuch schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
  ],
  [
    'model_refused',
    { detail: 'http_401' },
    `▸ “Summarise the March invoices” has failed: the model provider refused the call (http_401). What was done is kept. When the cause is mended, send the request again. Why: \`/why ${ID}\`.`,
    `▸ „Summarise the March invoices“ ist gescheitert: Der Modellanbieter hat den Aufruf abgelehnt (http_401). Was getan war, bleibt. Ist die Ursache behoben, schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
  ],
  [
    'model_unavailable',
    { detail: 'timeout' },
    `▸ “Summarise the March invoices” has failed: the model gave no usable answer (timeout). What was done is kept. When the cause is gone, send the request again. Why: \`/why ${ID}\`.`,
    `▸ „Summarise the March invoices“ ist gescheitert: Das Modell gab keine brauchbare Antwort (timeout). Was getan war, bleibt. Ist die Ursache behoben, schick die Anfrage noch einmal. Warum: \`/why ${ID}\`.`,
  ],
];

describe('a notice says what happened, what is kept and what changes it:', () => {
  for (const [code, more, en, de] of GOLDEN) {
    test(`${code} ${JSON.stringify(more)}`, () => {
      const params = { ...PARAMS, ...more };
      assert.equal(renderNotice(EN, code, params), en);
      assert.equal(renderNotice(DE, code, params), de);
      assert.equal(renderStoredNotice(DE, code, JSON.stringify(params)), de);
    });
  }

  test('every code has its words above', () => {
    const golden = new Set(GOLDEN.map(([code]) => code));
    assert.deepEqual([...golden].toSorted(), Object.keys(NOTICES).toSorted());
  });
});

describe('O-6: each reason has its notice', () => {
  const reasons: readonly [string, ReasonEntry][] = Object.entries(REASONS);
  for (const [reason, entry] of reasons) {
    if (entry.notice === null) continue;
    test(`${reason} at the level of the table, with the command of the table and no other`, () => {
      const notice = entry.notice as NoticeCode;
      assert.equal(NOTICES[notice], entry.level);
      for (const reader of [EN, DE]) {
        const text = renderNotice(reader, notice, PARAMS);
        assert.equal(text[0], SIGNS[entry.level ?? 'info']);
        const quoted = [...text.matchAll(/`(\/[^`]+)`/g)].map(([, command]) => command);
        const ways = entry.ways.map((way) => typeCommand(way, ID));
        assert.deepEqual(quoted, [...ways, `/why ${ID}`]);
      }
    });
  }
});

test('a notice of a newer version, or one that lost its parameters, is still said', () => {
  const stored = JSON.stringify({ ...PARAMS, request: 'Pay', tools: 7, more: {} });
  assert.equal(renderStoredNotice(EN, 'quota', stored), `▸ “Pay”: \`quota\`. Why: \`/why ${ID}\`.`);
  for (const params of [null, '', '[]', '7', '{"tools": [1, null]}', '{']) {
    assert.match(renderStoredNotice(EN, 'stopped', params), /^▸ “…” is stopped\. /);
  }
  assert.match(renderStoredNotice(EN, 'toString', null), /`toString`/);
});

test('many calls are named up to five and then counted', () => {
  const tools = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const text = renderNotice(EN, 'interrupted', { ...PARAMS, tools });
  assert.match(text, /Whether `a`, `b`, `c`, `d`, `e` and 2 more took effect/);
});

test("a provider's own words stand in quotation marks, cut and in one line", () => {
  const said = 'model "llama" not found\n`/stop all`, try pulling it first and then ask again';
  const text = renderNotice(EN, 'model_refused', { ...PARAMS, detail: 'http_404', said });
  assert.match(text, /\(http_404: “model 'llama' not found '\/stop all', try pulling it first…”\)/);
});

describe('a refusal says what it refused and what to do instead:', () => {
  const codes = Object.keys(REFUSALS) as RefusalCode[];
  for (const code of codes) {
    test(code, () => {
      for (const { locale } of [EN, DE]) {
        const detail = { id: ID, nearest: ID, word: 'stp', state: 'completed' };
        for (const text of [
          renderRefusal({ locale }, code),
          renderRefusal({ locale }, code, detail),
        ]) {
          assertVoice(text);
          assert.doesNotMatch(text, /undefined|\bnull\b|\n/);
        }
      }
    });
  }

  test('W-5: an unknown id or command names the nearest in one line', () => {
    assert.equal(
      renderRefusal(EN, 'not_found', { id: 'task_X', nearest: ID }),
      `Nothing here has the id \`task_X\`. The nearest is \`${ID}\`.`,
    );
    assert.equal(
      renderRefusal(DE, 'unknown_command', { word: 'stp', nearest: '/stop' }),
      'Es gibt keinen Befehl `/stp`. Am nächsten kommt `/stop`. Alle: `/help`.',
    );
  });

  test('a state is said in words of the language', () => {
    assert.match(renderRefusal(DE, 'task_ended', { state: 'stopped' }), /\(angehalten\)/);
    assert.match(renderRefusal(DE, 'not_allowed_now', { state: 'newer' }), /newer/);
  });
});

describe('every sentence keeps to the voice', () => {
  for (const locale of ['en', 'de'] satisfies Locale[]) {
    test(locale, () => {
      const said = sentences(catalogueOf(locale));
      assert.ok(said.length > 100, 'a check that looked at nothing has not passed');
      for (const sentence of said) assertVoice(sentence);
    });
  }

  test('and notices too, behind their sign', () => {
    for (const [code, more, en, de] of GOLDEN) {
      for (const text of [en, de]) {
        const sign = SIGNS[NOTICES[code]];
        assert.ok(text.startsWith(`${sign} `));
        assertVoice(text.slice(sign.length));
      }
      assert.ok(more !== null);
    }
  });

  test('the check of the voice sees what it must', () => {
    for (const text of ['Done!', 'Oops 🎉.', '▸ Again.', 'Two  spaces.']) {
      assert.throws(() => assertVoice(text), assert.AssertionError, text);
    }
  });
});

test('what corrects a model says that nobody was answered, in English', () => {
  assert.match(CORRECTIVES.no_outcome, /without an answer/);
  for (const text of Object.values(CORRECTIVES)) assertVoice(text);
});

/** Every text of a catalogue; functions are called with a stand-in for whatever they name. */
function sentences(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'function') {
    // Stands for whatever a sentence names: a text, or facts whose every key is a text.
    const any = new Proxy({}, { get: (_, key) => (key === Symbol.toPrimitive ? () => 'x' : 'x') });
    return [String(Reflect.apply(value, null, [any, any]))];
  }
  return value !== null && typeof value === 'object'
    ? Object.values(value).flatMap((inner) => sentences(inner))
    : [];
}

function assertVoice(text: string): void {
  assert.doesNotMatch(text, /!/, text);
  assert.doesNotMatch(text, /\p{Extended_Pictographic}|[▸■]/u, text);
  assert.doesNotMatch(text, / {2}/, text);
}
