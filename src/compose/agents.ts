import { builtInTools } from '../adapters/tools/built-in.ts';
import { findSandbox, type FoundSandbox } from '../adapters/tools/sandbox.ts';
import type { Agent } from '../engine/engine.ts';
import { SECOND } from '../kernel/time.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Tools } from '../ports/tools.ts';
import type { ConfigValues } from './config/keys.ts';
import { openWorkspace } from './folders.ts';
import { instructionsFrom } from './instructions.ts';
import { maskTools } from './masked.ts';
import type { HostModels } from './models.ts';
import { toolEnvironment } from './secrecy.ts';

/** What records call the agent of a host that has one. */
export const ONLY_AGENT = 'main';

/** An agent as it is configured, with its folder made. */
export interface AgentPlan {
  /** The name that its records carry (T-21). */
  readonly name: string;
  /** What it calls itself. */
  readonly calledName: string;
  readonly instructions: string;
  /** The real path of its folder. */
  readonly workspace: string;
}

/**
 * The agents that a configuration names, or the only one, and their folders. Throws the `Fault` of a
 * folder that cannot be one.
 */
export function planAgents(values: ConfigValues): readonly [AgentPlan, ...AgentPlan[]] {
  const plan = (name: string, calledName: string, own: Own): AgentPlan => ({
    name,
    calledName,
    instructions: own.instructions ?? values['agent.instructions'],
    workspace: openWorkspace(own.workspace ?? values.workspace, values.data),
  });
  const [first, ...rest] = values.agents;
  if (first === undefined) return [plan(ONLY_AGENT, values['agent.name'], {})];
  return [
    plan(first.name, first.name, first),
    ...rest.map((agent) => plan(agent.name, agent.name, agent)),
  ];
}

interface Own {
  readonly instructions?: string | undefined;
  readonly workspace?: string | undefined;
}

export interface AgentParts {
  readonly values: ConfigValues;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
  /** What no result, no instruction and no environment may hold. */
  readonly secrets: readonly string[];
  readonly mask: (text: string) => string;
}

/** Looks for what commands run in, with the folder that they would work in. */
export function sandboxFor([first]: readonly [AgentPlan, ...AgentPlan[]]): Promise<FoundSandbox> {
  return findSandbox({ workspace: first.workspace });
}

/** The agents, each with its own tools in its own folder; a model that it does not name is the first one. */
export function composeAgents(
  plans: readonly [AgentPlan, ...AgentPlan[]],
  models: HostModels,
  sandbox: FoundSandbox,
  parts: AgentParts,
): readonly [Agent, ...Agent[]] {
  if ('unavailable' in sandbox) {
    const isAsked = parts.values['tools.command.approval'] !== 'never';
    const what = isAsked ? 'commands wait for approval' : 'commands run without one';
    parts.log.warn(`there is no sandbox: ${what}`, { why: sandbox.unavailable });
  }
  const agent = (plan: AgentPlan, at: number): Agent => ({
    name: plan.name,
    instructions: instructionsOf(plan, parts),
    tools: toolsOf(plan, { plans, sandbox }, parts),
    model: models.ofAgents[at]?.model ?? models.first,
    fallbacks: models.ofAgents[at]?.fallbacks ?? models.fallbacks,
  });
  const [first, ...rest] = plans;
  return [agent(first, 0), ...rest.map((plan, at) => agent(plan, at + 1))];
}

function instructionsOf(plan: AgentPlan, { log, mask }: AgentParts): () => Promise<string> {
  const file = { file: plan.instructions, name: plan.calledName };
  const read = instructionsFrom(file, (problem) => log.warn(problem, file));
  return async () => mask(await read());
}

function toolsOf(
  { workspace }: AgentPlan,
  around: { readonly plans: readonly AgentPlan[]; readonly sandbox: FoundSandbox },
  { values, env, clock, secrets }: AgentParts,
): Tools {
  const others = around.plans
    .map((plan) => plan.workspace)
    .filter((folder) => folder !== workspace);
  const options = {
    workspace,
    clock,
    environment: toolEnvironment(env, workspace, secrets),
    sandbox: around.sandbox,
    secrets,
    hidden: [values.data, ...others],
    command: {
      approval: values['tools.command.approval'],
      allow: values['tools.command.allow'],
      approver: values['tools.command.approver'],
      timeoutMs: values['tools.command.timeoutSeconds'] * SECOND,
    },
    fetch: { allow: values['tools.fetch.allow'] },
  };
  return maskTools(builtInTools(options), secrets);
}
