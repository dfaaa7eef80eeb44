import type { ModelFault, ModelOutcome, ModelRequest } from '../ports/model.ts';
import { strictTokens, unpairedIn, type PairPiece } from './model-strict.ts';

/** What a strict provider counts of a request, in tokens: instructions, messages, tools and shape. */
export function requestTokens(request: ModelRequest): number {
  return strictTokens(JSON.stringify(request));
}

/**
 * The refusal of a strict provider, as its adapter would give it: of half of a pair of call and result, or of a
 * request that is larger than the window in tokens. Undefined where it would answer.
 */
export function strictRefusal(request: ModelRequest, window: number): ModelFault | undefined {
  const found = unpairedIn(piecesOf(request));
  if (found !== undefined)
    return refused('http_400', `a ${found.what} stands alone: ${found.ids.join(', ')}`);
  const tokens = requestTokens(request);
  if (tokens <= window) return undefined;
  return refused('context_too_long', `prompt is too long: ${tokens} tokens > ${window} maximum`);
}

/** The outcome with the usage that a strict provider counts. Its cost stays what it is. */
export function strictlyCounted(outcome: ModelOutcome, request: ModelRequest): ModelOutcome {
  if (outcome.kind === 'fault') return outcome;
  const { text, calls, usage } = outcome;
  const said = [text, ...calls.map(({ args }) => args)].join('');
  const counted = { inputTokens: requestTokens(request), outputTokens: strictTokens(said) };
  return { ...outcome, usage: { ...usage, ...counted } };
}

function piecesOf({ messages }: ModelRequest): readonly PairPiece[] {
  return messages.map((message): PairPiece => {
    if (message.role === 'tool') return { kind: 'result', id: message.callId };
    if (message.role === 'user' || message.calls.length === 0) return { kind: 'words' };
    return { kind: 'calls', ids: message.calls.map(({ id }) => id) };
  });
}

function refused(code: string, message: string): ModelFault {
  return {
    kind: 'fault',
    class: 'refused',
    code,
    message,
    retryAt: null,
    scope: 'request',
    usage: null,
  };
}
