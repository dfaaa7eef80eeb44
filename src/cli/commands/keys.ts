import { existsSync } from 'node:fs';
import { generatedKeyAt, keyFileOf, rotateGeneratedKey } from '../../compose/key-file.ts';
import { recordsConfigOf, type ConfigOptions } from '../config.ts';
import { CommandEnd } from '../exit.ts';
import { printJson, printText } from '../print.ts';
import { table } from '../table.ts';

interface KeyItem {
  readonly name: string;
  readonly scopes: readonly string[];
  /** Where the key lies: a variable or a file, never the key. */
  readonly from: string;
}

/** `keys list`: the configured keys, or the generated one. */
export async function keysList(options: ConfigOptions): Promise<void> {
  const config = await recordsConfigOf(options);
  const { data } = config.values;
  const configured = config.values['api.keys'].map(({ name, scopes, secret }): KeyItem => {
    return { name, scopes, from: 'env' in secret ? secret.env : secret.file };
  });
  const madeAt = generatedKeyAt(data);
  const generated: readonly KeyItem[] =
    madeAt === undefined
      ? []
      : [{ name: 'local', scopes: ['run', 'read', 'admin'], from: keyFileOf(data) }];
  const items = configured.length > 0 ? configured : generated;
  if (options.json === true) {
    printJson({ items });
    return;
  }
  const rows = items.map(({ name, scopes, from }) => [name, scopes.join(' '), from]);
  const none = 'No key is configured and none was made yet; the first start makes one.';
  printText(rows.length === 0 ? none : table(['NAME', 'SCOPES', 'FROM'], rows));
}

/** `keys rotate`: the old key stops opening the API as soon as the host looks, within a second. */
export async function keysRotate(options: ConfigOptions): Promise<void> {
  const config = await recordsConfigOf(options);
  const { data } = config.values;
  if (config.values['api.keys'].length > 0) {
    const why = 'The keys of this host are configured in api.keys, so there is no generated one.';
    throw new CommandEnd('usage', `${why} Change the variable or the file that they come from.`);
  }
  if (!existsSync(data)) {
    throw new CommandEnd('usage', `${data} does not exist yet; the first start makes a key there.`);
  }
  const file = rotateGeneratedKey(data);
  if (options.json === true) printJson({ file });
  else printText(`The new key is in ${file}. The old one opens nothing any more.`);
}
