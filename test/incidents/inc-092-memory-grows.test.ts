// What bounds the memory of a host is held here. A soft and a hard limit for the whole process, at which
// it would shed or drain by itself, are not built.
import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { CommandQueue } from '../../src/engine/inbox/command-queue.ts';
import { Histories, spokenTurn } from '../../src/engine/turn/history.ts';
import { Live } from '../../src/engine/turn/live.ts';
import { createClient, type Client } from '../../src/client/client.ts';
import { LiveQueue } from '../../src/http/stream/live-queue.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { says } from '../../src/testing/model-answer.ts';
import { startModelServer } from '../../src/testing/model-server.ts';
import { idOf, messageRow } from '../../src/testing/store-rows.ts';
import { Place } from '../e2e/process.ts';

const WARM_ROUNDS = 4;
const ROUNDS = 3;
const CONVERSATIONS = 16;
const STREAMS = 60;
/** Of what the host keeps of a conversation; a round has a third of all that it keeps. */
const ANSWER = 'what was said '.repeat(21_000);
/** The noise of one look at the heap; each round brings ten times this that must not stay. */
const NOISE_BYTES = 2_000_000;

interface Held {
  readonly heapUsed: number;
  readonly external: number;
  readonly arrayBuffers: number;
  readonly queues: number;
  readonly signals: number;
}

interface Watched {
  readonly client: Client;
  readonly url: string;
  readonly key: string;
  readonly look: () => Promise<Held>;
}

async function startWatched(t: TestContext): Promise<Watched> {
  const server = await startModelServer(() => says(ANSWER), { record: 'none' });
  t.after(() => server.close());
  const model = `provider: openai-compatible, baseURL: '${server.url}', name: configured`;
  const place = new Place(`api: { port: 0 }\nmodel: { ${model} }\n`);
  t.after(() => place.clear());
  const child: ChildProcess = fork(
    join(import.meta.dirname, 'memory-child.ts'),
    [join(place.folder, 'sekisho.yaml')],
    { cwd: place.folder, execArgv: ['--expose-gc', '--max-semi-space-size=4'] },
  );
  t.after(async () => {
    const ended = once(child, 'exit');
    child.send('end');
    assert.deepEqual(await ended, [0, null]);
  });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const key = place.read('api-key').trim();
  return {
    client: createClient({ url, key }),
    url,
    key,
    async look() {
      const told = once(child, 'message');
      child.send('look');
      return ((await told) as [Held])[0];
    },
  };
}

/** New conversations with large transcripts, commands in them, and wrong keys. */
async function talk({ client, url }: Watched, round: number): Promise<readonly string[]> {
  const one = async (count: number): Promise<string> => {
    const run = await client.createRun({ input: `round ${round}, ${count}`, wait: 20 });
    assert.equal(run.status, 'completed');
    await client.postMessage(run.conversationId, { text: '/why' });
    await createClient({ url, key: `wrong ${round} ${count}` })
      .status()
      .catch(() => undefined);
    return run.conversationId;
  };
  return Promise.all(Array.from({ length: CONVERSATIONS }, (_, count) => one(count)));
}

/** Streams that are opened and lost, some before a byte of them has come. */
async function storm({ url, key }: Watched, ids: readonly string[]): Promise<void> {
  const { hostname, port } = new URL(url);
  const lost = Array.from({ length: STREAMS }, async (_, count) => {
    const path = `/v1/conversations/${ids[count % ids.length]}/events`;
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
    if (count % 3 > 0) await once(socket, 'data');
    socket.destroy();
    await once(socket, 'close');
  });
  await Promise.all(lost);
}

/** Waits until the host has noticed that every reader is gone. */
async function settled({ look }: Watched): Promise<Held> {
  for (;;) {
    const held = await look();
    if (held.queues === 0) return held;
  }
}

test('INC-092 a host whose conversations and readers come and go holds no more after seven rounds than after four (a limit for the process is not built)', async (t) => {
  const watched = await startWatched(t);
  const all: Held[] = [];
  for (let round = 0; round < WARM_ROUNDS + ROUNDS; round += 1) {
    const ids = await talk(watched, round);
    await storm(watched, ids);
    if (round >= WARM_ROUNDS - 2) all.push(await settled(watched));
  }
  const bytes = all.map(({ heapUsed, external }) => heapUsed + external);
  t.diagnostic(
    `held after each round, in kB: ${bytes.map((one) => Math.round(one / 1_000)).join(' ')}`,
  );
  const signals = new Set(all.map((held) => held.signals));
  assert.equal(signals.size, 1, `signals after each round: ${[...signals].join(', ')}`);
  // The first look itself makes the heap smaller for the next: what was compiled and unused goes.
  const [, first = 0, ...rest] = bytes;
  assert.ok(Math.max(...rest) - first < NOISE_BYTES, `it grew from ${first} to ${rest.join(', ')}`);
});

test('INC-092 what is kept of conversations is bounded in characters, however many there are and however little of each', () => {
  for (const text of ['', 'x'.repeat(10_000)]) {
    const histories = new Histories();
    const turns = text === '' ? [] : [spokenTurn([messageRow({ text, claimedSeq: 2 })], [])];
    const history = { seed: null, turns, isOver: false, reported: null };
    const count = 40_000;
    const about = (number: number, token: number) => {
      const sessionId = idOf('session', 1);
      return { conversationId: idOf('conversation', number), token, sessionId };
    };
    for (let number = 0; number < count; number += 1) histories.keep(about(number, 1), history);
    const left = Array.from({ length: count }, (_, number) => histories.take(about(number, 2)));
    const kept = left.filter((one) => one !== undefined).length;
    const least = Math.max(text.length, 100);
    assert.ok(kept > 0 && kept * least <= LIMITS.historyKeptChars, `${kept} are kept`);
    assert.ok(left.at(-1) !== undefined && left[0] === undefined, 'the longest unused goes first');
  }
});

test('INC-092 what waits for a reader that takes nothing is bounded in pieces as in characters', () => {
  const queue = new LiveQueue(null, undefined);
  const about = { turnId: idOf('turn', 1), taskId: idOf('task', 1), runId: null } as const;
  for (let count = 0; count < 100_000; count += 1) {
    queue.push({ kind: 'text', ...about, piece: count % 2 === 0 ? '' : 'x' });
    queue.push({ kind: 'hint' });
  }
  let waiting = 0;
  while (queue.shift() !== undefined) waiting += 1;
  assert.ok(waiting <= 1_100, `${waiting} pieces wait`);
});

test('INC-092 a reader that leaves twice takes no other with it', () => {
  const live = new Live();
  const id = idOf('conversation', 1);
  const leave = live.subscribe(id, () => {});
  leave();
  let heard = 0;
  const stay = live.subscribe(id, () => (heard += 1));
  leave();
  live.hint(id);
  assert.equal(heard, 1);
  stay();
});

test('INC-092 a flood of commands is answered by few at a time, and none is forgotten', async () => {
  const commands = 1_000;
  const open = new Map(
    Array.from({ length: commands }, (_, number) => {
      const id = idOf('message', number + 1);
      return [id, messageRow({ id, seq: number + 1, kind: 'command', text: '/help' })] as const;
    }),
  );
  let reading = 0;
  let most = 0;
  const answered: string[] = [];
  const store = {
    async query(read: string, args: { readonly id?: string; readonly limit?: number }) {
      if (read === 'message.openCommands') return [...open.values()].slice(0, args.limit);
      reading += 1;
      most = Math.max(most, reading);
      await new Promise(setImmediate);
      reading -= 1;
      answered.push(args.id ?? '');
      const found = open.get(args.id as never);
      open.delete(args.id as never);
      // Answered by another host meanwhile: what is done with it is no matter here.
      return found === undefined ? undefined : { ...found, state: 'done' };
    },
  };
  const queue = new CommandQueue({
    commands: { parts: { store } } as never,
    onAnswered: () => {},
    onFault: (error) => assert.fail(String(error)),
  });
  await Promise.all([...open.keys()].map((id) => queue.answer(id)));
  assert.equal(new Set(answered).size, commands);
  assert.ok(most <= 64, `${most} at once`);
});
