import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordsConfigOf, type ConfigOptions } from '../config.ts';
import { CommandEnd } from '../exit.ts';
import { printJson, printText } from '../print.ts';
import { countOf } from '../count.ts';

export interface LogsOptions extends ConfigOptions {
  readonly lines: string;
}

const LINES_MAX = 100_000;

/** `logs`: the last lines of the log file, and of the one before it where the newest is too short. */
export async function logs(options: LogsOptions): Promise<void> {
  const count = countOf('--lines', options.lines, LINES_MAX);
  const { data } = (await recordsConfigOf(options)).values;
  const path = join(data, 'logs', 'sekisho.log');
  const newest = linesOf(path);
  if (newest === undefined) {
    throw new CommandEnd('not_found', `There is no log at ${path}; no host has run there yet.`);
  }
  const older = newest.length < count ? (linesOf(`${path}.1`) ?? []) : [];
  const lines = [...older, ...newest].slice(-count);
  if (options.json === true) printJson({ items: lines.map((line) => recordOf(line)) });
  else if (lines.length > 0) printText(lines.join('\n'));
}

function linesOf(path: string): string[] | undefined {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    return undefined;
  }
}

/** A line that a crash cut short is shown as what there is of it. */
function recordOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return { msg: line };
  }
}
