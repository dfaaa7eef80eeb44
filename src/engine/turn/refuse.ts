import type { MessageRecord } from '../../core/inbox/record.ts';
import { judgeBegin } from '../../core/recovery/decide.ts';
import type { Instant } from '../../kernel/time.ts';
import type { RunRecord } from '../../core/run/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { tellKept } from '../inbox/keep.ts';
import { blockLate } from '../recovery/block.ts';
import { voidGrant } from '../recovery/void.ts';
import type { Ledger } from '../session/ledger.ts';

/** What a turn would take up, and for whom. */
interface Claiming {
  readonly task: TaskRecord;
  readonly head: MessageRecord;
  /** Open messages of the task. */
  readonly bound: readonly MessageRecord[];
  readonly run: RunRecord | undefined;
  /** Of this host: what a host before it permitted is void. */
  readonly startedAt: Instant;
}

/**
 * The checkpoint that every turn passes, whatever made its task active: interrupted work without a valid
 * `continue` goes back to its assessment (R-1, R-16, V6), an order past its grace is blocked (T-15). What
 * was said to it is kept. Undefined when the turn may begin.
 */
export function refuseTurn(
  ledger: Ledger,
  { task, head, bound, run, startedAt }: Claiming,
): 'unassessed' | 'blocked' | undefined {
  const verdict = judgeBegin(task, ledger.at.now, startedAt);
  if (verdict === 'begin') return undefined;
  if (head.taskId === null) ledger.add({ write: 'message.bind', id: head.id, taskId: task.id });
  const runId = run?.id ?? null;
  if (verdict === 'late') {
    blockLate(ledger, task, { messages: bound, run });
    return 'blocked';
  }
  voidGrant(ledger, task, { bound, runId });
  const isSpoken = head.kind === 'genuine' && head.taskId === null;
  if (isSpoken) tellKept(ledger, { ...task, reason: 'interrupted' }, { messageId: head.id, runId });
  return 'unassessed';
}
