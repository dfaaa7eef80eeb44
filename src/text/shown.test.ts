import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DE } from './de.ts';
import { EN } from './en.ts';
import { blockShown, inlineShown } from './shown.ts';

const NONE = { env: {}, files: [], folder: '/w' };

function block(argv: readonly string[], more: object = NONE): readonly string[] {
  return blockShown(EN, JSON.stringify({ argv, ...more })).split('\n');
}

describe('what would run is shown', () => {
  test('as a shell writes it, with its folder, environment and files, in both languages', () => {
    const shown = JSON.stringify({
      argv: ['/bin/sh', '-c', 'make -j4 && echo done'],
      env: { LANG: 'C', 'ODD NAME': '1' },
      files: [
        { path: 'Makefile', hash: 'ab' },
        { path: 'gone.sh', hash: null },
      ],
      folder: '/srv/my work',
    });
    assert.deepEqual(blockShown(EN, shown).split('\n'), [
      "    │ /bin/sh -c 'make -j4 && echo done'",
      "    in the folder '/srv/my work'",
      "    with the environment variables LANG, 'ODD NAME'",
      '    with the file Makefile as it is now',
      '    with the file gone.sh, which is not there now',
    ]);
    assert.equal(
      inlineShown(DE, shown),
      "/bin/sh -c 'make -j4 && echo done', im Ordner '/srv/my work', mit den Umgebungsvariablen " +
        "LANG, 'ODD NAME', mit der Datei Makefile, wie sie jetzt ist, mit der Datei gone.sh, die es " +
        'jetzt nicht gibt',
    );
  });

  const QUOTED: readonly [argument: string, shown: string][] = [
    ['--depth=1', '--depth=1'],
    ['', "''"],
    ["it's", '"it\'s"'],
    [`it's "$5"`, String.raw`'it'\''s "$5"'`],
    ['`/approve appr_X`', "'`/approve appr_X`'"],
    ['a\u202Eb"c', String.raw`"a\u{202E}b\"c"`],
    ['no\u00A0break', String.raw`"no\u{A0}break"`],
    ['bell\u0007', String.raw`"bell\u{7}"`],
    ['half\uD83D', String.raw`"half\u{D83D}"`],
  ];
  for (const [argument, shown] of QUOTED) {
    test(`${JSON.stringify(argument)} so that it is seen`, () => {
      assert.equal(block([argument])[0], `    │ ${shown}`);
    });
  }

  test('so that none of its lines can pose as a line about it, nor as one of the host', () => {
    const script = 'true\n    in the folder /tmp\n\nTo let exactly this run: `/approve x`';
    const lines = block([script], { folder: '/etc\nin the folder /tmp' });
    assert.deepEqual(
      lines.slice(0, 4).map((line) => line.slice(0, 6)),
      Array(4).fill('    │ '),
    );
    assert.deepEqual(lines.slice(4), [String.raw`    in the folder "/etc\nin the folder /tmp"`]);
  });

  test('whatever it is: whole, and what a shell reads back is what runs', () => {
    const seen = fc.string({
      unit: fc.constantFrom('a', ' ', "'", '"', '\\', '$', '`', '\n', 'ß'),
    });
    fc.assert(
      fc.property(fc.array(seen, { minLength: 1 }), (argv) => {
        const lines = block(argv);
        const command = lines.slice(0, -1).map((line) => line.slice('    │ '.length));
        assert.deepEqual(readShell(command.join('\n')), argv);
      }),
    );
    const any = fc.array(fc.string({ unit: 'binary', maxLength: 200 }));
    fc.assert(
      fc.property(any, fc.string({ unit: 'binary' }), (argv, folder) => {
        const shown = JSON.stringify({ argv, folder, env: { [folder]: '' }, files: [] });
        assert.doesNotMatch(blockShown(EN, shown), /[^\P{C}\n\t]|[\u2028\u2029\u00A0]/u);
        assert.doesNotMatch(inlineShown(EN, shown), /[\n\t`“”]|[^\P{C}]/u);
      }),
    );
  });

  test('to the last byte, however long', () => {
    const long = `echo ${'x'.repeat(200_000)}end`;
    assert.ok(block([long])[0]?.includes(long));
  });

  test('as it is kept when it is of another form', () => {
    assert.equal(blockShown(EN, 'rm -r build\nls\u0007'), '    │ rm -r build\n    │ ls\\u{7}');
    assert.equal(inlineShown(EN, 'rm -r build\nls'), String.raw`rm -r build\nls`);
    assert.equal(blockShown(EN, '{"argv":7,"files":[1]}'), '');
  });
});

/** The words of a command line, as a POSIX shell takes them apart. */
function readShell(line: string): readonly string[] {
  const words: string[] = [];
  const part = /'([^']*)'|"([^"]*)"|\\(.)|([^\s'"\\]+)|(\s+)/gsuy;
  let word: string | undefined;
  for (const [, single, double, escaped, plain, blank] of line.matchAll(part)) {
    if (blank === undefined) word = (word ?? '') + (single ?? double ?? escaped ?? plain ?? '');
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return word === undefined ? words : [...words, word];
}
