import type { ProviderError } from './provider-error.ts';

/** The one code of a request that is larger than the model's window, whoever says so and how (M-13). */
export const CONTEXT_TOO_LONG = 'context_too_long';

const TOO_LONG_CODES: ReadonlySet<string> = new Set([
  // OpenAI and many who follow it.
  'context_length_exceeded',
  // llama.cpp, and Ollama on top of it.
  'exceed_context_size_error',
  // Anthropic: bytes instead of tokens, and the same to do about it.
  'request_too_large',
]);
const CONTENT_TOO_LARGE = 413;
/** 500 is how two local servers answer it; no other server fault is ever taken for it. */
const STATUSES_IN_WORDS: ReadonlySet<number> = new Set([400, CONTENT_TOO_LARGE, 422, 500]);

/** What providers call any bad request: it says no more than the status does. */
const SAYS_NOTHING: ReadonlySet<string> = new Set([
  'invalid_request_error',
  'invalid_argument',
  'invalid_parameter_error',
  'badrequesterror',
  'bad_request',
  'bad_request_error',
  'bad request',
  'validation_error',
  'validationexception',
  'request entity too large',
  'payload too large',
  'content too large',
  'client specified an invalid argument',
  'server_error',
  'api_error',
]);

/**
 * What vendors write who give no code for it. Each is held against the beginning of their sentence: what
 * a person said may be repeated in an error, but nobody begins one with it.
 */
const WORDS: readonly RegExp[] = [
  // Anthropic
  /^prompt is too long: \d+ tokens > \d+ maximum/,
  /^input length and `max_tokens` exceed context limit: \d+ \+ \d+ > \d+/,
  // Google
  /^The input token count (?:\(\d+\) )?exceeds the maximum number of tokens allowed \(\d+\)/,
  // OpenAI at times, DeepSeek, OpenRouter, vLLM
  /^This (?:model|endpoint)'s maximum context length is \d+ tokens/,
  // vLLM: an answer's room that it counts itself can be less than none only so.
  /^You passed \d+ input (?:tokens|characters)\b.{0,80} However, the model's context length is only \d+/,
  /^The \w+ prompt \(length \d+\) is longer than the maximum model length of \d+/,
  /^max_tokens must be at least 1, got -\d+/,
  // SGLang, Together
  /^Requested token count exceeds the model's maximum context length of \d+ tokens/,
  /^The input \(\d+ tokens\) is longer than the model's context length \(\d+ tokens\)/,
  // llama.cpp before it had a code for it, and when the room ends within an answer; LM Studio
  /^(?:the )?request (?:\(\d+ tokens\) )?exceeds the available context size/,
  /^Context size has been exceeded\.?$/,
  /^The number of tokens to keep from the initial prompt is greater than the context length/,
  /^Trying to keep the first \d+ tokens when context the overflows\./,
  /^Cannot truncate prompt with n_keep \(\d+\) >= n_ctx \(\d+\)/,
  // Ollama
  /^`?prompt too long; exceeded (?:max )?context length by \d+ tokens/,
  // Mistral, xAI, Moonshot, Zhipu, DashScope, Bedrock
  /^Prompt contains \d+ tokens\b.{0,80} too large for model with \d+ maximum context length/,
  /^This model's maximum prompt length is \d+ but the request contains \d+ tokens/,
  /^(?:Failed to start sampling: )?\[input_too_large\] /,
  /^(?:Invalid request: )?Your request exceeded model token limit: \d+/,
  /^Prompt exceeds max length$/,
  /^(?:<400> InternalError\.Algo\.InvalidParameter: )?Range of input length should be \[\d+, \d+\]/,
  /^Input is too long for requested model\.?$/,
  // LiteLLM, in front of any of them
  /^litellm\.(?:BadRequestError: litellm\.)?ContextWindowExceededError: /,
];

/**
 * Whether a provider refused a request because it is too long for the model. Codes decide; the vendor's
 * own first words count only where no code says anything (INC-074). `status` is null inside a stream.
 */
export function isContextTooLong(status: number | null, error: ProviderError | undefined): boolean {
  if (error === undefined) return status === CONTENT_TOO_LARGE;
  if (error.inner !== undefined && isContextTooLong(status, error.inner)) return true;
  if (error.codes.some((code) => TOO_LONG_CODES.has(code))) return true;
  if (!error.codes.every(saysNothing)) return false;
  if (status === CONTENT_TOO_LARGE) return true;
  if (status !== null && !STATUSES_IN_WORDS.has(status)) return false;
  const said = error.message.trim();
  return WORDS.some((words) => words.test(said));
}

function saysNothing(code: string): boolean {
  return SAYS_NOTHING.has(code) || /^\d+$/.test(code);
}
