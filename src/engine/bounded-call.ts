import type { Millis } from '../kernel/time.ts';
import type { Model, ModelFault, ModelOutcome, ModelRequest } from '../ports/model.ts';
import type { EngineParts } from './engine.ts';

/**
 * One model call that is no step of a turn, bounded in time: after `ms` it has come to `timeout`, and one
 * that does not heed its signal is not waited for. `signal` ends it sooner, as `ended`. Never rejects.
 */
export async function callWithin(
  { clock }: Pick<EngineParts, 'clock'>,
  model: Model,
  request: ModelRequest,
  bound: { readonly ms: Millis; readonly signal?: AbortSignal },
): Promise<ModelOutcome> {
  const { ms, signal } = bound;
  const over = new AbortController();
  const ended = Promise.withResolvers<ModelOutcome>();
  const onAbort = (): void => ended.resolve(endedAs('ended', 'the call was not waited for'));
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  const call = model.call(request, {
    signal: over.signal,
    onText: () => {},
    onModel: () => {},
  });
  const late = clock.sleep(ms, over.signal).then(() => endedAs('timeout', 'no answer in time'));
  try {
    return await Promise.race([ended.promise, call, late]);
  } finally {
    // Whoever ends first ends the others.
    over.abort();
    signal?.removeEventListener('abort', onAbort);
  }
}

function endedAs(code: 'ended' | 'timeout', message: string): ModelFault {
  return { kind: 'fault', class: 'aborted', code, message, retryAt: null, usage: null };
}
