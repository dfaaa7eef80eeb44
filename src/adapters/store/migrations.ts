import { start } from './migration-1.ts';
import { waits } from './migration-2.ts';
import { recovery } from './migration-3.ts';
import { maintenance } from './migration-4.ts';
import type { Migration, Words } from './migration.ts';
import type { DialectName } from './statement.ts';

/** All migrations, in their order. */
export const MIGRATIONS: readonly Migration[] = [start, waits, recovery, maintenance];

/** Texts compare by bytes on both, so that ids sort and page alike. */
const WORDS: Readonly<Record<DialectName, Words>> = {
  sqlite: {
    dialect: 'sqlite',
    text: 'text',
    int: 'integer',
    plain: 'strict',
    keyed: 'strict, without rowid',
  },
  postgres: { dialect: 'postgres', text: 'text collate "C"', int: 'bigint', plain: '', keyed: '' },
};

/** The statements of a migration in one dialect. */
export function sqlOf(migration: Migration, dialect: DialectName): readonly string[] {
  const words = WORDS[dialect];
  return migration.sql({
    ...words,
    plain: words.plain && ` ${words.plain}`,
    keyed: words.keyed && ` ${words.keyed}`,
  });
}

/** The table of the migrations themselves; made before all others. */
export function migrationTable(dialect: DialectName): string {
  const { text, int, plain } = WORDS[dialect];
  return `create table if not exists migration (
    number ${int} primary key not null, name ${text} not null,
    breaking ${text} not null, at ${int} not null) ${plain}`;
}
