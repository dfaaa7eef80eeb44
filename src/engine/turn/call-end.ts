import type { ModelUsage } from '../../ports/model.ts';
import type { Called } from './call.ts';
import { NOT_BEGUN, sumOf, type StepEnd } from './step.ts';

/** What a model step's row says of its calls; `failed` is what those of them used that failed (V15). */
export function endOfModel(called: Called, failed: ModelUsage | null): StepEnd {
  if (called.kind === 'reply') {
    const { text, calls, provider, model, usage } = called.reply;
    const output = JSON.stringify({ text, calls });
    const used = sumOf(usage, failed) ?? usage;
    return { state: 'finished', output, errorCode: null, provider, model, ...used };
  }
  const { last } = called;
  // No call was made: the account was known to be closed.
  if (last === null) return NOT_BEGUN;
  const state = last.class === 'aborted' ? 'cut' : 'failed';
  const { message: output, code: errorCode } = last;
  return failed === null ? { state, output, errorCode } : { state, output, errorCode, ...failed };
}
