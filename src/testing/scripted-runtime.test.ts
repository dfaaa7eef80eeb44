import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SessionId } from '../kernel/ids.ts';
import type { FailingCall } from './scripted-runtime.ts';
import { runtimeContract, type Disturbance } from './runtime-contract.ts';
import { ScriptedRuntime } from './scripted-runtime.ts';

const MISHAPS: Readonly<Record<Disturbance, FailingCall>> = {
  rejects: { kind: 'rejects' },
  throws: { kind: 'throws', code: 'EIO' },
  hangs: { kind: 'hangs' },
};

runtimeContract({
  name: 'in memory',
  open() {
    const runtime = new ScriptedRuntime({ adopts: false });
    return {
      runtime,
      begin: (session) => runtime.open(session),
      disturb: (step, how, when) =>
        runtime.fail(step, { ...MISHAPS[how], isLate: when === 'after' }),
    };
  },
});

const A: SessionId = 'sess_000000000000000A';
const B: SessionId = 'sess_000000000000000B';

function live(): AbortSignal {
  return new AbortController().signal;
}

describe('the scripted runtime', () => {
  test('takes a session that it never heard of for one of its own', async () => {
    const runtime = new ScriptedRuntime({ tokens: 800 });
    assert.deepEqual(await runtime.look(A, live()), { session: A, isSeeded: false });
    assert.deepEqual(await runtime.compact(A, live()), { kind: 'done', value: { tokens: 400 } });
  });

  test('shows that a compact which is made again is a second one', async () => {
    const runtime = new ScriptedRuntime({ tokens: 800 });
    runtime.fail('compact', { kind: 'rejects', code: 'http_500', isLate: true });
    const { kind } = await runtime.compact(A, live());
    await runtime.compact(A, live());
    assert.equal(kind, 'rejected');
    assert.deepEqual([runtime.kept(A)?.compactions, runtime.kept(A)?.tokens], [2, 200]);
  });

  test('breaks a seed each time until it is told otherwise', async () => {
    const runtime = new ScriptedRuntime();
    runtime.failAlways('seed', { kind: 'throws', code: 'EIO' });
    const seed = () => runtime.seed({ session: A, text: 'x' }, live());
    for (let times = 0; times < 9; times += 1) await assert.rejects(seed, { code: 'EIO' });
    runtime.failAlways('seed', null);
    assert.deepEqual(await seed(), { kind: 'done', value: null });
    assert.equal(runtime.timesAsked('seed'), 10);
    assert.equal(runtime.kept(A)?.seed, 'x');
  });

  test('goes wrong once as it is told, before what goes wrong always', async () => {
    const runtime = new ScriptedRuntime();
    runtime.failAlways('compact', { kind: 'rejects', code: 'always' });
    runtime.fail(
      'compact',
      { kind: 'rejects', code: 'first' },
      { kind: 'rejects', code: 'second' },
    );
    const codes = [];
    for (let times = 0; times < 3; times += 1) {
      const outcome = await runtime.compact(A, live());
      codes.push(outcome.kind === 'rejected' ? outcome.code : 'done');
    }
    assert.deepEqual(codes, ['first', 'second', 'always']);
    assert.equal(runtime.kept(A), undefined, 'none of them had an effect');
  });

  test('answers with the summary of another session', async () => {
    const runtime = new ScriptedRuntime({ summary: (session) => `of ${session}` });
    runtime.fail('summarise', { kind: 'answers', session: B });
    runtime.fail('summarise', { kind: 'answers', session: A, summary: '' });
    assert.deepEqual(await runtime.summarise(A, live()), {
      kind: 'done',
      value: { session: B, summary: `of ${B}` },
    });
    assert.deepEqual(await runtime.summarise(A, live()), {
      kind: 'done',
      value: { session: A, summary: '' },
    });
  });

  test('may die in flight: the call never settles, its effect is there or not', async () => {
    const runtime = new ScriptedRuntime();
    runtime.fail('rotate', { kind: 'dies' });
    runtime.fail('compact', { kind: 'dies', isLate: true });
    const over = new AbortController();
    void runtime.rotate({ from: A, next: B }, over.signal);
    void runtime.compact(A, over.signal);
    over.abort();
    await new Promise(setImmediate);
    assert.deepEqual(
      runtime.calls.map(({ action, came }) => `${action} ${came}`),
      ['rotate open', 'compact open'],
    );
    assert.deepEqual(await runtime.look(A, live()), { session: A, isSeeded: false });
    assert.equal(runtime.kept(A)?.compactions, 1);
  });

  test('may be unable to say where it stands', async () => {
    const runtime = new ScriptedRuntime();
    runtime.fail('look', { kind: 'rejects', code: 'busy' }, { kind: 'throws', code: 'EIO' });
    await assert.rejects(runtime.look(A, live()), { code: 'busy' });
    await assert.rejects(runtime.look(A, live()), { code: 'EIO' });
  });

  test('keeps what each call was and what came of it', async () => {
    const runtime = new ScriptedRuntime();
    await runtime.rotate({ from: A, next: B }, live());
    await runtime.seed({ session: B, text: 'x' }, live());
    await runtime.compact(A, live());
    await runtime.look(A, AbortSignal.abort()).catch(() => undefined);
    assert.deepEqual(runtime.calls, [
      { action: 'rotate', session: A, next: B, came: 'done' },
      { action: 'seed', session: B, text: 'x', came: 'done' },
      { action: 'compact', session: A, came: 'rejected' },
      { action: 'look', session: A, came: 'threw' },
    ]);
  });
});
