import { ASKED } from '../../core/turn/decide.ts';
import type { Shown } from '../../core/approval/record.ts';
import type { StepRecord } from '../../core/turn/record.ts';
import type { Model, ModelOutcome, ModelRequest } from '../../ports/model.ts';
import type { Examined, Tool, ToolCall, ToolOutcome, Tools } from '../../ports/tools.ts';
import { isTaskTool } from '../turn/task-tools.ts';
import type { Names } from './names.ts';
import { approvalOf, type Recording } from './recording.ts';

/** Whose call it is: a turn's, or one of the host's own. */
export type CallRole = 'turn' | 'classifier' | 'assessment' | 'summary';

/** A call to the outside that has no answer yet. */
export type OpenCall =
  | {
      readonly kind: 'model';
      readonly role: CallRole;
      readonly request: ModelRequest;
      readonly signal: AbortSignal;
      readonly answer: (outcome: ModelOutcome) => void;
    }
  | {
      readonly kind: 'tool';
      readonly call: ToolCall;
      readonly signal: AbortSignal;
      readonly answer: (outcome: ToolOutcome) => void;
    };

/** Everything that one host asks of the outside: nothing of it is done, all of it waits for the record. */
export class Outside {
  #open: OpenCall[] = [];
  /** Rises with each call. */
  asked = 0;

  get open(): readonly OpenCall[] {
    return this.#open;
  }

  add(call: OpenCall): void {
    this.asked += 1;
    this.#open.push(call);
  }

  close(call: OpenCall): void {
    this.#open = this.#open.filter((one) => one !== call);
  }
}

/** A model whose answers come from the record. */
export function recordedModel(
  outside: Outside,
  role: CallRole,
  as: Pick<Model, 'provider' | 'name' | 'contextWindow'>,
): Model {
  return {
    ...as,
    price: 'costs-money',
    rates: { input: 0, output: 0 },
    account: `recorded ${as.provider}`,
    probe: () => Promise.resolve('alive'),
    call: (request, { signal, onModel }) =>
      new Promise((resolve) => {
        const answer = (outcome: ModelOutcome): void => {
          if (outcome.kind === 'reply') onModel(outcome.provider, outcome.model);
          resolve(outcome);
        };
        outside.add({ kind: 'model', role, request, signal, answer });
      }),
  };
}

/** Tools of which the record says what they gave: none of them runs. */
export class RecordedTools implements Tools {
  readonly list: readonly Tool[];
  readonly #outside: Outside;
  readonly #recording: Recording;
  readonly #names: Names;
  readonly #lastSeq: () => number;

  constructor(
    outside: Outside,
    of: {
      readonly recording: Recording;
      readonly names: Names;
      /** The place in the history that was committed last. */
      readonly lastSeq: () => number;
    },
  ) {
    this.#outside = outside;
    this.#recording = of.recording;
    this.#names = of.names;
    this.#lastSeq = of.lastSeq;
    this.list = toolsIn(of.recording.step);
  }

  examine(call: ToolCall): Promise<Examined> {
    const asked = this.#askedOf(call);
    if (asked === undefined)
      return Promise.resolve({ needsApproval: false, approver: 'any', shown: null });
    const shown = JSON.parse(this.#names.translate(asked.shown)) as Shown;
    return Promise.resolve({ needsApproval: true, approver: asked.approver, shown });
  }

  run(call: ToolCall, signal: AbortSignal): Promise<ToolOutcome> {
    return new Promise((resolve) => {
      this.#outside.add({ kind: 'tool', call, signal, answer: resolve });
    });
  }

  /** The approval that a person was asked for about a call. */
  #askedOf({ name, args, stepId }: ToolCall): ReturnType<typeof approvalOf> {
    const own = this.#names.recorded(stepId);
    if (own !== undefined)
      return this.#recording.approval.find((one) => one.kind === 'uncertain' && one.stepId === own);
    const after = this.#lastSeq();
    const step = this.#recording.step.find(
      ({ seq, kind, tool, input }) =>
        seq > after &&
        kind === 'tool' &&
        tool === name &&
        this.#names.translate(input ?? '') === args,
    );
    return step?.errorCode === ASKED ? approvalOf(this.#recording, step) : undefined;
  }
}

/** The tools that were called, as far as their calls tell of them. */
function toolsIn(steps: readonly StepRecord[]): readonly Tool[] {
  const found = new Map<string, 'yes' | 'no'>();
  for (const { tool, repeatable, errorCode } of steps) {
    if (tool === null || isTaskTool(tool) || errorCode === 'unknown_tool') continue;
    // One that waits for a person is recorded as harmless to make again: nothing of it ran.
    const isTold = errorCode === ASKED ? undefined : repeatable;
    found.set(tool, isTold ?? found.get(tool) ?? 'no');
  }
  return [...found].map(([name, repeatable]) => ({
    name,
    description: name,
    parameters: { type: 'object' },
    repeatable,
    changes: repeatable === 'yes' ? 'no' : 'yes',
  }));
}
