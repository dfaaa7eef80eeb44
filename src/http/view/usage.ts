import { USD } from '../../kernel/money.ts';
import type { TaskUsageRow, UsageRow } from '../../ports/budget.ts';
import type { UsageReply } from '../../wire/usage.ts';

type Used = Pick<UsageRow, 'inputTokens' | 'outputTokens' | 'cost' | 'calls' | 'unpriced'>;
type Counted = UsageReply['total'];

/** What calls used; the cost is null when there were some and none of them has a known price. */
function counted({ inputTokens, outputTokens, cost, calls, unpriced }: Used): Counted {
  const isPriced = calls === 0 || unpriced < calls;
  const costUsd = isPriced ? cost / USD : null;
  return { inputTokens, outputTokens, costUsd, calls, unpricedCalls: unpriced };
}

export function viewUsage(row: UsageRow): UsageReply['days'][number]['models'][number] {
  const { provider, model } = row;
  return { provider, model, ...counted(row) };
}

export function viewTaskUsage(row: TaskUsageRow): UsageReply['tasks'][number] {
  const { taskId, conversationId, mandateText: request } = row;
  return { taskId, conversationId, request, ...counted(row) };
}

export function sumUsage(rows: readonly Used[]): Counted {
  const sum = (read: (row: Used) => number): number =>
    rows.reduce((total, row) => total + read(row), 0);
  return counted({
    inputTokens: sum((row) => row.inputTokens),
    outputTokens: sum((row) => row.outputTokens),
    cost: sum((row) => row.cost),
    calls: sum((row) => row.calls),
    unpriced: sum((row) => row.unpriced),
  });
}
