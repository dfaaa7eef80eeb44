import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalJson, parseJson, readObject } from './json.ts';

test('a record gives the object that it keeps, and an empty one for anything else', () => {
  assert.deepEqual(readObject('{"end":"stopped","tools":["a"]}'), { end: 'stopped', tools: ['a'] });
  for (const text of [null, '', 'no JSON', 'null', '3', '"text"', '[1]', '{"__proto__":{}}']) {
    assert.deepEqual(readObject(text), {}, String(text));
  }
});

test('X-9: too deep a document and a key that could reach a prototype are refused whole', () => {
  const problemOf = (text: string): unknown => {
    const parsed = parseJson(text, 2);
    return parsed.ok ? 'none' : parsed.problem;
  };
  assert.equal(problemOf('[[]]'), 'none');
  assert.equal(problemOf('[[[]]]'), 'too_deep');
  assert.equal(problemOf('{"a":1,"constructor":2}'), 'forbidden_key');
  assert.equal(problemOf('["constructor"]'), 'none');
  assert.equal(problemOf('{'), 'not_json');
});

test('equal data has one canonical text, whatever the order of its keys', () => {
  assert.equal(canonicalJson({ b: [{ d: 1, c: 2 }], a: null }), '{"a":null,"b":[{"c":2,"d":1}]}');
});
