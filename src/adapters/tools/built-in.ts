import { LIMITS } from '../../kernel/limits.ts';
import { parseJson, type Json, type JsonProblem } from '../../kernel/json.ts';
import { nearestWord } from '../../kernel/nearest.ts';
import { redactor } from '../../kernel/redact.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ToolCall, ToolOutcome, Tools } from '../../ports/tools.ts';
import { COMMAND_POLICY, type CommandPolicy } from './command-policy.ts';
import { commandTool } from './command-tool.ts';
import { FETCH_OPTIONS, type FetchOptions } from './fetch-target.ts';
import { fetchTool } from './fetch-tool.ts';
import { fileTools } from './file-tools.ts';
import { folderTools } from './folder-tools.ts';
import { problemOf } from './problem.ts';
import { ResultText } from './result.ts';
import type { FoundSandbox } from './sandbox.ts';
import { ToolProblem } from './tool-problem.ts';
import type { BuiltIn, Made } from './tool.ts';

export interface BuiltInOptions {
  /** The folder that the tools work in. It must exist. */
  readonly workspace: string;
  readonly clock: Clock;
  /** All that a command finds in its environment: named one by one, never the host's own. */
  readonly environment: Readonly<Record<string, string>>;
  readonly sandbox: FoundSandbox;
  /** Values that no result may contain. */
  readonly secrets?: readonly string[];
  /** Folders that commands find empty, should a system folder or the workspace contain them. */
  readonly hidden?: readonly string[];
  /** What is left out is as `COMMAND_POLICY` has it. */
  readonly command?: Partial<CommandPolicy>;
  readonly fetch?: Partial<FetchOptions>;
}

/** A model's name for a tool that there is not, as it is told and compared. */
const NAME_CHARS_SHOWN = 100;

const JSON_PROBLEMS: Readonly<Record<JsonProblem, string>> = {
  not_json: 'the arguments are no JSON',
  too_deep: `the arguments are nested over ${LIMITS.jsonDepthMax} deep`,
  forbidden_key: 'the arguments have a key that is not allowed',
};

/** The tools that are always there: files and folders of the workspace, commands, and texts of the web (E-5). */
export function builtInTools(options: BuiltInOptions): Tools {
  const { workspace, clock, secrets = [], hidden = [] } = options;
  const mask = redactor(secrets);
  const policy = { ...COMMAND_POLICY, ...options.command };
  const all = [
    ...fileTools(workspace, mask),
    ...folderTools(workspace, { clock, mask }),
    commandTool(workspace, { ...options, secrets, hidden, policy }),
    fetchTool(clock, { ...FETCH_OPTIONS, ...options.fetch }, mask),
  ];
  const byName = new Map(all.map((builtIn) => [builtIn.tool.name, builtIn]));
  return {
    list: all.map((builtIn) => builtIn.tool),
    async examine(call) {
      try {
        const { builtIn, args, made } = found(byName, call, workspace);
        return await builtIn.examine(args, made);
      } catch {
        return { needsApproval: false, approver: 'any', shown: null };
      }
    },
    async run(call, signal, approved) {
      const outcome = await attempt(() => {
        const { builtIn, args, made } = found(byName, call, workspace);
        if (signal.aborted) throw new ToolProblem('ended', 'ended before it was started');
        return builtIn.run(args, { ...made, stepId: call.stepId, signal, approved });
      }, call.name);
      return withinCap({ ...outcome, text: mask(outcome.text) }, { workspace, call });
    },
  };
}

async function attempt(work: () => Promise<ToolOutcome>, subject: string): Promise<ToolOutcome> {
  try {
    return await work();
  } catch (error) {
    const { code, message } = problemOf(error, subject);
    return { kind: 'error', code, text: message };
  }
}

interface Found {
  readonly builtIn: BuiltIn;
  readonly args: Json;
  readonly made: Made;
}

/** Throws `ToolProblem` for a call that cannot run. */
function found(byName: ReadonlyMap<string, BuiltIn>, call: ToolCall, workspace: string): Found {
  const builtIn = byName.get(call.name);
  if (builtIn === undefined) throw unknownTool(call.name, [...byName.keys()]);
  return { builtIn, args: argumentsOf(call.args), made: { raw: call.args, workspace } };
}

function unknownTool(name: string, [first, ...rest]: readonly string[]): ToolProblem {
  const shown = name.slice(0, NAME_CHARS_SHOWN);
  const hint =
    first === undefined
      ? ''
      : `; the nearest is ${nearestWord(shown.toLowerCase(), [first, ...rest])}`;
  return new ToolProblem('unknown_tool', `no tool is called ${shown}${hint}`);
}

/** Some models send nothing at all when a tool needs nothing. */
function argumentsOf(text: string): Json {
  if (text.trim() === '') return {};
  const parsed = parseJson(text, LIMITS.jsonDepthMax);
  if (!parsed.ok) throw new ToolProblem('invalid_args', JSON_PROBLEMS[parsed.problem]);
  return parsed.value;
}

async function withinCap(
  outcome: ToolOutcome,
  from: { readonly workspace: string; readonly call: ToolCall },
): Promise<ToolOutcome> {
  if (Buffer.byteLength(outcome.text) <= LIMITS.toolOutputBytesMax) return outcome;
  const result = new ResultText(from.workspace, from.call.stepId);
  await result.add(outcome.text);
  return { ...outcome, text: await result.end() };
}
