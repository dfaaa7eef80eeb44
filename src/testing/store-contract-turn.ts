import assert from 'node:assert/strict';
import type { StepRecord } from '../core/turn/record.ts';
import type { SessionId } from '../kernel/ids.ts';
import type { Reads } from '../ports/store.ts';
import { field, mustLose, mustPut, read } from './store-calls.ts';
import type { Case, Opened } from './store-case.ts';
import {
  conversationRow,
  eventRow,
  hostRow,
  idOf,
  sessionRow,
  stepRow,
  turnRow,
} from './store-rows.ts';

const CONVERSATION_ID = idOf('conversation', 1);
const SESSION = { conversationId: CONVERSATION_ID, sessionId: idOf('session', 1) } as const;

export const TURN_CASES: readonly Case[] = [
  [
    'a turn stops and ends once',
    async ({ store }) => {
      const row = turnRow({ runId: idOf('run', 1) });
      await mustPut(store, { write: 'turn.insert', row });
      await mustLose(store, { write: 'turn.insert', row });
      assert.deepEqual(await read(store, 'turn.byId', { id: row.id }), row);
      await mustPut(store, { write: 'turn.stopping', id: row.id });
      await mustLose(store, { write: 'turn.stopping', id: row.id });
      const end = { write: 'turn.end', id: row.id, end: 'stopped', endedAt: 4_000 } as const;
      await mustPut(store, end);
      await mustLose(store, { ...end, end: 'answered' });
      await mustLose(store, { write: 'turn.stopping', id: row.id });
      const ended = { ...row, state: 'ended', end: 'stopped', endedAt: 4_000 };
      assert.deepEqual(await read(store, 'turn.byId', { id: row.id }), ended);
      assert.equal(await read(store, 'turn.byId', { id: idOf('turn', 9) }), undefined);
    },
  ],
  [
    'the turn that began last is the one with the highest id',
    async ({ store }) => {
      assert.equal(await read(store, 'turn.newest', {}), undefined);
      const rows = [1, 3, 2].map((n) =>
        turnRow({ id: idOf('turn', n), conversationId: idOf('conversation', n) }),
      );
      for (const row of rows) await mustPut(store, { write: 'turn.insert', row });
      assert.deepEqual(await read(store, 'turn.newest', {}), rows[1]);
    },
  ],
  [
    'the turn of a conversation is the one that has it',
    async ({ store }) => {
      const row = turnRow();
      const turnOf = (): Promise<unknown> =>
        read(store, 'turn.ofConversation', { conversationId: CONVERSATION_ID });
      await mustPut(
        store,
        { write: 'conversation.insert', row: conversationRow() },
        { write: 'turn.insert', row },
      );
      assert.equal(await turnOf(), undefined);
      const advance = { write: 'conversation.advance', id: CONVERSATION_ID, token: 1 } as const;
      await mustPut(store, { ...advance, expectedSeq: 0, seq: 1, turnId: row.id });
      assert.deepEqual(await turnOf(), row);
    },
  ],
  [
    'R-14: open turns of other hosts come with what proves that those live, the oldest first',
    openTurns,
  ],
  [
    'hosts are renewed until they stop, also those that were found lost',
    async ({ store }) => {
      const row = hostRow();
      await mustPut(store, { write: 'host.insert', row });
      await mustPut(store, { write: 'host.renew', id: row.id, aliveUntil: 99_000 });
      const renewed = { ...row, aliveUntil: 99_000 };
      assert.deepEqual(await read(store, 'host.byId', { id: row.id }), renewed);
      const lost = { write: 'host.stop', id: row.id, stoppedAt: 50_000, end: 'lost' } as const;
      await mustPut(store, lost);
      await mustLose(store, { ...lost, stoppedAt: 51_000, end: 'clean' });
      const found = { ...renewed, stoppedAt: 50_000, end: 'lost' };
      assert.deepEqual(await read(store, 'host.byId', { id: row.id }), found);
      await mustPut(store, { write: 'host.renew', id: row.id, aliveUntil: 100_000 });
      const back = { ...row, aliveUntil: 100_000 };
      assert.deepEqual(await read(store, 'host.byId', { id: row.id }), back, 'it lives again');
      const stop = { ...lost, stoppedAt: 52_000, end: 'clean' } as const;
      await mustPut(store, stop);
      await mustLose(store, { ...stop, stoppedAt: 53_000, end: 'lost' });
      await mustLose(store, { write: 'host.renew', id: row.id, aliveUntil: 101_000 });
      const stopped = { ...back, stoppedAt: 52_000, end: 'clean' } as const;
      assert.deepEqual(await read(store, 'host.byId', { id: row.id }), stopped);
      const next = hostRow({ id: idOf('host', 2), startedAt: 60_000 });
      await mustPut(store, { write: 'host.insert', row: next });
      assert.deepEqual(await read(store, 'host.list', { limit: 9 }), [next, stopped]);
      assert.deepEqual(await read(store, 'host.list', { limit: 1 }), [next]);
    },
  ],
  [
    'E-1: a step is appended once and finished once',
    async ({ store }) => {
      const started = stepRow({ runId: idOf('run', 1) });
      await mustPut(
        store,
        { write: 'turn.insert', row: turnRow() },
        { write: 'step.insert', row: started },
      );
      await mustLose(store, { write: 'step.insert', row: started });
      const finished: StepRecord = {
        ...started,
        state: 'failed',
        output: 'boom',
        errorCode: 'timeout',
        provider: 'example',
        model: 'small',
        inputTokens: 10,
        outputTokens: 20,
        cost: 30,
        finishedId: idOf('event', 7),
        finishedSeq: 7,
        finishedAt: 3_000,
      };
      const touched = { ...finished, ordinal: 99, input: 'other', tool: 'other' };
      await mustPut(store, { write: 'step.finish', row: touched });
      await mustLose(store, { write: 'step.finish', row: { ...finished, state: 'finished' } });
      const args = { ...SESSION, after: 0, before: 99, limit: 9 };
      assert.deepEqual(await read(store, 'step.before', args), [finished]);
    },
  ],
  [
    'a further try of a started step is reserved once, from the tries that were read',
    async ({ store }) => {
      const row = stepRow({ kind: 'model' });
      const { turnId, seq } = row;
      const retry = { write: 'step.retry', turnId, seq, tries: 2 } as const;
      await mustLose(store, retry);
      await mustPut(store, { write: 'step.insert', row });
      await mustLose(store, { ...retry, tries: 3 });
      await mustPut(store, retry);
      await mustLose(store, retry);
      const args = { conversationId: CONVERSATION_ID, turnId };
      assert.deepEqual(await read(store, 'step.lastOf', args), { ...row, tries: 2 });
      await mustPut(store, { ...retry, tries: 3 });
      const finished = { ...row, state: 'finished', finishedSeq: 7, finishedAt: 3_000 } as const;
      await mustPut(store, { write: 'step.finish', row: finished });
      await mustLose(store, { ...retry, tries: 4 });
      assert.deepEqual(await read(store, 'step.lastOf', args), { ...finished, tries: 3 });
    },
  ],
  [
    'steps are read back within their session, be it the newest or not',
    async ({ store }) => {
      await putSteps({ store });
      const second = idOf('session', 2);
      const turn = { id: idOf('turn', 3), sessionId: second, firstSeq: 20 } as const;
      await mustPut(
        store,
        { write: 'session.insert', row: sessionRow() },
        { write: 'session.insert', row: sessionRow({ id: second, firstSeq: 19 }) },
        { write: 'turn.insert', row: turnRow(turn) },
        { write: 'step.insert', row: stepRow({ seq: 21, turnId: turn.id }) },
        { write: 'turn.insert', row: turnRow({ id: idOf('turn', 4), firstSeq: 30 }) },
        { write: 'step.insert', row: stepRow({ seq: 31, turnId: idOf('turn', 4) }) },
      );
      const before = async (sessionId: SessionId, limit: number, after = 0): Promise<number[]> => {
        const args = { conversationId: CONVERSATION_ID, sessionId, after, before: 99, limit };
        return field(await read(store, 'step.before', args), 'seq');
      };
      assert.deepEqual(await before(second, 9), [21]);
      assert.deepEqual(await before(SESSION.sessionId, 3), [31, 15, 14]);
      assert.deepEqual(await before(SESSION.sessionId, 9, 4), [31, 15, 14, 5], 'of its middle on');
      assert.deepEqual(await before(SESSION.sessionId, 2, 4), [31, 15]);
      assert.deepEqual(await before(SESSION.sessionId, 9, 15), [31]);
      assert.deepEqual(await before(SESSION.sessionId, 9, 31), []);
      assert.deepEqual(await before(second, 9, 20), [21]);
      assert.deepEqual(await before(second, 9, 21), []);
      assert.deepEqual(await before(idOf('session', 3), 9), []);
    },
  ],
  [
    'V3: the last step of a turn and the open ones of a conversation are found',
    async ({ store }) => {
      await putSteps({ store });
      const last = async (turn: number): Promise<number | undefined> => {
        const args = { conversationId: CONVERSATION_ID, turnId: idOf('turn', turn) };
        return (await read(store, 'step.lastOf', args))?.ordinal;
      };
      assert.equal(await last(1), 3);
      assert.equal(await last(2), 2);
      assert.equal(await last(3), undefined);
      const open = await read(store, 'step.open', { conversationId: CONVERSATION_ID });
      assert.deepEqual(field(open, 'seq'), [14, 15]);
      const none = await read(store, 'step.open', { conversationId: idOf('conversation', 2) });
      assert.deepEqual(none, []);
    },
  ],
  [
    'steps are read on by whatever of them is new: their start or their finish',
    async ({ store }) => {
      await putSteps({ store });
      const after = async (seq: number, limit = 9): Promise<number[]> => {
        const args = { conversationId: CONVERSATION_ID, after: seq, limit };
        return field(await read(store, 'step.after', args), 'seq');
      };
      assert.deepEqual(await after(0), [3, 4, 5, 14, 15]);
      assert.deepEqual(await after(0, 2), [3, 4]);
      assert.deepEqual(await after(5), [3, 4, 5, 14, 15], '3 finished as 6, 4 as 7, 5 as 8');
      assert.deepEqual(await after(7), [5, 14, 15]);
      assert.deepEqual(await after(14), [15]);
      assert.deepEqual(await after(15), []);
    },
  ],
  [
    'steps are read back from the newest, and those of a task in order',
    async ({ store }) => {
      await putSteps({ store });
      const conversationId = CONVERSATION_ID;
      const before = await read(store, 'step.before', {
        ...SESSION,
        after: 0,
        before: 15,
        limit: 2,
      });
      assert.deepEqual(field(before, 'seq'), [14, 5]);
      const of = async (task: number, limit: number): Promise<number[]> => {
        const args = { conversationId, taskId: idOf('task', task), limit };
        return field(await read(store, 'step.ofTask', args), 'seq');
      };
      const used = await read(store, 'step.usageOf', { conversationId, taskId: idOf('task', 1) });
      assert.deepEqual(used, { inputTokens: 12, outputTokens: 24, cost: 14, unpriced: 1 });
      const none = await read(store, 'step.usageOf', { conversationId, taskId: idOf('task', 3) });
      assert.deepEqual(none, { inputTokens: 0, outputTokens: 0, cost: 0, unpriced: 0 });
      assert.deepEqual(await of(1, 2), [3, 4]);
      assert.deepEqual(await of(2, 9), [14, 15]);
      assert.deepEqual(await of(3, 9), []);
    },
  ],
  ['calls of tools of a task are read from a place back, of any kind or one', callsOfTask],
];

async function callsOfTask({ store }: Opened): Promise<void> {
  await putSteps({ store });
  const ofModel = {
    kind: 'model',
    tool: null,
    callId: null,
    repeatable: null,
    input: null,
  } as const;
  const rows = [
    stepRow({ seq: 6, ...ofModel }),
    stepRow({ seq: 7, state: 'uncertain' }),
    stepRow({ seq: 8, repeatable: 'yes' }),
  ];
  for (const row of rows) await mustPut(store, { write: 'step.insert', row });
  const every = { upTo: 99, state: '', repeatable: '', limit: 9 } as const;
  const calls = async (over: Partial<Reads['step.callsOf']['args']>): Promise<number[]> => {
    const args = { conversationId: CONVERSATION_ID, taskId: idOf('task', 1), ...every, ...over };
    return field(await read(store, 'step.callsOf', args), 'seq');
  };
  assert.deepEqual(await calls({}), [8, 7, 5, 4, 3]);
  assert.deepEqual(await calls({ limit: 2 }), [8, 7]);
  assert.deepEqual(await calls({ upTo: 4 }), [4, 3]);
  assert.deepEqual(await calls({ upTo: 1 }), []);
  assert.deepEqual(await calls({ state: 'uncertain' }), [7]);
  assert.deepEqual(await calls({ repeatable: 'yes' }), [8]);
  assert.deepEqual(await calls({ repeatable: 'no', state: 'finished' }), [5, 4, 3]);
  const event = eventRow({ seq: 12, taskId: idOf('task', 2) });
  await mustPut(store, { write: 'event.insert', row: event });
  assert.deepEqual(await calls({ taskId: idOf('task', 2) }), [15, 14]);
  assert.deepEqual(await calls({ conversationId: idOf('conversation', 2) }), []);
}

/** Two turns: three finished steps at 3, 4, 5 with finishes at 6, 7, 8; then two open ones. */
async function putSteps({ store }: Pick<Opened, 'store'>): Promise<void> {
  const second = { turnId: idOf('turn', 2), taskId: idOf('task', 2) } as const;
  await mustPut(
    store,
    { write: 'turn.insert', row: turnRow({ firstSeq: 2, state: 'ended', endedAt: 2_500 }) },
    {
      write: 'turn.insert',
      row: turnRow({ firstSeq: 12, id: second.turnId, taskId: second.taskId }),
    },
  );
  for (const seq of [3, 4, 5]) {
    const row = stepRow({ seq });
    await mustPut(store, { write: 'step.insert', row });
    const finish = { state: 'finished', finishedSeq: seq + 3, finishedId: idOf('event', seq + 3) };
    const used = { inputTokens: seq, outputTokens: 2 * seq, cost: seq === 4 ? null : 7 };
    const done = { ...row, ...finish, ...used } as StepRecord;
    await mustPut(store, { write: 'step.finish', row: done });
  }
  for (const [place, seq] of [14, 15].entries()) {
    const row = stepRow({ seq, ordinal: place + 1, ...second });
    await mustPut(store, { write: 'step.insert', row });
  }
}

async function openTurns({ store }: Opened): Promise<void> {
  const living = hostRow({ id: idOf('host', 2), aliveUntil: 77_000 });
  const stopped = hostRow({ id: idOf('host', 3), stoppedAt: 20_000 });
  await mustPut(
    store,
    { write: 'host.insert', row: hostRow() },
    { write: 'host.insert', row: living },
    { write: 'host.insert', row: stopped },
  );
  const turns = [
    turnRow({ id: idOf('turn', 1), startedAt: 50 }),
    turnRow({ id: idOf('turn', 2), startedAt: 40, hostId: living.id, state: 'stopping' }),
    turnRow({ id: idOf('turn', 3), startedAt: 30, hostId: stopped.id }),
    turnRow({ id: idOf('turn', 4), startedAt: 20, hostId: idOf('host', 9) }),
    turnRow({ id: idOf('turn', 5), startedAt: 10, hostId: living.id, endedAt: 60 }),
    turnRow({ id: idOf('turn', 6), startedAt: 45 }),
  ];
  for (const row of turns) await mustPut(store, { write: 'turn.insert', row });
  const except = hostRow().id;
  const dead = await read(store, 'turn.openElsewhere', { except, deadBefore: 50_000, limit: 9 });
  assert.deepEqual(dead, [turns[3], turns[2]]);
  const all = await read(store, 'turn.openElsewhere', { except, deadBefore: 77_000, limit: 9 });
  assert.deepEqual(all, [turns[3], turns[2], turns[1]]);
  const one = await read(store, 'turn.openElsewhere', { except, deadBefore: 77_000, limit: 1 });
  assert.deepEqual(field(one, 'id'), [idOf('turn', 4)]);
  const own = await read(store, 'turn.openOf', { hostId: hostRow().id, limit: 9 });
  assert.deepEqual(own, [turns[5], turns[0]]);
}
