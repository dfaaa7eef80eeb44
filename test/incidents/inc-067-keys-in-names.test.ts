import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskIntake, maskModel } from '../../src/compose/masked.ts';
import type { ModelOutcome } from '../../src/ports/model.ts';
import { ANNA, Installation, says } from '../support/host.ts';
import { everyRow, restOf } from '../support/acts.ts';

const SECRET = 'canary-Zq7xV2mK9p-0123456789';

test('INC-067 X-6 a secret is in no record, also where it came as a name, an id or a code', async () => {
  const place = new Installation();
  const seen: string[] = [];
  const usage = { inputTokens: 1, outputTokens: 1, cost: 0 };
  const outcomes: ModelOutcome[] = [
    {
      ...(says(`I was given ${SECRET}`) as Extract<ModelOutcome, { kind: 'reply' }>),
      provider: `p-${SECRET}`,
      model: `m-${SECRET}`,
      calls: [{ id: `id-${SECRET}`, name: `tool-${SECRET}`, args: `{"key":"${SECRET}"}` }],
      stop: 'calls',
      usage,
    },
    {
      kind: 'fault',
      class: 'refused',
      code: `code-${SECRET}`,
      message: `no ${SECRET}`,
      retryAt: null,
      usage: null,
    },
  ];
  place.model.answer = () => outcomes[place.model.requests.length - 1] ?? says('done');
  const model = maskModel(place.model, [SECRET]);
  const log = {
    debug: note,
    info: note,
    warn: note,
    error: note,
  };
  function note(message: string, fields: object = {}): void {
    seen.push(message, JSON.stringify(fields));
  }
  const engine = maskIntake(await place.host({ model, log }), [SECRET]);
  const conversationId = await engine.openConversation({
    channel: 'api',
    address: `lane-${SECRET}`,
    principal: ANNA,
  });
  const idempotency = { key: `key-${SECRET}`, fingerprint: 'f' };
  await engine.acceptMessage({
    conversationId,
    text: `mine is ${SECRET}`,
    replyTo: `reply-${SECRET}`,
    externalId: `ext-${SECRET}`,
    principal: ANNA,
    idempotency,
  });
  const run = await engine.acceptRun({
    input: `mine is ${SECRET}`,
    metadata: JSON.stringify({ key: SECRET }),
    callbackUrl: `https://example.test/?key=${SECRET}`,
    principal: ANNA,
    idempotency: { key: `run-${SECRET}`, fingerprint: 'f' },
  });
  if (run.kind !== 'accepted') assert.fail(run.code);
  await engine.messageRun({
    runId: run.runId,
    text: `and ${SECRET}`,
    principal: ANNA,
    idempotency: { key: `more-${SECRET}`, fingerprint: 'f' },
  });
  await restOf(engine);
  seen.push(JSON.stringify(engine.health()));
  const rows = Object.entries(await everyRow(place)).flatMap(([table, all]) =>
    all.flatMap((row) =>
      Object.entries(row).map(([column, value]) => [`${table}.${column}`, String(value)] as const),
    ),
  );
  const leaks = rows.filter(([, value]) => value.includes(SECRET)).map(([where]) => where);
  assert.deepEqual(leaks, []);
  assert.ok(rows.some(([, value]) => value.includes('[redacted]')));
  assert.deepEqual(
    seen.filter((text) => text.includes(SECRET)),
    [],
  );
  await engine.stop(0);
});

test('INC-067 masking is told from masking: the same key with a secret in it is still the same key', async () => {
  const place = new Installation();
  const engine = maskIntake(await place.host(), [SECRET]);
  const ask = () =>
    engine.acceptRun({
      input: 'once',
      principal: ANNA,
      idempotency: { key: `run-${SECRET}`, fingerprint: 'f' },
    });
  const [first, second] = [await ask(), await ask()];
  assert.ok(first.kind === 'accepted' && second.kind === 'accepted');
  assert.equal(second.runId, first.runId);
  assert.deepEqual([first.repeated, second.repeated], [false, true]);
  await restOf(engine);
  await engine.stop(0);
});
