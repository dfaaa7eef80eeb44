import { join } from 'node:path';
import { createIds, secureRandom } from '../src/adapters/ids/ids.ts';
import { createSystemClock } from '../src/adapters/clock/system.ts';
import { openSqlite } from '../src/adapters/store/sqlite/open.ts';
import type { Store, Write } from '../src/ports/store.ts';
import {
  conversationRow,
  eventRow,
  hostRow,
  idOf,
  messageRow,
  outboxRow,
  sessionRow,
  stepRow,
  taskRow,
  turnRow,
} from '../src/testing/store-rows.ts';

/** How much lies in a store. */
export interface Grown {
  readonly ended: number;
  readonly queued: number;
  /** Turns that were running when their host was killed. */
  readonly interrupted: number;
}

const ENDED_PER_CONVERSATION = 100;
const QUEUED_PER_CONVERSATION = 10;
const WRITES_PER_COMMIT = 5_000;
/** Ids of different rows must not meet. */
const STRIDE = 1_000;
const DEAD_HOST = idOf('host', 9);

/** Writes a store as years of work would leave it, without the years. */
export async function grow(folder: string, grown: Grown): Promise<void> {
  const clock = createSystemClock();
  const ids = createIds({ now: () => clock.now(), random: secureRandom });
  const store = openSqlite({ path: join(folder, 'data/sekisho.db'), clock, ids });
  let place = 0;
  await put(store, [{ write: 'host.insert', row: hostRow({ id: DEAD_HOST }) }]);
  await fill(store, grown.ended / ENDED_PER_CONVERSATION, () => endedConversation((place += 1)));
  await fill(store, grown.queued / QUEUED_PER_CONVERSATION, () => queuedConversation((place += 1)));
  await fill(store, grown.interrupted, () => interruptedConversation((place += 1)));
  await store.close();
}

/** Writes as many pieces as `count` says, some thousand rows to a commit. */
export async function fill(store: Store, count: number, next: () => Write[]): Promise<void> {
  let writes: Write[] = [];
  for (let done = 0; done < count; done += 1) {
    writes.push(...next());
    if (writes.length < WRITES_PER_COMMIT) continue;
    await put(store, writes);
    writes = [];
  }
  if (writes.length > 0) await put(store, writes);
}

async function put(store: Store, writes: readonly Write[]): Promise<void> {
  const unit = { name: 'bench.grow', reads: {}, decide: () => ({ verdict: undefined, writes }) };
  const committed = await store.commit(unit);
  if (committed.kind === 'lost') throw new Error('the rows could not be written');
}

function conversation(
  place: number,
  now: { readonly seq: number; readonly turn: boolean },
): Write[] {
  const id = idOf('conversation', place);
  const sessionId = idOf('session', place);
  const turnId = now.turn ? idOf('turn', place * STRIDE) : null;
  const row = { id, sessionId, channel: 'api', address: `grown${place}` };
  return [
    {
      write: 'conversation.insert',
      row: conversationRow({ ...row, seq: now.seq, token: now.turn ? 1 : 0, turnId }),
    },
    { write: 'session.insert', row: sessionRow({ id: sessionId, conversationId: id }) },
  ];
}

function message(place: number, seq: number): ReturnType<typeof messageRow> {
  const number = place * STRIDE + seq;
  const id = idOf('message', number);
  const conversationId = idOf('conversation', place);
  return messageRow({ id, conversationId, seq, channel: 'api', externalId: id, at: Date.now() });
}

/** Seqs of one ended turn: its message, its claim, its step and its reply. */
const SEQS_PER_TURN = 6;

function endedConversation(place: number): Write[] {
  const writes = conversation(place, { seq: ENDED_PER_CONVERSATION * SEQS_PER_TURN, turn: false });
  for (let index = 0; index < ENDED_PER_CONVERSATION; index += 1) {
    writes.push(...endedTurn(place, index));
  }
  return writes;
}

function endedTurn(place: number, index: number): Write[] {
  const number = place * STRIDE + index;
  const seq = index * SEQS_PER_TURN + 1;
  const conversationId = idOf('conversation', place);
  const [taskId, turnId] = [idOf('task', number), idOf('turn', number)];
  const of = { conversationId, taskId, turnId };
  const answerId = idOf('outbox', number);
  const task = { id: taskId, conversationId, state: 'completed', reason: 'answered' } as const;
  const turn = { id: turnId, conversationId, taskId, state: 'ended', end: 'answered' } as const;
  const said = { state: 'done', taskId, turnId, claimedSeq: seq + 1, answerId } as const;
  const step = { ...of, seq: seq + 2, kind: 'model', state: 'finished', tool: null } as const;
  const reply = { id: answerId, conversationId, seq: seq + 4, key: `reply:${turnId}` };
  const output = '{"text":"It is noon.","calls":[]}';
  return [
    { write: 'task.insert', row: taskRow({ ...task, turnsUsed: 1, endedAt: 5_000 }) },
    { write: 'message.insert', row: { ...message(place, seq), ...said } },
    { write: 'turn.insert', row: turnRow({ ...turn, firstSeq: seq + 1, endedAt: 5_000 }) },
    { write: 'step.insert', row: stepRow({ ...step, finishedSeq: seq + 3, output }) },
    { write: 'outbox.insert', row: outboxRow({ ...reply, taskId, state: 'delivered' }) },
    { write: 'event.insert', row: eventRow({ ...of, seq: seq + 1, type: 'turn.started' }) },
    { write: 'event.insert', row: eventRow({ ...of, seq: seq + 5, type: 'turn.ended' }) },
  ];
}

function queuedConversation(place: number): Write[] {
  const writes = conversation(place, { seq: QUEUED_PER_CONVERSATION, turn: false });
  for (let seq = 1; seq <= QUEUED_PER_CONVERSATION; seq += 1) {
    writes.push({ write: 'message.insert', row: message(place, seq) });
    writes.push({
      write: 'event.insert',
      row: eventRow({ conversationId: idOf('conversation', place), seq }),
    });
  }
  return writes;
}

function interruptedConversation(place: number): Write[] {
  const number = place * STRIDE;
  const conversationId = idOf('conversation', place);
  const [taskId, turnId] = [idOf('task', number), idOf('turn', number)];
  const of = { conversationId, taskId, turnId };
  const said = { state: 'claimed', taskId, turnId, claimedSeq: 2 } as const;
  const turn = { id: turnId, conversationId, taskId, hostId: DEAD_HOST };
  return [
    ...conversation(place, { seq: 4, turn: true }),
    { write: 'message.insert', row: { ...message(place, 1), ...said } },
    { write: 'task.insert', row: taskRow({ id: taskId, conversationId, turnsUsed: 1 }) },
    { write: 'turn.insert', row: turnRow(turn) },
    { write: 'step.insert', row: stepRow({ ...of, seq: 3, state: 'started' }) },
    { write: 'event.insert', row: eventRow({ ...of, seq: 2, type: 'turn.started' }) },
  ];
}
