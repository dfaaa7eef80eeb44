import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { RemoteModelOptions } from '../../src/adapters/model/format.ts';
import { callsTool, fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import {
  faultOf,
  FORMATS,
  replyOf,
  stageOf,
  verdict,
  type Spoken,
  type Stage,
} from './model-stage.ts';

for (const [name, spoken] of Object.entries(FORMATS)) {
  describe(name, () => {
    replies(spoken);
    requests(spoken);
  });
}

function stager(
  spoken: Spoken,
): (script?: readonly ModelAnswer[], options?: Partial<RemoteModelOptions>) => Promise<Stage> {
  return (script = [], options = {}) => stageOf(script, options, spoken.format);
}

function replies(spoken: Spoken): void {
  const stage = stager(spoken);

  describe('a reply', () => {
    test('comes as its text, live in its pieces', async () => {
      const { ask, heard } = await stage([says(['Good ', 'morning', '.'])]);
      const reply = replyOf(await ask());
      assert.equal(reply.text, 'Good morning.');
      assert.equal(reply.stop, 'end');
      assert.deepEqual(reply.calls, []);
      assert.deepEqual(heard.texts, ['Good ', 'morning', '.']);
    });

    test('T-9: names the model that the provider reported, not the configured one', async () => {
      const { ask, heard, model } = await stage([says('x', { model: 'really-this-2' })]);
      const reply = replyOf(await ask());
      assert.equal(model.name, 'configured-1');
      assert.equal(reply.model, 'really-this-2');
      assert.deepEqual(heard.models, ['house/really-this-2']);
    });

    test('T-9: names the reported model before the first text is there', async () => {
      const gate = Promise.withResolvers<void>();
      const { ask, heard, server } = await stage([says(['a', 'b'], { between: gate.promise })]);
      const named = Promise.withResolvers<void>();
      heard.models.push = (name) => {
        assert.deepEqual(heard.texts, []);
        assert.equal(name, 'house/scripted-1');
        named.resolve();
        return 1;
      };
      const outcome = ask();
      await named.promise;
      assert.equal(server.requests.length, 1);
      gate.resolve();
      assert.equal(verdict(await outcome), 'reply end: ab');
    });

    test('T-9: claims no model that nobody reported', async () => {
      const { ask, heard } = await stage([says('x', { model: null })]);
      assert.equal(replyOf(await ask()).model, 'unreported');
      assert.deepEqual(heard.models, []);
    });

    test('carries calls with the raw text of their arguments', async () => {
      const args = ['{ "path":', '"a.txt", "n": 1.0 }'];
      const calls = [
        { name: 'read', args, id: 'c1' },
        { name: 'list', args: '{}' },
      ];
      const { ask } = await stage([{ kind: 'reply', text: 'Looking.', calls }]);
      const reply = replyOf(await ask());
      assert.equal(reply.stop, 'calls');
      assert.equal(reply.text, 'Looking.');
      assert.deepEqual(reply.calls, [
        { id: 'c1', name: 'read', args: '{ "path":"a.txt", "n": 1.0 }' },
        { id: 'call_2', name: 'list', args: '{}' },
      ]);
    });

    test('carries malformed arguments exactly as the model wrote them', async () => {
      const { ask } = await stage([callsTool('read', '{"path": "a.txt" oops')]);
      assert.equal(replyOf(await ask()).calls[0]?.args, '{"path": "a.txt" oops');
    });

    test('has empty arguments where the model wrote none', async () => {
      const { ask } = await stage([callsTool('list', '')]);
      assert.equal(replyOf(await ask()).calls[0]?.args, '{}');
    });

    test('has an id of its own for each call, whatever the server gave', async () => {
      const call = { name: 'list', args: '{}' };
      const calls = [
        { ...call, id: 'same' },
        { ...call, id: 'same' },
        { ...call, id: '' },
      ];
      const { ask } = await stage([{ kind: 'reply', calls }]);
      const ids = replyOf(await ask()).calls.map(({ id }) => id);
      assert.equal(ids[0], 'same');
      assert.equal(new Set(ids).size, 3);
      assert.ok(ids.every((id) => id !== ''));
    });

    test('says when it was cut at the output limit', async () => {
      const { ask } = await stage([says('half a', { finish: 'length' })]);
      assert.equal(replyOf(await ask()).stop, 'length');
    });

    test('is whole although its finish has an unusual name', async () => {
      const { ask } = await stage([says('done', { finish: 'eos_token' })]);
      assert.equal(verdict(await ask()), 'reply end: done');
    });

    test('T-8: may be empty; that is the host to judge', async () => {
      const { ask } = await stage([says('')]);
      assert.equal(verdict(await ask()), 'reply end: ');
    });

    test('leaves thoughts out of the text', async () => {
      const { ask, heard } = await stage([says('42', { thinking: 'let me see' })]);
      assert.equal(replyOf(await ask()).text, '42');
      assert.deepEqual(heard.texts, ['42']);
    });

    test('is read from one JSON document where a server does not stream', async () => {
      const { ask, heard } = await stage([
        says('all at once', { stream: 'no', model: 'plain-1' }),
        callsTool('read', { path: 'a' }, { stream: 'no' }),
      ]);
      const reply = replyOf(await ask());
      assert.equal(reply.text, 'all at once');
      assert.equal(reply.model, 'plain-1');
      assert.deepEqual(reply.usage, { inputTokens: 10, outputTokens: 2, cost: null });
      assert.deepEqual(heard.texts, ['all at once']);
      const call = { id: 'call_1', name: 'read', args: '{"path":"a"}' };
      assert.deepEqual(replyOf(await ask()).calls, [call]);
    });
  });

  describe('usage', () => {
    const usage = { input: 1_000, output: 31 };

    test('is tokens, and no cost where no price is known', async () => {
      const { ask, model } = await stage([says('x', { usage })]);
      const counted = { inputTokens: 1_000, outputTokens: 31, cost: null };
      assert.deepEqual(replyOf(await ask()).usage, counted);
      assert.equal(model.price, 'unpriced');
    });

    test('costs whole millionths of a dollar', async () => {
      const price = { input: 0.15, output: 0.6 };
      const { ask, model } = await stage([says('x', { usage })], { price });
      assert.equal(replyOf(await ask()).usage.cost, 169);
      assert.equal(model.price, 'costs-money');
    });

    test('costs nothing at a price of zero', async () => {
      const { ask, model } = await stage([says('x', { usage })], {
        price: { input: 0, output: 0 },
      });
      assert.equal(replyOf(await ask()).usage.cost, 0);
      assert.equal(model.price, 'free');
    });

    test('is estimated where the provider reports none, so that a budget still bounds it', async () => {
      const { ask, server } = await stage([says('12345678', { usage: null })]);
      const counted = replyOf(await ask()).usage;
      const bytes = Number(server.requests[0]?.headers['content-length']);
      assert.deepEqual(counted, { inputTokens: Math.ceil(bytes / 4), outputTokens: 2, cost: null });
    });
  });
}

function requests(spoken: Spoken): void {
  const stage = stager(spoken);

  test('goes over a kept connection: 20 calls, at most 2 connections', async () => {
    const { ask, server } = await stage();
    for (let call = 0; call < 20; call += 1) {
      // The last bytes of an answer come when the reply is complete and the library has turned away.
      const end = Promise.withResolvers<void>();
      server.enqueue(says('ok', { afterDone: end.promise }));
      assert.equal(verdict(await ask()), 'reply end: ok');
      end.resolve();
      assert.equal(await server.requests[call]?.over, 'answered');
    }
    assert.equal(server.requests.length, 20);
    assert.ok(server.connections <= 2, `${server.connections} connections`);
  });

  describe('retries are the harness’s', () => {
    const answers: Readonly<Record<string, ModelAnswer>> = {
      '429': fails(429, { 'retry-after': '0', 'x-should-retry': 'true' }),
      '503': fails(503),
      reset: { kind: 'reset' },
      'cut stream': says('a', { end: 'cut' }),
      redirect: fails(307, { location: '/v1/chat/completions' }),
    };
    for (const [what, answer] of Object.entries(answers)) {
      test(`one ${what} is one request`, async () => {
        const { ask, server } = await stage([answer]);
        faultOf(await ask());
        assert.equal(verdict(await ask()), 'reply end: ok');
        assert.equal(server.requests.length, 2);
      });
    }
  });
}

test('the library is loaded by the first call, not by the start of the host', () => {
  const folder = join(import.meta.dirname, '../../src/adapters/model');
  const files = globSync('*.ts', { cwd: folder });
  const imports = files.flatMap((file) =>
    [
      ...readFileSync(join(folder, file), 'utf8').matchAll(/^import[^;]*'@earendil-works[^;]*;/gm),
    ].map(([line]) => line),
  );
  assert.ok(imports.length > 0, 'a check that looked at nothing has not passed');
  assert.deepEqual(
    imports.filter((line) => !line.startsWith('import type')),
    [],
  );
});
