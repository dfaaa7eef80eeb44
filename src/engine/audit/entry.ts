import { principalName, type Principal } from '../../kernel/principal.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { settle } from '../settle.ts';
import { AUDIT_TAIL, auditWrite, type AuditTail } from './append.ts';

/** An admin action that no other record of the store tells: its entry is all that is committed. */
export interface LoneEntry {
  readonly principal: Principal;
  readonly channel: string;
  readonly action: string;
  readonly subjectId: string;
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** Records such an action before it is acted on, once, also where its commit was not seen. */
export async function commitLoneEntry(parts: EngineParts, entry: LoneEntry): Promise<void> {
  const id = parts.ids.next('receipt');
  await settle(parts, () => entryUnit(parts, entry, id));
}

function entryUnit(
  parts: EngineParts,
  { principal, after, ...entry }: LoneEntry,
  order: string,
): Unit<AuditTail, void> {
  return {
    name: entry.action,
    reads: AUDIT_TAIL,
    decide: ({ last }, { now: at }) => {
      // What an earlier try committed unseen.
      if (last?.after.includes(order) === true) return { verdict: undefined, writes: [] };
      const by = principalName(principal);
      const row = { ...entry, at, principal: by, after: { ...after, order } };
      return { verdict: undefined, writes: [auditWrite(parts, last, row)] };
    },
  };
}
