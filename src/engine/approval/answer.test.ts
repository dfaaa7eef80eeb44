import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Unit, UnitReads, Write } from '../../ports/store.ts';
import {
  approvalRow,
  auditRow,
  conversationRow,
  idOf,
  messageRow,
  receiptRow,
  runRow,
  taskRow,
} from '../../testing/store-rows.ts';
import { ORDER_INPUTS } from '../../text/model.ts';
import type { EngineParts } from '../engine.ts';
import { commitAnswer, sayAnswered, type GivenAnswer } from './answer.ts';

const NOW = 5_000;
const HOST = idOf('host', 1);
const ANNA: Principal = { kind: 'key', id: 'anna', isAdmin: false };
const BEN: Principal = { kind: 'key', id: 'ben', isAdmin: false };
const ROOT: Principal = { kind: 'admin', id: 'terminal', isAdmin: true };
const OF_ANNA = { mandatePrincipal: 'key:anna', mandateAuthority: 'own' } as const;

const APPROVAL = approvalRow({ requestedBy: 'key:anna', runId: idOf('run', 1) });
const WAITING = taskRow({
  ...OF_ANNA,
  state: 'waiting',
  reason: 'awaits_approval',
  waitKind: 'approval',
  waitId: APPROVAL.id,
});
const STOPPED: Partial<TaskRecord> = { state: 'blocked', reason: 'interrupted' };

const ORDER: GivenAnswer = {
  approvalId: APPROVAL.id,
  decision: 'approve',
  principal: ANNA,
  channel: 'api',
  hostId: HOST,
  isClockTrusted: true,
};

/** What a read of the unit finds, by the name that it has there. */
type Found = Readonly<Record<string, unknown>>;

interface Given {
  readonly order?: Partial<GivenAnswer>;
  readonly found?: Found;
  /** What is found before the unit, where it is something else. */
  readonly before?: Found;
}

interface Outcome {
  readonly verdict: Awaited<ReturnType<typeof commitAnswer>>;
  readonly writes: readonly Write[];
  /** The unit's name and its reads; undefined when none was committed. */
  readonly unit: Pick<Unit<UnitReads, unknown>, 'name' | 'reads'> | undefined;
  readonly asked: readonly unknown[];
}

/** The parts that an answer uses, over a store that finds what it is given. */
async function answer({ order = {}, found = {}, before = {} }: Given = {}): Promise<Outcome> {
  const all: Found = {
    conversation: conversationRow({ seq: 7 }),
    approval: APPROVAL,
    task: WAITING,
    run: runRow({ id: idOf('run', 1), principal: 'key:anna' }),
    ...found,
  };
  let taken = 0;
  const ids = { next: (kind: Parameters<typeof idOf>[0]) => idOf(kind, (taken += 1)) };
  const asked: unknown[] = [];
  let writes: readonly Write[] = [];
  let unit: Outcome['unit'];
  const store = {
    query: (name: string, args: object) => {
      asked.push([name, args]);
      return Promise.resolve({ ...all, ...before }[name.split('.')[0] ?? '']);
    },
    commit: (given: Unit<UnitReads, unknown>) => {
      unit = given;
      const read = Object.keys(given.reads).map((name) => [name, all[name]]);
      const rows = Object.fromEntries(read) as Parameters<typeof given.decide>[0];
      const decided = given.decide(rows, { now: NOW, ids } as Parameters<typeof given.decide>[1]);
      ({ writes } = decided);
      return Promise.resolve({ kind: 'done', verdict: decided.verdict });
    },
  };
  const digest = (text: string): string => `digest of ${text.length}`;
  const parts = { store, ids, digest, options: { locale: 'en' } } as unknown as EngineParts;
  return { verdict: await commitAnswer(parts, { ...ORDER, ...order }), writes, unit, asked };
}

/** The rows that were written by this write. */
function rowsOf({ writes }: Outcome, name: Write['write']): Record<string, unknown>[] {
  const fitting = writes.filter(({ write }) => write === name);
  return fitting.map((one) => ('row' in one ? { ...one.row } : { ...one }));
}

function eventsOf(outcome: Outcome): [unknown, unknown, unknown][] {
  return rowsOf(outcome, 'event.insert').map(({ type, by, data }) => [type, by, data]);
}

async function refusal(given: Given): Promise<unknown> {
  const { verdict, writes } = await answer(given);
  assert.deepEqual(writes, []);
  return verdict.kind === 'refused' ? [verdict.code, verdict.detail['id']] : verdict.kind;
}

const END = { state: 'approved', decidedBy: 'key:anna', decidedAt: NOW } as const;
const SCOPE = `key:anna ${idOf('receipt', 1)}`;

describe('E-4: an answer', () => {
  test('is one commit under the lock of its conversation', async () => {
    const { unit, writes, asked } = await answer();
    const taskId = WAITING.id;
    assert.equal(unit?.name, 'approval.answer');
    assert.deepEqual(unit.reads, {
      conversation: { read: 'conversation.byId', args: { id: APPROVAL.conversationId } },
      approval: { read: 'approval.byId', args: { id: APPROVAL.id } },
      task: { read: 'task.byId', args: { id: taskId } },
      run: { read: 'run.ofTask', args: { taskId } },
      receipt: { read: 'receipt.byScope', args: { scope: SCOPE } },
    });
    assert.deepEqual(asked, [
      ['approval.byId', { id: APPROVAL.id }],
      ['task.byId', { id: taskId }],
    ]);
    assert.deepEqual(
      writes.map(({ write }) => write).filter((write) => write !== 'event.insert'),
      ['conversation.advance', 'approval.decide', 'task.save', 'message.insert', 'receipt.insert'],
    );
  });

  test('gives the approval its end, by whom and when', async () => {
    const outcome = await answer();
    assert.deepEqual(rowsOf(outcome, 'approval.decide'), [{ ...APPROVAL, ...END }]);
    const data = JSON.stringify({ approvalId: APPROVAL.id, state: 'approved' });
    const [decided] = rowsOf(outcome, 'event.insert');
    const { taskId, turnId, runId } = APPROVAL;
    assert.partialDeepStrictEqual(decided, { type: 'approval.decided', taskId, turnId, runId });
    assert.deepEqual(eventsOf(outcome)[0], ['approval.decided', 'key:anna', data]);
  });

  test('that approves makes the input by which the host runs the call', async () => {
    const outcome = await answer();
    const [input, ...more] = rowsOf(outcome, 'message.insert');
    assert.deepEqual(more, []);
    const text = ORDER_INPUTS.approved;
    assert.partialDeepStrictEqual(input, {
      id: idOf('message', 2),
      channel: 'approval',
      externalId: APPROVAL.id,
      text,
      kind: 'generated',
      principal: `host:${HOST}`,
      authority: 'own',
      taskId: WAITING.id,
      runId: idOf('run', 1),
    });
  });

  for (const [kind, text] of [
    ['call', ORDER_INPUTS.denied],
    ['uncertain', ORDER_INPUTS.denied_again],
  ] as const)
    test(`that denies a call of kind ${kind} only tells the model, and the task goes on`, async () => {
      const approval = { ...APPROVAL, kind };
      const outcome = await answer({ order: { decision: 'deny' }, found: { approval } });
      const [input, ...more] = rowsOf(outcome, 'message.insert');
      assert.deepEqual(more, []);
      const { id: externalId } = APPROVAL;
      const id = idOf('message', 2);
      assert.partialDeepStrictEqual(input, { id, channel: 'wake', externalId, text });
      const ended = { ...approval, ...END, state: 'denied' };
      assert.deepEqual(rowsOf(outcome, 'approval.decide'), [ended]);
      assert.partialDeepStrictEqual(outcome.verdict, { kind: 'answered', runs: null });
      assert.equal(rowsOf(outcome, 'task.save')[0]?.['state'], 'active');
    });

  for (const [what, waitId] of [
    ['it', APPROVAL.id],
    ['another of its own', idOf('approval', 9)],
  ] as const)
    test(`lets a task go on that waits for ${what}`, async () => {
      const outcome = await answer({ found: { task: { ...WAITING, waitId } } });
      const [saved] = rowsOf(outcome, 'task.save');
      const wait = { waitKind: null, waitId: null, reason: null };
      assert.partialDeepStrictEqual(saved, { state: 'active', ...wait });
      const moved = rowsOf(outcome, 'event.insert').find(({ type }) => type === 'task.moved');
      const states = { fromState: 'waiting', toState: 'active', reason: null };
      assert.partialDeepStrictEqual(moved, { ...states, runId: idOf('run', 1) });
      const task = { id: WAITING.id, state: 'active' };
      assert.partialDeepStrictEqual(outcome.verdict, { runs: 'now', repeated: false, task });
    });

  test('of a task without a run moves it for none', async () => {
    const outcome = await answer({ found: { run: undefined } });
    const moved = rowsOf(outcome, 'event.insert').find(({ type }) => type === 'task.moved');
    assert.equal(moved?.['runId'], null);
    assert.equal(rowsOf(outcome, 'message.insert')[0]?.['runId'], null);
  });

  for (const [state, runs] of [
    ['active', 'now'],
    ['blocked', 'later'],
    ['paused', 'later'],
  ] as const)
    test(`leaves a task that is ${state} as it is, and its call runs ${runs}`, async () => {
      const task = { ...WAITING, state, waitKind: null, waitId: null };
      const outcome = await answer({ found: { task } });
      assert.deepEqual(rowsOf(outcome, 'task.save'), []);
      assert.equal(rowsOf(outcome, 'message.insert').length, 1);
      assert.partialDeepStrictEqual(outcome.verdict, { runs, task: { state } });
    });
});

describe('E-4: no answer', () => {
  test('is there to what is not', async () => {
    const no = ['not_found', APPROVAL.id];
    for (const name of ['approval', 'task']) {
      const outcome = await answer({ before: { [name]: undefined } });
      assert.equal(outcome.unit, undefined, name);
      assert.partialDeepStrictEqual(outcome.verdict, { code: 'not_found', detail: { id: no[1] } });
    }
    for (const name of ['conversation', 'approval', 'task'])
      assert.deepEqual(
        await refusal({ found: { [name]: undefined }, before: lastSeen() }),
        no,
        name,
      );
  });

  test('is taken from another person, the host or the model', async () => {
    const no = ['forbidden', APPROVAL.id];
    assert.deepEqual(await refusal({ order: { principal: BEN } }), no);
    for (const kind of ['host', 'model'] as const)
      assert.deepEqual(await refusal({ order: { principal: { ...ROOT, kind } } }), no);
  });

  test('is taken twice, nor after its time', async () => {
    const no = ['approval_closed', APPROVAL.id];
    const closed = { ...APPROVAL, state: 'denied' };
    assert.deepEqual(await refusal({ found: { approval: closed } }), no);
    const late: Found = { approval: { ...APPROVAL, expiresAt: NOW } };
    assert.deepEqual(await refusal({ found: late }), no);
    const { verdict } = await answer({ found: late, order: { isClockTrusted: false } });
    assert.equal(verdict.kind, 'answered');
  });
});

/** Both are there when the order is given. */
function lastSeen(): Found {
  return { approval: APPROVAL, task: WAITING };
}

describe('M-7: an answer under a receipt', () => {
  test('keeps its outcome under its own one, or under that of the caller', async () => {
    const outcome = { id: idOf('receipt', 1), fingerprint: null, outcome: END };
    const row = { order: 'approval.approve', subjectId: APPROVAL.id, at: NOW };
    const own = { ...row, scope: SCOPE, outcome: JSON.stringify(outcome) };
    assert.deepEqual(rowsOf(await answer(), 'receipt.insert'), [own]);
    const order = { receiptId: 'r-1', fingerprint: 'f', decision: 'deny' } as const;
    const denied = { ...outcome, fingerprint: 'f', outcome: { ...END, state: 'denied' } };
    const theirs = { ...row, order: 'approval.deny', scope: 'key:anna r-1' };
    assert.deepEqual(rowsOf(await answer({ order }), 'receipt.insert'), [
      { ...theirs, outcome: JSON.stringify(denied) },
    ]);
  });

  for (const [what, id, repeated] of [
    ['an unseen try of its own', idOf('receipt', 1), false],
    ['an earlier order', idOf('receipt', 9), true],
  ] as const)
    test(`is told the first outcome of ${what}, whatever has become since`, async () => {
      const outcome = JSON.stringify({ id, fingerprint: null, outcome: END });
      const order = { receiptId: 'r-1' };
      const used = { order: 'approval.approve', subjectId: APPROVAL.id, outcome };
      const task = { ...WAITING, state: 'completed' };
      const found: Found = { receipt: receiptRow(used), task };
      const { verdict, writes } = await answer({ order, found });
      assert.deepEqual(writes, []);
      const approval = { ...APPROVAL, ...END };
      assert.deepEqual(verdict, { kind: 'answered', approval, runs: 'now', task, repeated });
    });

  test('is refused where that was used for another order', async () => {
    const outcome = JSON.stringify({ id: idOf('receipt', 9), fingerprint: null, outcome: END });
    const receipt = receiptRow({ order: 'approval.deny', subjectId: APPROVAL.id, outcome });
    const no = ['receipt_used', APPROVAL.id];
    assert.deepEqual(await refusal({ order: { receiptId: 'r-1' }, found: { receipt } }), no);
  });
});

describe('I-1: an answer by a command', () => {
  const command = messageRow({ kind: 'command', principal: 'key:anna' });
  const order = { commandId: command.id };

  test('answers the command in its commit', async () => {
    const outcome = await answer({ order, found: { command } });
    const read = { read: 'message.byId', args: { id: command.id } };
    assert.deepEqual(outcome.unit?.reads['command'], read);
    const [said] = rowsOf(outcome, 'outbox.insert');
    const text = 'Approved: `shell` for “Tell the time.” runs once, exactly as it was shown.';
    const { id: subjectId, conversationId } = command;
    assert.partialDeepStrictEqual(said, { kind: 'answer', subjectId, conversationId, text });
    assert.partialDeepStrictEqual(rowsOf(outcome, 'message.done')[0], { id: command.id });
  });

  test('is given once: one that is done changes nothing', async () => {
    const approval: ApprovalRecord = { ...APPROVAL, ...END };
    const done = { ...command, state: 'done' };
    const { verdict, writes } = await answer({ order, found: { command: done, approval } });
    assert.deepEqual(writes, []);
    const repeated = { kind: 'answered', approval, runs: 'later', task: WAITING, repeated: true };
    assert.deepEqual(verdict, repeated);
  });
});

describe('X-10: an answer of an admin', () => {
  test('about the task of another stands in the log of admin actions', async () => {
    const last = auditRow({ seq: 4, hash: 'h4' });
    const outcome = await answer({ order: { principal: ROOT }, found: { last } });
    assert.deepEqual(outcome.unit?.reads['last'], { read: 'audit.last', args: {} });
    const [entry] = rowsOf(outcome, 'audit.insert');
    const after = { decidedAt: NOW, decidedBy: 'admin:terminal', state: 'approved' };
    assert.partialDeepStrictEqual(entry, {
      seq: 5,
      previousHash: 'h4',
      at: NOW,
      principal: 'admin:terminal',
      channel: 'api',
      action: 'approval.approve',
      subjectId: APPROVAL.id,
      before: '{"decidedAt":null,"decidedBy":null,"state":"open"}',
      after: JSON.stringify(after),
    });
  });

  test('about an own task does not, and neither does that of no admin', async () => {
    const task = { ...WAITING, mandatePrincipal: 'admin:terminal' };
    for (const given of [{}, { order: { principal: ROOT }, found: { task } }]) {
      const outcome = await answer(given);
      assert.deepEqual(rowsOf(outcome, 'audit.insert'), []);
      assert.equal(outcome.unit?.reads['last'], undefined);
    }
  });
});

describe('E-4: whoever answers is told', () => {
  const parts = { options: { locale: 'en' } } as Pick<EngineParts, 'options'>;
  const of = '`shell` for “Tell the time.”';
  const runs = 'runs once, exactly as it was shown';
  const denied: Partial<ApprovalRecord> = { state: 'denied' };
  for (const [said, approval, task] of [
    [`Approved: ${of} ${runs}.`, {}, {}],
    [`Approved: ${of} is kept and ${runs}, when the task goes on.`, {}, { state: 'blocked' }],
    [
      `Approved: ${of} is kept and ${runs}, if an independent check lets the task go on. ` +
        `To end it: \`/stop ${WAITING.id}\`.`,
      {},
      STOPPED,
    ],
    [`Denied: ${of} does not run.`, denied, {}],
    [
      `Denied: ${of} does not run once more. Whether it ran before is unknown.`,
      { ...denied, kind: 'uncertain' },
      {},
    ],
  ] as const satisfies readonly (readonly [string, Partial<ApprovalRecord>, Partial<TaskRecord>])[])
    test(said, () => {
      const answered = approvalRow({ state: 'approved', ...approval });
      assert.equal(sayAnswered(parts, { approval: answered, task: taskRow({ ...task }) }), said);
    });
});
