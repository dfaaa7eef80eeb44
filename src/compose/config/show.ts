import { CONFIG_NAMES, rowOf, type ConfigName } from './keys.ts';
import type { Config } from './load.ts';
import { NOT_GIVEN } from './problem.ts';
import { writeDuration } from './values.ts';

/** A row of the table of keys, for people and for `--json`. */
export interface KeyRow {
  readonly key: ConfigName;
  readonly values: string;
  /** The default; null when there is none. */
  readonly default: unknown;
  readonly env: string | null;
  readonly about: string;
  /** False: known, but only its default or `off` is accepted so far. */
  readonly built: boolean;
}

export function keyRows(): readonly KeyRow[] {
  return CONFIG_NAMES.map((name) => {
    const row = rowOf(name);
    return {
      key: name,
      values: row.values,
      default: row.initial ?? null,
      env: row.env ?? null,
      about: row.about,
      built: row.later !== true,
    };
  });
}

export interface ShownValue {
  readonly key: ConfigName;
  readonly value: unknown;
  /** `default`, or where it was said. */
  readonly from: string;
}

/** The configuration in force, key by key. A secret is shown as its source, a password not at all. */
export function shownValues(config: Config): readonly ShownValue[] {
  return CONFIG_NAMES.filter((name) => config.values[name] !== undefined).map((name) => ({
    key: name,
    value: shownValue(name, config.values[name]),
    from: config.origins.get(name) ?? NOT_GIVEN,
  }));
}

function shownValue(name: ConfigName, value: unknown): unknown {
  if (name === 'limits.deadline') return writeDuration(Number(value));
  return name === 'store' ? withoutPassword(String(value)) : value;
}

/** A URL as it may be shown: `postgres://user:[redacted]@host/db`. */
function withoutPassword(url: string): string {
  return url
    .replace(/^(\w+:\/\/[^:/?#@]*):.*@/, '$1:[redacted]@')
    .replace(/([?&]password=)[^&]*/i, '$1[redacted]');
}
