import { Conductor, type Replayed, type ReplayEnd } from './conduct.ts';
import type { AtRest } from './clock.ts';
import type { Recording } from './recording.ts';
import type { SceneParts } from './scene.ts';
import { traceOf } from './trace.ts';

export interface ReplayParts extends SceneParts {
  readonly atRest: AtRest;
  /** Told of each decision that is as recorded. */
  readonly onDecision: (decision: Replayed) => void;
}

/**
 * Runs the engine of this version along the record of one conversation, in an empty store of its own: no
 * model is asked, no tool runs, nothing of the installation changes. Gives where it ends as recorded, where
 * it decides differently, or why it cannot go on.
 */
export async function replay(parts: ReplayParts, recording: Recording): Promise<ReplayEnd> {
  const trace = traceOf(recording);
  if ('code' in trace) return { kind: 'cannot', decisions: 0, obstacle: trace };
  return new Conductor(parts, trace, parts.atRest).run(parts.onDecision);
}
