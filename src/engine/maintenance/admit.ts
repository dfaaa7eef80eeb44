import { admitOperation } from '../../core/maintenance/decide.ts';
import { judgeAdmit } from '../../core/maintenance/orders.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { OutboxRecord } from '../../core/outbox/record.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { HostId } from '../../kernel/ids.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { principalName } from '../../kernel/principal.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Decision, Read, Rows, Unit } from '../../ports/store.ts';
import { AUDIT_TAIL, auditWrite, type AuditTail } from '../audit/append.ts';
import type { Admitted, EngineParts } from '../engine.ts';
import { sayAdmitted } from '../inbox/admit-answer.ts';
import { closeCommand, commandReads, type CommandReads } from '../inbox/answer-unit.ts';
import type { GivenAdmission } from '../inbox/order-host.ts';
import {
  addReceipt,
  judgeReceipt,
  receiptReads,
  receiptUse,
  type ReceiptReads,
  type ReceiptUse,
} from '../inbox/receipt.ts';
import { chainOf } from '../session/agent.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';

export type CommittedAdmission = GivenAdmission & { readonly hostId: HostId };

type AdmitReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly operation: Read<'operation.byId'>;
  /** That it is blocked, as it was told: a command which is older speaks of an earlier block. */
  readonly notice: Read<'outbox.byKey'>;
} & ReceiptReads &
  CommandReads &
  AuditTail;

/**
 * Opens the next epoch of a blocked operation with its receipt, its entry in the log of admin actions and the
 * answer of its command, all or nothing (M-7). A receipt that was used gives its first outcome.
 */
export async function commitAdmit(
  parts: EngineParts,
  order: CommittedAdmission,
): Promise<Admitted | Refusal> {
  const { operationId: id } = order;
  const found = await parts.store.query('operation.byId', { id });
  if (found === undefined) return refuse('not_found', { id });
  const receipt = receiptUse(parts, order, { order: ORDER, subjectId: id });
  return settle(parts, () => admitUnit(parts, { order, receipt }, found));
}

const ORDER = 'maintenance.admit';

interface Giving {
  readonly order: CommittedAdmission;
  readonly receipt: ReceiptUse;
}

function admitUnit(
  parts: EngineParts,
  giving: Giving,
  found: OperationRecord,
): Unit<AdmitReads, Admitted | Refusal> {
  const { id, conversationId, version } = found;
  return {
    name: ORDER,
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      operation: { read: 'operation.byId', args: { id } },
      notice: { read: 'outbox.byKey', args: { key: `notice:${id}:${version}` } },
      ...receiptReads(giving.receipt),
      ...commandReads(giving.order.commandId),
      ...AUDIT_TAIL,
    },
    decide: (rows, at) => {
      const { conversation, operation, command } = rows;
      if (conversation === undefined || operation === undefined)
        return { verdict: refuse('not_found', { id }), writes: [] };
      const used = judgeReceipt(giving.receipt, rows.receipt);
      if (used !== undefined) {
        const verdict = used.kind === 'refused' ? used : admittedBefore(operation, used);
        return { verdict, writes: [] };
      }
      // Another host has answered the command with a refusal.
      if (command?.state === 'done')
        return { verdict: { kind: 'admitted', operation, repeated: true }, writes: [] };
      const { principal, as, expectedVersion = version } = giving.order;
      const refused =
        judgeAdmit(operation, { principal, as, expectedVersion }) ??
        judgeAge(operation, { command, at: giving.order.commandAt }, rows.notice);
      if (refused !== undefined) return { verdict: refused, writes: [] };
      const ledger = new Ledger(conversation, at, principalName(principal));
      return carryOut(parts, giving, { ledger, rows: { ...rows, conversation, operation } });
    },
  };
}

/** A command that was sent before its operation was blocked means an earlier block (M-7). */
function judgeAge(
  { id, state, version }: OperationRecord,
  sent: Sent,
  notice: OutboxRecord | undefined,
): Refusal | undefined {
  if (notice === undefined || !isOlder(sent, notice)) return undefined;
  return refuse('version_conflict', { id, state, version: String(version) });
}

/** `command`: one of the operation's own conversation. `at`: when any command was sent. */
interface Sent {
  readonly command: MessageRecord | undefined;
  readonly at: Instant | undefined;
}

/** Places order what stands in one conversation; what was said in another is ordered by its instant. */
function isOlder({ command, at }: Sent, notice: OutboxRecord): boolean {
  if (command !== undefined) return command.seq < notice.seq;
  return at !== undefined && at < notice.at;
}

function carryOut(
  parts: EngineParts,
  { order, receipt }: Giving,
  {
    ledger,
    rows,
  }: {
    readonly ledger: Ledger;
    readonly rows: Rows<AdmitReads> & {
      readonly conversation: NonNullable<Rows<AdmitReads>['conversation']>;
      readonly operation: OperationRecord;
    };
  },
): Decision<Admitted> {
  const { conversation, operation: before } = rows;
  const { now } = ledger.at;
  const [{ contextWindow: window }] = chainOf(parts, conversation);
  const operation = admitOperation(before, { as: order.as, window }, now);
  ledger.add({ write: 'operation.save', row: operation });
  const { id: operationId, epoch, kind, step, version, state, nextAttemptAt } = operation;
  const data = { operationId, epoch, kind, step, version, nextAttemptAt };
  ledger.event('operation.admitted', { from: before.state, to: state, data });
  ledger.fence('shut', operationId);
  if (order.commandId !== undefined) {
    const text = sayAdmitted(parts, operation, order.as);
    closeCommand(ledger, { id: order.commandId, conversationId: conversation.id }, { text });
  }
  addReceipt(ledger, receipt, outcomeOf(operation));
  const by = principalName(order.principal);
  const change = { before: shown(before), after: shown(operation) };
  const entry = { at: now, principal: by, channel: order.channel, action: ORDER };
  ledger.add(auditWrite(parts, rows.last, { ...entry, ...change, subjectId: operationId }));
  return { verdict: { kind: 'admitted', operation, repeated: false }, writes: ledger.close() };
}

/** What an admission made of an operation, for its receipt: not what it works on. */
function outcomeOf(operation: OperationRecord): JsonObject {
  const kept = Object.entries(operation).filter(([field]) => field !== 'work');
  return Object.fromEntries<Json>(kept);
}

function admittedBefore(
  operation: OperationRecord,
  { outcome, repeated }: { readonly outcome: JsonObject; readonly repeated: boolean },
): Admitted {
  const first = { ...operation, ...(outcome as Partial<OperationRecord>) };
  return { kind: 'admitted', operation: first, repeated };
}

/** What the order changes, for the log of admin actions. */
export function shown(operation: OperationRecord): JsonObject {
  const { state, reason, kind, epoch, failures } = operation;
  return { state, reason, kind, epoch, failures };
}
