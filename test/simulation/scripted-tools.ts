// Tools whose effects are counted outside the harness.
import { parseJson } from '../../src/kernel/json.ts';
import { SECOND } from '../../src/kernel/time.ts';
import type { Tool, ToolCall, ToolOutcome, Tools } from '../../src/ports/tools.ts';
import type { Epoch, Scheduler } from '../../src/testing/scheduler.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { Ledger } from './ledger.ts';
import type { StoreWeather } from './faulty-store.ts';
import type { Sometime } from './sometimes.ts';

interface SimulatedTool extends Tool {
  readonly slow: boolean;
}

const PARAMETERS = {
  type: 'object',
  properties: { call: { type: 'string' } },
  required: ['call'],
  additionalProperties: false,
} as const;

const tool = (name: string, repeatable: 'yes' | 'no', slow: boolean): SimulatedTool => ({
  name,
  description: `${name}, for the simulation`,
  parameters: PARAMETERS,
  repeatable,
  changes: repeatable === 'yes' ? 'no' : 'yes',
  slow,
});

export const TOOLS: readonly SimulatedTool[] = [
  tool('look_up', 'yes', false),
  tool('send_mail', 'no', false),
  tool('long_read', 'yes', true),
  tool('long_build', 'no', true),
];

export interface ScriptedToolsParts {
  readonly scheduler: Scheduler;
  readonly epoch: Epoch;
  readonly random: Random;
  readonly weather: StoreWeather;
  readonly ledger: Ledger;
  readonly isJournalled: (stepId: string) => boolean;
  readonly reached: (name: Sometime) => void;
}

export function scriptedTools(parts: ScriptedToolsParts): Tools {
  return {
    list: TOOLS,
    run: (call, signal) => runTool(parts, call, signal),
  };
}

async function runTool(
  parts: ScriptedToolsParts,
  call: ToolCall,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { scheduler, epoch, random, ledger, reached } = parts;
  const known = TOOLS.find((one) => one.name === call.name);
  if (known === undefined) {
    reached('unknown_tool');
    return { kind: 'error', code: 'unknown_tool', text: `no tool is called ${call.name}` };
  }
  const id = callId(call.args);
  if (id === undefined) return { kind: 'error', code: 'invalid_args', text: 'args: no call' };
  const label = `${call.name} ${id}`;
  const begin = { epoch, label: `tool.begin ${label}`, delay: random.below(20), signal };
  const hasBegun = await scheduler.call(begin, () => {
    if (signal.aborted) return false;
    ledger.executions.push({
      stepId: call.stepId,
      tool: call.name,
      call: id,
      repeatable: known.repeatable === 'yes',
      host: epoch.name,
      journalled: parts.isJournalled(call.stepId),
    });
    ledger.enter(epoch.name);
    return true;
  });
  if (!hasBegun) return { kind: 'error', code: 'ended', text: 'ended before it began' };
  const fails = random.chance(parts.weather.faults.tool);
  const delay = known.slow ? random.below(60 * SECOND) : random.below(500);
  // What the call started takes a moment to end.
  const linger = known.slow ? random.below(5 * SECOND) : 0;
  return scheduler.call({ epoch, label: `tool.end ${label}`, delay, signal, linger }, () => {
    ledger.leave(epoch.name);
    if (signal.aborted) {
      reached('tool_aborted');
      return { kind: 'error', code: 'ended', text: 'ended by the host' };
    }
    if (!fails) return { kind: 'result', text: `${label} done` };
    reached('tool_failed');
    const code = random.pick(['failed', 'not_found', 'timeout', 'refused']);
    return { kind: 'error', code, text: `${label}: ${code}` };
  });
}

function callId(args: string): string | undefined {
  const parsed = parseJson(args, 4);
  if (!parsed.ok || parsed.value === null || typeof parsed.value !== 'object') return undefined;
  const id = 'call' in parsed.value ? parsed.value['call'] : undefined;
  return typeof id === 'string' ? id : undefined;
}
