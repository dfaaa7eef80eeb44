// How providers say that a request is larger than the window, in their own bodies.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openAiCompatible } from '../../src/adapters/model/openai-compatible.ts';
import { fails, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import { ASKED, BAD, inError, TOO_LONG } from './model-too-long-bodies.ts';
import {
  faultOf,
  FORMATS,
  stageOf,
  user,
  verdict,
  type Spoken,
  type Stage,
} from './model-stage.ts';

const OTHER: readonly (readonly [what: string, status: number, body: unknown, code: string])[] = [
  [
    'an ordinary 400',
    400,
    inError({ ...BAD, message: 'messages: field required' }),
    'refused http_400',
  ],
  [
    'a person’s words in an error',
    400,
    inError({
      ...BAD,
      message:
        "messages.3: 'prompt is too long: 5 tokens > 4 maximum' is not a valid value; This model's maximum context length is 1 tokens",
    }),
    'refused http_400',
  ],
  [
    'a person’s words in an error of another code',
    400,
    inError({
      message: 'prompt is too long: 5 tokens > 4 maximum',
      type: 'invalid_request_error',
      param: 'image',
      code: 'invalid_image',
    }),
    'refused http_400',
  ],
  [
    'a limit of tokens a minute that is answered as 413',
    413,
    inError({
      message:
        'Request too large for model `llama-3.1-8b-instant` on tokens per minute (TPM): Limit 6000, Requested 12328, please reduce your message size and try again.',
      type: 'tokens',
      code: 'rate_limit_exceeded',
    }),
    'refused http_413',
  ],
  [
    'a limit in the words of a window',
    429,
    inError({ message: 'prompt is too long: 5 tokens > 4 maximum', type: 'rate_limit_error' }),
    'transient http_429',
  ],
  [
    'a filter in the words of a window',
    400,
    inError({ message: 'prompt is too long: 5 tokens > 4 maximum', code: 'content_filter' }),
    'refused content_filter',
  ],
  [
    'an overload',
    503,
    inError({ message: 'Context size has been exceeded.' }),
    'transient http_503',
  ],
  [
    'a person’s word behind the whole sentence',
    500,
    inError({ message: 'Context size has been exceeded. Or so said Anna', type: 'server_error' }),
    'transient http_500',
  ],
  [
    'room for an answer that a request asked for',
    400,
    inError({ ...BAD, message: 'max_tokens must be at least 1, got 0.' }),
    'refused http_400',
  ],
];

for (const [name, spoken] of Object.entries(FORMATS)) describe(name, () => tooLong(spoken));

function tooLong(spoken: Spoken): void {
  const stage = (script: readonly ModelAnswer[]): Promise<Stage> =>
    stageOf(script, {}, spoken.format);

  for (const [who, status, body] of TOO_LONG) {
    test(`${who} says that it is too long`, async () => {
      const { ask } = await stage([fails(status, { 'retry-after': '20' }, textOf(body))]);
      const fault = faultOf(await ask());
      assert.equal(verdict(fault), 'refused context_too_long');
      assert.deepEqual([fault.scope, fault.retryAt], ['request', null]);
      assert.match(fault.message, new RegExp(`^HTTP ${status}: .`));
    });
  }

  for (const [what, status, body, expected] of OTHER) {
    test(`INC-074: ${what} is no request that is too long`, async () => {
      const { ask } = await stage([fails(status, {}, textOf(body))]);
      assert.equal(verdict(await ask()), expected);
    });
  }

  const inside: readonly (readonly [error: object, verdict: string])[] = [
    [{ ...BAD, message: 'prompt is too long: 5 tokens > 4 maximum' }, 'refused context_too_long'],
    [
      {
        message:
          'The number of tokens to keep from the initial prompt is greater than the context length',
      },
      'refused context_too_long',
    ],
    [{ message: 'x', type: 'exceed_context_size_error', code: 400 }, 'refused context_too_long'],
    [{ message: 'm', type: 'rate_limit_error' }, 'transient http_429'],
  ];
  for (const [error, expected] of inside) {
    test(`inside a stream ${JSON.stringify(error)} is ${expected}`, async () => {
      const body = spoken.errorEvent(error);
      const { ask } = await stage([{ kind: 'raw', contentType: 'text/event-stream', body }]);
      assert.equal(verdict(await ask()), expected);
    });
  }

  test('what a person says of it is text like any other', async () => {
    const words = 'prompt is too long: 5 tokens > 4 maximum';
    const { ask } = await stage([says(words)]);
    assert.equal(verdict(await ask({ messages: [user(words)] })), `reply end: ${words}`);
  });
}

test('a call for a shape that is too long is asked once', async () => {
  const body = JSON.stringify(
    inError({ ...BAD, message: `This model's maximum context length is 8 tokens. ${ASKED}` }),
  );
  const { ask, server } = await stageOf([fails(400, {}, body), says('{}')], {}, openAiCompatible);
  const answer = { name: 'summary', schema: { type: 'object' } };
  assert.equal(verdict(await ask({ answer })), 'refused context_too_long');
  assert.equal(server.requests.length, 1);
});

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}
