import { ConfigBroken, problemLine, type ConfigProblem } from '../../compose/config/problem.ts';
import { keyRows, shownValues } from '../../compose/config/show.ts';
import { configOf, recordsConfigOf, type ConfigOptions } from '../config.ts';
import { CommandEnd } from '../exit.ts';
import { printJson, printText } from '../print.ts';
import { table } from '../table.ts';

/** `config keys`: the table of keys. */
export function configKeys(options: ConfigOptions): void {
  const rows = keyRows();
  if (options.json === true) printJson({ items: rows });
  else printText(rows.map(keyText).join('\n\n'));
}

function keyText(row: ReturnType<typeof keyRows>[number]): string {
  const variable = row.env === null ? '' : `  [${row.env}]`;
  const initial = row.default === null ? 'no default' : `default ${JSON.stringify(row.default)}`;
  const later = row.built ? '' : '\n  not built yet: only the default, or off, is accepted';
  return `${row.key}${variable}\n  ${row.about}\n  ${row.values}; ${initial}${later}`;
}

/** `config show`: what is in force. */
export async function configShow(options: ConfigOptions): Promise<void> {
  const config = await recordsConfigOf(options);
  const built = new Map(keyRows().map((row) => [row.key, row.built]));
  const values = shownValues(config).map((one) => ({ ...one, built: built.get(one.key) === true }));
  if (options.json === true) {
    printJson({ file: config.file ?? null, items: values });
    return;
  }
  const rows = values.map((one) => [
    one.key,
    JSON.stringify(one.value),
    one.built ? one.from : `${one.from}; not built yet, so without effect`,
  ]);
  printText(table(['KEY', 'VALUE', 'FROM'], rows));
}

/** `config check`: all problems, or that there are none. */
export async function configCheck(options: ConfigOptions): Promise<void> {
  try {
    const config = await configOf(options);
    const { tightWindows } = await import('../../compose/window.ts');
    const warnings = await tightWindows(config);
    const file = config.file ?? null;
    if (options.json === true) printJson({ ok: true, file, problems: [], warnings });
    else printText(checkedText(file ?? 'The defaults', warnings));
  } catch (error) {
    if (!(error instanceof ConfigBroken) || options.json !== true) throw error;
    printJson({ ok: false, problems: error.problems, warnings: [] });
    throw new CommandEnd('usage', '');
  }
}

function checkedText(file: string, warnings: readonly ConfigProblem[]): string {
  if (warnings.length === 0) return `${file}: nothing is wrong.`;
  const lines = warnings.map((warning) => `warning: ${problemLine(warning)}`);
  return [...lines, `${file}: nothing else is wrong, and a start takes it.`].join('\n');
}
