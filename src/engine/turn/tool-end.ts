import type { Shown } from '../../core/approval/record.ts';
import { endOfOpenStep } from '../../core/turn/decide.ts';
import type { StepRecord } from '../../core/turn/record.ts';
import type { ToolCall, Tools } from '../../ports/tools.ts';
import type { StepEnd } from './step.ts';
import type { TaskOrder } from './task-tools.ts';
import { within } from './within.ts';

/** Runs a call, of an approved one exactly what was shown (E-4), and says what its step came to. */
export async function runTool(
  tools: Tools,
  of: {
    readonly step: StepRecord;
    readonly call: ToolCall;
    readonly approved: Shown | undefined;
  },
  bound: Parameters<typeof within>[2],
): Promise<StepEnd> {
  const running = tools.run(of.call, bound.signal, of.approved);
  const outcome = await within(running, () => null, bound);
  if (outcome === null) return { state: endOfOpenStep(of.step), output: null, errorCode: 'ended' };
  if (outcome.kind === 'result')
    return { state: 'finished', output: outcome.text, errorCode: null };
  const state = outcome.code === 'ended' ? 'cut' : 'failed';
  return { state, output: outcome.text, errorCode: outcome.code };
}

/** What the step of a task tool came to: it is the host's own to carry out. */
export function endOfOrder(order: TaskOrder): StepEnd {
  return order.kind === 'error'
    ? { state: 'failed', output: order.text, errorCode: 'invalid_args' }
    : { state: 'finished', output: order.text, errorCode: null };
}
