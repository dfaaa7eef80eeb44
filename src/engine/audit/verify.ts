import { verifyChain, type Break } from '../../core/audit/chain.ts';
import type { AuditRecord } from '../../core/audit/record.ts';
import type { EngineParts } from '../engine.ts';

// Entries that are held in memory at once.
const BATCH = 500;

/**
 * Reads the whole log of admin actions and says whether its chain is whole and how long it is, or at
 * which entry it is broken and how.
 */
export async function verifyAudit({
  store,
  digest,
}: Pick<EngineParts, 'store' | 'digest'>): Promise<
  | { readonly kind: 'whole'; readonly entries: number }
  | { readonly kind: 'broken'; readonly seq: number; readonly what: Break }
> {
  let last: Pick<AuditRecord, 'seq' | 'hash'> | undefined;
  for (;;) {
    const entries = await store.query('audit.after', { after: last?.seq ?? 0, limit: BATCH });
    const verdict = verifyChain(entries, digest, last);
    if (verdict.kind === 'broken') return verdict;
    last = verdict.last;
    if (entries.length < BATCH) return { kind: 'whole', entries: last?.seq ?? 0 };
  }
}
