// `why` of a task that runs: what is done for it now, from records in a real store.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { EngineParts } from '../../src/engine/engine.ts';
import { explainTask } from '../../src/engine/task/why.ts';
import type { Write } from '../../src/ports/store.ts';
import { limiterRow, stepRow } from '../../src/testing/store-rows.ts';
import { BERLIN, ID, MODEL, NOW, openParts, put, task, turn } from './records.ts';

let parts: EngineParts;
beforeEach(async () => {
  parts = await openParts();
});
afterEach(() => parts.store.close());

describe('W-6: why tells of a running task what is done now, in both languages', () => {
  const DE = { ...BERLIN, locale: 'de' } as const;
  const step = { seq: 10, ordinal: 3, startedAt: NOW - 65_000 } as const;
  const model = { ...step, kind: 'model', tool: null, callId: null } as const;
  const limiter = limiterRow({ account: MODEL.account, state: 'limited', isNamed: 'no' });

  async function both(...writes: readonly Write[]): Promise<readonly string[]> {
    await put(parts, task(), ...turn(), ...writes);
    const said: string[] = [];
    for (const audience of [BERLIN, DE]) {
      const sentence = (await explainTask(parts, ID, audience))?.sentence ?? '';
      said.push(/(?:Step|Schritt) 3: .*?\.(?= L| Ü)/.exec(sentence)?.[0] ?? sentence);
    }
    return said;
  }
  const stepWrite = (row: Parameters<typeof stepRow>[0]): Write => ({
    write: 'step.insert',
    row: stepRow(row),
  });

  test('a call of a tool', async () => {
    assert.deepEqual(await both(stepWrite({ ...step, tool: 'command' })), [
      'Step 3: in `command` since 14:01.',
      'Schritt 3: seit 14:01 in `command`.',
    ]);
  });

  test('R-14: nothing, where its host lives no more: what is recorded of it is not told as if it ran', async () => {
    await put(parts, task(), ...turn(), stepWrite({ ...step, tool: 'command' }));
    for (const at of [
      { ...parts, isAtRest: true },
      { ...parts, clock: { ...parts.clock, now: () => NOW + 16_000 } },
    ]) {
      const told = await explainTask(at, ID, BERLIN);
      assert.match(
        told?.sentence ?? '',
        /was being worked on when the host stopped without warning; that turn began at 14:01\. The next start of the host has it checked whether it goes on, and nothing of it runs before\. Left: /,
      );
      const { sentence = '' } = (await explainTask(at, ID, DE)) ?? {};
      assert.match(
        sentence,
        /^An „Summarise .* wurde gearbeitet, als der Host ohne Vorwarnung endete; /,
      );
    }
  });

  test('a model that has not answered', async () => {
    assert.deepEqual(await both(stepWrite(model)), [
      'Step 3: the model was asked at 14:01 and has not answered yet.',
      'Schritt 3: das Modell wurde um 14:01 gefragt und hat noch nicht geantwortet.',
    ]);
  });

  test('T-18: a model that failed, with the calls that were made and the next', async () => {
    const row = { ...limiter, code: 'http_503', until: NOW + 7_000, probeUntil: null };
    assert.deepEqual(
      await both(stepWrite({ ...model, tries: 2 }), { write: 'limiter.insert', row }),
      [
        'Step 3: the model gave no usable answer (`http_503`); calls made: 2 of at most 6, the next goes out at 14:02:12.',
        'Schritt 3: das Modell gab keine brauchbare Antwort (`http_503`); Aufrufe bisher: 2 von höchstens 6, der nächste geht um 14:02:12 hinaus.',
      ],
    );
  });

  test('T-18: a model whose account failed, whether by this call or another', async () => {
    const row = { ...limiter, code: 'http_503', until: NOW + 1_000, probeUntil: null };
    assert.deepEqual(await both(stepWrite(model), { write: 'limiter.insert', row }), [
      'Step 3: the model was asked at 14:01 and has not answered yet; its provider failed last (`http_503`) and is called again at 14:02:06.',
      'Schritt 3: das Modell wurde um 14:01 gefragt und hat noch nicht geantwortet; sein Anbieter versagte zuletzt (`http_503`) und wird um 14:02:06 wieder angerufen.',
    ]);
  });

  test('T-18: the call that finds out whether it answers again', async () => {
    const row = { ...limiter, code: 'http_503', until: NOW + 7_000, probeUntil: NOW + 500_000 };
    assert.deepEqual(
      await both(stepWrite({ ...model, tries: 3 }), { write: 'limiter.insert', row }),
      [
        'Step 3: the model was asked at 14:01 and has not answered yet; this is call 3 of at most 6.',
        'Schritt 3: das Modell wurde um 14:01 gefragt und hat noch nicht geantwortet; das ist Aufruf 3 von höchstens 6.',
      ],
    );
  });

  test('nothing between two steps', async () => {
    const done = { state: 'finished', finishedAt: NOW - 64_000 } as const;
    assert.deepEqual(await both(stepWrite({ ...model, ...done })), [
      'Step 3: the last step was done at 14:01, and no further one has begun.',
      'Schritt 3: der letzte Schritt endete um 14:01, und kein weiterer hat begonnen.',
    ]);
  });
});
