import { openOperation, reopenOperation } from '../../core/maintenance/decide.ts';
import { judgeOpening, planKind } from '../../core/maintenance/opening.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import { mayMaintain } from '../../core/maintenance/size.ts';
import type { RunRecord } from '../../core/run/record.ts';
import type { ConversationRecord, SessionRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
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

interface Opening {
  readonly conversation: ConversationRecord;
  readonly task: TaskRecord;
  readonly session?: SessionRecord | undefined;
  readonly operation?: OperationRecord | undefined;
  readonly runs?: readonly RunRecord[];
  /** Why the session is to be maintained; null while it is not. */
  readonly filled: Filled | null;
}

/**
 * Begins a maintenance operation in the commit that ends a turn: it exists, and its fence stands, before
 * anything of it runs (M-1, M-8). A turn that could not begin since the last one opens that anew with one more
 * failure (M-19).
 */
export function openMaintenance(
  parts: EngineParts,
  ledger: Ledger,
  opening: Opening,
  ended: Ended,
): Ended {
  const { conversation, task, session, operation, filled } = opening;
  if (ended.kind !== 'ended' || filled === null || session === undefined) return ended;
  if (!mayMaintain(task)) return ended;
  const { fence } = conversation;
  const of = { fence, cause: filled.cause, completes: ended.completes };
  const verdict = judgeOpening(operation, of);
  if (verdict === 'leave') return ended;
  if (verdict === 'begin') begin(ledger, session, filled);
  else if (operation !== undefined)
    reopen(parts, ledger, { ...opening, operation, session, filled });
  return { ...ended, isMaintained: true };
}

function begin(ledger: Ledger, session: SessionRecord, { cause, window }: Filled): void {
  const { id: sessionId, conversationId } = session;
  const id = ledger.at.ids.next('operation');
  const kind = planKind(session, cause);
  const row = openOperation({ id, conversationId, sessionId, kind, window }, ledger.at.now);
  ledger.add({ write: 'operation.insert', row });
  const data = { operationId: id, sessionId, kind, step: row.step, window, cause };
  ledger.event('operation.started', { to: row.state, data });
  ledger.fence('shut', id);
}

function reopen(
  { options }: EngineParts,
  ledger: Ledger,
  {
    operation: before,
    session: { id: sessionId },
    filled,
    runs = [],
  }: Opening & {
    readonly operation: OperationRecord;
    readonly session: SessionRecord;
    readonly filled: Filled;
  },
): void {
  const isSame = sessionId === (before.nextSessionId ?? before.sessionId);
  // What the provider refused of another session says nothing of this one.
  const window = isSame ? Math.min(before.window, filled.window) : filled.window;
  const fault = { code: filled.cause, said: '' };
  const again = { ...before, window, sessionId, nextSessionId: null };
  const after = reopenOperation(again, fault, options.maintenance, ledger.at.now);
  settleOperation(ledger, { before, after }, { runs });
}
