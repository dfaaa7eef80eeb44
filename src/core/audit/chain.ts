import { canonicalJson, type JsonObject } from '../../kernel/json.ts';
import type { Instant } from '../../kernel/time.ts';
import type { AuditRecord } from './record.ts';

/** SHA-256 of a text, as lower-case hex. */
type Digest = (text: string) => string;

/** What an admin did, before it has its place in the chain. */
export interface AdminAction {
  readonly at: Instant;
  /** `principalName`. */
  readonly principal: string;
  readonly channel: string;
  readonly action: string;
  readonly subjectId: string;
  /** What the action changed, as it was and as it became. */
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** The entry that follows `last`; the first of a chain when there is none. */
export function nextEntry(
  last: Pick<AuditRecord, 'seq' | 'hash'> | undefined,
  action: AdminAction,
  digest: Digest,
): AuditRecord {
  const entry = {
    seq: (last?.seq ?? 0) + 1,
    at: action.at,
    principal: action.principal,
    channel: action.channel,
    action: action.action,
    subjectId: action.subjectId,
    before: canonicalJson(action.before),
    after: canonicalJson(action.after),
    previousHash: last?.hash ?? '',
  };
  return { ...entry, hash: hashEntry(entry, digest) };
}

/**
 * How a chain is broken at an entry. `missing`: one that belongs there was removed. `displaced`: what
 * stands there did not follow the one before it. `altered`: it is not what it was.
 */
export type Break = 'missing' | 'displaced' | 'altered';

/**
 * Whether entries, in the order of the log, continue the chain after `last`: no gap, each with the hash
 * of the one before it and its own. The last entry is given back, to go on with; otherwise the first
 * place at which the chain is broken, and how. Entries cut off the end leave a whole chain: whoever
 * keeps the last hash elsewhere sees it.
 */
export function verifyChain(
  entries: readonly AuditRecord[],
  digest: Digest,
  last?: Pick<AuditRecord, 'seq' | 'hash'>,
):
  | { readonly kind: 'whole'; readonly last: Pick<AuditRecord, 'seq' | 'hash'> | undefined }
  | { readonly kind: 'broken'; readonly seq: number; readonly what: Break } {
  let before = last;
  for (const entry of entries) {
    const what = breakAt(before, entry, digest);
    if (what !== undefined) return { kind: 'broken', seq: (before?.seq ?? 0) + 1, what };
    before = entry;
  }
  return { kind: 'whole', last: before };
}

function breakAt(
  before: Pick<AuditRecord, 'seq' | 'hash'> | undefined,
  entry: AuditRecord,
  digest: Digest,
): Break | undefined {
  if (entry.seq !== (before?.seq ?? 0) + 1) return 'missing';
  if (entry.previousHash !== (before?.hash ?? '')) return 'displaced';
  return entry.hash === hashEntry(entry, digest) ? undefined : 'altered';
}

/** The hash of an entry: over every column but the hash itself, under its name. */
export function hashEntry(entry: Omit<AuditRecord, 'hash'>, digest: Digest): string {
  const { seq, at, principal, channel, action, subjectId, before, after, previousHash } = entry;
  return digest(
    canonicalJson({
      seq,
      at,
      principal,
      channel,
      action,
      subjectId,
      before,
      after,
      previousHash,
    }),
  );
}
