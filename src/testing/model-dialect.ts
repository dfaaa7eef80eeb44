import { endlessEvent, isCut, jsonDocument, streamParts } from './model-answer.ts';
import {
  anthropicDocument,
  anthropicEndlessEvent,
  anthropicError,
  anthropicParts,
} from './model-answer-anthropic.ts';
import { STRICT_ANTHROPIC, STRICT_OPENAI, type StrictFormat } from './model-strict-wire.ts';
import type { AnswerDefaults, Part, ReplyAnswer } from './model-answer.ts';

/** How the scripted server puts an answer on the wire for one kind of client. */
export interface Dialect {
  /** The pieces of a streamed reply; `plain` is all of it where it is the same each time. */
  readonly parts: (
    answer: ReplyAnswer,
    defaults: AnswerDefaults,
    requestText: string,
  ) => { readonly parts: readonly Part[]; readonly plain: string | undefined };
  readonly document: (answer: ReplyAnswer, defaults: AnswerDefaults) => string;
  readonly endless: (
    piece: string,
    defaults: AnswerDefaults,
  ) => readonly [start: string, again: string];
  readonly error: (status: number) => string;
  readonly strict: StrictFormat;
}

/** What OpenAI's clients hear, and whoever asks outside of both. */
export const OPENAI: Dialect = {
  parts(answer, defaults, requestText) {
    const withUsage = requestText.includes('"include_usage":true');
    const parts = streamParts(answer, defaults, withUsage);
    return { parts, plain: withUsage ? plainOf(answer, parts) : undefined };
  },
  document: jsonDocument,
  endless: (piece, defaults) => ['', endlessEvent(piece, defaults)],
  error: (status) =>
    JSON.stringify({ error: { message: `scripted ${status}`, type: 'scripted', code: null } }),
  strict: STRICT_OPENAI,
};

const ANTHROPIC: Dialect = {
  parts(answer, defaults) {
    const parts = anthropicParts(answer, defaults);
    return { parts, plain: plainOf(answer, parts) };
  },
  document: anthropicDocument,
  endless: anthropicEndlessEvent,
  error: anthropicError,
  strict: STRICT_ANTHROPIC,
};

/** The dialect of a path; undefined when no model answers there. */
export function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith('/chat/completions')) return OPENAI;
  return path.endsWith('/v1/messages') ? ANTHROPIC : undefined;
}

function plainOf(answer: ReplyAnswer, parts: readonly Part[]): string | undefined {
  const texts = parts.filter((part) => typeof part === 'string');
  return isCut(answer) || texts.length < parts.length ? undefined : texts.join('');
}
