import { sql } from 'kysely';
import type { AuditReads, AuditWrites } from '../../ports/audit.ts';
import type { ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection } from './tables.ts';

const AUDIT = selection('audit');

export const auditReads = {
  'audit.last': {
    gives: 'one',
    build: (db) =>
      db
        .selectFrom('audit')
        .select(AUDIT)
        .where(sql<boolean>`audit.seq > 0`)
        .orderBy('seq', 'desc')
        .limit(sql.lit(1)),
  },
  'audit.after': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('audit')
        .select(AUDIT)
        .where('seq', '>', arg.after)
        .orderBy('seq')
        .limit(arg.limit),
  },
} satisfies ReadDefinitions<AuditReads>;

export const auditWrites = {
  'audit.insert': {
    build: (db, arg) => db.insertInto('audit').values(columns('audit', arg.row)),
  },
} satisfies WriteDefinitions<AuditWrites>;
