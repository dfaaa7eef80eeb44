// The command line against a door of the tests, in this process: what it prints, and how it ends.
import { tmpdir } from 'node:os';
import type { TestContext } from 'node:test';
import { CommandEnd, EXIT } from '../../src/cli/exit.ts';
import type { ReadOptions } from '../../src/cli/program.ts';
import { SECRETS, type KeyName, type TestDoor } from './door.ts';

export interface ShellEnd {
  readonly code: number;
  /** Of stdout, without the line break behind it; of stderr when it did not end with 0. */
  readonly text: string;
}

/** Calls one command with the options that find this door, under the key of that name. */
export async function inShell(
  context: TestContext,
  { url }: Pick<TestDoor, 'url'>,
  key: KeyName,
  command: (options: ReadOptions) => Promise<void>,
): Promise<ShellEnd> {
  const said: string[] = [];
  const log = context.mock.method(console, 'log', (text: string) => said.push(text));
  const before = process.env['SEKISHO_API_KEY'];
  process.env['SEKISHO_API_KEY'] = SECRETS[key];
  try {
    await command({ url, data: tmpdir() });
    return { code: EXIT.done, text: said.join('\n') };
  } catch (error) {
    if (!(error instanceof CommandEnd)) throw error;
    return { code: EXIT[error.exit], text: error.message };
  } finally {
    log.mock.restore();
    if (before === undefined) delete process.env['SEKISHO_API_KEY'];
    else process.env['SEKISHO_API_KEY'] = before;
  }
}
