import { judgeWorkerResume } from '../../core/dispatch/decide.ts';
import type { ExecutionRecord } from '../../core/dispatch/record.ts';
import type { AuditRecord } from '../../core/audit/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { principalName } from '../../kernel/principal.ts';
import type { At, Decision, Read, Unit } from '../../ports/store.ts';
import { AUDIT_TAIL, auditWrite } from '../audit/append.ts';
import type { EngineParts, WorkerOrder, WorkerOrdered } from '../engine.ts';
import {
  addReceipt,
  judgeReceipt,
  receiptReads,
  receiptUse,
  type ReceiptUse,
} from '../inbox/receipt.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';

const ORDER = 'worker.resume';

/**
 * Enrols exactly one worker that the boundary holds, by an admin's order (B-9): with its event, its receipt
 * and its entry in the log of admin actions. A receipt that was used gives its first outcome.
 */
export async function commitWorkerResume(
  parts: EngineParts,
  order: WorkerOrder,
): Promise<WorkerOrdered | Refusal> {
  const { executionId: id, principal } = order;
  const worker = await parts.store.query('execution.byId', { id });
  if (worker === undefined) return refuse('not_found', { id });
  const owner =
    worker.taskId === null
      ? undefined
      : await parts.store.query('task.byId', { id: worker.taskId });
  // Nothing of it can be enrolled, and there is no conversation in which it could be told.
  if (owner === undefined) {
    const now = parts.clock.now();
    const refused = judgeWorkerResume(worker, undefined, { ...order, principal, now });
    return 'kind' in refused ? refused : refuse('not_found', { id });
  }
  const receipt = receiptUse(parts, order, { order: ORDER, subjectId: id });
  return settle(parts, () => resumeUnit(parts, { order, receipt }, owner));
}

type ResumeReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly worker: Read<'execution.byId'>;
  readonly task: Read<'task.byId'>;
  readonly receipt: Read<'receipt.byScope'>;
  readonly last?: Read<'audit.last'>;
};

interface Giving {
  readonly order: WorkerOrder;
  readonly receipt: ReceiptUse;
}

function resumeUnit(
  parts: EngineParts,
  giving: Giving,
  { id, conversationId }: TaskRecord,
): Unit<ResumeReads, WorkerOrdered | Refusal> {
  const { order, receipt } = giving;
  const { executionId } = order;
  return {
    name: ORDER,
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      worker: { read: 'execution.byId', args: { id: executionId } },
      task: { read: 'task.byId', args: { id } },
      ...receiptReads(receipt),
      ...AUDIT_TAIL,
    },
    decide: ({ conversation, worker, task, receipt: row, last }, at) => {
      if (conversation === undefined || worker === undefined)
        return { verdict: refuse('not_found', { id: executionId }), writes: [] };
      const used = judgeReceipt(receipt, row);
      if (used !== undefined) {
        const verdict = used.kind === 'refused' ? used : orderedBefore(worker, used);
        return { verdict, writes: [] };
      }
      const next = judgeWorkerResume(worker, task, { ...order, now: at.now });
      if ('kind' in next) return { verdict: next, writes: [] };
      return carryOut(parts, giving, { conversation, worker, next, last }, at);
    },
  };
}

function carryOut(
  parts: EngineParts,
  { order, receipt }: Giving,
  decided: {
    readonly conversation: ConversationRecord;
    readonly worker: ExecutionRecord;
    readonly next: ExecutionRecord;
    readonly last: AuditRecord | undefined;
  },
  at: At,
): Decision<WorkerOrdered> {
  const { conversation, worker, next, last } = decided;
  const principal = principalName(order.principal);
  const ledger = new Ledger(conversation, at, principal);
  ledger.add({ write: 'execution.save', row: next });
  const { id: executionId, state: to } = next;
  const moved = { taskId: next.taskId, from: worker.state, to };
  ledger.event('worker.enrolled', { ...moved, data: { executionId } });
  addReceipt(ledger, receipt, outcomeOf(next));
  ledger.add(
    auditWrite(parts, last, {
      at: at.now,
      principal,
      channel: order.channel,
      action: ORDER,
      subjectId: executionId,
      before: standingOf(worker),
      after: standingOf(next),
    }),
  );
  const verdict: WorkerOrdered = { kind: 'ordered', execution: next, repeated: false };
  return { verdict, writes: ledger.close() };
}

/** What the order made of a worker, for its receipt: what a save of it can change. */
function outcomeOf(worker: ExecutionRecord): JsonObject {
  const { enrollment, state, version, hostId, outcome, changedAt, endedAt } = worker;
  return { enrollment, state, version, hostId, outcome, changedAt, endedAt } satisfies Record<
    string,
    Json
  >;
}

function standingOf({ enrollment, state, taskId }: ExecutionRecord): JsonObject {
  return { enrollment, state, taskId };
}

function orderedBefore(
  worker: ExecutionRecord,
  { outcome, repeated }: { readonly outcome: JsonObject; readonly repeated: boolean },
): WorkerOrdered {
  const execution = { ...worker, ...(outcome as Partial<ExecutionRecord>) };
  return { kind: 'ordered', execution, repeated };
}
