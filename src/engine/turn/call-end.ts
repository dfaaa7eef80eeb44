import { NOT_RUN } from '../../core/turn/transcript.ts';
import type { Called } from './call.ts';
import type { StepEnd } from './step.ts';

/** A call that was reserved and never made: the turn was interrupted first. */
export const NOT_BEGUN: StepEnd = { state: 'cut', output: NOT_RUN, errorCode: 'not_run' };

/** What a model step's row says of its calls. */
export function endOfModel(called: Called): StepEnd {
  if (called.kind === 'reply') {
    const { text, calls, provider, model, usage } = called.reply;
    const output = JSON.stringify({ text, calls });
    const { inputTokens, outputTokens, cost } = usage;
    const used = { inputTokens, outputTokens, cost };
    return { state: 'finished', output, errorCode: null, provider, model, ...used };
  }
  const { last } = called;
  // No call was made: the account was known to be closed.
  if (last === null) return NOT_BEGUN;
  const state = last.class === 'aborted' ? 'cut' : 'failed';
  const { message: output, code: errorCode, usage } = last;
  if (usage === null) return { state, output, errorCode };
  const { inputTokens, outputTokens, cost } = usage;
  return { state, output, errorCode, inputTokens, outputTokens, cost };
}
