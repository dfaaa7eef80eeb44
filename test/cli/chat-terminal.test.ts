import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test, type TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { LogLines } from '../../src/cli/chat/log-lines.ts';
import { when } from '../../src/cli/when.ts';
import { chatAtTerminal, type Terminal } from '../../src/cli/chat/terminal.ts';
import type { Client } from '../../src/client/client.ts';
import type { StreamEvent } from '../../src/wire/stream.ts';

const FIRST = 'appr_0000000000000001';
const SECOND = 'appr_0000000000000002';
const AT = { at: '2026-11-30T12:00:00.000Z', runId: null, taskId: null };
const SHOWN = { argv: ['rm', '-rf', 'build'], folder: '.', env: {}, files: [] };

interface Desk {
  /** Text that was posted, oldest first, once there are so many. */
  posted(count: number): Promise<readonly string[]>;
  tell(event: StreamEvent): void;
  /** Resolves once the screen shows this behind what was awaited before, with what stood between. */
  see(text: string): Promise<string>;
  /** Keys one by one, long after whatever came up. */
  type(keys: string): void;
  paste(text: string): void;
  readonly approvals: Map<string, { mayAnswer: boolean; kind?: 'uncertain' }>;
}

function asked(id: string): StreamEvent {
  const about = { level: 'waiting', code: 'awaits_approval', subjectId: null };
  const sentence = `… asks for ${id}`;
  return { ...AT, ...about, id: 'evt_1', type: 'notice', sentence, command: `/approve ${id}` };
}

function decided(approvalId: string): StreamEvent {
  return { ...AT, id: 'evt_2', type: 'approval.decided', approvalId, state: 'approved' };
}

/** A chat at a terminal that is none, with a host that takes everything. */
async function sit(
  context: TestContext,
  open: readonly string[] = [],
  log: LogLines = new LogLines(),
): Promise<Desk> {
  let now = 0;
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 100, rows: 40 });
  let seen = '';
  let look = (): void => {};
  output.on('data', (piece: Buffer) => {
    seen += stripVTControlCharacters(String(piece));
    look();
  });
  const queue: StreamEvent[] = [];
  let wake = (): void => {};
  async function* events(_: string, { signal }: { signal: AbortSignal }) {
    signal.addEventListener('abort', () => wake());
    while (!signal.aborted) {
      const event = queue.shift();
      if (event === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else yield event;
    }
  }
  const posted: string[] = [];
  let onPost = (): void => {};
  const approvals: Desk['approvals'] = new Map(
    [FIRST, SECOND].map((id) => [id, { mayAnswer: true }]),
  );
  const client = {
    openConversation: () => Promise.resolve({ id: 'conv_1' }),
    conversation: () => Promise.resolve({ id: 'conv_1', lastEventId: null, state: 'idle' }),
    attention: () => Promise.resolve({ items: [] }),
    outbox: () => Promise.resolve({ items: [] }),
    approvals: () => Promise.resolve({ items: open.map((id) => ({ id, mayAnswer: true })) }),
    approval: (id: string) =>
      Promise.resolve({ id, tool: 'command', shown: SHOWN, ...approvals.get(id) }),
    conversationEvents: events,
    postMessage: (_: string, { text }: { text: string }) => {
      posted.push(text);
      onPost();
      return Promise.resolve({ messageId: `msg_${posted.length}` });
    },
    message: (id: string) =>
      Promise.resolve({ id, state: 'claimed', answer: null, answerId: null }),
    ready: () => Promise.resolve({ status: 'ready' }),
  };
  const over = new AbortController();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a chat asks of them
  const parts = [client as unknown as Client, { input, output } as unknown as Terminal] as const;
  const chat = chatAtTerminal(
    parts[0],
    { signal: over.signal, log },
    { ...parts[1], now: () => now },
  );
  context.after(async () => {
    over.abort();
    await chat;
  });
  const desk: Desk = {
    approvals,
    posted: (count) =>
      new Promise((resolve) => {
        onPost = () => {
          if (posted.length >= count) resolve(posted);
        };
        onPost();
      }),
    tell(event) {
      queue.push(event);
      wake();
    },
    see: (text) =>
      new Promise((resolve) => {
        look = () => {
          const at = seen.indexOf(text);
          if (at === -1) return;
          const between = seen.slice(0, at);
          seen = seen.slice(at + text.length);
          look = () => {};
          resolve(between);
        };
        look();
      }),
    type(keys) {
      now += 1_000;
      for (const key of keys) input.emit('data', Buffer.from(key));
    },
    paste: (text) => {
      now += 1_000;
      input.emit('data', Buffer.from(text));
    },
  };
  await desk.see('/help lists the commands');
  return desk;
}

describe('E-4: an approval at the terminal', () => {
  test('is asked in place and answered with y, and the next one with n', async (context) => {
    const desk = await sit(context);
    desk.tell(asked(FIRST));
    desk.tell(asked(SECOND));
    await desk.see(`approve command ${FIRST}? [y/n/?, Enter: later] `);
    desk.type('y\r');
    await desk.see(`approve command ${SECOND}? [y/n/?, Enter: later] `);
    desk.type('n\r');
    await desk.see(`› /deny ${SECOND}`);
    assert.deepEqual(await desk.posted(2), [`/approve ${FIRST}`, `/deny ${SECOND}`]);
  });

  test('shows the call for a question mark, and what else is said is a message', async (context) => {
    const desk = await sit(context);
    desk.tell(asked(FIRST));
    await desk.see('[y/n/?, Enter: later] ');
    desk.type('?\r');
    await desk.see('rm -rf build');
    desk.type('why is that?\r');
    await desk.see('[y/n/?, Enter: later] ');
    assert.deepEqual(await desk.posted(1), ['why is that?']);
  });

  test('is not given by a paste or an empty line', async (context) => {
    const desk = await sit(context);
    desk.tell(asked(FIRST));
    await desk.see('[y/n/?, Enter: later] ');
    desk.paste('y\r');
    await desk.see('Not taken: only a y or an n that is typed here, key by key, answers.');
    desk.type('\r');
    await desk.see(`Left open: /approve ${FIRST} or /deny ${FIRST}`);
    desk.type('y\r');
    await desk.see('› y');
    assert.deepEqual(await desk.posted(1), ['y']);
  });

  test('is asked by a chat that begins later, the oldest first', async (context) => {
    const desk = await sit(context, [SECOND, FIRST]);
    await desk.see(`approve command ${FIRST}? [y/n/?, Enter: later] `);
    desk.type('y\r');
    await desk.see(`approve command ${SECOND}? [y/n/?, Enter: later] `);
    assert.deepEqual(await desk.posted(1), [`/approve ${FIRST}`]);
  });

  test('is asked as a further run where the first one may have happened', async (context) => {
    const desk = await sit(context);
    desk.approvals.set(FIRST, { mayAnswer: true, kind: 'uncertain' });
    desk.tell(asked(FIRST));
    await desk.see(`approve command once more ${FIRST}? [y/n/?, Enter: later] `);
  });

  test('waits until nothing is half typed', async (context) => {
    const desk = await sit(context);
    desk.type('hel');
    await desk.see('hel');
    desk.tell(asked(FIRST));
    await desk.see(`… asks for ${FIRST}`);
    desk.type('lo\r');
    await desk.see(`approve command ${FIRST}? [y/n/?, Enter: later] `);
    desk.type('y\r');
    await desk.see(`› /approve ${FIRST}`);
    assert.deepEqual(await desk.posted(2), ['hello', `/approve ${FIRST}`]);
  });

  test('goes when somebody else answers, and is not asked of who may not', async (context) => {
    const desk = await sit(context);
    desk.approvals.set(SECOND, { mayAnswer: false });
    desk.tell(asked(SECOND));
    desk.tell(asked(FIRST));
    await desk.see(`approve command ${FIRST}? [y/n/?, Enter: later] `);
    desk.type('y');
    desk.tell(decided(FIRST));
    await desk.see('› y');
    desk.type('\r');
    await desk.see('Not taken: what was asked has its answer');
    assert.deepEqual(await desk.posted(0), []);
  });
});

test('what the host logs before the chat is there stands in it as words, and nothing raw above it', async (context) => {
  const outside: string[] = [];
  const log = new LogLines((text) => outside.push(text));
  const until = Date.UTC(2026, 10, 30, 12, 0);
  const line = `{"level":"warn","time":"2026-11-30T11:00:00.000Z","storm":"storm_06H2VJV15RGBV53J","until":${until},"msg":"safe mode"}`;
  assert.equal(log.show(line), true);
  assert.deepEqual(outside, []);
  const desk = await sit(context, [], log);
  await desk.see(`warn: safe mode (until ${when(new Date(until).toISOString())})`);
});

test('what the host logs where no chat came to be is said outside', () => {
  const outside: string[] = [];
  const log = new LogLines((text) => outside.push(text));
  log.show('{"level":"error","msg":"no start"}');
  log.release();
  log.show('{"level":"error","msg":"the end"}');
  assert.deepEqual(outside, ['error: no start', 'error: the end']);
});

test('what the host logs stands above the input, with the prompt below it again', async (context) => {
  const log = new LogLines();
  const lineOf = (turnId: string, msg = 'it failed'): string =>
    `{"level":"warn","time":"2026-11-30T12:00:00.000Z","turnId":"${turnId}","code":"http_503","msg":"${msg}"}\n`;
  const line = lineOf('turn_1');
  assert.equal(log.show(line), false);
  const desk = await sit(context, [], log);
  desk.type('hel');
  await desk.see('hel');
  assert.equal(log.show(line), true);
  await desk.see('warn: it failed (code http_503)');
  await desk.see('› hel');
  // An outage says the same again and again; once is enough.
  assert.equal(log.show(lineOf('turn_2')), true);
  assert.equal(log.show(lineOf('turn_3', 'it came back')), true);
  assert.doesNotMatch(await desk.see('it came back'), /it failed/);
});
