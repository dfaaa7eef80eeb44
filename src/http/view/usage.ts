import { USD } from '../../kernel/money.ts';
import type { TaskUsageRow, UsageRow, Used } from '../../ports/budget.ts';
import type { UsageReply } from '../../wire/usage.ts';

type Counted = UsageReply['total'];

/** What calls used; the cost is null when there were some and none of them has a known price. */
export function viewUsed({ inputTokens, outputTokens, cost, calls, unpriced }: Used): Counted {
  const isPriced = calls === 0 || unpriced < calls;
  const costUsd = isPriced ? cost / USD : null;
  return { inputTokens, outputTokens, costUsd, calls, unpricedCalls: unpriced };
}

export function viewUsage(row: UsageRow): UsageReply['days'][number]['models'][number] {
  const { provider, model } = row;
  return { provider, model, ...viewUsed(row) };
}

export function viewTaskUsage(row: TaskUsageRow): UsageReply['tasks'][number] {
  const { taskId, conversationId, mandateText: request } = row;
  return { taskId, conversationId, request, ...viewUsed(row) };
}
