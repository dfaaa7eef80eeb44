// T-11 and T-7: whose words a turn acts on, with what authority, and what a task may spend.
import type { MessageRecord } from '../../src/core/inbox/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { TurnRecord } from '../../src/core/turn/record.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { dataOf, group, type Dump } from './dump.ts';
import { isAdminName } from './people.ts';
import type { Problems } from './problems.ts';
import { CUT_USAGE } from './provider.ts';
import { USAGE } from './script.ts';

export function judgeAuthority(problems: Problems, dump: Dump): void {
  const tasks = new Map(dump.tasks.map((task) => [task.id as string, task]));
  const messages = new Map<unknown, MessageRecord>(dump.messages.map((one) => [one.id, one]));
  const claims = group(
    dump.events.filter(({ type }) => type === 'turn.started' || type === 'turn.continued'),
    (event) => event.turnId,
  );
  for (const turn of dump.turns) {
    const task = tasks.get(turn.taskId);
    if (task === undefined) continue;
    const read = (claims.get(turn.id) ?? []).map((event) =>
      (dataOf(event)['messageIds'] as readonly unknown[]).flatMap((id) => messages.get(id) ?? []),
    );
    judgeTurn(problems, turn, { task, first: read[0] ?? [], all: read.flat() });
  }
  judgeOrders(problems, dump, tasks);
  for (const task of dump.tasks) judgeSpend(problems, task, dump);
}

/** A turn acts with the lowest authority among its inputs, and on words of those who may speak for its task. */
function judgeTurn(
  problems: Problems,
  { id, authority }: TurnRecord,
  of: {
    readonly task: TaskRecord;
    readonly first: readonly MessageRecord[];
    readonly all: readonly MessageRecord[];
  },
): void {
  const { task, first, all } = of;
  const isAdmins = task.mandateAuthority === 'admin' && first.every(isAdmin);
  const due = isAdmins ? 'admin' : 'own';
  problems.unless(authority === due, () => `T-11 ${id} acts with ${authority}, not ${due}`);
  const isHonest = authority === 'own' || all.every(isAdmin);
  problems.unless(isHonest, () => `T-11 ${id} reads words with less authority than it has`);
  for (const { id: messageId, kind, principal, authority: by } of all) {
    const mayJoin = kind !== 'genuine' || by === 'admin' || principal === task.mandatePrincipal;
    problems.unless(mayJoin, () => `T-11 ${messageId} of ${principal} joined ${task.id}`);
  }
}

function isAdmin({ authority }: MessageRecord): boolean {
  return authority === 'admin';
}

/** W-1, W-4 and W-7: what a person did to a task was theirs to do. */
function judgeOrders(problems: Problems, dump: Dump, tasks: ReadonlyMap<string, TaskRecord>): void {
  for (const { type, by, taskId } of dump.events) {
    if (type !== 'task.moved' && type !== 'task.extended') continue;
    if (by.startsWith('host:') || isAdminName(by)) continue;
    const isOwn = type === 'task.moved' && tasks.get(taskId ?? '')?.mandatePrincipal === by;
    problems.unless(isOwn, () => `W-4 ${type} of ${taskId} by ${by}`);
  }
}

/** What the classifier of one message uses. */
const SORTED = { tokens: 25, cost: 1 } as const;
/** One step: an answer, and before it as many cut streams as a step may meet (T-18). */
const CUT_MAX = LIMITS.modelRetriesMax + 2;
const STEP = {
  tokens:
    USAGE.inputTokens +
    USAGE.outputTokens +
    CUT_MAX * (CUT_USAGE.inputTokens + CUT_USAGE.outputTokens),
  cost: USAGE.cost + CUT_MAX * CUT_USAGE.cost,
} as const;

/** V15: what was really spent is at most the budget and one step; the message that began it included. */
function judgeSpend(problems: Problems, task: TaskRecord, dump: Dump): void {
  const { id, tokensLimit, costLimit, turnsLimit, turnsUsed, quotaWaits } = task;
  const { continuationsUsed, continuationsLimit } = task;
  let [tokens, cost, largest] = [0, 0, STEP.tokens];
  for (const step of dump.steps) {
    if (step.taskId !== id) continue;
    const own = (step.inputTokens ?? 0) + (step.outputTokens ?? 0);
    tokens += own;
    largest = Math.max(largest, own);
    cost += step.cost ?? 0;
  }
  problems.unless(
    tokens <= tokensLimit + largest + SORTED.tokens,
    () => `V15 ${id} spent ${tokens} of ${tokensLimit} tokens`,
  );
  problems.unless(
    cost <= costLimit + STEP.cost + SORTED.cost,
    () => `V15 ${id} spent ${cost} of ${costLimit}`,
  );
  problems.unless(turnsUsed <= turnsLimit, () => `V15 ${id} took ${turnsUsed} turns`);
  const isBounded = continuationsUsed <= continuationsLimit;
  problems.unless(isBounded, () => `V15 ${id} went on by itself ${continuationsUsed} times`);
  problems.unless(quotaWaits <= 10, () => `T-12 ${id} waited for a quota ${quotaWaits} times`);
}
