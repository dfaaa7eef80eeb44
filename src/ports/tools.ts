import type { ModelTool } from './model.ts';

export interface Tool extends ModelTool {
  /** `yes`: making the call again does no harm (E-2). */
  readonly repeatable: 'yes' | 'no';
  /** `yes`: a finished call may have changed something, so it is evidence of the task. */
  readonly changes: 'yes' | 'no';
}

export interface ToolCall {
  readonly name: string;
  /** The raw text of the arguments, as the model gave it. */
  readonly args: string;
  /** The step that journalled the call; names the file of a result that was cut (E-3). */
  readonly stepId: string;
}

/** `text` is what the model gets, within the cap. Errors are results too: the model reads them. */
export type ToolOutcome =
  | { readonly kind: 'result'; readonly text: string }
  | {
      readonly kind: 'error';
      /** `unknown_tool`, `invalid_args`, `refused`, `not_found`, `timeout`, `ended`, `failed`. */
      readonly code: string;
      readonly text: string;
    };

export interface Tools {
  readonly list: readonly Tool[];
  /** Never rejects. When `signal` aborts, everything that the call started has ended before it resolves. */
  run(call: ToolCall, signal: AbortSignal): Promise<ToolOutcome>;
}
