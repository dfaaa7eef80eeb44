import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LIMITS } from '../../kernel/limits.ts';
import { firmnessOf } from './condition-phrases.ts';
import { findConditions, mergeConditions } from './conditions.ts';

describe('what sets a standing condition is found', () => {
  const SET = [
    'Never delete mails.',
    'You must never send anything to customers.',
    "Don't touch the archive without my approval.",
    'Don’t book anything unless I say so.',
    'Dont send it before I have read it.',
    'Do not reply to Mr. Smith.',
    'Please ask before deleting.',
    'Ask me before you buy something',
    'check with me first, always',
    'Always ask before sending.',
    'Before you delete anything, ask me.',
    'Confirm every payment with me beforehand.',
    'Only read, please.',
    'This mailbox is read-only.',
    'Nothing before I say go.',
    'Wait until I say go.',
    'You must not publish this.',
    'You mustn’t call them.',
    'No payments unless I confirm them.',
    'No deletions without my ok.',
    'Nothing is deleted without confirmation.',
    'Under no circumstances share the password.',
    'Leave the production database alone.',
    'Stay out of the HR folder.',
    'Hands off the backups!',
    'Production is off limits.',
    'Delete nothing.',
    'From now on write in German.',
    'Spend at most 50 euros.',
    'Keep this confidential.',
    'You no longer need to ask before sending.',
    'Niemals etwas löschen!',
    'Lösche nie Mails von Anna.',
    'Lösche nichts.',
    'Bitte loesche nichts',
    'Nichts löschen, bevor ich es sage.',
    'Nichts tun, bevor ich los sage.',
    'Frag mich vorher.',
    'Frage mich bitte immer, bevor du etwas kaufst.',
    'Bevor du etwas verschickst, frag mich.',
    'Vorher bitte fragen.',
    'Nicht ohne meine Freigabe versenden.',
    'Ohne Rückfrage wird nichts bestellt.',
    'Nur lesen!',
    'Lies nur, ändere nichts.',
    'Erst wenn ich okay sage, geht es los.',
    'Erst nach meiner Zustimmung buchen.',
    'Du darfst keine Termine absagen.',
    'Auf keinen Fall an Kunden schreiben.',
    'Unter keinen Umständen das Passwort weitergeben',
    'Warte, bis ich mich melde.',
    'Finger weg vom Archiv!',
    'Ab jetzt auf Englisch.',
    'Gib höchstens 50 Euro aus.',
    'Das ist vertraulich.',
    'Keine Überweisungen, es sei denn, ich bestätige sie.',
    'Mach nichts, solange ich weg bin.',
    'Antworte ihm nicht.',
  ];
  for (const said of SET) {
    test(said, () => {
      const all = findConditions(`Hello there. ${said}\n\nThanks a lot for the help`);
      assert.deepEqual(all, [said]);
    });
  }
});

test('what is said every day sets none', () => {
  const IDLE = [
    'Please summarise the March invoices.',
    'Never mind.',
    "I don't know, what do you think?",
    "Don't worry.",
    'It never worked on Tuesdays.',
    'What is the weather like?',
    'Thanks, that was great!',
    'Count the files in the folder and tell me how many there are.',
    'Fasse die Rechnungen vom März zusammen.',
    'Wie spät ist es?',
    'Danke, das passt.',
    'Ich habe das nie bekommen.',
    'Schick Anna bitte die Liste.',
  ];
  for (const said of IDLE) assert.deepEqual(findConditions(said), [], said);
});

describe('conditions are quoted', () => {
  test('exactly, each with its own sentence alone', () => {
    const said =
      'Look through my inbox. Delete nothing before I have said “go”! Then write a list.\n' +
      '- Never reply to anyone (e.g. Anna).\n' +
      '2. ask me first: it is\nimportant';
    assert.deepEqual(findConditions(said), [
      'Delete nothing before I have said “go”!',
      'Never reply to anyone (e.g. Anna).',
      'ask me first: it is important',
    ]);
  });

  test('with an abbreviation, a number and a letter inside', () => {
    for (const said of [
      'Niemals z. B. am 3. Mai etwas an Dr. Berg senden.',
      'Never write to Mrs. J. Smith before 5. May.',
    ]) {
      assert.deepEqual(findConditions(said), [said]);
    }
  });

  test('without what stands in code or is quoted', () => {
    const said = [
      '> Never reply to this.',
      'See this:',
      '```sh',
      'never run this',
      '```',
      'And now',
      '',
      '  > do not answer',
      '~~~',
      'nie ausführen',
      '~~~',
      'Ask me before you run it.',
    ].join('\n');
    assert.deepEqual(findConditions(said), ['Ask me before you run it.']);
  });

  test('from behind a mark of code that nothing closes', () => {
    assert.deepEqual(findConditions('```\nNever run this.'), ['Never run this.']);
  });

  test('in parts where a sentence has no end, and none of them is lost', () => {
    const filler = 'and then the other thing '.repeat(60);
    const found = findConditions(
      `${filler}, never delete, ${filler} ask me before sending ${filler}`,
    );
    assert.equal(found.length, 2);
    for (const one of found) assert.ok(one.length <= LIMITS.conditionChars);
    assert.match(found.join('\n'), /never delete[^]*ask me before/);
    assert.deepEqual(findConditions(`never${'x'.repeat(1_000)}`), []);
  });

  test('a dozen of a message at most, those that bind most', () => {
    const loose = Array.from({ length: 30 }, (_, index) => `Always be nice to ${index}x.`);
    const found = findConditions([...loose, 'Never delete.', ...loose].join('\n\n'));
    assert.equal(found.length, 12);
    assert.equal(found.at(-1), 'Never delete.');
  });

  test('whatever the message: bounded, and in words that stand in it', () => {
    const words = fc.constantFrom(
      'never',
      'ask',
      'me',
      'before',
      'nicht',
      'ohne',
      'z.B.',
      '```',
      '>',
      '-',
      '\n',
      '.',
      '!',
    );
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.oneof(words, fc.string()), { maxLength: 60 }).map((all) => all.join(' ')),
    );
    fc.assert(
      fc.property(text, (said) => {
        const plain = said.replaceAll(/\s+/g, ' ');
        const found = findConditions(said);
        assert.ok(found.length <= 12);
        for (const one of found) {
          assert.ok(one.length <= LIMITS.conditionChars);
          assert.ok(plain.includes(one) || said.includes('\n'), one);
        }
      }),
      { numRuns: 300 },
    );
  });
});

test('a phrase is found at any distance that a sentence has', () => {
  assert.equal(firmnessOf('ask one two three four five six seven eight before'), 'binding');
  assert.equal(firmnessOf('ask one two three four five six seven eight nine before'), undefined);
  assert.equal(firmnessOf(''), undefined);
});

describe('conditions that were known', () => {
  const at = (instant: number, text: string) => ({ at: instant, text });

  test('stay in their order, and new ones follow', () => {
    const known = [at(1, 'Never delete.'), at(2, 'Ask me first.')];
    assert.deepEqual(mergeConditions(known, [at(3, 'Only read.')]), [
      ...known,
      at(3, 'Only read.'),
    ]);
    assert.deepEqual(mergeConditions(known, []), known);
    assert.deepEqual(mergeConditions([], []), []);
  });

  test('are one with what is said again, which then was said last', () => {
    const known = [at(1, 'Never delete.'), at(2, 'Ask me first.')];
    assert.deepEqual(mergeConditions(known, [at(3, 'never  DELETE!')]), [
      at(2, 'Ask me first.'),
      at(3, 'never  DELETE!'),
    ]);
  });

  test('give way where there are too many: what binds less first, then the oldest', () => {
    const firm = Array.from({ length: 30 }, (_, index) => at(index, `Never delete ${index}.`));
    const loose = Array.from({ length: 30 }, (_, index) => at(99, `Always greet ${index}.`));
    const merged = mergeConditions(firm, loose);
    assert.equal(merged.length, LIMITS.conditionsMax);
    assert.deepEqual(merged.slice(0, 30), firm);
    assert.deepEqual(merged.slice(30), loose.slice(20));
    const more = mergeConditions(
      merged,
      firm.map(({ text }) => at(100, `${text} Never!`)),
    );
    assert.deepEqual(more.slice(0, 10), firm.slice(20));
  });

  test('give way where there is no room, each for itself', () => {
    const long = at(1, `Never delete ${'x'.repeat(100)}.`);
    const short = at(2, 'Never delete.');
    assert.deepEqual(mergeConditions([short, long], [], 50), [short]);
    assert.deepEqual(mergeConditions([short, long], [], 500), [short, long]);
    assert.deepEqual(mergeConditions([long], [], 50), []);
  });
});

describe('M-17 where there are many conditions', () => {
  const at = (text: string, place: number): { at: number; text: string } => ({ at: place, text });
  const texts = (all: readonly { readonly text: string }[]): readonly string[] =>
    all.map(({ text }) => text);

  test('as many as may be are all kept, and as many characters', () => {
    const many = Array.from({ length: LIMITS.conditionsMax }, (_, place) =>
      at(`Never send mail number ${place}.`, place),
    );
    assert.deepEqual(mergeConditions(many, []), many);
    const one = at('Never send mail number x.', 99);
    assert.deepEqual(mergeConditions(many, [one]), [...many.slice(1), one]);
    const chars = many.reduce((sum, { text }) => sum + text.length, 0);
    assert.deepEqual(mergeConditions(many, [], chars), many);
    assert.deepEqual(mergeConditions(many, [], chars - 1), many.slice(1));
  });

  test('one that does not fit leaves its room to the next that does', () => {
    const [long, short] = [at('Never send anything to anybody at all.', 1), at('Only read.', 2)];
    assert.deepEqual(texts(mergeConditions([long, short], [], long.text.length)), ['Only read.']);
    const exact = long.text.length + short.text.length;
    assert.deepEqual(mergeConditions([long, short, at('Never!', 3)], [], exact - 1).length, 2);
  });

  test('what binds is counted once, before what does not', () => {
    const [loose, firm] = [at('remember that blue is nicer', 1), at('Only read.', 2)];
    const room = loose.text.length + firm.text.length;
    assert.deepEqual(mergeConditions([loose], [firm], room), [loose, firm]);
    assert.deepEqual(mergeConditions([firm], [loose], room - 1), [firm]);
  });

  test('words that are joined are others', () => {
    const both = [at('Never re send it.', 1), at('Never resend it.', 2)];
    assert.deepEqual(mergeConditions(both, []), both);
  });
});

test('M-17 a word that is longer than a condition may be is read in pieces of that length', () => {
  const found = (before: number): readonly string[] =>
    findConditions(`${'x'.repeat(before)}nie! Never y.`);
  for (const pieces of [1, 2])
    assert.deepEqual(found(pieces * LIMITS.conditionChars), ['nie!', 'Never y.']);
  assert.deepEqual(found(LIMITS.conditionChars - 1), ['Never y.'], 'a word that is parted is none');
});
