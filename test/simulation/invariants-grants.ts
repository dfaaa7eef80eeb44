// V15 and M-7: budgets and deadlines grow by receipts alone, each of them once.
import type { Grant } from '../../src/core/budget/extend.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import { HOUR } from '../../src/kernel/time.ts';
import { dataOf, group, type Dump } from './dump.ts';
import type { History } from './history.ts';
import { Problems } from './problems.ts';

export function judgeGrants(history: History, dump: Dump): readonly string[] {
  const problems = new Problems();
  const granted = grantsByScope(history, dump);
  const receipts = group(
    dump.receipts.filter(({ order }) => order === 'task.extend'),
    ({ subjectId }) => subjectId,
  );
  const extended = group(
    dump.events.filter(({ type }) => type === 'task.extended'),
    ({ taskId }) => taskId,
  );
  const created = new Map(
    dump.events.filter(({ type }) => type === 'task.created').map((one) => [one.taskId, one]),
  );
  for (const task of dump.tasks) {
    const used = receipts.get(task.id) ?? [];
    const times = extended.get(task.id)?.length ?? 0;
    problems.unless(
      times === used.length,
      () => `V15 ${task.id} was extended ${times} times under ${used.length} receipts`,
    );
    const grants = used.flatMap(({ scope }) => granted.get(scope) ?? []);
    const before = created.get(task.id);
    if (before === undefined) continue;
    judgeGrown(problems, task, { grants, before: dataOf(before) as unknown as TaskRecord });
  }
  judgeReceipts(problems, history);
  return problems.found;
}

/** What each receipt granted, by its scope: those of the API and those of commands. */
function grantsByScope(history: History, dump: Dump): ReadonlyMap<string, Grant> {
  const granted = new Map<string, Grant>();
  for (const { by, receipt, grant } of history.orders)
    if (grant !== null) granted.set(`${by} ${receipt}`, grant);
  for (const { id, kind, principal, text } of dump.messages)
    if (kind === 'command' && text.startsWith('/extend'))
      granted.set(`${principal} ${id}`, grantIn(text));
  return granted;
}

function grantIn(text: string): Grant {
  const amount = (word: string): number =>
    Number(new RegExp(`${word}=\\+([\\d.]+)`).exec(text)?.[1] ?? 0);
  const days = /deadline=\+\d+d/.test(text) ? 24 : 1;
  const hours = amount('deadline') * days;
  return {
    turns: amount('turns'),
    tokens: amount('tokens'),
    costMicroUsd: Math.round(amount('cost') * 1_000_000),
    continuations: amount('continuations'),
    ...(hours === 0 ? {} : { deadline: { addMs: hours * HOUR } }),
  };
}

function judgeGrown(
  problems: Problems,
  task: TaskRecord,
  { grants, before }: { readonly grants: readonly Grant[]; readonly before: TaskRecord },
): void {
  const sum = (of: (grant: Grant) => number | undefined): number =>
    grants.reduce((total, grant) => total + (of(grant) ?? 0), 0);
  const due = {
    turnsLimit: before.turnsLimit + sum(({ turns }) => turns),
    tokensLimit: before.tokensLimit + sum(({ tokens }) => tokens),
    costLimit: before.costLimit + sum(({ costMicroUsd }) => costMicroUsd),
    continuationsLimit: before.continuationsLimit + sum(({ continuations }) => continuations),
  };
  for (const [key, want] of Object.entries(due)) {
    const got = task[key as keyof typeof due];
    problems.unless(
      got === want,
      () => `V15 ${task.id} has the ${key} ${got}, granted were ${want}`,
    );
  }
  const moved = sum(({ deadline }) =>
    deadline !== undefined && 'addMs' in deadline ? deadline.addMs : 0,
  );
  if (before.deadline === null) return;
  const isGranted = task.deadline === before.deadline + moved;
  problems.unless(isGranted, () => `V15 ${task.id} has until ${task.deadline}, granted ${moved}`);
}

/** M-7: a receipt that comes again gives its first outcome. */
function judgeReceipts(problems: Problems, history: History): void {
  for (const { kind, subjectId, receipt, answers } of history.orders) {
    const outcomes = new Set(answers.map(({ outcome }) => outcome));
    const isOne = outcomes.size <= 1 && answers.filter(({ repeated }) => !repeated).length <= 1;
    problems.unless(
      isOne,
      () => `M-7 ${kind} ${subjectId} under ${receipt} came to ${[...outcomes].join(', then ')}`,
    );
  }
}
