import type { OperationRecord } from '../core/maintenance/record.ts';
import { idOf } from './store-rows.ts';

/** A `compact` that is due, with plain values, for tests that care about a few of them. */
export function operationRow(over: Partial<OperationRecord> = {}): OperationRecord {
  return {
    id: idOf('operation', 1),
    conversationId: idOf('conversation', 1),
    sessionId: idOf('session', 1),
    nextSessionId: null,
    kind: 'compact',
    step: 'compact',
    state: 'running',
    reason: null,
    version: 1,
    epoch: 1,
    failures: 0,
    lifetimeFailures: 0,
    attempts: 0,
    attemptAt: null,
    hostId: null,
    nextAttemptAt: 3_000,
    quotaWaits: 0,
    window: 200_000,
    noticeId: null,
    noticeAt: null,
    isTold: 'no',
    isKeptTold: 'no',
    looksFirst: 'no',
    inputTokens: 0,
    outputTokens: 0,
    cost: 0,
    createdAt: 3_000,
    changedAt: 3_000,
    endedAt: null,
    fault: null,
    work: null,
    ...over,
  };
}
