import type { DialectName } from './statement.ts';

/** How the two dialects call the same thing in a table's definition. */
export interface Words {
  readonly dialect: DialectName;
  readonly text: string;
  readonly int: string;
  /** Ends a table. */
  readonly plain: string;
  /** Ends a table whose rows stand in the order of its key, which saves the key's own pages. */
  readonly keyed: string;
}

export interface Migration {
  /** 1, 2, 3 … */
  readonly number: number;
  readonly name: string;
  /** `yes`: a version that does not know it would do harm and refuses the store. */
  readonly breaking: 'yes' | 'no';
  /** Its statements, run in one transaction. Never edited once released: a change is the next migration. */
  sql(words: Words): readonly string[];
}
