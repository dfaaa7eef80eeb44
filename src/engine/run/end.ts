import type { RunRecord } from '../../core/run/record.ts';
import type { OutboxId } from '../../kernel/ids.ts';
import type { Ledger } from '../session/ledger.ts';

const EVENT_OF_END = {
  completed: 'run.completed',
  failed: 'run.failed',
  cancelled: 'run.cancelled',
} as const;

/** Ends an open run in the transition that ended or blocked its task; an ended one keeps its end (V18). */
export function endRun(
  ledger: Ledger,
  run: RunRecord | undefined,
  end: {
    readonly state: keyof typeof EVENT_OF_END;
    readonly code: string | null;
    readonly outcomeId: OutboxId;
  },
): void {
  if (run === undefined || run.state !== 'open') return;
  ledger.add({
    write: 'run.end',
    id: run.id,
    state: end.state,
    outcomeCode: end.code,
    outcomeId: end.outcomeId,
    endedAt: ledger.at.now,
  });
  const data =
    end.code === null ? { outboxId: end.outcomeId } : { code: end.code, outboxId: end.outcomeId };
  ledger.event(EVENT_OF_END[end.state], { taskId: run.taskId, runId: run.id, data });
}

/** Ends the task's run as failed: a blocked notice or a failure is its last word. */
export function failRun(
  ledger: Ledger,
  run: RunRecord | undefined,
  code: string,
  outcomeId: OutboxId,
): void {
  endRun(ledger, run, { state: 'failed', code, outcomeId });
}
