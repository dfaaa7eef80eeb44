import { nextEntry, type AdminAction } from '../../core/audit/chain.ts';
import type { AuditRecord } from '../../core/audit/record.ts';
import type { Read, Write } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';

export type AuditTail = { readonly last: Read<'audit.last'> };

/** Read by a unit that an admin ordered: its action takes the next place in the log. */
export const AUDIT_TAIL: AuditTail = { last: { read: 'audit.last', args: {} } };

/**
 * The entry of an admin's action, written by the commit that carries it out. A unit that
 * somebody overtook in the log is lost and decided again.
 */
export function auditWrite(
  parts: Pick<EngineParts, 'digest'>,
  last: AuditRecord | undefined,
  action: AdminAction,
): Write {
  return { write: 'audit.insert', row: nextEntry(last, action, parts.digest) };
}
