import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Known, Need } from '../../core/archive/judge.ts';
import type { OpenIndex } from '../../ports/archive.ts';

/** What is looked up again and again stands next to one another in an export. */
const REMEMBERED = 4_096;
const CACHE_KIBIBYTES = 16_000;

/** The index of a file's keys in a database of its own, which has no name and goes with the process. */
export function openKeyIndex(): OpenIndex {
  return new TemporaryIndex(new DatabaseSync(''));
}

class TemporaryIndex implements OpenIndex {
  readonly #db: DatabaseSync;
  readonly #add: StatementSync;
  readonly #get: StatementSync;
  readonly #later: StatementSync;
  readonly #unmet: StatementSync;
  readonly #remembered = new Map<string, Known>();

  constructor(db: DatabaseSync) {
    this.#db = db;
    db.exec(`
      pragma cache_size = -${CACHE_KIBIBYTES};
      pragma journal_mode = off;
      pragma synchronous = off;
      create table known (key text primary key not null, line integer not null, home text not null,
        top integer not null, facts text not null) strict, without rowid;
      create table need (line integer not null, key text not null, home text not null) strict;
      begin`);
    this.#add = db.prepare(
      'insert or ignore into known (key, line, home, top, facts) values (?, ?, ?, ?, ?)',
    );
    this.#get = db.prepare('select line, home, top, facts from known where key = ?');
    this.#later = db.prepare('insert into need (line, key, home) values (?, ?, ?)');
    this.#unmet = db.prepare(`
      select need.line as line, need.key as key, need.home as home
      from need left join known on known.key = need.key
      where known.key is null or known.home <> need.home
      order by need.line limit 1`);
  }

  add(key: string, { line, home, top, facts }: Known): Known | undefined {
    const isNew = this.#add.run(key, line, home, top, facts).changes !== 0;
    return isNew ? undefined : this.get(key);
  }

  get(key: string): Known | undefined {
    const remembered = this.#remembered.get(key);
    if (remembered !== undefined) return remembered;
    const row = this.#get.get(key);
    if (row === undefined) return undefined;
    const found = {
      line: Number(row['line']),
      home: String(row['home']),
      top: Number(row['top']),
      facts: String(row['facts']),
    };
    if (this.#remembered.size >= REMEMBERED) this.#remembered.clear();
    this.#remembered.set(key, found);
    return found;
  }

  later({ line, key, home }: Need): void {
    this.#later.run(line, key, home);
  }

  unmet(): Need | undefined {
    const row = this.#unmet.get();
    if (row === undefined) return undefined;
    return { line: Number(row['line']), key: String(row['key']), home: String(row['home']) };
  }

  close(): void {
    this.#db.close();
  }
}
