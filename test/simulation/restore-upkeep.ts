// What a restore brings of maintenance: operations as they were, and one that an older version has left without a
// try (M-15).
import type { DatabaseSync } from 'node:sqlite';
import { MAX_RECOVERY_FAILURES, type OperationRecord } from '../../src/core/maintenance/record.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { Ids } from '../../src/ports/ids.ts';
import type { Dump } from './dump.ts';
import type { Sometime } from './sometimes.ts';

export interface RestoreUpkeepParts {
  readonly db: DatabaseSync;
  readonly random: Random;
  readonly ids: Ids;
  readonly now: () => number;
  readonly reached: (name: Sometime) => void;
  /** Odds of an operation whose tries an older version has used up. */
  readonly older: number;
}

/** As an import leaves them: a notice that was held back is nobody's any more (M-10). */
export function forgetNotices(db: DatabaseSync): void {
  db.exec('update operation set notice_id = null, notice_at = null where notice_at is not null');
}

/** Uses the tries of a waiting operation up, as its events say. */
export function useUp(parts: RestoreUpkeepParts, { operations, conversations }: Dump): void {
  const { db, random, now } = parts;
  const able = operations.filter(
    ({ state, attemptAt, failures }) =>
      attemptAt === null &&
      failures < MAX_RECOVERY_FAILURES &&
      ['running', 'waiting'].includes(state),
  );
  if (able.length === 0 || !random.chance(parts.older)) return;
  const operation = random.pick(able);
  const conversation = conversations.find(({ id }) => id === operation.conversationId);
  if (conversation === undefined) return;
  const seq = conversation.seq + 1;
  const left = MAX_RECOVERY_FAILURES - operation.failures;
  const used: OperationRecord = {
    ...operation,
    state: 'waiting',
    version: operation.version + 1,
    failures: MAX_RECOVERY_FAILURES,
    lifetimeFailures: operation.lifetimeFailures + left,
    nextAttemptAt: now() + 1_000,
  };
  db.prepare('update conversation set seq = ? where id = ?').run(seq, conversation.id);
  db.prepare(
    `update operation set state = 'waiting', version = ?, failures = ?, lifetime_failures = ?,
       next_attempt_at = ? where id = ?`,
  ).run(used.version, used.failures, used.lifetimeFailures, used.nextAttemptAt, used.id);
  const { kind, step, epoch, version, failures, lifetimeFailures, nextAttemptAt } = used;
  const counts = { kind, step, epoch, version, failures, lifetimeFailures, nextAttemptAt };
  db.prepare(
    `insert into event (conversation_id, seq, id, type, at, by, from_state, to_state, data)
       values (?, ?, ?, 'operation.moved', ?, 'host:older', ?, 'waiting', ?)`,
  ).run(
    conversation.id,
    seq,
    parts.ids.next('event'),
    now(),
    operation.state,
    JSON.stringify({ operationId: used.id, ...counts }),
  );
  parts.reached('upkeep_older');
}
