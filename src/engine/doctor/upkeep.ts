import { waysOfOperation } from '../../core/maintenance/reasons.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import { isFenced } from '../../core/maintenance/decide.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import { ABOVE_ALL_IDS } from '../../kernel/ids.ts';
import { MINUTE } from '../../kernel/time.ts';
import type { Store } from '../../ports/store.ts';
import type { Finding } from '../engine.ts';
import { findAstray } from './fences.ts';
import { finding } from './findings.ts';
import type { Patient } from './patient.ts';

/** Operations and fences that are named, of each kind; whether there are more is found by reading one more. */
const NAMED = 100;
/** The tries of an epoch are closer to one another; a quota may take longer, and is worth a line then. */
const LONG_MS = 10 * MINUTE;

/**
 * Maintenance that needs an admin or has been waiting for long, and fences that do not fit it (M-8): behind
 * one whose operation is over nobody is ever answered.
 */
export async function findUpkeep({ parts, health }: Patient): Promise<readonly Finding[]> {
  const { store, clock } = parts;
  const blocked = await listIn(store, 'blocked');
  const waiting = await listIn(store, 'waiting');
  const since = clock.now() - LONG_MS;
  // The next start takes up what waits on a stopped host.
  const slow =
    health.state === 'stopped' ? [] : waiting.filter(({ changedAt }) => changedAt < since);
  const astray = await findAstray(store);
  const isMore = Math.max(blocked.length, slow.length, astray.length) > NAMED;
  return [
    ...blocked.slice(0, NAMED).map(blockedOf),
    ...slow.slice(0, NAMED).map(waitingOf),
    ...astray.slice(0, NAMED).map(astrayOf),
    ...(isMore ? [finding('operations_more', { more: 1 })] : []),
  ];
}

function listIn(
  store: Store,
  state: OperationRecord['state'],
): Promise<readonly OperationRecord[]> {
  const any = { conversationId: '', before: ABOVE_ALL_IDS, limit: NAMED + 1 };
  return store.query('operation.list', { ...any, state });
}

function blockedOf(operation: OperationRecord): Finding {
  const { id: operationId, conversationId, reason, changedAt: since } = operation;
  const command = waysOfOperation(operation)[0]?.command ?? null;
  const data = { operationId, conversationId, reason, since, command };
  return finding('operation_blocked', data, operationId);
}

function waitingOf(operation: OperationRecord): Finding {
  const { id: operationId, conversationId, changedAt: since, nextAttemptAt: until } = operation;
  return finding('operation_waiting', { operationId, conversationId, since, until }, operationId);
}

function astrayOf(conversation: ConversationRecord): Finding {
  const { id: conversationId } = conversation;
  const code = isFenced(conversation) ? 'fence_unowned' : 'fence_missing';
  return finding(code, { conversationId }, conversationId);
}
