import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  ASKED,
  endOfEndedStep,
  endOfOpenStep,
  judgeMissed,
  judgeModel,
  repeatsItself,
  wasAsked,
} from './decide.ts';

const CALL = { id: 'c', name: 'look', args: '{}' };

describe('judgeModel', () => {
  test('a call is carried out, a final text is the answer', () => {
    const reply = { kind: 'reply', text: 'hm', calls: [CALL], stop: 'calls' } as const;
    assert.deepEqual(judgeModel(reply), { kind: 'calls', calls: [CALL] });
    assert.deepEqual(judgeModel({ ...reply, calls: [], stop: 'end' }), {
      kind: 'answer',
      text: 'hm',
    });
  });

  test('T-8 neither an answer nor a call is invalid, and says why', () => {
    const empty = { kind: 'reply', text: ' \n', calls: [], stop: 'end' } as const;
    assert.deepEqual(judgeModel(empty), { kind: 'invalid', why: 'empty' });
    const cut = { ...empty, text: 'and then', stop: 'length' } as const;
    assert.deepEqual(judgeModel(cut), { kind: 'invalid', why: 'cut_off' });
    assert.deepEqual(judgeModel({ kind: 'fault' }), { kind: 'invalid', why: 'nonsense' });
  });
});

describe('no candidate has answered', () => {
  const refused = { kind: 'refused', code: 'http_401', said: 'no' } as const;
  const down = { kind: 'down', account: 'a', code: 'connect', said: '' } as const;
  const quota = (until: number) =>
    ({ kind: 'quota', account: 'a', until, code: 'http_429', said: '' }) as const;

  test('T-12 the quota that ends first is waited for, whatever the others said', () => {
    assert.deepEqual(judgeMissed([refused, quota(9), down, quota(5)]), quota(5));
  });

  test('M-13 a request that does not fit is made to fit, whatever the others said', () => {
    const tooLong = { kind: 'too_long', code: 'too_long', said: '' } as const;
    assert.deepEqual(judgeMissed([refused, quota(5), down, tooLong]), tooLong);
  });

  test('T-18 a provider that may come back is waited for', () => {
    assert.deepEqual(judgeMissed([refused, down]), down);
  });

  test('T-12 only when all have refused for good it has failed, with the first refusal', () => {
    assert.deepEqual(judgeMissed([refused, { ...refused, code: 'http_402' }]), refused);
    const nobody = { kind: 'refused', code: 'no_model', said: 'no model is configured' };
    assert.deepEqual(judgeMissed([]), nobody);
  });
});

describe('steps that were cut', () => {
  const pay = { kind: 'tool', repeatable: 'no' } as const;
  const look = { kind: 'tool', repeatable: 'yes' } as const;
  const model = { kind: 'model', repeatable: null } as const;

  test('E-2 only a call that is not repeatable is uncertain when it was never learnt', () => {
    assert.equal(endOfOpenStep(pay), 'uncertain');
    assert.equal(endOfOpenStep(look), 'cut');
    assert.equal(endOfOpenStep(model), 'cut');
    assert.equal(endOfOpenStep({ ...model, repeatable: 'no' }), 'cut');
  });

  test('E-2 W-1 a call that was ended half way is uncertain for a task that may go on', () => {
    const ended = { state: 'cut', errorCode: 'ended' } as const;
    assert.equal(endOfEndedStep(pay, ended, 'interrupted'), 'uncertain');
    assert.equal(endOfEndedStep(look, ended, 'interrupted'), 'cut');
    assert.equal(endOfEndedStep(pay, ended, 'stopped'), 'cut');
    assert.equal(endOfEndedStep(pay, { ...ended, errorCode: 'not_run' }, 'interrupted'), 'cut');
    const failed = { state: 'failed', errorCode: 'ended' } as const;
    assert.equal(endOfEndedStep(pay, failed, 'interrupted'), 'failed', 'its outcome is known');
    const done = { state: 'finished', errorCode: null } as const;
    assert.equal(endOfEndedStep(pay, done, 'interrupted'), 'finished');
  });
});

test('E-4 only a call that waits for a person was asked for and not run', () => {
  assert.equal(wasAsked({ kind: 'tool', errorCode: 'asked' }), true, 'as records say it');
  assert.equal(wasAsked({ kind: 'model', errorCode: ASKED }), false);
  assert.equal(wasAsked({ kind: 'tool', errorCode: null }), false);
});

describe('repeatsItself', () => {
  const call = { tool: 'look', input: '{}', output: 'same', errorCode: null };

  test('T-19 it takes the same call with the same result so many times in a row', () => {
    assert.equal(repeatsItself([], 3), false);
    assert.equal(repeatsItself([call, call], 3), false);
    assert.equal(repeatsItself([call, call, call], 3), true);
    assert.equal(repeatsItself([call, { ...call, output: 'new' }, call, call], 3), false);
  });

  test('T-19 any difference in call or result breaks the row', () => {
    for (const change of [{ tool: 'x' }, { input: 'x' }, { output: 'x' }, { errorCode: 'x' }])
      assert.equal(repeatsItself([call, call, { ...call, ...change }], 3), false);
  });

  test('T-19 what was called before the row does not matter', () => {
    const calls = fc.array(fc.record({ ...mapped(call) }));
    fc.assert(fc.property(calls, (before) => repeatsItself([...before, call, call, call], 3)));
  });
});

function mapped(call: { readonly [key: string]: string | null }) {
  return {
    tool: fc.constantFrom(call['tool'] ?? '', 'pay'),
    input: fc.constantFrom('{}', '[]'),
    output: fc.constantFrom('same', 'other'),
    errorCode: fc.constantFrom(null, 'timeout'),
  };
}
