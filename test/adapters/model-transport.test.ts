import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RemoteModelOptions } from '../../src/adapters/model/format.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import {
  CALL_MS,
  FIRST_TOKEN_MS,
  FORMATS,
  replyOf,
  stageOf,
  verdict,
  type Spoken,
  type Stage,
} from './model-stage.ts';

for (const [name, spoken] of Object.entries(FORMATS)) describe(name, () => transport(spoken));

function transport(spoken: Spoken): void {
  const stage = (
    script: readonly ModelAnswer[] = [],
    options: Partial<RemoteModelOptions> = {},
  ): Promise<Stage> => stageOf(script, options, spoken.format);

  describe('a transport that fails', () => {
    test('with nobody there is transient', async () => {
      const { ask, server } = await stage();
      await server.close();
      assert.equal(verdict(await ask()), 'transient connect');
    });

    test('with a name that does not resolve is transient', async () => {
      const { ask } = await stage([], { baseURL: 'http://nobody.invalid/v1' });
      assert.equal(verdict(await ask()), 'transient connect');
    });

    const broken: readonly [string, ModelAnswer, string][] = [
      ['by a reset before the answer', { kind: 'reset' }, 'transient connect'],
      ['by a reset in the answer', says('half', { end: 'reset' }), 'transient cut_stream'],
      ['by an end without a finish', says('half', { end: 'cut' }), 'transient cut_stream'],
      ['by a finish that is missing', says('half', { finish: null }), 'transient cut_stream'],
      [
        'by an empty stream',
        { kind: 'raw', contentType: 'text/event-stream', body: '' },
        'transient empty',
      ],
      [
        'by a page that is none of it',
        { kind: 'raw', contentType: 'text/html', body: '<html>Welcome to the hotel</html>' },
        'nonsense unreadable',
      ],
      [
        'by JSON that is no reply',
        { kind: 'raw', contentType: 'application/json', body: '{"hello":1}' },
        'nonsense unreadable',
      ],
      [
        'by events that are no JSON',
        { kind: 'raw', contentType: 'text/event-stream', body: spoken.nonsense },
        'nonsense unreadable',
      ],
    ];
    for (const [how, answer, expected] of broken) {
      test(how, async () => {
        const { ask } = await stage([answer]);
        assert.equal(verdict(await ask()), expected);
        assert.equal(verdict(await ask()), 'reply end: ok', 'the next call is not affected');
      });
    }
  });

  test('a stream that makes no sense is left at once', async () => {
    const never = new Promise<void>(() => undefined);
    const body = spoken.nonsense;
    const { ask, server } = await stage([
      { kind: 'raw', contentType: 'text/event-stream', body, afterBody: never },
    ]);
    assert.equal(verdict(await ask()), 'nonsense unreadable');
    assert.equal(await server.requests[0]?.over, 'aborted');
  });

  describe('bounds', () => {
    test('an endless stream ends, and the server is left', async () => {
      const { ask, server, heard } = await stage([
        { kind: 'endless', piece: 'and so on '.repeat(60) },
      ]);
      assert.equal(verdict(await ask()), 'nonsense too_large');
      const bytes = heard.texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      assert.ok(bytes <= LIMITS.modelReplyBytesMax + 600, `${bytes} bytes`);
      assert.equal(await server.requests[0]?.over, 'aborted');
      const pieces = heard.texts.length;
      await ask();
      assert.equal(heard.texts.length, pieces + 1, 'nothing of the first came after its outcome');
    });

    test('a document without an end ends', async () => {
      const body = `${spoken.document}${'x'.repeat(LIMITS.modelReplyBytesMax)}"}}]}`;
      const { ask } = await stage([{ kind: 'raw', contentType: 'application/json', body }]);
      assert.equal(verdict(await ask()), 'nonsense unreadable');
    });

    test('a reply with too many calls is refused', async () => {
      const calls = Array.from({ length: LIMITS.modelCallsPerReplyMax + 1 }, () => ({
        name: 'list',
        args: '{}',
      }));
      const { ask } = await stage([
        { kind: 'reply', calls },
        { kind: 'reply', calls: calls.slice(1) },
      ]);
      assert.equal(verdict(await ask()), 'nonsense too_many_calls');
      assert.equal(replyOf(await ask()).calls.length, LIMITS.modelCallsPerReplyMax);
    });
  });

  describe('time', () => {
    test('without a first token it ends the call, and the server sees it', async () => {
      const { ask, server, clock } = await stage([{ kind: 'stall' }]);
      const outcome = ask();
      const request = await server.arrived(1);
      clock.pass(FIRST_TOKEN_MS);
      assert.equal(verdict(await outcome), 'transient timeout');
      assert.equal(await request.over, 'aborted');
      assert.equal(request.aborted, true);
    });

    test('after the first token only the whole call is bounded', async () => {
      const never = new Promise<void>(() => undefined);
      const { ask, clock, heard } = await stage([says(['a', 'b'], { between: never })]);
      const began = Promise.withResolvers<void>();
      heard.texts.push = () => {
        began.resolve();
        return 1;
      };
      const outcome = ask();
      await began.promise;
      assert.deepEqual(clock.waiting, [CALL_MS]);
      clock.pass(CALL_MS);
      assert.equal(verdict(await outcome), 'transient timeout');
    });

    test('of a call that is over is not waited for', async () => {
      const { ask, clock } = await stage([says('a'), fails(500)]);
      await ask();
      await ask();
      assert.deepEqual(clock.waiting, []);
    });
  });

  describe('our abort', () => {
    test('before the call asks nobody', async () => {
      const { ask, server } = await stage();
      assert.equal(verdict(await ask({}, AbortSignal.abort())), 'aborted aborted');
      assert.equal(server.requests.length, 0);
    });

    test('before the answer is seen by the server', async () => {
      const { ask, server, clock } = await stage([{ kind: 'stall' }]);
      const stop = new AbortController();
      const outcome = ask({}, stop.signal);
      const request = await server.arrived(1);
      stop.abort();
      assert.equal(verdict(await outcome), 'aborted aborted');
      assert.equal(await request.over, 'aborted');
      assert.deepEqual(clock.waiting, []);
    });

    test('in the answer is seen by the server', async () => {
      const never = new Promise<void>(() => undefined);
      const { ask, server, heard } = await stage([says(['a', 'b'], { between: never })]);
      const stop = new AbortController();
      heard.texts.push = () => {
        stop.abort();
        return 1;
      };
      assert.equal(verdict(await ask({}, stop.signal)), 'aborted aborted');
      assert.equal(await server.requests[0]?.over, 'aborted');
    });

    test('in the answer lets no later piece through', async () => {
      const pieces = Array.from({ length: 100 }, (_, index) => `${index} `);
      const { ask, heard } = await stage([says(pieces)]);
      const stop = new AbortController();
      const texts: string[] = [];
      heard.texts.push = (piece) => {
        stop.abort();
        return texts.push(piece ?? '');
      };
      assert.equal(verdict(await ask({}, stop.signal)), 'aborted aborted');
      await ask();
      assert.deepEqual(texts, ['0 ', 'ok']);
    });
  });
}
