import assert from 'node:assert/strict';
import type { Committed, StoreFault, Unit } from '../ports/store.ts';
import { mustLose, mustPut, plain, put, read } from './store-calls.ts';
import type { Case, Opened } from './store-case.ts';
import { dump } from './store-dump.ts';
import { conversationRow, eventRow, hostRow, idOf, messageRow, sessionRow } from './store-rows.ts';

const CONVERSATION = conversationRow();

/** Advances the conversation by one as it finds it, with an event. */
function step(
  name: string,
): Unit<
  { conversation: { read: 'conversation.byId'; args: { id: typeof CONVERSATION.id } } },
  number
> {
  return {
    name: 'test.step',
    reads: { conversation: { read: 'conversation.byId', args: { id: CONVERSATION.id } } },
    decide({ conversation }) {
      assert.ok(conversation !== undefined);
      const seq = conversation.seq + 1;
      return {
        verdict: seq,
        writes: [
          {
            write: 'conversation.advance',
            id: conversation.id,
            expectedSeq: conversation.seq,
            seq,
            token: conversation.token,
            turnId: conversation.turnId,
          },
          { write: 'event.insert', row: eventRow({ seq, type: name }) },
        ],
      };
    },
  };
}

async function faultOf(promise: Promise<unknown>): Promise<StoreFault> {
  try {
    await promise;
  } catch (error) {
    return error as StoreFault;
  }
  assert.fail('it should have rejected');
}

export const UNIT_CASES: readonly Case[] = [
  [
    'a unit reads, decides and writes, and gives its verdict and the instant of its transaction',
    async ({ store }) => {
      await mustPut(store, { write: 'conversation.insert', row: CONVERSATION });
      let decidedAt = -1;
      const done = await store.commit({
        name: 'test.unit',
        reads: {
          one: { read: 'conversation.byId', args: { id: CONVERSATION.id } },
          none: { read: 'conversation.byId', args: { id: idOf('conversation', 9) } },
          list: { read: 'conversation.list', args: { before: '~', limit: 5 } },
        },
        decide(rows, at) {
          decidedAt = at.now;
          assert.deepEqual(plain(rows.one), CONVERSATION);
          assert.equal(rows.none, undefined);
          assert.deepEqual(plain(rows.list), [CONVERSATION]);
          const id = at.ids.next('host');
          return { verdict: id, writes: [{ write: 'host.insert', row: hostRow({ id }) }] };
        },
      });
      assert.ok(done.kind === 'done');
      assert.equal(done.now, decidedAt);
      assert.ok(Number.isSafeInteger(done.now));
      assert.equal((await read(store, 'host.byId', { id: done.verdict }))?.id, done.verdict);
    },
  ],
  [
    'V19: of two units that read one conversation only one advances it from there',
    async ({ store, again }) => {
      await mustPut(store, { write: 'conversation.insert', row: CONVERSATION });
      const second = store.traits.exclusive || again === undefined ? store : await again();
      const advance = (on: typeof store): Promise<Committed<null>> =>
        put(on, {
          write: 'conversation.advance',
          id: CONVERSATION.id,
          expectedSeq: 0,
          seq: 1,
          token: 1,
          turnId: null,
        });
      const kinds = (await Promise.all([advance(store), advance(second)])).map((one) => one.kind);
      assert.deepEqual(kinds.toSorted(), ['done', 'lost']);
      if (second !== store) await second.close();
    },
  ],
  [
    'units that start together take their turns, and each sees what the former wrote',
    async ({ store, again }) => {
      await mustPut(store, { write: 'conversation.insert', row: CONVERSATION });
      const second = store.traits.exclusive || again === undefined ? store : await again();
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? store : second).commit(step(`s${n}`))),
      );
      const verdicts = results.flatMap((one) => (one.kind === 'done' ? [one.verdict] : []));
      assert.ok(verdicts.length > 0);
      assert.equal(new Set(verdicts).size, verdicts.length, 'no number was given twice');
      const rows = await dump(store);
      assert.equal(rows['event']?.length, verdicts.length);
      assert.equal(rows['conversation']?.[0]?.['seq'], verdicts.length);
      if (second !== store) await second.close();
    },
  ],
  [
    'a guard that matches no row loses its whole unit and nothing of it is written',
    async ({ store }) => {
      await mustPut(store, { write: 'conversation.insert', row: CONVERSATION });
      const before = await dump(store);
      const stale = {
        write: 'conversation.advance',
        id: CONVERSATION.id,
        expectedSeq: 7,
        seq: 8,
        token: 1,
        turnId: null,
      } as const;
      await mustLose(store, { write: 'host.insert', row: hostRow() }, stale);
      await mustLose(store, stale, { write: 'host.insert', row: hostRow() });
      assert.deepEqual(await dump(store), before);
    },
  ],
  [
    'a lost unit and one that throws take nothing from the others of their group',
    async ({ store }) => {
      const insert = (n: number): Promise<Committed<null>> =>
        put(store, { write: 'host.insert', row: hostRow({ id: idOf('host', n) }) });
      const why = new Error('the decision failed');
      const settled = await Promise.allSettled([
        insert(1),
        put(
          store,
          { write: 'host.insert', row: hostRow({ id: idOf('host', 2) }) },
          { write: 'host.stop', id: idOf('host', 99), stoppedAt: 1, end: 'clean' },
        ),
        store.commit({
          name: 'test.throw',
          reads: {},
          decide: () => {
            throw why;
          },
        }),
        insert(3),
      ]);
      assert.deepEqual(
        settled.map((one) => (one.status === 'fulfilled' ? one.value.kind : one.status)),
        ['done', 'lost', 'rejected', 'done'],
      );
      const fault = (settled[2] as PromiseRejectedResult).reason as StoreFault;
      assert.equal(fault.code, 'bug');
      assert.equal(fault.cause, why);
      const hosts = (await dump(store))['host']?.map((row) => row['id']);
      assert.deepEqual(hosts, [idOf('host', 1), idOf('host', 3)]);
    },
  ],
  [
    'a decision that throws rejects with a fault that keeps its cause, and the store goes on',
    async ({ store }) => {
      const why = new Error('the decision failed');
      const decide = (): never => {
        throw why;
      };
      const fault = await faultOf(store.commit({ name: 'test.throw', reads: {}, decide }));
      assert.equal(fault.code, 'bug');
      assert.equal(fault.remedy, 'stop');
      assert.equal(fault.cause, why);
      await mustPut(store, { write: 'host.insert', row: hostRow() });
    },
  ],
  [
    'a value that its column cannot hold is a fault and writes nothing',
    async ({ store }) => {
      const row = hostRow({ pid: 'none' as unknown as number });
      const fault = await faultOf(
        put(
          store,
          { write: 'host.insert', row: hostRow({ id: idOf('host', 2) }) },
          { write: 'host.insert', row },
        ),
      );
      assert.equal(fault.code, 'bug');
      assert.deepEqual((await dump(store))['host'], []);
    },
  ],
  [
    'a value that is missing is a fault',
    async ({ store }) => {
      const { pid: _, ...rest } = hostRow();
      const row = rest as ReturnType<typeof hostRow>;
      const fault = await faultOf(put(store, { write: 'host.insert', row }));
      assert.equal(fault.code, 'bug');
      assert.match(fault.message, /row\.pid/);
    },
  ],
  [
    'a text without meaning as text is kept as U+FFFD and found by what it was',
    async ({ store }) => {
      const row = messageRow({ text: 'a\0b\uD800c', externalId: 'x\0y' });
      await mustPut(store, { write: 'message.insert', row });
      const args = { channel: row.channel, externalId: row.externalId };
      const kept = { ...row, text: 'a\uFFFDb\uFFFDc', externalId: 'x\uFFFDy' };
      assert.deepEqual(await read(store, 'message.byExternalId', args), kept);
    },
  ],
  [
    'a unit without writes gives its verdict',
    async ({ store }) => {
      const done = await store.commit({
        name: 'test.look',
        reads: {},
        decide: () => ({ verdict: 'nothing to do', writes: [] }),
      });
      assert.ok(done.kind === 'done');
      assert.equal(done.verdict, 'nothing to do');
    },
  ],
  [
    'a unit decided again after an unknown commit recognises its own effect',
    async ({ store }) => {
      const accept: Unit<
        { known: { read: 'message.byExternalId'; args: { channel: string; externalId: string } } },
        string
      > = {
        name: 'test.accept',
        reads: {
          known: {
            read: 'message.byExternalId',
            args: { channel: 'terminal', externalId: 'external-1' },
          },
        },
        decide: ({ known }) =>
          known === undefined
            ? { verdict: 'new', writes: [{ write: 'message.insert', row: messageRow() }] }
            : { verdict: 'known', writes: [] },
      };
      const verdict = (one: Committed<string>): string => (one.kind === 'done' ? one.verdict : '');
      assert.equal(verdict(await store.commit(accept)), 'new');
      assert.equal(verdict(await store.commit(accept)), 'known');
      assert.equal((await dump(store))['message']?.length, 1);
    },
  ],
  ['a closed store says so', closes],
  ['what was committed is there when the store is opened again', survives],
  [
    'the instant of the transactions never goes back',
    async ({ store }) => {
      let last = 0;
      for (let n = 1; n <= 5; n += 1) {
        const done = await put(store, {
          write: 'host.insert',
          row: hostRow({ id: idOf('host', n) }),
        });
        assert.ok(done.kind === 'done' && done.now >= last);
        last = done.now;
      }
    },
  ],
];

async function closes({ store }: Opened): Promise<void> {
  await store.close();
  await store.close();
  const put1 = put(store, { write: 'host.insert', row: hostRow() });
  assert.equal((await faultOf(put1)).code, 'closed');
  assert.equal((await faultOf(store.query('host.list', { limit: 1 }))).code, 'closed');
}

async function survives({ store, again }: Opened): Promise<void> {
  if (again === undefined) return;
  await mustPut(
    store,
    { write: 'conversation.insert', row: CONVERSATION },
    { write: 'session.insert', row: sessionRow() },
    { write: 'message.insert', row: messageRow() },
  );
  const before = await dump(store);
  await store.close();
  const reopened = await again();
  try {
    assert.deepEqual(await dump(reopened), before);
  } finally {
    await reopened.close();
  }
}
