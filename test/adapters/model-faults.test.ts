import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DAY, MINUTE, SECOND } from '../../src/kernel/time.ts';
import { fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import {
  faultOf,
  FORMATS,
  KEY,
  NOW,
  stageOf,
  verdict,
  type Spoken,
  type Stage,
} from './model-stage.ts';

for (const [name, spoken] of Object.entries(FORMATS)) describe(name, () => refusals(spoken));

function refusals(spoken: Spoken): void {
  const stage = (script: readonly ModelAnswer[]): Promise<Stage> =>
    stageOf(script, {}, spoken.format);

  const permanent: readonly [status: number, scope: string][] = [
    [400, 'request'],
    [401, 'account'],
    [402, 'account'],
    [403, 'account'],
    [404, 'model'],
    [422, 'request'],
  ];
  for (const [status, scope] of permanent) {
    test(`${status} is permanent, and of the ${scope}`, async () => {
      const { ask } = await stage([fails(status, { 'retry-after': '5' })]);
      const fault = faultOf(await ask());
      assert.equal(verdict(fault), `refused http_${status}`);
      assert.deepEqual([fault.scope, fault.retryAt], [scope, null]);
    });
  }

  for (const status of [408, 409, 429, 500, 502, 503, 529]) {
    test(`${status} may pass`, async () => {
      const { ask } = await stage([fails(status)]);
      const fault = faultOf(await ask());
      assert.equal(verdict(fault), `transient http_${status}`);
      assert.equal(fault.retryAt, null);
    });
  }

  test('an overload that names an instant is still no quota', async () => {
    const { ask } = await stage([fails(503, { 'retry-after': '7200' })]);
    assert.equal(faultOf(await ask()).retryAt, null);
  });

  const instants: readonly [string, Readonly<Record<string, string>>, number | null][] = [
    ['seconds', { 'retry-after': '90' }, NOW + 90_000],
    ['a date', { 'retry-after': 'Mon, 30 Nov 2026 13:00:00 GMT' }, NOW + 3_600_000],
    ['a past date', { 'retry-after': 'Mon, 30 Nov 2020 13:00:00 GMT' }, null],
    ['no time at all', { 'retry-after': '0' }, null],
    ['less than none', { 'retry-after': '-5' }, null],
    ['over 366 days', { 'retry-after': String(367 * 86_400) }, null],
    ['just within 366 days', { 'retry-after': String(366 * 86_400) }, NOW + 366 * DAY],
    ['milliseconds', { 'retry-after-ms': '1500', 'retry-after': '2' }, NOW + 1_500],
    ['nothing that can be read', { 'retry-after': 'soon' }, null],
    ['a duration', { 'x-ratelimit-reset-requests': '6m0.5s' }, NOW + 6 * MINUTE + 500],
    [
      'an instant',
      { 'anthropic-ratelimit-tokens-reset': '2026-11-30T12:05:00Z' },
      NOW + 5 * MINUTE,
    ],
    ['an epoch', { 'x-ratelimit-reset': String((NOW + 40_000) / 1_000) }, NOW + 40_000],
    ['a fine epoch', { 'x-ratelimit-reset': String(NOW + 40_000) }, NOW + 40_000],
    [
      'two limits, of which one is used up',
      {
        'x-ratelimit-reset-requests': '2s',
        'x-ratelimit-remaining-requests': '55',
        'x-ratelimit-reset-tokens': '5m',
        'x-ratelimit-remaining-tokens': '0',
      },
      NOW + 5 * MINUTE,
    ],
    [
      'two limits that are both used up',
      {
        'anthropic-ratelimit-requests-reset': '2026-11-30T12:01:00Z',
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2026-11-30T12:02:00Z',
        'anthropic-ratelimit-input-tokens-remaining': '0',
      },
      NOW + 2 * MINUTE,
    ],
    [
      'a limit beside its own word',
      { 'retry-after': '30', 'x-ratelimit-reset-tokens': '5m' },
      NOW + 30 * SECOND,
    ],
  ];
  for (const [what, headers, retryAt] of instants) {
    test(`429 that names ${what} has that instant`, async () => {
      const { ask } = await stage([fails(429, headers)]);
      const fault = faultOf(await ask());
      assert.equal(verdict(fault), 'transient http_429');
      assert.equal(fault.retryAt, retryAt);
    });
  }

  const bodies: readonly [string, object, number | null][] = [
    ['seconds', { retry_after: 12 }, NOW + 12_000],
    ['seconds under another name', { resets_in_seconds: 7_200 }, NOW + 7_200_000],
    ['an epoch', { resets_at: (NOW + 60_000) / 1_000 }, NOW + 60_000],
    ['a delay in its details', { details: [{ retryDelay: '34.5s' }] }, NOW + 34_500],
    [
      'a header of whom it asked',
      { metadata: { headers: { 'X-RateLimit-Reset': String(NOW + 9_000) } } },
      NOW + 9_000,
    ],
    ['a time in its words alone', { message: 'Please try again in 20s.' }, null],
  ];
  for (const [what, fields, retryAt] of bodies) {
    test(`429 whose body names ${what} has that instant`, async () => {
      const error = { message: 'limit', type: 'rate_limit_error', ...fields };
      const { ask } = await stage([fails(429, {}, JSON.stringify({ error }))]);
      assert.equal(faultOf(await ask()).retryAt, retryAt);
    });
  }

  const told: readonly [status: number, error: object, verdict: string, scope: string][] = [
    [429, { code: 'insufficient_quota' }, 'refused insufficient_quota', 'account'],
    [429, { type: 'insufficient_quota' }, 'refused insufficient_quota', 'account'],
    [429, { code: 'billing_hard_limit_reached' }, 'refused billing_hard_limit_reached', 'account'],
    [400, { details: [{ reason: 'API_KEY_INVALID' }] }, 'refused api_key_invalid', 'account'],
    [401, { code: 'invalid_api_key' }, 'refused http_401', 'account'],
    [403, { code: 'model_not_found' }, 'refused model_not_found', 'model'],
    [400, { code: 'model_decommissioned' }, 'refused model_decommissioned', 'model'],
    [400, { code: 'content_filter' }, 'refused content_filter', 'request'],
  ];
  for (const [status, error, expected, scope] of told) {
    test(`INC-074: ${status} with ${JSON.stringify(error)} is told apart by its code`, async () => {
      const body = JSON.stringify({ error: { message: 'no', ...error } });
      const { ask } = await stage([fails(status, { 'retry-after': '20' }, body)]);
      const fault = faultOf(await ask());
      assert.equal(verdict(fault), expected);
      assert.deepEqual([fault.scope, fault.retryAt], [scope, null]);
    });
  }

  test('INC-074: what an error says in words decides nothing', async () => {
    const words = [
      'insufficient_quota: 429 rate limit, credit balance is too low',
      '402 Payment Required; invalid api key',
      'context_length_exceeded model_not_found overloaded_error 529',
    ];
    for (const message of words) {
      const body = JSON.stringify({ error: { message, code: null } });
      const { ask } = await stage([
        fails(400, {}, body),
        fails(500, {}, body),
        fails(429, {}, body),
      ]);
      const seen = [verdict(await ask()), verdict(await ask()), verdict(await ask())];
      assert.deepEqual(seen, ['refused http_400', 'transient http_500', 'transient http_429']);
    }
  });

  test('an error in a list is read as well', async () => {
    const body = JSON.stringify([
      { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'm' } },
    ]);
    const { ask } = await stage([fails(429, {}, body)]);
    assert.equal(faultOf(await ask()).message, 'HTTP 429: m');
  });

  test('masks the key that a provider repeats', async () => {
    const said = `Incorrect API key ${KEY} (Bearer ${KEY})\nask the owner`;
    const body = JSON.stringify({ error: { message: said } });
    const { ask } = await stage([fails(401, {}, body)]);
    assert.equal(
      faultOf(await ask()).message,
      'HTTP 401: Incorrect API key [redacted] (Bearer [redacted]) ask the owner',
    );
  });

  test('T-13: an error never becomes text of a reply', async () => {
    const error = { message: 'You owe us money', code: 402 };
    const { ask, heard } = await stage([
      fails(402, {}, JSON.stringify({ error })),
      { kind: 'raw', contentType: 'text/event-stream', body: spoken.errorEvent(error) },
      { kind: 'raw', contentType: 'application/json', body: JSON.stringify({ error }) },
    ]);
    for (let call = 0; call < 3; call += 1) {
      const fault = faultOf(await ask());
      assert.equal(verdict(fault), 'refused http_402');
      assert.match(fault.message, /You owe us money/);
    }
    assert.deepEqual(heard.texts, []);
  });

  const inside: readonly [error: object, verdict: string][] = [
    [{ message: 'm', code: 'server_error' }, 'transient stream_error'],
    [{ message: 'm', type: 'overloaded_error' }, 'transient http_529'],
    [{ message: 'm', type: 'api_error' }, 'transient http_500'],
    [{ message: 'm', type: 'rate_limit_error' }, 'transient http_429'],
    [{ message: 'm', type: 'authentication_error' }, 'refused http_401'],
    [{ message: 'm', code: 'insufficient_quota' }, 'refused insufficient_quota'],
  ];
  for (const [error, expected] of inside) {
    test(`inside a stream ${JSON.stringify(error)} is what it would have been before it`, async () => {
      const body = spoken.errorEvent(error);
      const { ask } = await stage([{ kind: 'raw', contentType: 'text/event-stream', body }]);
      assert.equal(verdict(await ask()), expected);
    });
  }

  test('by a filter is permanent, of the request, and its tokens count', async () => {
    const { ask } = await stage([says('I', { finish: 'content_filter' })]);
    const fault = faultOf(await ask());
    assert.match(verdict(fault), /^refused (?:content_filter|refusal)$/);
    assert.equal(fault.scope, 'request');
    assert.equal(fault.usage?.inputTokens, 10);
  });
}
