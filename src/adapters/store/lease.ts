import { sql } from 'kysely';
import type { LeaseReads, LeaseWrites } from '../../ports/lease.ts';
import type { ReadDefinitions, WriteDefinitions } from './statement.ts';
import { columns, selection } from './tables.ts';

const HOST = selection('host');

export const leaseReads = {
  'host.byId': {
    gives: 'one',
    build: (db, arg) => db.selectFrom('host').select(HOST).where('id', '=', arg.id),
  },
  'host.list': {
    gives: 'many',
    build: (db, arg) =>
      db
        .selectFrom('host')
        .select(HOST)
        .orderBy('started_at', 'desc')
        .orderBy('id', 'desc')
        .limit(arg.limit),
  },
} satisfies ReadDefinitions<LeaseReads>;

export const leaseWrites = {
  'host.insert': {
    build: (db, arg) => db.insertInto('host').values(columns('host', arg.row)),
  },
  'host.renew': {
    build: (db, arg) =>
      db
        .updateTable('host')
        .set({ alive_until: arg.aliveUntil, stopped_at: sql.lit(null), end: sql.lit(null) })
        .where('id', '=', arg.id)
        .where(sql<boolean>`(stopped_at is null or "end" = 'lost')`),
  },
  'host.stop': {
    build: (db, arg) =>
      db
        .updateTable('host')
        .set({ stopped_at: arg.stoppedAt, end: arg.end })
        .where('id', '=', arg.id)
        .where('stopped_at', 'is', null),
  },
} satisfies WriteDefinitions<LeaseWrites>;
