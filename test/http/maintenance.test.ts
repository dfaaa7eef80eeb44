import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { ConversationId, OperationId } from '../../src/kernel/ids.ts';
import type { OperationRecord } from '../../src/core/maintenance/record.ts';
import type { OperationReply } from '../../src/wire/maintenance.ts';
import { everyRow } from '../support/acts.ts';
import { codeOf, openDoor, type KeyName, type TestDoor } from './door.ts';
import { openPlace } from './history.ts';
import {
  doneOperation,
  EXHAUSTED,
  putOperation,
  TOO_LARGE,
  UNCERTAIN,
  waitingUntil,
} from './upkeep.ts';

interface Ground {
  readonly door: TestDoor;
  readonly here: ConversationId;
  /** An operation of that conversation. */
  readonly put: (over?: Partial<OperationRecord>) => Promise<OperationId>;
}

async function openGround(context: TestContext): Promise<Ground> {
  const door = await openDoor(context);
  const here = await openPlace(door);
  return { door, here, put: (over = {}) => putOperation(door, here, over) };
}

describe('the maintenance operations', () => {
  test('are listed newest first, by state and by conversation, and page by page', async (context) => {
    const { door, here, put } = await openGround(context);
    const elsewhere = await openPlace(door);
    const ids = [
      await put({ state: 'done', endedAt: 5, nextAttemptAt: null }),
      await put({ state: 'dropped', endedAt: 5, nextAttemptAt: null }),
      await putOperation(door, elsewhere, waitingUntil(9)),
      await put(EXHAUSTED),
    ] as const;
    const client = door.client('reader');
    const listed = async (query?: Parameters<typeof client.operations>[0]) =>
      (await client.operations(query)).items.map(({ id }) => id);
    assert.deepEqual(await listed(), [...ids].toReversed());
    assert.deepEqual(await listed({ state: 'open' }), [ids[3], ids[2]]);
    assert.deepEqual(await listed({ state: 'waiting' }), [ids[2]]);
    assert.deepEqual(await listed({ conversation: here }), [ids[3], ids[1], ids[0]]);
    assert.deepEqual(await listed({ conversation: here, state: 'done' }), [ids[0]]);
    assert.deepEqual(await listed({ conversation: 'conv_0000000000000000' }), []);
    const first = await client.operations({ limit: 3 });
    assert.equal(first.nextCursor, ids[1]);
    assert.deepEqual(await listed({ limit: 3, cursor: first.nextCursor ?? '' }), [ids[0]]);
    for (const path of ['?state=lost', '?limit=0', '?cursor=task_1', '?kind=compact']) {
      const answer = await door.ask('GET', `/v1/maintenance${path}`, { key: 'reader' });
      assert.deepEqual([answer.status, codeOf(answer)], [400, 'bad_request'], path);
    }
    assert.equal((await door.ask('GET', '/v1/maintenance', { key: 'runner' })).status, 403);
  });

  test('have each the fields of the surface, and what leaves it', async (context) => {
    const { door, here, put } = await openGround(context);
    const id = await put(EXHAUSTED);
    const found = await door.client('reader').operation(id);
    const { sentence, commands, createdAt, changedAt, ...rest } = found;
    const { sessionId } = await door.client('reader').conversation(here);
    assert.deepEqual(rest, {
      id,
      conversationId: here,
      sessionId,
      nextSessionId: null,
      kind: 'compact',
      step: 'compact',
      state: 'blocked',
      reason: 'exhausted',
      epoch: 2,
      failures: 7,
      lifetimeFailures: 9,
      nextAttemptAt: null,
      fault: { code: 'http_500', said: 'the server had an error' },
      sizes: null,
      version: 15,
      endedAt: null,
    });
    assert.deepEqual([createdAt, changedAt], Array(2).fill(iso(door)));
    assert.match(sentence, /\S{3}/);
    assert.deepEqual(
      commands.map(({ command }) => command),
      [`/admit ${id}`, '/new'],
    );
    for (const { who, effect } of commands) assert.match(`${who}; ${effect}`, /^\S.*; \S/);
    const [listed] = (await door.client().operations()).items;
    assert.match(listed?.sentence ?? '', /\S{3}/);
    assert.deepEqual({ ...listed, sentence }, found);
  });

  test('tell the instant of the next try while they wait, and no command', async (context) => {
    const { door, put } = await openGround(context);
    const at = door.installation.clock.now() + 4_000;
    const found = await door.client().operation(await put(waitingUntil(at)));
    assert.deepEqual(
      [found.state, found.reason, found.nextAttemptAt, found.commands],
      ['waiting', null, new Date(at).toISOString(), []],
    );
    assert.deepEqual(found.fault, { code: 'eio', said: 'input/output error' });
  });

  test('tell the sizes of what does not fit, in place of a failure', async (context) => {
    const { door, put } = await openGround(context);
    const { fault, sizes } = await door.client().operation(await put(TOO_LARGE));
    assert.equal(fault, null);
    assert.deepEqual(sizes, JSON.parse(TOO_LARGE.fault ?? ''));
  });

  test('are read by whoever may read their conversation, and by nobody else', async (context) => {
    const { door, put } = await openGround(context);
    const id = await put(EXHAUSTED);
    for (const path of [`/v1/maintenance/${id}`, `/v1/maintenance/${id}/why`]) {
      for (const key of ['runner', 'reader', 'ops'] as const)
        assert.equal((await door.ask('GET', path, { key })).status, 200, key);
      assert.equal(codeOf(await door.ask('GET', path, { key: 'other' })), 'not_found');
    }
    for (const unknown of ['mop_0000000000000000', 'mop_1', id.slice(0, -1), 'x'])
      for (const path of ['', '/why']) {
        const answer = await door.ask('GET', `/v1/maintenance/${unknown}${path}`, { key: 'ops' });
        assert.deepEqual([answer.status, codeOf(answer)], [404, 'not_found'], unknown);
      }
  });

  test('say why they stand as they do, with the same commands', async (context) => {
    const { door, put } = await openGround(context);
    const id = await put(EXHAUSTED);
    const why = await door.client('runner').whyOperation(id);
    assert.match(why.sentence, /\S{3}/);
    assert.ok(Array.isArray(why.chain));
    assert.deepEqual(why.commands, (await door.client().operation(id)).commands);
  });
});

describe('M-7 an admission', () => {
  const contractVersion = 1;

  test('opens the next epoch on the same id, once for its receipt', async (context) => {
    const { door, put } = await openGround(context);
    const id = await put(EXHAUSTED);
    const order = { contractVersion, expectedVersion: 15, receiptId: 'rcpt_a' } as const;
    const admitted = await door.client().admit(id, order);
    const { state, reason, epoch, failures, lifetimeFailures, version } = admitted;
    assert.deepEqual(
      { state, reason, epoch, failures, lifetimeFailures, version },
      { state: 'running', reason: null, epoch: 3, failures: 0, lifetimeFailures: 9, version: 16 },
    );
    // Looked at before the version, which is stale by now.
    for (const expectedVersion of [15, 99]) {
      const body = { ...order, expectedVersion };
      const again = await door.ask('POST', `/v1/maintenance/${id}/admit`, { key: 'ops', body });
      const outcome = again.json['outcome'] as OperationReply;
      assert.deepEqual([again.status, codeOf(again)], [409, 'receipt_used']);
      assert.match(again.text, /"title":"This receipt was used for this order"/);
      assert.deepEqual([outcome.id, outcome.epoch, outcome.version], [id, 3, 16]);
    }
  });

  test('is refused with its code, and nothing is stored', async (context) => {
    const { door, here } = await openGround(context);
    const put = async (over: Partial<OperationRecord>): Promise<OperationId> =>
      putOperation(door, await openPlace(door), over);
    const now = door.installation.clock.now();
    const used = await put(EXHAUSTED);
    await door.client().admit(used, { contractVersion, expectedVersion: 15, receiptId: 'used' });
    await doneOperation(door, used);
    const blocked = await put(EXHAUSTED);
    const uncertain = await put(UNCERTAIN);
    const handed = { ...UNCERTAIN, kind: 'handover', step: 'rotate' } as const;
    const rotated = await put(handed);
    const body = { contractVersion, expectedVersion: 15, receiptId: 'rcpt_b' };
    const of3 = { ...body, expectedVersion: 3 };
    const as = 'handover';
    const cases: readonly [string, KeyName, object, number, string][] = [
      ['mop_0000000000000000', 'ops', body, 404, 'not_found'],
      [blocked.slice(0, -1), 'ops', body, 404, 'not_found'],
      [here, 'ops', body, 404, 'not_found'],
      [blocked, 'runner', body, 403, 'forbidden'],
      [blocked, 'reader', body, 403, 'forbidden'],
      [blocked, 'ops', { ...body, expectedVersion: 14 }, 409, 'version_conflict'],
      [blocked, 'ops', { ...body, expectedVersion: 16 }, 409, 'version_conflict'],
      [blocked, 'ops', { ...body, receiptId: 'used' }, 409, 'receipt_used'],
      [blocked, 'ops', { ...body, as }, 409, 'no_handover'],
      [uncertain, 'ops', of3, 409, 'handover_only'],
      [rotated, 'ops', { ...of3, as }, 409, 'no_handover'],
      [await put(waitingUntil(now + 9_000)), 'ops', of3, 409, 'not_blocked'],
      [await put({ version: 15, state: 'done', endedAt: 5 }), 'ops', body, 409, 'not_blocked'],
      [await put({ version: 15, state: 'dropped', endedAt: 5 }), 'ops', body, 409, 'not_blocked'],
    ];
    const before = await everyRow(door.installation);
    for (const [id, key, asked, status, code] of cases) {
      const answer = await door.ask('POST', `/v1/maintenance/${id}/admit`, { key, body: asked });
      const where = `${id} ${JSON.stringify(asked)} ${answer.text}`;
      assert.deepEqual([answer.status, codeOf(answer)], [status, code], where);
      assert.match(String(answer.json['detail']), /\S{3}/, where);
      assert.equal(answer.json['outcome'], undefined, where);
      assert.deepEqual(await everyRow(door.installation), before, where);
    }
  });

  test('names its contract, the version that was seen and a receipt, or is 422', async (context) => {
    const { door, put } = await openGround(context);
    const id = await put(EXHAUSTED);
    const body = { contractVersion, expectedVersion: 15, receiptId: 'rcpt_c' };
    const without = (name: keyof typeof body): object => {
      const { [name]: _, ...rest } = body;
      return rest;
    };
    const wrong: readonly [body: object, paths: readonly string[]][] = [
      [{}, ['contractVersion', 'expectedVersion', 'receiptId']],
      [without('contractVersion'), ['contractVersion']],
      [without('expectedVersion'), ['expectedVersion']],
      [without('receiptId'), ['receiptId']],
      [{ ...body, contractVersion: 2 }, ['contractVersion']],
      [{ ...body, contractVersion: 0 }, ['contractVersion']],
      [{ ...body, contractVersion: '1' }, ['contractVersion']],
      [{ ...body, expectedVersion: 0 }, ['expectedVersion']],
      [{ ...body, expectedVersion: 1.5 }, ['expectedVersion']],
      [{ ...body, expectedVersion: '15' }, ['expectedVersion']],
      [{ ...body, receiptId: '' }, ['receiptId']],
      [{ ...body, receiptId: 'x'.repeat(129) }, ['receiptId']],
      [{ ...body, as: 'compact' }, ['as']],
      [{ ...body, as: null }, ['as']],
      [{ ...body, force: true }, ['force']],
    ];
    const before = await everyRow(door.installation);
    for (const [asked, paths] of wrong) {
      const path = `/v1/maintenance/${id}/admit`;
      const answer = await door.ask('POST', path, { key: 'ops', body: asked });
      const where = JSON.stringify(asked);
      assert.deepEqual([answer.status, codeOf(answer)], [422, 'invalid'], where);
      const errors = answer.json['errors'] as readonly { path: string; message: string }[];
      assert.deepEqual(
        errors.map((error) => error.path),
        paths,
        where,
      );
    }
    for (const asked of [undefined, 'null', '[]', '15']) {
      const raw = asked === undefined ? {} : { raw: asked };
      const path = `/v1/maintenance/${id}/admit`;
      const { status } = await door.ask('POST', path, { key: 'ops', ...raw });
      assert.ok(status >= 400 && status < 500, `${asked}: ${status}`);
    }
    assert.deepEqual(await everyRow(door.installation), before);
  });

  test('of an uncertain compact goes on as a handover', async (context) => {
    const { door, put } = await openGround(context);
    const id = await put(UNCERTAIN);
    assert.equal((await door.client().operation(id)).commands[0]?.command, `/admit ${id} handover`);
    const order = {
      contractVersion,
      expectedVersion: 3,
      receiptId: 'rcpt_d',
      as: 'handover',
    } as const;
    const { kind, step, epoch, lifetimeFailures } = await door.client().admit(id, order);
    assert.deepEqual([kind, step, epoch, lifetimeFailures], ['handover', 'summarise', 2, 1]);
  });

  test('given by two at once is carried out once', async (context) => {
    const { door, put } = await openGround(context);
    const id = await put(EXHAUSTED);
    const path = `/v1/maintenance/${id}/admit`;
    const answers = await Promise.all(
      ['one', 'two', 'three', 'one'].map((receiptId) =>
        door.ask('POST', path, {
          key: 'ops',
          body: { contractVersion, expectedVersion: 15, receiptId },
        }),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    assert.equal((await door.client().operation(id)).epoch, 3);
  });
});

test('A-1: the description says what an admission takes, and what an operation and a session are', async (context) => {
  const { door } = await openGround(context);
  const { json } = await door.ask('GET', '/v1/openapi.json', { key: 'runner' });
  const paths = json['paths'] as Readonly<Record<string, Record<string, Described>>>;
  const described = (path: string, method: 'get' | 'post'): Described => {
    const found = paths[path]?.[method];
    assert.ok(found !== undefined, path);
    return found;
  };
  const order = described('/v1/maintenance/{id}/admit', 'post');
  const { required, properties } = schemaOf(order.requestBody);
  assert.deepEqual(required, ['contractVersion', 'expectedVersion', 'receiptId']);
  assert.deepEqual(properties?.['contractVersion'], { type: 'number', const: 1 });
  assert.equal(order['x-scope'], 'admin');
  const shapeOf = (path: string): readonly string[] =>
    Object.keys(schemaOf(described(path, 'get').responses?.['200']).properties ?? {});
  for (const name of ['epoch', 'failures', 'lifetimeFailures', 'nextAttemptAt', 'commands'])
    assert.ok(shapeOf('/v1/maintenance/{id}').includes(name), name);
  for (const name of ['previousId', 'nextId', 'cutSeq', 'summary', 'conditions', 'isCurrent'])
    assert.ok(shapeOf('/v1/sessions/{id}').includes(name), name);
  for (const name of ['fence', 'operationId', 'maintenance'])
    assert.ok(shapeOf('/v1/conversations/{id}').includes(name), name);
  const names = (path: string): readonly string[] =>
    described(path, 'get').parameters?.map(({ name }) => name) ?? [];
  assert.deepEqual(names('/v1/maintenance'), ['state', 'conversation', 'cursor', 'limit']);
  assert.ok(names('/v1/conversations/{id}/transcript').includes('session'));
});

interface Described {
  readonly 'x-scope'?: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: Content;
  readonly responses?: Readonly<Record<string, Content>>;
}

interface Schema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, object>>;
}

interface Content {
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
}

function schemaOf(content: Content | undefined): Schema {
  return content?.content['application/json']?.schema ?? {};
}

function iso({ installation }: TestDoor): string {
  return new Date(installation.clock.now()).toISOString();
}
