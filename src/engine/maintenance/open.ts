import { openOperation, reopenOperation } from '../../core/maintenance/decide.ts';
import type { OperationKind, OperationRecord } from '../../core/maintenance/record.ts';
import { mayMaintain } from '../../core/maintenance/size.ts';
import type { RunRecord } from '../../core/run/record.ts';
import type { ConversationRecord, SessionRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Read } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import type { Ledger } from '../session/ledger.ts';
import type { Ended } from '../turn/closing.ts';
import type { Filled } from '../turn/session.ts';
import { settleOperation } from './settle-operation.ts';
import { RUNS_MAX } from './unit.ts';

/** What an operation that begins at the end of a turn is decided on. */
export type OpeningReads = {
  readonly session?: Read<'session.byId'>;
  readonly operation?: Read<'operation.newestOf'>;
  readonly runs?: Read<'run.openOf'>;
};

export function openingReads({
  sessionId: id,
  conversationId,
}: Pick<TurnRecord, 'sessionId' | 'conversationId'>): OpeningReads {
  return {
    session: { read: 'session.byId', args: { id } },
    operation: { read: 'operation.newestOf', args: { conversationId } },
    runs: { read: 'run.openOf', args: { conversationId, limit: RUNS_MAX } },
  };
}

interface OpeningRows {
  readonly conversation: ConversationRecord;
  readonly task: TaskRecord | undefined;
  readonly session?: SessionRecord | undefined;
  readonly operation?: OperationRecord | undefined;
  readonly runs?: readonly RunRecord[];
}

/**
 * Begins a maintenance operation in the commit that ends a turn: it exists, and its fence stands, before
 * anything of it runs (M-1, M-8). A turn that could not begin since the last one reopens that with one more
 * failure (M-19).
 */
export function openMaintenance(
  parts: EngineParts,
  ledger: Ledger,
  rows: OpeningRows,
  { filled }: { readonly filled: Filled | null },
  ended: Ended,
): Ended {
  const { conversation, task, session, operation } = rows;
  if (ended.kind !== 'ended' || filled === null || session === undefined) return ended;
  if (task === undefined || !mayMaintain(task)) return ended;
  const isSame = operation?.sessionId === session.id || operation?.nextSessionId === session.id;
  const isPassed = conversation.fence === 'passed' && isSame && !ended.completes;
  if (!isPassed) {
    begin(ledger, { session, filled });
    return { ...ended, isMaintained: true };
  }
  // What is only full is looked at again once a turn has been completed.
  const isStuck = filled.cause === 'full' || filled.cause === 'too_long';
  if (!isStuck || operation?.state !== 'done') return ended;
  const window = Math.min(operation.window, filled.window);
  const fault = { code: filled.cause, said: '' };
  const { maintenance } = parts.options;
  const again = { ...operation, window };
  const after = reopenOperation(again, fault, maintenance, ledger.at.now);
  settleOperation(ledger, { before: operation, after }, { runs: rows.runs ?? [] });
  return { ...ended, isMaintained: true };
}

function begin(
  ledger: Ledger,
  {
    session,
    filled: { cause, window },
  }: { readonly session: SessionRecord; readonly filled: Filled },
): void {
  const { id: sessionId, conversationId } = session;
  const id = ledger.at.ids.next('operation');
  const kind = kindFor(session, cause);
  const row = openOperation({ id, conversationId, sessionId, kind, window }, ledger.at.now);
  ledger.add({ write: 'operation.insert', row });
  const data = { operationId: id, sessionId, kind, step: row.step, window, cause };
  ledger.event('operation.started', { to: row.state, data });
  ledger.fence('shut', id);
}

/**
 * A session is compacted a few times, so that what was said last stands word for word, and then handed over, so
 * that an archived one stays small enough to be read. Work that was cut in the middle keeps its last results.
 */
function kindFor({ compactions }: SessionRecord, cause: Filled['cause']): OperationKind {
  const isBetween = cause === 'usage' || cause === 'steps';
  return isBetween && compactions >= LIMITS.compactionsPerSession ? 'handover' : 'compact';
}
