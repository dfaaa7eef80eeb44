import { z } from 'zod';
import { invariant } from '../../kernel/invariant.ts';
import { isObject, parseJson, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Tool, ToolOutcome } from '../../ports/tools.ts';

/** Why a call came to nothing; the one way for what lies deeper to say so to the model. */
export class ToolProblem extends Error {
  override readonly name = 'ToolProblem';
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface Running {
  readonly stepId: string;
  readonly signal: AbortSignal;
}

/** One tool: what the model is told, the check of its arguments, and what it does. */
export interface BuiltIn {
  readonly tool: Tool;
  run(args: unknown, running: Running): Promise<ToolOutcome>;
}

interface Definition<A> {
  readonly name: string;
  readonly description: string;
  readonly repeatable: 'yes' | 'no';
  readonly changes: 'yes' | 'no';
  readonly args: z.ZodType<A>;
  readonly run: (args: A, running: Running) => Promise<string | ToolOutcome>;
}

/** Makes a tool from one schema, which is both the check and what the model reads. */
export function define<A>(definition: Definition<A>): BuiltIn {
  const { name, description, repeatable, changes, args: schema } = definition;
  return {
    tool: { name, description, repeatable, changes, parameters: parametersOf(schema) },
    async run(args, running) {
      const checked = schema.safeParse(args);
      if (!checked.success) throw new ToolProblem('invalid_args', complaint(checked.error));
      const result = await definition.run(checked.data, running);
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
