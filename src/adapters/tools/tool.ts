import { z } from 'zod';
import type { Shown } from '../../core/approval/record.ts';
import { invariant } from '../../kernel/invariant.ts';
import { isObject, parseJson, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Examined, Tool, ToolOutcome } from '../../ports/tools.ts';
import { refuseOther, shownOfCall } from './shown.ts';
import { ToolProblem } from './tool-problem.ts';

/** One call as it was made. */
export interface Made {
  /** The raw text of the arguments. */
  readonly raw: string;
  /** The folder that the tools work in, as configured. */
  readonly workspace: string;
}

export interface Running extends Made {
  readonly stepId: string;
  readonly signal: AbortSignal;
  /** What a person approved: nothing else may run. */
  readonly approved: Shown | undefined;
}

/** One tool: what the model is told, the check of its arguments, and what it does. */
export interface BuiltIn {
  readonly tool: Tool;
  /** Says what a call would run. Throws `ToolProblem` for one that cannot run. */
  examine(args: unknown, made: Made): Promise<Examined>;
  /** Throws `ToolProblem`, code `changed` when it would run anything but what was approved. */
  run(args: unknown, running: Running): Promise<ToolOutcome>;
}

interface Definition<A> {
  readonly name: string;
  readonly description: string;
  readonly repeatable: 'yes' | 'no';
  readonly changes: 'yes' | 'no';
  readonly args: z.ZodType<A>;
  /** The paths whose content is part of what is shown of a call. */
  readonly paths?: (args: A) => readonly string[];
  /** For a tool that shows its calls in its own way; its `run` then heeds `approved` itself. */
  readonly examine?: (args: A) => Promise<Examined>;
  readonly run: (args: A, running: Running) => Promise<string | ToolOutcome>;
}

/** Makes a tool from one schema, which is both the check and what the model reads. */
export function define<A>(definition: Definition<A>): BuiltIn {
  const { name, description, repeatable, changes, args: schema } = definition;
  const checked = (args: unknown): A => {
    const parsed = schema.safeParse(args);
    if (parsed.success) return parsed.data;
    throw new ToolProblem('invalid_args', complaint(parsed.error));
  };
  const shownOf = (args: A, made: Made): Promise<Shown> =>
    shownOfCall({ tool: name, ...made, paths: definition.paths?.(args) ?? [] });
  // Whoever shows no call in its own way asks nobody either.
  const asked = definition.examine === undefined ? ({ approval: 'never' } as const) : {};
  const parameters = parametersOf(schema);
  return {
    tool: { name, description, repeatable, changes, parameters, ...asked },
    async examine(args, made) {
      const wanted = checked(args);
      if (definition.examine !== undefined) return definition.examine(wanted);
      return { needsApproval: false, approver: 'any', shown: await shownOf(wanted, made) };
    },
    async run(args, running) {
      const wanted = checked(args);
      if (running.approved !== undefined && definition.examine === undefined) {
        refuseOther(await shownOf(wanted, running), running.approved);
      }
      const result = await definition.run(wanted, running);
      return typeof result === 'string' ? { kind: 'result', text: result } : result;
    },
  };
}

/** JSON Schema without what costs the model tokens and tells it nothing. */
function parametersOf(schema: z.ZodType): JsonObject {
  const text = JSON.stringify(z.toJSONSchema(schema), (key: string, value: unknown) =>
    key === '$schema' || (key === 'maximum' && value === Number.MAX_SAFE_INTEGER)
      ? undefined
      : value,
  );
  const parsed = parseJson(text, LIMITS.jsonDepthMax);
  invariant(parsed.ok && isObject(parsed.value), 'a schema is a plain JSON object');
  return parsed.value;
}

function complaint(error: z.ZodError): string {
  return error.issues
    .slice(0, 3)
    .map((issue) => {
      const path = issue.path.map(String).join('.');
      return path === '' ? issue.message : `${path}: ${issue.message}`;
    })
    .join('; ')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 500);
}
