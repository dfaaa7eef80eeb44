import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Screen } from '../../src/cli/chat/screen.ts';
import { Talk } from '../../src/cli/chat/talk.ts';
import { paintFor } from '../../src/cli/paint.ts';
import type { Client } from '../../src/client/client.ts';
import type { StreamEvent } from '../../src/wire/stream.ts';

const AT = { at: '2026-11-30T12:00:00.000Z', runId: null, taskId: null };
const ID = 'evt_0000000000000001';

function answered(text: string, messageId = `out_${text}`): StreamEvent {
  return { ...AT, id: ID, type: 'message', messageId, role: 'assistant', text };
}
function noticed(sentence: string): StreamEvent {
  const about = { level: 'info', code: 'stopped', subjectId: null, command: null };
  return { ...AT, ...about, id: ID, type: 'notice', sentence };
}
function delta(text: string): StreamEvent {
  return { ...AT, type: 'text.delta', text };
}
function tool(args: unknown): StreamEvent {
  return { ...AT, id: ID, type: 'tool.started', stepId: ID, tool: 'list', args };
}

function screenOf(isLive: boolean): { readonly screen: Screen; readonly shown: () => string } {
  let text = '';
  const screen = new Screen({
    write: (piece) => (text += piece),
    paint: paintFor({}, {}),
    isLive,
    isOwn: (id) => id === 'msg_own',
  });
  return { screen, shown: () => text };
}

describe('the screen', () => {
  test('shows text as it arrives, and the kept answer does not repeat it', () => {
    const { screen, shown } = screenOf(true);
    for (const event of [delta('Hel'), delta('lo'), answered('Hello')]) screen.show(event);
    assert.equal(shown(), 'Hello\n');
  });

  test('completes what a lost line left out, and replaces what the answer does not begin with', () => {
    const first = screenOf(true);
    for (const event of [delta('Hel'), answered('Hello')]) first.screen.show(event);
    assert.equal(first.shown(), 'Hello\n');
    const second = screenOf(true);
    for (const event of [delta('my key is k'), answered('[redacted]')]) second.screen.show(event);
    assert.equal(second.shown(), 'my key is k\n[redacted]\n');
  });

  test('gives tools a line of their own between texts', () => {
    const { screen, shown } = screenOf(true);
    for (const event of [delta('I look.'), tool({ path: '.' }), answered('Done')]) {
      screen.show(event);
    }
    assert.equal(shown(), 'I look.\n· list {"path":"."}\nDone\n');
  });

  test('goes on below a notice that came into the text, and repeats nothing', () => {
    const events = [delta('Hel'), noticed('▸ goes on'), delta('lo'), answered('Hello there')];
    const { screen, shown } = screenOf(true);
    for (const event of events) screen.show(event);
    assert.equal(shown(), 'Hel\n▸ goes on\nlo there\n');
    const whole = screenOf(true);
    for (const event of [delta('Hello'), noticed('▸ goes on'), answered('Hello')])
      whole.screen.show(event);
    assert.equal(whole.shown(), 'Hello\n▸ goes on\n');
  });

  test('shows a text that was said anew for a further message below the first, once', () => {
    const { screen, shown } = screenOf(true);
    const anew: StreamEvent = { ...AT, type: 'text.snapshot', text: '' };
    const events = [delta('I look.'), anew, delta('I look'), delta('.'), answered('I look.')];
    for (const event of events) screen.show(event);
    assert.equal(shown(), 'I look.\nI look.\n');
  });

  test('takes the answer to a command for no part of the text that runs', () => {
    const { screen, shown } = screenOf(true);
    screen.show({ ...AT, taskId: 'task_1', type: 'text.delta', text: 'I' });
    screen.show(answered('It is idle.'));
    assert.equal(shown(), 'I\nIt is idle.\n');
  });

  test('gives a pipe answers and notices alone', () => {
    const { screen, shown } = screenOf(false);
    const events = [delta('Hel'), tool({}), answered('Hello'), noticed('▸ Stopped.')];
    for (const event of events) screen.show(event);
    assert.equal(shown(), 'Hello\n▸ Stopped.\n');
  });

  test('does not let a model or a tool steer the terminal', () => {
    const { screen, shown } = screenOf(true);
    screen.show(delta('a\u001B]52;c;aGk=\u0007b\u009B2J'));
    screen.show(tool({ path: '\u001B[2J\u202Ex' }));
    screen.show({
      ...AT,
      id: ID,
      type: 'tool.finished',
      stepId: ID,
      tool: 'a\u001B[2J\n■ It is done',
      error: { code: 'unknown_tool', text: '' },
    });
    assert.doesNotMatch(shown(), /^■/m);
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    assert.doesNotMatch(shown(), /[\u0000-\u0009\u000B-\u001F\u0080-\u009F\u202E]/);
  });
});

describe('the talk', () => {
  const after = 'evt_0000000000000000';

  interface Exchange {
    readonly talk: Talk;
    /** Lets the stream tell an event; resolves once it was shown and counted. */
    readonly tell: (event: StreamEvent) => Promise<void>;
    /** What answered a message, by its id; the words alone stand for an answer of this id. */
    readonly answers: Map<string, string | { readonly text: string; readonly id: string }>;
    /** Messages that no turn has taken up. */
    readonly unclaimed: Set<string>;
    readonly conversation: { fence: string };
    /** Held until it is resolved: the answer to the next POST. */
    readonly gate: { held: Promise<unknown> };
  }

  async function open(): Promise<Exchange> {
    const queue: StreamEvent[] = [];
    const answers: Exchange['answers'] = new Map();
    const unclaimed = new Set<string>();
    const conversation = { fence: 'none' };
    const gate: { held: Promise<unknown> } = { held: Promise.resolve() };
    let wake = (): void => {};
    let told = (): void => {};
    async function* events(): AsyncGenerator<StreamEvent, void, void> {
      for (;;) {
        const event = queue.shift();
        if (event === undefined) {
          told();
          await new Promise<void>((resolve) => (wake = resolve));
        } else yield event;
      }
    }
    let count = 0;
    const client = {
      openConversation: () => Promise.resolve({ id: 'conv_1' }),
      conversation: () => Promise.resolve({ id: 'conv_1', lastEventId: after, ...conversation }),
      conversationEvents: events,
      async postMessage() {
        count += 1;
        const messageId = `msg_${count}`;
        await gate.held;
        return { messageId, conversationId: 'conv_1' };
      },
      message: (id: string) => {
        const given = answers.get(id);
        const state = unclaimed.has(id) ? 'unclaimed' : 'claimed';
        if (given === undefined)
          return Promise.resolve({ id, answer: null, answerId: null, state });
        const { text, id: answerId } =
          typeof given === 'string' ? { text: given, id: `out_${given}` } : given;
        return Promise.resolve({ id, answer: text, answerId, state: 'done' });
      },
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the talk uses of a client
    const talk = await Talk.open(client as unknown as Client);
    void talk.follow(() => {}, new AbortController().signal);
    const tell = (event: StreamEvent): Promise<void> =>
      new Promise((resolve) => {
        told = resolve;
        queue.push(event);
        wake();
      });
    return { talk, tell, answers, unclaimed, conversation, gate };
  }

  test('is idle once the answer was shown, not when it was given', async () => {
    const { talk, tell, answers } = await open();
    answers.set('msg_1', 'one');
    await talk.say('first');
    assert.ok(talk.isBusy);
    await tell(answered('one'));
    assert.ok(!talk.isBusy);
  });

  test('knows an answer that was shown before its message had an id', async () => {
    const { talk, tell, answers, gate } = await open();
    const { promise, resolve } = Promise.withResolvers<void>();
    gate.held = promise;
    answers.set('msg_1', 'quick');
    const said = talk.say('/tasks');
    await tell(answered('quick'));
    resolve();
    await said;
    assert.ok(!talk.isBusy);
    await talk.idle();
  });

  test('counts two equal answers as two', async () => {
    const { talk, tell, answers } = await open();
    answers.set('msg_1', { text: 'same', id: 'out_1' }).set('msg_2', { text: 'same', id: 'out_2' });
    await talk.say('/tasks');
    await talk.say('/tasks');
    await tell(answered('same', 'out_1'));
    assert.ok(talk.isBusy);
    await tell(answered('same', 'out_2'));
    assert.ok(!talk.isBusy);
  });

  test('is idle once one answer has answered a message and the one that steered it', async () => {
    const { talk, tell, answers } = await open();
    await talk.say('write it');
    await talk.say('in English');
    answers.set('msg_1', 'written').set('msg_2', 'written');
    await tell(answered('written'));
    assert.ok(!talk.isBusy);
    await talk.idle();
  });

  test('is idle once one notice has answered them', async () => {
    const { talk, tell, answers } = await open();
    await talk.say('write it');
    await talk.say('/stop');
    answers.set('msg_1', '▸ Stopped.').set('msg_2', '▸ Stopped.');
    await tell(noticed('▸ Stopped.'));
    assert.ok(!talk.isBusy);
  });

  test('does not wait for what a paused conversation keeps, but for the answers to commands', async () => {
    const { talk, tell, answers, unclaimed, conversation } = await open();
    unclaimed.add('msg_1').add('msg_2').add('msg_3');
    assert.deepEqual(await talk.say('hello'), { isQueued: false, isKept: false });
    assert.ok(talk.isBusy);
    conversation.fence = 'blocked';
    await tell(noticed('■ This conversation is paused'));
    assert.ok(!talk.isBusy);
    assert.deepEqual(await talk.say('hello?'), { isQueued: false, isKept: true });
    assert.ok(!talk.isBusy);
    assert.deepEqual(await talk.say('/status'), { isQueued: false, isKept: false });
    assert.ok(talk.isBusy);
    answers.set('msg_3', 'paused');
    await tell(answered('paused'));
    assert.ok(!talk.isBusy);
  });
});
