import type { Shown } from '../core/approval/record.ts';
import type { ModelTool } from './model.ts';

export interface Tool extends ModelTool {
  /** `yes`: making the call again does no harm (E-2). */
  readonly repeatable: 'yes' | 'no';
  /** `yes`: a finished call may have changed something, so it is evidence of the task. */
  readonly changes: 'yes' | 'no';
  /** `never`: no call of it needs a person's approval, so none is examined before it runs (E-4). */
  readonly approval?: 'never';
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
      /** `unknown_tool`, `invalid_args`, `refused`, `not_found`, `timeout`, `ended`, `failed`, `changed`. */
      readonly code: string;
      readonly text: string;
    };

/** What is found out about a call before it runs. */
export interface Examined {
  /** Whether the configuration wants a person to be asked first (E-4). */
  readonly needsApproval: boolean;
  readonly approver: 'any' | 'other';
  /** Every byte that would run; null for a call that cannot run (unknown tool, invalid arguments). */
  readonly shown: Shown | null;
}

export interface Tools {
  readonly list: readonly Tool[];
  /** Never rejects. A call that cannot run needs no approval: running it gives its error. */
  examine(call: ToolCall): Promise<Examined>;
  /**
   * Never rejects. When `signal` aborts, everything that the call started has ended before it resolves.
   * With `approved` it runs only if what would run is exactly that, byte for byte; else error `changed`.
   */
  run(call: ToolCall, signal: AbortSignal, approved?: Shown): Promise<ToolOutcome>;
}
