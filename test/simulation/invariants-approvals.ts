// E-4, E-6 and V4: what a person was shown is what runs, once, and only after one who may has said so.
import type { ApprovalRecord } from '../../src/core/approval/record.ts';
import { group, type Dump } from './dump.ts';
import type { Outside } from './invariants.ts';
import type { Execution } from './ledger.ts';
import { isAdminName } from './people.ts';
import type { Problems } from './problems.ts';

const ENDED: ReadonlySet<string> = new Set([
  'completed',
  'failed',
  'stopped',
  'cancelled',
  'expired',
]);

export function judgeApprovals(problems: Problems, dump: Dump, { ledger, history }: Outside): void {
  const states = new Map<string, string>(dump.tasks.map(({ id, state }) => [id, state]));
  const inputs = group(
    dump.messages.filter(({ channel }) => channel === 'approval'),
    (message) => message.externalId,
  );
  const orders = ordersOf(dump, history);
  for (const approval of dump.approvals) {
    const { id, state, taskId } = approval;
    const isLeft = state === 'open' && ENDED.has(states.get(taskId) ?? '');
    problems.unless(!isLeft, () => `E-4 ${id} of an ended task is open`);
    const made = inputs.get(id)?.length ?? 0;
    const due = state === 'approved' ? 1 : 0;
    problems.unless(made === due, () => `E-4 ${id} is ${state} and made ${made} inputs`);
    judgeDecision(problems, approval, orders);
  }
  judgeWaits(problems, dump);
  judgeRuns(problems, dump.approvals, ledger.executions);
}

/** Every answer that somebody gave, over the API or by a command. */
function ordersOf(dump: Dump, history: Outside['history']): ReadonlySet<string> {
  const orders = new Set(
    history.orders.map(({ kind, subjectId, by }) => `${kind} ${subjectId} ${by}`),
  );
  for (const { kind, text, principal } of dump.messages) {
    const [, order, id] = /^\/(approve|deny) (appr_\w+)/.exec(text) ?? [];
    if (kind === 'command' && order !== undefined) orders.add(`${order} ${id} ${principal}`);
  }
  return orders;
}

/** V20: what waits for an approval waits for one that can be given. */
function judgeWaits(problems: Problems, dump: Dump): void {
  const open = new Set<string | null>(
    dump.approvals.filter(({ state }) => state === 'open').map(({ id }) => id),
  );
  for (const { id, state, waitKind, waitId } of dump.tasks) {
    const waits = state === 'waiting' && waitKind === 'approval';
    problems.unless(!waits || open.has(waitId), () => `V20 ${id} waits for ${waitId}, not open`);
  }
}

/** Who answered, and whether they did: nobody else's word opens or closes it. */
function judgeDecision(
  problems: Problems,
  approval: ApprovalRecord,
  orders: ReadonlySet<string>,
): void {
  const { id, state, decidedBy, requestedBy, approver, decidedAt, expiresAt } = approval;
  if (state === 'open') return;
  const by = decidedBy ?? '';
  if (state === 'expired') {
    problems.unless((decidedAt ?? 0) >= expiresAt, () => `E-4 ${id} expired before its time`);
    return;
  }
  // The host withdraws what can no longer be answered.
  if (by.startsWith('host:') && state === 'denied') return;
  const mayAnswer = isAdminName(by) || by === requestedBy;
  problems.unless(mayAnswer, () => `E-4 ${id} was ${state} by ${by}`);
  const isOther = approver === 'any' || by !== requestedBy;
  problems.unless(isOther, () => `E-6 ${id} was ${state} by its own requester`);
  const verb = state === 'approved' ? 'approve' : 'deny';
  problems.unless(orders.has(`${verb} ${id} ${by}`), () => `E-4 ${by} never said that of ${id}`);
}

/** Every run of a call that needs approval has its own approval, of the very bytes that ran. */
function judgeRuns(
  problems: Problems,
  approvals: readonly ApprovalRecord[],
  executions: readonly Execution[],
): void {
  const asked = executions.filter(({ needsApproval }) => needsApproval);
  const runs = Map.groupBy(asked, ({ tool, input, bytes }) => `${tool} ${input} ${bytes}`);
  for (const [what, all] of runs) {
    const approved = approvals.filter(
      ({ state, tool, input, shown }) =>
        state === 'approved' && `${tool} ${input} ${shown}` === what,
    );
    problems.unless(
      all.length <= approved.length,
      () => `E-4 ${what} ran ${all.length} times and was approved ${approved.length} times`,
    );
    const isInTime = all.every((run) => run.approved);
    problems.unless(isInTime, () => `E-4 ${what} ran before it was approved`);
  }
}
