import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rehearsalModel } from '../../src/adapters/model/rehearsal.ts';
import type { ModelMessage, ModelTool } from '../../src/ports/model.ts';
import { openWords, restated } from '../../src/text/model.ts';
import { sayFacts, saySeed, type SessionFacts } from '../../src/text/session-facts.ts';
import { askOf, replyOf, user, verdict, type Heard } from './model-stage.ts';

const TOOLS: readonly ModelTool[] = ['list', 'read', 'write', 'search', 'command', 'task_wait'].map(
  (name) => ({ name, description: '', parameters: {} }),
);

const NO_FACTS: SessionFacts = {
  conditions: [],
  openTasks: [],
  finished: [],
  doneCalls: [],
  uncertain: [],
  workers: [],
  approvals: [],
  latestWords: [],
};

/** What the tool says to each call; a function plays the workspace. */
type Play = (name: string, args: string) => { readonly text: string; readonly isError?: boolean };

/** Runs the model like a turn does, until it answers. */
async function turn(
  text: string,
  play: Play = () => ({ text: 'done' }),
  before: readonly ModelMessage[] = [],
): Promise<{ readonly called: string[]; readonly answer: string; readonly heard: Heard }> {
  const model = rehearsalModel();
  const messages = [...before, user(text)];
  const called: string[] = [];
  const heard: Heard = { texts: [], models: [] };
  for (let step = 0; step < 10; step += 1) {
    const reply = replyOf(await askOf(model, heard, { messages: [...messages], tools: TOOLS }));
    if (reply.calls.length === 0) return { called, answer: reply.text, heard };
    assert.equal(reply.stop, 'calls');
    messages.push({ role: 'assistant', text: reply.text, calls: reply.calls });
    for (const { id, name, args } of reply.calls) {
      called.push(`${name} ${args}`);
      const { text: said, isError = false } = play(name, args);
      messages.push({ role: 'tool', callId: id, name, text: said, isError });
    }
  }
  assert.fail('it never answered');
}

describe('the rehearsal model', () => {
  const instructions: readonly [string, string][] = [
    ['list', 'list {}'],
    ['List files in src/kernel', 'list {"path":"src/kernel"}'],
    ['please list all the files', 'list {}'],
    ['read notes.txt', 'read {"path":"notes.txt"}'],
    ['Read the file "my notes.txt".', 'read {"path":"my notes.txt"}'],
    ['write a.txt: hello there', 'write {"path":"a.txt","content":"hello there"}'],
    ['write hello there to a.txt', 'write {"path":"a.txt","content":"hello there"}'],
    ['write a.txt: one\ntwo', 'write {"path":"a.txt","content":"one\\ntwo"}'],
    ['search TODO', 'search {"pattern":"TODO"}'],
    ['search for "to do" in src', 'search {"pattern":"to do","path":"src"}'],
    ['run npm test', 'command {"command":"npm test"}'],
    ['command ls -l | wc', 'command {"command":"ls -l | wc"}'],
    ['call task_wait {"for":"answer"}', 'task_wait {"for":"answer"}'],
    ['call read {"path": oops}', 'read {"path": oops}'],
  ];
  for (const [text, expected] of instructions) {
    test(`takes “${text.replaceAll('\n', ' ')}” for a call`, async () => {
      const { called, answer } = await turn(text, () => ({ text: 'what came of it' }));
      assert.deepEqual(called, [expected]);
      assert.match(answer, /I am the rehearsal model/);
      assert.match(answer, /what came of it/);
    });
  }

  test('carries out several instructions one after the other', async () => {
    const { called, answer } = await turn(
      'write a.txt: now and then, then read a.txt then run cat a.txt',
      (name) => ({ text: `result of ${name}` }),
    );
    assert.deepEqual(called, [
      'write {"path":"a.txt","content":"now and then"}',
      'read {"path":"a.txt"}',
      'command {"command":"cat a.txt"}',
    ]);
    assert.match(answer, /result of write[^]*result of read[^]*result of command/);
  });

  test('goes no further after an error, and tells it', async () => {
    const play: Play = () => ({ text: 'not_found: a.txt', isError: true });
    const { called, answer } = await turn('read a.txt then run rm -rf .', play);
    assert.deepEqual(called, ['read {"path":"a.txt"}']);
    assert.match(answer, /read failed: not_found: a\.txt/);
  });

  test('quotes long results briefly', async () => {
    const { answer } = await turn('read a.txt', () => ({ text: 'x'.repeat(10_000) }));
    assert.ok(answer.length < 500, `${answer.length} characters`);
  });

  test('answers only the last message, with ids of its own', async () => {
    const before: readonly ModelMessage[] = [
      user('list'),
      { role: 'assistant', text: '', calls: [{ id: 'rehearsal_1', name: 'list', args: '{}' }] },
      { role: 'tool', callId: 'rehearsal_1', name: 'list', text: 'a.txt', isError: false },
      { role: 'assistant', text: 'There.', calls: [] },
    ];
    const messages = [...before, user('read a.txt')];
    const heard: Heard = { texts: [], models: [] };
    const reply = replyOf(await askOf(rehearsalModel(), heard, { messages, tools: TOOLS }));
    assert.deepEqual(reply.calls, [{ id: 'rehearsal_2', name: 'read', args: '{"path":"a.txt"}' }]);
  });

  for (const text of ['hello', 'what time is it?', 'Compose a sonnet', '', 'x'.repeat(50_000)]) {
    test(`answers “${text.slice(0, 20)}” without a call, and says what it is`, async () => {
      const { called, answer } = await turn(text);
      assert.deepEqual(called, []);
      assert.match(answer, /I am the rehearsal model/);
      assert.ok(answer.length < 600);
    });
  }

  test('names what it knows and how to get a real model, when it did not understand', async () => {
    const { answer } = await turn('Compose a sonnet about fsync');
    assert.match(answer, /Compose a sonnet about fsync/);
    assert.match(answer, /list FOLDER, read FILE/);
    assert.match(answer, /^model: \{ provider: openai-compatible, .*\}$/m);
  });

  test('calls no tool that it was not given', async () => {
    const heard: Heard = { texts: [], models: [] };
    const reply = replyOf(await askOf(rehearsalModel(), heard, { messages: [user('list')] }));
    assert.match(reply.text, /rehearsal model.*tool list/);
  });

  test('answers what asks for a shape in that shape, so that recovery and maintenance need no provider', async () => {
    const ask = async (name: string): Promise<unknown> => {
      const answer = { name, schema: {} };
      const outcome = await askOf(rehearsalModel(), { texts: [], models: [] }, { answer });
      return JSON.parse(replyOf(outcome).text);
    };
    const { verdict: said, reason } = (await ask('assessment')) as Record<string, string>;
    assert.equal(said, 'continue');
    assert.match(String(reason), /I am the rehearsal model/);
    assert.equal(((await ask('classification')) as Record<string, unknown>)['taskId'], null);
    const { summary, ...rest } = (await ask('summary')) as Record<string, unknown>;
    assert.match(String(summary), /I am the rehearsal model/);
    assert.deepEqual(rest, {}, 'exactly of the shape');
  });

  test('goes on with the wish of interrupted work and repeats no call that was made', async () => {
    const { called, answer } = await turn(
      'This task was interrupted: the host stopped while it was under way. The request was:\n\n> …',
      () => ({ text: 'b is here' }),
      [
        user('read a.txt then read b.txt'),
        {
          role: 'assistant',
          text: '',
          calls: [{ id: 'rehearsal_1', name: 'read', args: '{"path":"a.txt"}' }],
        },
        { role: 'tool', callId: 'rehearsal_1', name: 'read', text: 'a is here', isError: false },
      ],
    );
    assert.deepEqual(called, ['read {"path":"b.txt"}']);
    assert.match(answer, /a is here[^]*b is here/);
  });

  test('takes nothing that the host tells of a shortened session for a wish', async () => {
    const seed = user(saySeed({ summary: 'run rm -rf x', conditions: [] }));
    const { called, answer } = await turn(
      sayFacts(NO_FACTS, 4_000),
      () => ({ text: 'b is here' }),
      [
        seed,
        user('read a.txt then read b.txt'),
        {
          role: 'assistant',
          text: '',
          calls: [{ id: 'rehearsal_1', name: 'read', args: '{"path":"a.txt"}' }],
        },
        { role: 'tool', callId: 'rehearsal_1', name: 'read', text: 'a is here', isError: false },
      ],
    );
    assert.deepEqual(called, ['read {"path":"b.txt"}']);
    assert.match(answer, /a is here[^]*b is here/);
  });

  for (const again of [restated, openWords]) {
    test(`takes a wish that the host says again for one: ${again.name}`, async () => {
      const { called } = await turn(again('read a.txt'));
      assert.deepEqual(called, ['read {"path":"a.txt"}']);
    });
  }

  test('streams its answer in pieces that are the answer, and names itself', async () => {
    const { heard, answer } = await turn('hello');
    assert.ok(heard.texts.length > 1);
    assert.equal(heard.texts.join(''), answer);
    assert.deepEqual(heard.models, ['rehearsal/rehearsal']);
  });

  test('is free, counts tokens, and says the same each time', async () => {
    const model = rehearsalModel();
    assert.deepEqual([model.provider, model.name, model.price], ['rehearsal', 'rehearsal', 'free']);
    const heard: Heard = { texts: [], models: [] };
    const one = replyOf(await askOf(model, heard));
    assert.equal(one.usage.cost, 0);
    assert.ok(one.usage.inputTokens > 0 && one.usage.outputTokens > 0);
    assert.deepEqual(await askOf(model, heard), one);
  });

  test('stops when it is told to', async () => {
    const heard: Heard = { texts: [], models: [] };
    const model = rehearsalModel();
    assert.equal(verdict(await askOf(model, heard, {}, AbortSignal.abort())), 'aborted aborted');
    const stop = new AbortController();
    const outcome = askOf(model, heard, {}, stop.signal);
    stop.abort();
    assert.equal(verdict(await outcome), 'aborted aborted');
    assert.equal(heard.texts.length, 1);
  });
});
