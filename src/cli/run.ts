import { CommanderError } from 'commander';
import { Fault } from '../kernel/fault.ts';
import { CommandEnd, EXIT } from './exit.ts';
import { printError } from './print.ts';
import { createProgram } from './program.ts';

/**
 * Runs one command line and gives its exit code. What ends it goes to stderr: one line for a slip in
 * the command line, all lines for a broken configuration.
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const program = createProgram();
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync([...args], { from: 'user' });
    return EXIT.done;
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): number {
  if (error instanceof CommanderError) return explainUsage(error);
  if (error instanceof CommandEnd) {
    if (error.message !== '') printError(error.message);
    return EXIT[error.exit];
  }
  if (error instanceof Error && error.name === 'ConfigBroken') {
    printError(error.message);
    return EXIT.usage;
  }
  if (error instanceof Fault) return explainFault(error);
  printError(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return EXIT.failed;
}

/** Help and version arrive here too; they have said what they had to say. */
function explainUsage(error: CommanderError): number {
  if (error.exitCode === 0) return EXIT.done;
  if (error.code === 'commander.help') return EXIT.usage;
  const line = error.message
    .replace(/^error: /, '')
    .replace(/\s*\(Did you mean (?:one of )?(.+)\?\)$/s, '; did you mean $1?')
    .replaceAll(/\s+/g, ' ');
  printError(`sekisho: ${line} (see sekisho --help)`);
  return EXIT.usage;
}

/** Faults that say that the installation was set up wrongly rather than that something broke. */
const SETUP_FAULTS = ['bad_workspace', 'bad_folder', 'bad_key', 'bad_tls', 'listen_failed'];
const STORE_FAULTS = [
  'store_in_use',
  'store_too_new',
  'store_too_old',
  'store_unsafe',
  'sqlite_too_old',
  'io',
  'read_only',
  'corrupt',
  'disk_full',
  'disconnected',
  'busy',
];

/** What to do, where the fault itself does not say it. */
const HELPS: Readonly<Record<string, string>> = {
  corrupt:
    '. Stop the host and keep a copy of its folder; then go back to your last good copy, or import an ' +
    'export into a fresh folder. What is wrong: sekisho doctor',
};

function explainFault(fault: Fault): number {
  printError(`${fault.code}: ${fault.message}${HELPS[fault.code] ?? ''}`);
  if (SETUP_FAULTS.includes(fault.code)) return EXIT.usage;
  return STORE_FAULTS.includes(fault.code) ? EXIT.store : EXIT.failed;
}
