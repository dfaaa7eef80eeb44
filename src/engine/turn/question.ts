import type { Question } from '../../core/approval/decide.ts';
import type { AskedCall } from '../../core/turn/decide.ts';
import { canonicalJson } from '../../kernel/json.ts';
import type { Tool, ToolCall, Tools } from '../../ports/tools.ts';
import type { EngineParts } from '../engine.ts';
import type { StepStart } from './step.ts';
import { isTaskTool } from './task-tools.ts';

type Asking = Pick<EngineParts, 'ids'>;

/** What a person has to be asked about a call before it runs; null when it may run (E-4). */
export async function questionOf(
  parts: Asking,
  tools: Tools,
  call: AskedCall,
): Promise<Question | null> {
  const asksNobody = isTaskTool(call.name) || toolOf(tools, call)?.approval === 'never';
  return asksNobody ? null : ask(parts, tools, { ...call, stepId: '' }, 'needed');
}

function toolOf({ list }: Tools, call: Pick<ToolCall, 'name'>): Tool | undefined {
  return list.find(({ name }) => name === call.name);
}

/** What a person is asked about a new call of the same bytes; null when it can no longer be made (E-2). */
export async function againQuestionOf(
  parts: Asking,
  tools: Tools,
  call: ToolCall,
): Promise<Question | null> {
  return ask(parts, tools, call, 'always');
}

async function ask(
  { ids }: Asking,
  tools: Tools,
  call: ToolCall,
  when: 'needed' | 'always',
): Promise<Question | null> {
  const { needsApproval, shown, approver } = await tools.examine(call);
  if (shown === null || (when === 'needed' && !needsApproval)) return null;
  return { id: ids.next('approval'), shown: canonicalJson(shown), approver };
}

/** A call that waits for a person is recorded as asked and never as run: nothing of it can be uncertain. */
export function toolStart(
  tools: Tools,
  call: AskedCall,
  { ordinal, isAsked }: { readonly ordinal: number; readonly isAsked: boolean },
): StepStart {
  const repeatable = isAsked ? 'yes' : (toolOf(tools, call)?.repeatable ?? 'yes');
  const { name, id: callId, args: input } = call;
  return { ordinal, kind: 'tool', tool: name, callId, repeatable, input };
}
