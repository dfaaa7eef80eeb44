import { builtInTools } from '../adapters/tools/built-in.ts';
import { createSystemClock } from '../adapters/clock/system.ts';
import { countTokens } from '../core/maintenance/size.ts';
import { charsOfWindow, offeredTools } from '../engine/turn/context.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { ModelTool } from '../ports/model.ts';
import { modelsIn, type ModelSettings } from './config/models.ts';
import type { Config } from './config/load.ts';
import type { ConfigValues } from './config/keys.ts';
import { NOT_GIVEN, type ConfigProblem } from './config/problem.ts';
import { instructionsFrom } from './instructions.ts';

/** What a message has to find room for at least. */
const MESSAGE_CHARS_MIN = 1_000;

/**
 * Says that nothing fits a model's window beside the instructions and the tools, with the numbers and the
 * least window that would do; undefined when something does.
 */
export function tightWindow(
  contextWindow: number,
  { instructions, tools }: { readonly instructions: string; readonly tools: readonly ModelTool[] },
): Pick<ConfigProblem, 'what' | 'allowed'> | undefined {
  const chars = instructions.length + offeredTools(tools).chars;
  if (charsOfWindow({ contextWindow }) >= chars + MESSAGE_CHARS_MIN) return undefined;
  const share = LIMITS.answerReserveShare;
  const least = Math.ceil(countTokens(chars + MESSAGE_CHARS_MIN) / (1 - share));
  const kept = Math.ceil(contextWindow * share);
  const what =
    `${contextWindow} tokens are too few for a message: the instructions and tools take ` +
    `${countTokens(chars)}, and ${kept} are kept for the answer`;
  return { what, allowed: `at least ${least} with these instructions` };
}

/** The windows of the configured first models that are too small for their agents; nothing is refused for it. */
export async function tightWindows(config: Config): Promise<readonly ConfigProblem[]> {
  const problems: ConfigProblem[] = [];
  for (const { model, file, name, workspace } of agentsIn(config.values)) {
    // The rehearsal has a window of its own.
    if (model === undefined || model.provider === 'rehearsal') continue;
    const instructions = await instructionsFrom({ file, name }, () => {})();
    const tight = tightWindow(model.contextWindow, { instructions, tools: toolsIn(workspace) });
    if (tight !== undefined) problems.push({ ...placeOf(config, model), ...tight });
  }
  return problems;
}

interface AgentSettings {
  readonly model: ModelSettings | undefined;
  readonly file: string;
  readonly name: string;
  readonly workspace: string;
}

function agentsIn(values: ConfigValues): readonly AgentSettings[] {
  const { first, ofAgents } = modelsIn(values);
  const only = { file: values['agent.instructions'], workspace: values.workspace };
  if (values.agents.length === 0) return [{ ...only, model: first, name: values['agent.name'] }];
  return values.agents.map(({ name, instructions, workspace }, at) => ({
    model: ofAgents[at]?.model ?? first,
    file: instructions ?? only.file,
    name,
    workspace: workspace ?? only.workspace,
  }));
}

/** Only looked at: none of them is called. */
function toolsIn(workspace: string): readonly ModelTool[] {
  const sandbox = { unavailable: 'not looked for' };
  return builtInTools({ workspace, clock: createSystemClock(), environment: {}, sandbox }).list;
}

function placeOf(
  { origins }: Config,
  { place }: ModelSettings,
): Pick<ConfigProblem, 'where' | 'key'> {
  const isFirst = place.key === 'model.provider';
  const name = isFirst ? 'model.contextWindow' : place.key;
  const inner = isFirst ? [] : [...place.path.map(String), 'contextWindow'];
  return { where: origins.get(name) ?? NOT_GIVEN, key: [name, ...inner].join('.') };
}
