import type { TurnRecord } from '../../core/turn/record.ts';
import type { TaskId } from '../../kernel/ids.ts';
import type { Ledger } from '../session/ledger.ts';

/** The turn that has the conversation, when it runs for this task. */
export function runningTurn(turn: TurnRecord | undefined, taskId: TaskId): TurnRecord | undefined {
  return turn?.taskId === taskId && turn.state === 'running' ? turn : undefined;
}

/** From here the turn may write nothing more; its loop learns it at its next commit (W-1). */
export function takeTurn(ledger: Ledger, { id, taskId, runId }: TurnRecord): void {
  ledger.takeToken();
  ledger.add({ write: 'turn.stopping', id });
  ledger.event('turn.stopping', { taskId, turnId: id, runId });
}
