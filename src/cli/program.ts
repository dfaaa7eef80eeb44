import { Command, Option } from 'commander';
import manifest from '../../package.json' with { type: 'json' };

const ABOUT = [
  'A self-hosted agent host whose work survives its crashes: what is accepted is kept,',
  'what ran when it stopped is never silently repeated, and what waits says what for.',
].join(' ');

const EXAMPLES = `
Examples:
  sekisho start                     run the host here; with a terminal, talk to it
  sekisho status --json             how the running host is, for a script
  sekisho why task_7K2M9QX4R1T8WZ3C why a task stands where it stands

Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 refused, 4 not found,
5 no host reachable, 6 store in use or damaged.
`;

/** What commands find the host with, and what they print. */
export interface ReadOptions {
  readonly url?: string;
  readonly data?: string;
  readonly config?: string;
  readonly json?: boolean;
}

/** The table of commands. Each one's module is loaded when it is called. */
export function createProgram(): Command {
  const program = new Command('sekisho')
    .description(ABOUT)
    .version(manifest.version, '--version', 'print the version')
    .helpOption('--help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .enablePositionalOptions();
  addHost(program);
  addReading(program);
  addConfig(program);
  addKeys(program);
  return program;
}

function addHost(program: Command): void {
  program
    .command('start')
    .summary('run the host in the foreground')
    .description(
      'Runs the host in the foreground until SIGTERM or SIGINT, then drains and ends with 0. ' +
        'The first line of stdout says where it listens and who answers. With a terminal a chat ' +
        'opens below it; from a pipe each line is a message.',
    )
    .addOption(configOption())
    .addOption(dataOption())
    .option('--host <address>', 'listen on this address (default 127.0.0.1)')
    .option('--port <number>', 'listen on this port, 0 for a free one (default 7420)')
    .option('--no-terminal', 'do not read stdin')
    .option('--verbose', 'log more, and to stderr even beside the chat')
    .action(async (options) => (await import('./commands/start.ts')).start(options));
  finding(program.command('chat'))
    .summary('talk to the running host')
    .description('Opens the chat of the terminal on a host that runs already.')
    .action(async (options) => (await import('./commands/chat.ts')).chat(options));
}

function addReading(program: Command): void {
  reading(program.command('status'), 'how the host is, who answers and what is open').action(
    async (options) => (await import('./commands/status.ts')).status(options),
  );
  reading(program.command('tasks'), 'the newest tasks')
    .option('--state <state>', 'only tasks in this state')
    .option('--limit <count>', 'at most this many (default 50)')
    .action(async (options) => (await import('./commands/tasks.ts')).tasks(options));
  reading(program.command('task <id>'), 'one task: request, state, budgets').action(
    async (id, options) => (await import('./commands/tasks.ts')).task(id, options),
  );
  reading(program.command('why <id>'), 'why a task stands where it stands').action(
    async (id, options) => (await import('./commands/tasks.ts')).why(id, options),
  );
  finding(program.command('stop <id>'))
    .summary('stop a task')
    .description('Stops a task: its running calls are ended and it stays stopped.')
    .option('--json', 'print one JSON document')
    .action(async (id, options) => (await import('./commands/tasks.ts')).stop(id, options));
  reading(program.command('conversations'), 'the newest conversations')
    .option('--limit <count>', 'at most this many (default 50)')
    .action(async (options) => (await import('./commands/lists.ts')).conversations(options));
  reading(program.command('outbox'), 'the newest answers and notices')
    .option('--conversation <id>', 'only of this conversation')
    .option('--limit <count>', 'at most this many (default 50)')
    .action(async (options) => (await import('./commands/lists.ts')).outbox(options));
  program
    .command('logs')
    .summary('the last lines of the log')
    .description('Prints the last lines of DATA/logs/sekisho.log, whether the host runs or not.')
    .addOption(dataOption())
    .addOption(configOption())
    .option('-n, --lines <count>', 'how many lines', '50')
    .option('--json', 'print one JSON document')
    .action(async (options) => (await import('./commands/logs.ts')).logs(options));
}

function addConfig(program: Command): void {
  const config = program
    .command('config')
    .summary('the keys of sekisho.yaml, what is in force, and what is wrong')
    .description('Tells about the configuration without starting anything. No secret is shown.');
  config
    .command('keys')
    .summary('every key with its values, default and variable')
    .option('--json', 'print one JSON document')
    .action(async (options) => (await import('./commands/config.ts')).configKeys(options));
  for (const [name, about] of [
    ['show', 'the values in force and where each was said'],
    ['check', 'everything that is wrong with it; exit code 2 when something is'],
  ] as const) {
    config
      .command(name)
      .summary(about)
      .addOption(configOption())
      .addOption(dataOption())
      .option('--json', 'print one JSON document')
      .action(async (options) => {
        const commands = await import('./commands/config.ts');
        await (name === 'show' ? commands.configShow : commands.configCheck)(options);
      });
  }
}

function addKeys(program: Command): void {
  const keys = program
    .command('keys')
    .summary('the API keys of this host')
    .description('Tells which keys open the API, and replaces the generated one.');
  for (const [name, about] of [
    ['list', 'names and scopes; never the keys themselves'],
    ['rotate', 'write a new key to DATA/api-key; a running host takes it at once'],
  ] as const) {
    keys
      .command(name)
      .summary(about)
      .addOption(configOption())
      .addOption(dataOption())
      .option('--json', 'print one JSON document')
      .action(async (options) => {
        const commands = await import('./commands/keys.ts');
        await (name === 'list' ? commands.keysList : commands.keysRotate)(options);
      });
  }
}

function reading(command: Command, about: string): Command {
  return finding(command)
    .summary(about)
    .description(`Prints ${about}. Without a running host it reads the store.`)
    .option('--json', 'print one JSON document');
}

/** How a command finds the host: `--url`, else the one on the data directory. */
function finding(command: Command): Command {
  return command
    .option('--url <url>', 'the host, as http://127.0.0.1:7420 [SEKISHO_URL]')
    .addOption(dataOption())
    .addOption(configOption());
}

function dataOption(): Option {
  return new Option('--data <folder>', 'the state directory (default ./data) [SEKISHO_DATA]');
}

function configOption(): Option {
  return new Option('--config <file>', 'the configuration (default ./sekisho.yaml when it exists)');
}
