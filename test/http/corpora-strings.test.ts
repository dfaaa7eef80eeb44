// Strings that somebody's program fell over: in each field of each body, as each id, in each query.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { z } from 'zod';
import type { Route } from '../../src/http/call.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { fieldsOf, makeSubjects, pathFor, sampleOf, titleOf, BODY_ROUTES } from './subjects.ts';
import { NAUGHTY } from './naughty.ts';
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
  readonly pathOf: (line: Route) => string;
  /** Sends a body where the route takes one; a refusal has stored nothing. */
  readonly send: (line: Route, path: string, body?: object) => Promise<Heard>;
}

async function openGround(context: TestContext): Promise<Ground> {
  const within = await openWithin(context, {});
  const subjects = await makeSubjects(makerOf(within, 'ops'));
  const send: Ground['send'] = async (line, path, body) => {
    const where = `${line.method} ${path} ${JSON.stringify(body ?? null).slice(0, 300)}`;
    const raw = body === undefined ? {} : { raw: JSON.stringify(body) };
    const said = { key: 'ops', ...raw } as const;
    const heard = await cpuBound(where, () => within.say(line.method, path, said));
    const code = heardCode(heard, where);
    if (code !== undefined) assert.equal(heard.writes, 0, `${where} is refused and was stored`);
    return heard;
  };
  return { within, send, pathOf: (line) => pathFor(line, subjects) };
}

/** What stands where it can be read again: neither database keeps a character 0 or half a pair. */
function keptOf(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** What was accepted as text, read again through the API; 0 where no route shows it. */
async function readBack({ say }: Within, heard: Heard, body: object): Promise<number> {
  const ids = JSON.parse(heard.text) as Record<string, unknown>;
  const given = body as { text?: unknown; input?: unknown; metadata?: unknown; address?: unknown };
  const read = async (path: string): Promise<Record<string, unknown>> =>
    JSON.parse((await say('GET', path, { key: 'ops' })).text) as Record<string, unknown>;
  const pairs: [is: unknown, was: unknown][] = [];
  if (typeof ids['messageId'] === 'string' && typeof given.text === 'string') {
    pairs.push([(await read(`/v1/messages/${ids['messageId']}`))['text'], keptOf(given.text)]);
  }
  if (typeof ids['taskId'] === 'string' && typeof given.input === 'string') {
    const { mandate } = await read(`/v1/tasks/${ids['taskId']}`);
    pairs.push([(mandate as { text: string }).text, keptOf(given.input)]);
  }
  if (given.metadata !== undefined) {
    pairs.push([(await read(`/v1/runs/${String(ids['id'])}`))['metadata'], given.metadata]);
  }
  if (given.address !== undefined) pairs.push([ids['address'], given.address]);
  for (const [is, was] of pairs) assert.deepEqual(is, was);
  return pairs.length;
}

test('A-5: a naughty string in any field of any body is refused, or kept as it is', async (context) => {
  const ground = await openGround(context);
  let [cases, taken, read] = [0, 0, 0];
  for (const line of BODY_ROUTES) {
    await context.test(titleOf(line), async () => {
      for (const field of fieldsOf(line)) {
        for (const text of NAUGHTY) {
          const body = field.put(text);
          const heard = await ground.send(line, ground.pathOf(line), body);
          cases += 1;
          if (heard.status >= 300) continue;
          taken += 1;
          read += await readBack(ground.within, heard, body);
        }
      }
    });
  }
  context.diagnostic(`${cases} cases, ${taken} taken, ${read} read again`);
  assert.ok(cases >= 10 * NAUGHTY.length && read >= 4 * NAUGHTY.length, `${cases} and ${read}`);
});

test('A-5: a naughty string as the id in any path finds nothing and leaves nothing', async (context) => {
  const { within, send } = await openGround(context);
  const before = await dumpOf(within);
  let cases = 0;
  for (const line of ROUTES.filter(({ path }) => path.includes('{id}'))) {
    const body = line.body === undefined ? undefined : sampleOf(line);
    for (const text of NAUGHTY) {
      const path = line.path.replace('{id}', () => encodeURIComponent(text.toWellFormed()));
      const { status } = await send(line, path, body);
      assert.ok(status === 404 || status === 405, `${line.method} ${path}: ${status}`);
      cases += 1;
    }
  }
  context.diagnostic(`${cases} cases`);
  assert.ok(cases >= 10 * NAUGHTY.length, `${cases} cases`);
  assert.deepEqual(await dumpOf(within), before);
});

test('A-5: a naughty string in any query is refused or finds nothing, and leaves nothing', async (context) => {
  const { within, send, pathOf } = await openGround(context);
  const before = await dumpOf(within);
  let cases = 0;
  for (const line of ROUTES.filter(({ method, need }) => method === 'GET' && need !== 'none')) {
    const names = line.query === undefined ? [] : propertiesOf(line.query);
    for (const text of NAUGHTY) {
      const value = encodeURIComponent(text.toWellFormed());
      const queries = [`${value}=x`, value, ...names.map((name) => `${name}=${value}`)];
      for (const query of queries) {
        const { status } = await send(line, `${pathOf(line)}?${query}`);
        assert.ok(status === 200 || status === 400, `${titleOf(line)}?${query}: ${status}`);
        cases += 1;
      }
    }
  }
  context.diagnostic(`${cases} cases`);
  assert.ok(cases >= 40 * NAUGHTY.length, `${cases} cases`);
  assert.deepEqual(await dumpOf(within), before);
});

function propertiesOf(query: z.ZodType): readonly string[] {
  const { properties = {} } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' });
  return Object.keys(properties);
}
