import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bench } from './tools-workbench.ts';

describe('a call of a tool', () => {
  const bad: readonly [what: string, name: string, args: string, code: string, says: RegExp][] = [
    ['of an unknown tool', 'raed', '{}', 'unknown_tool', /raed.*nearest is read/],
    ['of a tool in capitals', 'LIST', '{}', 'unknown_tool', /nearest is list/],
    ['of a name that every object has', 'toString', '{}', 'unknown_tool', /toString/],
    ['without JSON', 'read', '{"path": ', 'invalid_args', /no JSON/],
    ['with a list', 'read', '["a"]', 'invalid_args', /expected object/],
    ['with null', 'list', 'null', 'invalid_args', /expected object/],
    ['without what it needs', 'read', '{}', 'invalid_args', /^path: /],
    ['with nothing at all', 'read', '', 'invalid_args', /^path: /],
    ['with the wrong type', 'write', '{"path":"a","content":1}', 'invalid_args', /^content: /],
    ['with a word too many', 'list', '{"path":".","depth":2}', 'invalid_args', /depth/],
    ['with an empty path', 'read', '{"path":""}', 'invalid_args', /^path: /],
    ['with half a line', 'read', '{"path":"a","offset":1.5}', 'invalid_args', /^offset: /],
    ['with line 0', 'read', '{"path":"a","offset":0}', 'invalid_args', /^offset: /],
    [
      'with nothing to replace',
      'edit',
      '{"path":"a","old":"","new":"b"}',
      'invalid_args',
      /^old: /,
    ],
    ['with two lines to find', 'search', '{"pattern":"a\\nb"}', 'invalid_args', /one line/],
    [
      'with an endless time',
      'command',
      '{"command":"true","timeoutSeconds":601}',
      'invalid_args',
      /^timeoutSeconds: /,
    ],
    ['with a NUL in the command', 'command', '{"command":"a\\u0000b"}', 'invalid_args', /NUL/],
    [
      'with a huge command',
      'command',
      JSON.stringify({ command: 'x'.repeat(130_000) }),
      'invalid_args',
      /bytes/,
    ],
    [
      'with a key that reaches a prototype',
      'list',
      '{"__proto__":{"path":"."}}',
      'invalid_args',
      /not allowed/,
    ],
    [
      'nested too deep',
      'list',
      `{"path":${'['.repeat(100)}${']'.repeat(100)}}`,
      'invalid_args',
      /deep/,
    ],
  ];
  for (const [what, name, args, code, says] of bad) {
    test(`${what} is refused in one line`, async () => {
      await using at = await bench();
      const outcome = await at.call(name, args);
      assert.equal(outcome.kind === 'error' && outcome.code, code);
      assert.match(outcome.text, says);
      assert.ok(!outcome.text.includes('\n') && outcome.text.length < 600, outcome.text);
    });
  }

  test('that was ended before it began does nothing', async () => {
    await using at = await bench();
    const outcome = await at.call('write', { path: 'a', content: 'x' }, AbortSignal.abort());
    assert.equal(outcome.kind === 'error' && outcome.code, 'ended');
    assert.equal((await at.call('list', {})).text, '.: an empty folder');
  });

  test('X-9: with a `__proto__` key leaves every other object as it was', async () => {
    await using at = await bench();
    await at.call('list', '{"path":".","constructor":{"prototype":{"x":1}}}');
    assert.equal(Object.hasOwn(Object.prototype, 'x'), false);
  });
});

describe('what the model is told', () => {
  test('E-2: which calls may be made again is declared as the surface has it', async () => {
    await using at = await bench();
    const declared = at.tools.list.map((tool) => [tool.name, tool.repeatable]);
    assert.deepEqual(declared, [
      ['read', 'yes'],
      ['write', 'yes'],
      ['edit', 'no'],
      ['list', 'yes'],
      ['search', 'yes'],
      ['command', 'no'],
      ['fetch', 'yes'],
    ]);
  });

  test('what a finished call may have changed is declared for the evidence', async () => {
    await using at = await bench();
    const changing = at.tools.list.filter((tool) => tool.changes === 'yes');
    assert.deepEqual(
      changing.map(({ name }) => name),
      ['write', 'edit', 'command'],
    );
  });

  test('only a command may have to be approved; what asks nobody says so', async () => {
    await using at = await bench();
    const calls = {
      read: { path: 'a' },
      write: { path: 'a', content: 'b' },
      edit: { path: 'a', old: 'a', new: 'b' },
      list: {},
      search: { pattern: 'a' },
      fetch: { url: 'https://example.org/' },
    };
    const silent = at.tools.list.filter(({ approval }) => approval === 'never');
    assert.deepEqual(
      silent.map(({ name }) => name),
      Object.keys(calls),
    );
    for (const [name, args] of Object.entries(calls)) {
      const { needsApproval, shown } = await at.examine(name, args);
      assert.deepEqual([needsApproval, shown?.argv[0]], [false, name]);
    }
  });

  test('E-5: has exactly the arguments of the surface', async () => {
    await using at = await bench();
    const shape = at.tools.list.map(({ name, parameters }) => {
      const { properties, required } = JSON.parse(JSON.stringify(parameters));
      return [name, Object.keys(properties), required ?? []];
    });
    assert.deepEqual(shape, [
      ['read', ['path', 'offset', 'limit'], ['path']],
      ['write', ['path', 'content'], ['path', 'content']],
      ['edit', ['path', 'old', 'new'], ['path', 'old', 'new']],
      ['list', ['path'], []],
      ['search', ['pattern', 'path'], ['pattern']],
      ['command', ['command', 'folder', 'timeoutSeconds'], ['command']],
      ['fetch', ['url'], ['url']],
    ]);
  });

  test('stays small: it is sent with every request', async () => {
    await using at = await bench();
    const bytes = Buffer.byteLength(JSON.stringify(at.tools.list));
    assert.ok(bytes > 1_000 && bytes < 3_000, `${bytes} bytes`);
  });
});
