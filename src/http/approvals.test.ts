import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApprovalRecord } from '../core/approval/record.ts';
import { refuse } from '../kernel/fault.ts';
import { ABOVE_ALL_IDS } from '../kernel/ids.ts';
import { LIMITS } from '../kernel/limits.ts';
import { approvalRow, idOf, taskRow } from '../testing/store-rows.ts';
import { APPROVAL_ROUTES } from './approvals.ts';
import type { Call } from './call.ts';
import type { Identity, Scope } from './keys.ts';
import { Problem } from './problems.ts';

const ROW = approvalRow({ requestedBy: 'key:anna', runId: idOf('run', 1) });
const [LIST, ONE, ANSWER] = APPROVAL_ROUTES;

function keyOf(id: string, ...scopes: readonly Scope[]): Identity {
  const principal = { kind: 'key', id, isAdmin: scopes.includes('admin') } as const;
  return { principal, name: `key:${id}`, scopes: new Set(scopes) };
}

const ANNA = keyOf('anna', 'run');
const BEN = keyOf('ben', 'run');
const READER = keyOf('reader', 'read');
const OPS = keyOf('ops', 'admin', 'run', 'read');

interface Given extends Partial<Pick<Call, 'identity' | 'id' | 'query' | 'body' | 'idempotency'>> {
  readonly rows?: readonly ApprovalRecord[];
  readonly enrollment?: 'current' | 'held-legacy';
  readonly answered?: object;
}

interface Outcome {
  readonly status: number;
  readonly code: string | undefined;
  readonly json: Record<string, unknown>;
  readonly asked: unknown[];
  readonly orders: unknown[];
}

/** What a route answers over an engine that finds and does what it is given. */
async function call(
  route: (typeof APPROVAL_ROUTES)[number] | undefined,
  given: Given = {},
): Promise<Outcome> {
  const { rows = [ROW], enrollment = 'current', answered = {}, ...rest } = given;
  const asked: unknown[] = [];
  const orders: unknown[] = [];
  const finds: Record<
    string,
    (args: { readonly id?: string; readonly limit?: number }) => unknown
  > = {
    'approval.list': ({ limit }) => rows.slice(0, limit),
    'approval.byId': ({ id }) => rows.find((row) => row.id === id),
    'task.byId': ({ id }) => (id === ROW.taskId ? taskRow({ enrollment }) : undefined),
  };
  const engine = {
    parts: { options: { locale: 'en', timeZone: 'UTC' }, clock: { now: () => 5_000 } },
    store: {
      query: (name: string, args: object) => {
        if (name === 'approval.list') asked.push(args);
        return Promise.resolve(finds[name]?.(args));
      },
    },
    answerApproval: (order: object) => {
      orders.push(order);
      const approval = { ...ROW, state: 'approved', decidedBy: 'key:anna', decidedAt: 4_000 };
      return Promise.resolve({ kind: 'answered', approval, runs: 'now', ...answered });
    },
  };
  const plain = { identity: ANNA, id: ROW.id, query: {}, body: { decision: 'approve' } };
  const made = { door: { engine }, ...plain, idempotency: undefined, ...rest } as unknown as Call;
  const told: Omit<Outcome, 'status' | 'code' | 'json'> = { asked, orders };
  try {
    const response = await route?.handle(made);
    assert.ok(response !== undefined);
    const json = (await response.json()) as Outcome['json'];
    return { ...told, status: response.status, code: undefined, json };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { status, code, ...json } = error.body;
    return { ...told, status, code, json };
  }
}

const VIEW = {
  id: ROW.id,
  conversationId: ROW.conversationId,
  taskId: ROW.taskId,
  runId: ROW.runId,
  kind: 'call',
  tool: 'shell',
  shown: { argv: ['rm', '-r', 'build'], folder: '.', env: {}, files: [] },
  state: 'open',
  approver: 'any',
  mayAnswer: true,
  requestedBy: 'key:anna',
  decidedBy: null,
  at: '1970-01-01T00:00:03.000Z',
  expiresAt: '1970-01-01T00:01:30.000Z',
  decidedAt: null,
};
const ENDED = {
  ...VIEW,
  state: 'approved',
  mayAnswer: false,
  decidedBy: 'key:anna',
  decidedAt: '1970-01-01T00:00:04.000Z',
};

function itemIds({ json }: Pick<Outcome, 'json'>): unknown {
  return (json['items'] as { readonly id: string }[]).map(({ id }) => id);
}

describe('A-5: the routes of approvals', () => {
  test('are these, with what a key needs for each', () => {
    const lines = APPROVAL_ROUTES.map(({ method, path, need, isIdempotent = false }) => {
      return [method, path, need, isIdempotent];
    });
    assert.deepEqual(lines, [
      ['GET', '/v1/approvals', 'any', false],
      ['GET', '/v1/approvals/{id}', 'any', false],
      ['POST', '/v1/approvals/{id}', 'run', true],
    ]);
    for (const { summary, replies } of APPROVAL_ROUTES) {
      assert.match(summary, /^[A-Z].{9}/);
      assert.match(replies[200]?.what ?? '', /^(A page|The approval)/);
      assert.ok(replies[200]?.shape);
    }
    assert.ok(ANSWER?.body?.safeParse({ decision: 'deny' }).success);
    assert.ok(LIST?.query?.safeParse({ state: 'open' }).success);
    assert.equal(LIST.query.safeParse({ states: 'open' }).success, false);
  });
});

describe('E-4: an approval', () => {
  test('is shown whole', async () => {
    const { status, json } = await call(ONE);
    assert.deepEqual([status, json], [200, VIEW]);
  });

  test('is shown with every byte that would run', async () => {
    const files = [{ path: 'pay.sh', hash: null }];
    const shown = { argv: ['sh', 'pay.sh'], folder: '/w', env: { PATH: '/bin' }, files };
    const { json } = await call(ONE, { rows: [{ ...ROW, shown: JSON.stringify(shown) }] });
    assert.deepEqual(json['shown'], shown);
  });

  for (const [who, identity, over, may] of [
    ['its own key', ANNA, {}, true],
    ['its own key where another person has to', ANNA, { approver: 'other' }, false],
    ['its own key that may no longer run', keyOf('anna', 'read'), {}, false],
    ['an admin', OPS, {}, true],
    [
      'an admin where another person than the one who asked has to',
      OPS,
      { approver: 'other' },
      true,
    ],
    ['an admin that asked itself', OPS, { approver: 'other', requestedBy: 'key:ops' }, false],
    ['a key that only reads', READER, {}, false],
    ['a key that reads and runs', keyOf('ben', 'read', 'run'), {}, false],
    ['anybody once it has its end', OPS, { state: 'denied' }, false],
  ] as const satisfies readonly (readonly [string, Identity, Partial<ApprovalRecord>, boolean])[])
    test(`E-6 may ${may ? '' : 'not '}be answered by ${who}`, async () => {
      const { json } = await call(ONE, { identity, rows: [{ ...ROW, ...over }] });
      assert.equal(json['mayAnswer'], may);
    });

  test('B-8 of history may not be answered before it is woken', async () => {
    assert.deepEqual((await call(ONE, { enrollment: 'held-legacy' })).json, {
      ...VIEW,
      mayAnswer: false,
    });
    const gone = [{ ...ROW, taskId: idOf('task', 9) }];
    assert.equal((await call(ONE, { rows: gone })).json['mayAnswer'], true);
  });

  test('is not there for a key that may not know of it, nor under another id', async () => {
    for (const route of [ONE, ANSWER])
      for (const given of [
        { identity: BEN },
        { id: idOf('approval', 9) },
        { id: idOf('task', 1), rows: [{ ...ROW, id: idOf('task', 1) as never }] },
      ]) {
        const { code, orders } = await call(route, given);
        assert.deepEqual([code, orders], ['not_found', []]);
      }
    assert.equal((await call(ONE, { identity: READER })).status, 200);
  });
});

describe('E-4: an answer', () => {
  test('is given as the order of its key, and tells when the call runs', async () => {
    const { status, json, orders } = await call(ANSWER);
    assert.deepEqual([status, json], [200, { ...ENDED, runs: 'now' }]);
    const order = { approvalId: ROW.id, decision: 'approve', principal: ANNA.principal };
    assert.deepEqual(orders, [{ ...order, channel: 'api' }]);
  });

  test('M-7 carries its receipt, or the key and the digest that make it one', async () => {
    const body = { decision: 'deny', receiptId: 'r-1' };
    const own = await call(ANSWER, { body });
    assert.partialDeepStrictEqual(own.orders, [{ decision: 'deny', receiptId: 'r-1' }]);
    const idempotency = { key: 'k-1', fingerprint: 'f' } as Call['idempotency'];
    const keyed = await call(ANSWER, { idempotency });
    assert.partialDeepStrictEqual(keyed.orders, [{ receiptId: 'k-1', fingerprint: 'f' }]);
  });

  test('M-7 given again says its first outcome, under a receipt as a conflict', async () => {
    const answered = { repeated: true };
    const again = await call(ANSWER, { answered });
    assert.deepEqual([again.status, again.json['runs']], [200, 'now']);
    const { status, code, json } = await call(ANSWER, {
      answered,
      body: { decision: 'approve', receiptId: 'r-1' },
    });
    assert.deepEqual([status, code], [409, 'receipt_used']);
    assert.deepEqual(json['outcome'], { ...ENDED, runs: 'now' });
  });

  test('is refused with what the engine says', async () => {
    const { id, taskId, tool } = ROW;
    const answered = refuse('approval_closed', { id, taskId, tool, state: 'denied' });
    const { status, code } = await call(ANSWER, { answered });
    assert.deepEqual([status, code], [409, 'approval_closed']);
  });

  test('A-5 is not ordered for a key that may only read it', async () => {
    const { status, code, orders } = await call(ANSWER, { identity: READER });
    assert.deepEqual([status, code, orders], [403, 'forbidden', []]);
    assert.equal((await call(ANSWER, { identity: OPS })).orders.length, 1);
  });
});

describe('A-5: the list of approvals', () => {
  const rows = [3, 2, 1].map((n) =>
    approvalRow({ id: idOf('approval', n), requestedBy: n === 2 ? 'key:ben' : 'key:anna' }),
  );
  const [third, second, first] = rows.map(({ id }) => id);
  const all = { state: '', conversationId: '' };

  test('is whole for a key that reads, a page at a time', async () => {
    const whole = await call(LIST, { identity: READER, rows });
    assert.deepEqual(itemIds(whole), [third, second, first]);
    assert.equal(whole.json['nextCursor'], null);
    const limit = LIMITS.listLimitDefault + 1;
    assert.deepEqual(whole.asked, [{ ...all, before: ABOVE_ALL_IDS, limit }]);
    const query = { limit: '2', cursor: idOf('approval', 4), state: 'open', conversation: 'conv' };
    const cut = await call(LIST, { identity: READER, rows, query });
    assert.deepEqual([itemIds(cut), cut.json['nextCursor']], [[third, second], second]);
    const filter = { state: 'open', conversationId: 'conv', before: idOf('approval', 4) };
    assert.deepEqual(cut.asked, [{ ...filter, limit: 3 }]);
  });

  test('holds what is its own for a key that does not', async () => {
    const query = { state: 'open', conversation: 'conv' };
    const own = await call(LIST, { rows, query });
    assert.deepEqual(itemIds(own), [third, first]);
    const filter = { state: 'open', conversationId: 'conv', before: ABOVE_ALL_IDS };
    assert.deepEqual(own.asked, [{ ...filter, limit: LIMITS.listLimitMax }]);
  });

  test('takes no cursor of another list', async () => {
    const query = { cursor: idOf('task', 1) };
    assert.equal((await call(LIST, { query })).code, 'bad_request');
  });

  test('shows each as its reader may answer it', async () => {
    const { json } = await call(LIST, { enrollment: 'held-legacy' });
    assert.deepEqual(json['items'], [{ ...VIEW, mayAnswer: false }]);
  });
});
