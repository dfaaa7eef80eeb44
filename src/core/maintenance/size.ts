import { LIMITS } from '../../kernel/limits.ts';

/**
 * What a provider counted for a request, beside the characters that it had: how the next one is counted
 * before it is sent (M-13, M-19). Null while nothing was reported.
 */
export interface Reported {
  readonly tokens: number;
  readonly chars: number;
}

// Between a language of single characters and one of long words.
const PER_CHAR_MAX = 1;
const PER_CHAR_MIN = 1 / 6;

/** Tokens of so many characters, as the provider counted last; without a report as characters stand for them. */
export function countTokens(chars: number, reported: Reported | null = null): number {
  return Math.ceil(chars * perChar(reported));
}

/** Characters that so many tokens stand for, at least none. */
export function charsFor(tokens: number, reported: Reported | null = null): number {
  return Math.max(0, Math.floor(tokens / perChar(reported)));
}

function perChar(reported: Reported | null): number {
  if (reported === null || reported.chars <= 0 || reported.tokens <= 0)
    return 1 / LIMITS.charsPerToken;
  return Math.min(PER_CHAR_MAX, Math.max(PER_CHAR_MIN, reported.tokens / reported.chars));
}

/** Tokens that a request to a model of this window may have; the rest is kept for the answer (M-13). */
export function requestRoom(window: number): number {
  return Math.floor(window * (1 - LIMITS.answerReserveShare));
}

/** The window that a session's facts are measured by: less than the model states where so much was refused (M-19). */
export function heldWindow(stated: number, seed: { readonly window?: number } | null): number {
  return Math.min(stated, seed?.window ?? stated);
}

/** Characters that a request of this window has beside so many, at least none. */
export function freeChars(window: number, base: number, reported: Reported | null): number {
  return Math.max(0, charsFor(requestRoom(window), reported) - base);
}

/** More characters than any request of this window holds, in whatever language. */
export function mostChars(window: number): number {
  return Math.ceil(requestRoom(window) / PER_CHAR_MIN);
}

/** Tokens of the window that are kept for the answer. */
export function answerReserve(window: number): number {
  return window - requestRoom(window);
}

/** How full a session is, in tokens. */
export interface Fill {
  /** Of the model that is asked. */
  readonly window: number;
  /** What its next request begins with whatever is maintained: instructions, tools and seed. */
  readonly base: number;
  /** What the last request and its answer took, as reported or counted. */
  readonly used: number;
  /** Steps that stand in requests word for word. */
  readonly steps: number;
}

/**
 * Why a session is to be maintained at the end of a turn (M-13); undefined while it is not. What an
 * operation could not free by half of the window's free part is left until the next request does not fit.
 */
export function judgeFill(
  { window, base, used, steps }: Fill,
  startAt: number,
): 'usage' | 'steps' | undefined {
  if (steps >= LIMITS.sessionStepsMax) return 'steps';
  if (used < startAt * window) return undefined;
  const free = requestRoom(window) - base;
  return used - base >= free / 2 ? 'usage' : undefined;
}

/** Origins of work that a person's session is never shortened for (M-20). */
const BACKGROUND: ReadonlySet<string> = new Set(['job']);

/** Whether a turn of a task of this origin may have its session maintained (M-20). */
export function mayMaintain({ mandateOrigin }: { readonly mandateOrigin: string }): boolean {
  return !BACKGROUND.has(mandateOrigin);
}
