import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { suggestion } from '../nearest.ts';
import type { Given } from './file.ts';
import { CONFIG_NAMES, rowOf, type ConfigKey, type ConfigName } from './keys.ts';
import type { ConfigProblem } from './problem.ts';
import { saysOff } from './values.ts';

/** What the check of one given value came to. */
export type Checked =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'problems'; readonly problems: readonly ConfigProblem[] };

/** Holds a given value against the table's row. */
export function checkGiven(given: Given): Checked {
  const row = rowOf(given.name);
  const parsed = row.schema.safeParse(given.value);
  if (parsed.success && row.later === true) return checkLater(given, row, parsed.data);
  if (parsed.success) return { kind: 'value', value: parsed.data };
  return {
    kind: 'problems',
    problems: parsed.error.issues.map((issue) => problemOf(given, row, issue)),
  };
}

function checkLater(given: Given, row: ConfigKey, value: unknown): Checked {
  const accepted = saysOff(given.value) || isDeepStrictEqual(given.value, row.initial);
  if (accepted) return { kind: 'value', value };
  const allowed = row.initial === undefined ? [] : [shown(row.initial)];
  return {
    kind: 'problems',
    problems: [
      {
        where: given.where,
        key: given.name,
        what: 'is not built yet in this version',
        allowed: [...new Set([...allowed, 'off'])].join(' | '),
      },
    ],
  };
}

function problemOf(given: Given, row: ConfigKey, issue: z.core.$ZodIssue): ConfigProblem {
  const inner = issue.path.map(String);
  return {
    where: given.whereOf(issue.path),
    key: [given.name, ...inner].join('.'),
    what: whatOf(given, row, issue),
    allowed: row.values,
  };
}

function whatOf(given: Given, row: ConfigKey, issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') {
    const [name = ''] = issue.keys;
    return `unknown key ${name}${suggestion(name, row.fields ?? [])}`;
  }
  if (isMissing(given.value, issue.path)) return 'is missing';
  // A list or a map may hold a secret that somebody wrote in the clear.
  const plain = row.hidden !== true && typeof given.value !== 'object';
  return plain ? `${JSON.stringify(given.value)} is not allowed` : 'this value is not allowed';
}

function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  let inner = value;
  for (const name of path) {
    if (typeof inner !== 'object' || inner === null) return false;
    inner = Reflect.get(inner, name);
  }
  return inner === undefined;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The defaults of the table, each through its own schema. */
export function initialValues(): Map<ConfigName, unknown> {
  const values = new Map<ConfigName, unknown>();
  for (const name of CONFIG_NAMES) {
    const row = rowOf(name);
    if (row.initial !== undefined) values.set(name, row.schema.parse(row.initial));
  }
  return values;
}
