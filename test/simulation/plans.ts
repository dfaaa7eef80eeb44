// What is played: the options of a world, where it is disturbed on purpose, and answers in a written order.
import type { Principal } from '../../src/kernel/principal.ts';
import type { SimulationOptions } from './options.ts';
import type { Defect } from './planting.ts';
import type { ModelPlan } from './script.ts';
import type { AssessmentPlan } from './scripted-assessment.ts';
import type { RuntimePlan } from './scripted-runtime.ts';
import type { SummaryPlan } from './scripted-summary.ts';

export interface WorldPlan {
  readonly options: SimulationOptions;
  readonly defect?: Defect | undefined;
  /** Steps of hosts, counted over the run, before which the host dies. */
  readonly crashAt?: readonly number[];
  /** The same, before which this person says something in the first conversation. */
  readonly wordsAt?: readonly number[];
  readonly words?: Principal;
  readonly trace?: ((line: string) => void) | undefined;
  /** Answers of the model in a written order. */
  readonly model?: readonly ModelPlan[];
  /** What assessments come to in a written order. */
  readonly assessments?: readonly AssessmentPlan[];
  /** What summaries, and steps of a native runtime, come to in a written order. */
  readonly summaries?: readonly SummaryPlan[] | undefined;
  readonly runtime?: readonly RuntimePlan[] | undefined;
}

/** What is taken from the front, one by one; undefined where chance decides. */
export interface Plans {
  readonly model: ModelPlan[] | undefined;
  readonly assessments: AssessmentPlan[] | undefined;
  readonly summaries: SummaryPlan[] | undefined;
  readonly runtime: RuntimePlan[] | undefined;
}

export function plansOf({ model, assessments, summaries, runtime }: WorldPlan): Plans {
  return {
    model: model && [...model],
    assessments: assessments && [...assessments],
    summaries: summaries && [...summaries],
    runtime: runtime && [...runtime],
  };
}
