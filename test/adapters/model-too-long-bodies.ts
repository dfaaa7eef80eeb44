// What providers answer to a request that is larger than the window, as they send it.
export const BAD = { type: 'invalid_request_error', param: null, code: null };
export const ASKED =
  'However, your messages resulted in 8227 tokens. Please reduce the length of the messages.';
const INVALID = { code: 400, status: 'INVALID_ARGUMENT' };

type Said = readonly [who: string, status: number, body: unknown];

/** Who says it, under which status, in which body. */
export const TOO_LONG: readonly Said[] = [
  [
    'OpenAI',
    400,
    inError({
      message: `This model's maximum context length is 8192 tokens. ${ASKED}`,
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    }),
  ],
  [
    'OpenAI of a newer model',
    400,
    inError({
      message:
        'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 280010 tokens.',
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    }),
  ],
  [
    'OpenAI without its code',
    400,
    inError({
      ...BAD,
      message:
        "This model's maximum context length is 4097 tokens, however you requested 4130 tokens (130 in your prompt; 4000 for the completion). Please reduce your prompt; or completion length.",
    }),
  ],
  [
    'Groq',
    400,
    inError({
      message: 'Please reduce the length of the messages or completion.',
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    }),
  ],
  [
    'DeepSeek',
    400,
    inError({
      message:
        "This model's maximum context length is 65536 tokens. However, you requested 87731 tokens (87731 in the messages, 0 in the completion). Please reduce the length of the messages or completion.",
      type: 'invalid_request_error',
      param: null,
      code: 'invalid_request_error',
    }),
  ],
  [
    'Anthropic',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'prompt is too long: 208732 tokens > 200000 maximum',
      },
      request_id: 'req_1',
    },
  ],
  [
    'Anthropic with the room of the answer',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message:
          'input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens` and try again',
      },
    },
  ],
  [
    'Anthropic of too many bytes',
    413,
    { error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } },
  ],
  [
    'Google',
    400,
    inError({
      ...INVALID,
      message:
        'The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).',
    }),
  ],
  [
    'Google for clients of OpenAI, in a list and without its count',
    400,
    [
      inError({
        ...INVALID,
        message: 'The input token count exceeds the maximum number of tokens allowed (1048576).',
      }),
    ],
  ],
  [
    'llama.cpp',
    400,
    inError({
      code: 400,
      message:
        'request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it',
      type: 'exceed_context_size_error',
      n_prompt_tokens: 4390,
      n_ctx: 4096,
    }),
  ],
  [
    'llama.cpp with the status of a fault',
    500,
    inError({
      code: 500,
      message:
        'the request exceeds the available context size. try increasing the context size or enable context shift',
      type: 'exceed_context_size_error',
      n_prompt_tokens: 1407,
      n_ctx: 256,
    }),
  ],
  [
    'llama.cpp before it had a code',
    400,
    inError({
      code: 400,
      message:
        'the request exceeds the available context size. try increasing the context size or enable context shift',
      type: 'invalid_request_error',
    }),
  ],
  [
    'llama.cpp within an answer',
    500,
    inError({ code: 500, message: 'Context size has been exceeded.', type: 'server_error' }),
  ],
  [
    'vLLM',
    400,
    inError({
      message:
        "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    }),
  ],
  [
    'vLLM with nothing around its error',
    400,
    {
      object: 'error',
      message: `This model's maximum context length is 16384 tokens. ${ASKED}`,
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
  ],
  [
    'vLLM of today',
    400,
    inError({
      message:
        "You passed 16385 input tokens and requested 0 output tokens. However, the model's context length is only 16384 tokens, resulting in a maximum input length of 16384 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=16385)",
      type: 'BadRequestError',
      param: 'input_tokens',
      code: 400,
    }),
  ],
  [
    'vLLM that has no room left for an answer',
    400,
    {
      object: 'error',
      message: 'max_tokens must be at least 1, got -186.',
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
  ],
  [
    'LM Studio',
    400,
    {
      error:
        'The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input',
    },
  ],
  [
    'an older LM Studio',
    400,
    {
      error:
        'Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    },
  ],
  [
    'LM Studio of another engine',
    400,
    { error: 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)' },
  ],
  [
    'Ollama',
    400,
    {
      StatusCode: 400,
      Status: '400 Bad Request',
      error: 'prompt too long; exceeded max context length by 65590 tokens',
    },
  ],
  [
    'OpenRouter',
    400,
    inError({
      message:
        "This endpoint's maximum context length is 262000 tokens. However, you requested about 263390 tokens (658 of text input, 732 of tool input, 262000 in the output).",
      code: 400,
      metadata: { provider_name: null },
    }),
  ],
  [
    'OpenRouter of whom it asked',
    400,
    inError({
      message: 'Provider returned error',
      code: 400,
      metadata: {
        raw: '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208732 tokens > 200000 maximum"}}',
        provider_name: 'Anthropic',
      },
    }),
  ],
  [
    'LiteLLM',
    400,
    inError({
      message:
        'litellm.BadRequestError: litellm.ContextWindowExceededError: AnthropicError - {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 209303 tokens > 200000 maximum"}}',
      type: null,
      param: null,
      code: '400',
    }),
  ],
  [
    'xAI',
    400,
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
    },
  ],
  [
    'a proxy in front',
    413,
    '<html><head><title>413 Request Entity Too Large</title></head></html>',
  ],
];

export function inError(error: object): object {
  return { error };
}
