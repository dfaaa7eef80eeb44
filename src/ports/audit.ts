import type { AuditRecord } from '../core/audit/record.ts';

export interface AuditReads {
  'audit.last': {
    readonly args: Readonly<Record<string, never>>;
    readonly rows: AuditRecord | undefined;
  };
  /** Entries with `seq` above `after`, in order. */
  'audit.after': {
    readonly args: { readonly after: number; readonly limit: number };
    readonly rows: readonly AuditRecord[];
  };
}

/** Entries are appended and never changed: `seq` is unique, and there is no other write. */
export type AuditWrites = { readonly write: 'audit.insert'; readonly row: AuditRecord };
