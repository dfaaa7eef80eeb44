import type { Archived } from './record.ts';

/**
 * A record as an import brings it in: it loses its enrollment mark, so that the boundary of the next
 * start judges it, and what had not left may have left from where it was (B-2).
 */
export function arrive(archived: Archived): Archived {
  const { kind, record } = archived;
  if (kind === 'task') return { kind, record: { ...record, enrollment: 'unmarked' } };
  if (kind === 'execution') return { kind, record: { ...record, enrollment: 'unmarked' } };
  if (kind === 'outbox' && record.state === 'pending') {
    return { kind, record: { ...record, state: 'uncertain' } };
  }
  return archived;
}
