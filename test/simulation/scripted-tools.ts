// Tools whose effects are counted outside the harness, and files whose bytes change behind its back.
import type { Shown } from '../../src/core/approval/record.ts';
import { canonicalJson, parseJson } from '../../src/kernel/json.ts';
import { SECOND } from '../../src/kernel/time.ts';
import type { Examined, Tool, ToolCall, ToolOutcome, Tools } from '../../src/ports/tools.ts';
import type { Epoch, Scheduler } from '../../src/testing/scheduler.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { Ledger } from './ledger.ts';
import type { StoreWeather } from './faulty-store.ts';
import type { Sometime } from './sometimes.ts';

interface SimulatedTool extends Tool {
  readonly slow: boolean;
  readonly approver: 'none' | Examined['approver'];
}

const PARAMETERS = {
  type: 'object',
  properties: { call: { type: 'string' } },
  required: ['call'],
  additionalProperties: false,
} as const;

const tool = (
  name: string,
  repeatable: 'yes' | 'no',
  { slow = false, approver = 'none' }: Partial<Pick<SimulatedTool, 'slow' | 'approver'>> = {},
): SimulatedTool => ({
  name,
  description: `${name}, for the simulation`,
  parameters: PARAMETERS,
  repeatable,
  changes: repeatable === 'yes' ? 'no' : 'yes',
  slow,
  approver,
});

export const TOOLS: readonly SimulatedTool[] = [
  tool('look_up', 'yes'),
  tool('send_mail', 'no'),
  tool('long_read', 'yes', { slow: true }),
  tool('long_build', 'no', { slow: true }),
  tool('deploy', 'no', { approver: 'any' }),
  tool('pay', 'no', { approver: 'other' }),
];
export const FREE_TOOLS = TOOLS.filter(({ approver }) => approver === 'none').map(namesOf);
export const APPROVED_TOOLS = TOOLS.filter(({ approver }) => approver !== 'none').map(namesOf);

function namesOf({ name }: Tool): string {
  return name;
}

export interface ScriptedToolsParts {
  readonly scheduler: Scheduler;
  readonly epoch: Epoch;
  readonly random: Random;
  readonly weather: StoreWeather;
  readonly ledger: Ledger;
  readonly isJournalled: (stepId: string) => boolean;
  /** Whether an approval of exactly this call stands as approved (E-4). */
  readonly isApproved: (call: { readonly tool: string; readonly input: string }) => boolean;
  readonly reached: (name: Sometime) => void;
  /** Words without a meaning behind a result. */
  readonly padding: () => string;
}

export function scriptedTools(parts: ScriptedToolsParts): Tools {
  return {
    list: TOOLS,
    examine: (call) => examine(parts, call),
    run: (call, signal, approved) => runTool(parts, { call, signal, approved }),
  };
}

async function examine(
  { scheduler, epoch, random, ledger }: ScriptedToolsParts,
  call: ToolCall,
): Promise<Examined> {
  const known = TOOLS.find(({ name }) => name === call.name);
  const label = `tool.examine ${call.name}`;
  return scheduler.call({ epoch, label, delay: random.below(3) }, () => {
    const shown = shownOf(ledger, call);
    const approver = known?.approver ?? 'none';
    const needsApproval = approver !== 'none' && shown !== null;
    return { needsApproval, approver: approver === 'other' ? 'other' : 'any', shown };
  });
}

/** Every byte that would run now. */
function shownOf(ledger: Ledger, { name, args }: Pick<ToolCall, 'name' | 'args'>): Shown | null {
  const id = callId(args);
  if (id === undefined || !TOOLS.some((one) => one.name === name)) return null;
  const hash = `v${ledger.versions.get(name) ?? 0}`;
  const files = [{ path: `${name}.sh`, hash }];
  return { argv: [`./${name}.sh`, id], folder: '/work', env: {}, files };
}

async function runTool(
  parts: ScriptedToolsParts,
  order: {
    readonly call: ToolCall;
    readonly signal: AbortSignal;
    readonly approved: Shown | undefined;
  },
): Promise<ToolOutcome> {
  const { scheduler, epoch, random, ledger, reached } = parts;
  const { call, signal, approved } = order;
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
    if (signal.aborted) return 'ended';
    const bytes = canonicalJson(shownOf(ledger, call));
    if (approved !== undefined && canonicalJson(approved) !== bytes) {
      reached('approval_changed');
      return 'changed';
    }
    const asked = { tool: call.name, input: call.args };
    ledger.executions.push({
      stepId: call.stepId,
      tool: call.name,
      call: id,
      input: call.args,
      bytes,
      repeatable: known.repeatable === 'yes',
      needsApproval: known.approver !== 'none',
      approved: approved !== undefined && parts.isApproved(asked),
      host: epoch.name,
      journalled: parts.isJournalled(call.stepId),
    });
    ledger.enter(epoch.name);
    if (approved !== undefined) reached('approval_ran');
    return 'begun';
  });
  if (hasBegun === 'changed') return { kind: 'error', code: 'changed', text: 'not what was shown' };
  if (hasBegun === 'ended') return { kind: 'error', code: 'ended', text: 'ended before it began' };
  return finish(parts, known, { label, signal });
}

function finish(
  { scheduler, epoch, random, ledger, reached, weather, padding }: ScriptedToolsParts,
  known: SimulatedTool,
  { label, signal }: { readonly label: string; readonly signal: AbortSignal },
): Promise<ToolOutcome> {
  const fails = random.chance(weather.faults.tool);
  const delay = known.slow ? random.below(60 * SECOND) : random.below(500);
  // What the call started takes a moment to end.
  const linger = known.slow ? random.below(5 * SECOND) : 0;
  return scheduler.call({ epoch, label: `tool.end ${label}`, delay, signal, linger }, () => {
    ledger.leave(epoch.name);
    if (signal.aborted) {
      reached('tool_aborted');
      return { kind: 'error', code: 'ended', text: 'ended by the host' };
    }
    if (!fails) return { kind: 'result', text: `${label} done${padding()}` };
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
