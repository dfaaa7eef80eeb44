// a literal regular expression that some text can hold up is found here, not by that text.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseSync, Visitor } from 'oxc-parser';
import { checkSync } from 'recheck';
import { isTest, lineAt, readFiles, withoutComments, type Files } from './source.ts';

interface Found {
  readonly path: string;
  readonly line: number;
  readonly source: string;
  readonly flags: string;
}

/** Literals that are slow on a long text and are never given one: how many in which file, on what. */
const ON_SHORT_TEXTS: Readonly<Record<string, readonly [count: number, text: string]>> = {
  'src/adapters/model/anthropic.ts': [1, 'a base URL of the configuration'],
  'src/adapters/model/openai-compatible.ts': [1, 'a base URL of the configuration'],
  'src/adapters/model/rehearsal.ts': [5, 'at most 2000 characters'],
  'src/adapters/model/remote.ts': [1, 'a base URL of the configuration'],
  'src/adapters/model/retry-at.ts': [1, 'what another pattern has bounded'],
  'src/cli/run.ts': [1, 'a line of the command line'],
  'src/client/client.ts': [1, 'the URL that the caller gives'],
  'src/core/inbox/command.ts': [1, 'at most 200 characters'],
  'src/engine/task/standing-sentence.ts': [1, 'a checkpoint, at most 4000 characters'],
  'src/text/quote.ts': [1, 'some hundred characters'],
};

/** Where a regular expression is made at run time, of what. */
const MADE: Readonly<Record<string, string>> = {
  'src/core/inbox/join.ts': 'the prefix of an id',
  'src/text/shown.ts': 'a literal with other flags',
  'src/wire/shape.ts': 'the prefix of an id',
};

const product = new Map([...readFiles('src/**/*.ts')].filter(([path]) => !isTest(path)));

test('X-9: no literal regular expression can be held up by what it reads', () => {
  const found = literalsIn(product);
  assert.ok(found.length > 50, 'a check that looked at nothing has not passed');
  const slow = Map.groupBy(vulnerable(found), (one) => one.slice(0, one.indexOf(':')));
  const untold = [...slow].filter(([path, all]) => ON_SHORT_TEXTS[path]?.[0] !== all.length);
  assert.deepEqual(untold, []);
  assert.deepEqual([...slow.keys()].toSorted(), Object.keys(ON_SHORT_TEXTS).toSorted());
});

test('X-9: no regular expression is made at run time of somebody’s text', () => {
  const made = [...product].filter(([, text]) =>
    /\bnew RegExp\b|\bRegExp\(/.test(withoutComments(text)),
  );
  assert.deepEqual(
    made.map(([path]) => path),
    Object.keys(MADE),
  );
});

describe('the check of regular expressions sees', () => {
  const planted: readonly [what: string, text: string][] = [
    ['an exponential one', 'export const a = /^(?:a+)+$/;'],
    ['one in a call', String.raw`x.replace(/\s+$/, '');`],
    ['one in a template', 'const a = `${/(?:x|x)*y/.test(b)}`;'],
    ['one of several', 'f(/a/, /(?:.*)*=/s);'],
  ];
  for (const [what, text] of planted) {
    test(what, () => {
      const found = vulnerable(literalsIn(new Map([['src/core/a.ts', `\n${text}`]])));
      assert.equal(found.length, 1);
      assert.match(found[0] ?? '', /^src\/core\/a\.ts:2: /);
    });
  }

  test('nothing in strings, comments and divisions', () => {
    const text = `// /(a+)+$/\nconst s = '/(a+)+$/'; const n = a / (b + c) / 2; const ok = /^a+b$/;`;
    const found = literalsIn(new Map([['src/core/a.ts', text]]));
    assert.deepEqual(
      found.map(({ source }) => source),
      ['^a+b$'],
    );
    assert.deepEqual(vulnerable(found), []);
  });
});

function literalsIn(files: Files): readonly Found[] {
  return [...files].flatMap(([path, text]) => {
    const found: Found[] = [];
    const visitor = new Visitor({
      Literal(node) {
        if (!('regex' in node)) return;
        const { pattern, flags } = node.regex;
        found.push({ path, line: lineAt(text, node.start), source: pattern, flags });
      },
    });
    visitor.visit(parseSync(path, text).program);
    return found;
  });
}

/** As `path:line: why`; one that cannot be judged counts as vulnerable. */
function vulnerable(all: readonly Found[]): readonly string[] {
  const verdicts = new Map<string, string | undefined>();
  return all.flatMap(({ path, line, source, flags }) => {
    const key = `/${source}/${flags}`;
    if (!verdicts.has(key)) verdicts.set(key, verdictOn(source, flags));
    const why = verdicts.get(key);
    return why === undefined ? [] : [`${path}:${line}: ${key} ${why}`];
  });
}

function verdictOn(source: string, flags: string): string | undefined {
  const judged = checkSync(source, flags, { timeout: 60_000 });
  if (judged.status === 'safe') return undefined;
  return judged.status === 'vulnerable' ? judged.complexity.summary : judged.error.kind;
}
