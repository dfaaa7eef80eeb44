// The oracles of the simulation that need nothing but the rows, over the store of a real host.
import type { DatabaseSync } from 'node:sqlite';
import { dumper } from '../simulation/dump.ts';
import { judgeAuthority } from '../simulation/invariants-authority.ts';
import { judgeInbox } from '../simulation/invariants-inbox.ts';
import { judgeMaintenance } from '../simulation/invariants-maintenance.ts';
import { judgeNotices } from '../simulation/invariants-notices.ts';
import { Problems } from '../simulation/problems.ts';
import { judgeReplay } from '../simulation/replay.ts';

/** The limits of a task that a configuration has by default. */
const BOUNDS = { turns: 50, tokens: 2_000_000, cost: 20_000_000, continuations: 20 };

/**
 * Each rule that the rows break, as a sentence: they hold in every state that is ever committed. `deadlineMs`: what
 * a new task is given.
 */
export function brokenRows(
  db: DatabaseSync,
  { deadlineMs }: { readonly deadlineMs: number | null },
): readonly string[] {
  const dump = dumper(db).read();
  const problems = new Problems();
  judgeNotices(problems, dump);
  judgeAuthority(problems, dump);
  return [
    ...problems.found,
    ...judgeInbox(dump, new Set()),
    ...judgeMaintenance(dump),
    ...judgeReplay(dump, { bounds: { ...BOUNDS, deadlineMs }, unmarked: new Set() }),
    ...foreign(db),
  ];
}

function foreign(db: DatabaseSync): readonly string[] {
  return db
    .prepare('pragma foreign_key_check')
    .all()
    .map((row) => `a row of ${String(row['table'])} names one that is not there`);
}
