import { Command } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { configOption, dataOption, example, finding, ordering, reading } from './options.ts';

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
  addReplay(program);
  addOrders(program);
  addSafeMode(program);
  addWaking(program);
  addMaintenance(program);
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
    .option('--verbose', 'log more; a chat at a terminal shows it too')
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
    .option('--held', 'only older ones that are held, and how one is woken')
    .option('--limit <count>', 'at most this many (default 50)')
    .action(async (options) => (await import('./commands/tasks.ts')).tasks(options));
  reading(program.command('task <id>'), 'one task: request, state, budgets').action(
    async (id, options) => (await import('./commands/tasks.ts')).task(id, options),
  );
  reading(program.command('why <id>'), 'why a task or an operation stands where it stands').action(
    async (id, options) => (await import('./commands/tasks.ts')).why(id, options),
  );
  reading(program.command('workers'), 'the newest workers of tasks')
    .option('--state <state>', 'only workers in this state')
    .option('--held', 'only those that are held, and how one is woken')
    .option('--limit <count>', 'at most this many (default 50)')
    .action(async (options) => (await import('./commands/workers.ts')).workers(options));
  reading(program.command('approvals'), 'the calls that a person is asked about')
    .option('--state <state>', 'only approvals in this state: open, approved, denied, expired')
    .option('--limit <count>', 'at most this many (default 50)')
    .action(async (options) => (await import('./commands/approvals.ts')).approvals(options));
  reading(program.command('approval <id>'), 'one approval with everything that would run').action(
    async (id, options) => (await import('./commands/approvals.ts')).approval(id, options),
  );
  reading(program.command('usage'), 'tokens and money by day, model and task')
    .option('--days <count>', 'the last days, today included (default 7)')
    .action(async (options) => (await import('./commands/usage.ts')).usage(options));
  reading(program.command('conversations'), 'the newest conversations')
    .option('--limit <count>', 'at most this many (default 50)')
    .action(async (options) => (await import('./commands/lists.ts')).conversations(options));
  reading(program.command('outbox'), 'the newest answers and notices')
    .option('--conversation <id>', 'only of this conversation')
    .option('--limit <count>', 'at most this many (default 50)')
    .action(async (options) => (await import('./commands/lists.ts')).outbox(options));
  reading(program.command('doctor'), 'what is wrong with this installation')
    .description(
      'Looks at the records, the log of admin actions, tasks, files, disk, clock and models, and says ' +
        'what is wrong with the command that changes it. Exit code 1 when something is.',
    )
    .option(
      '--repair',
      'give tasks that stand still without a reason theirs, and close files that are open to others',
    )
    .addHelpText('after', example('doctor', 'doctor --repair'))
    .action(async (options) => (await import('./commands/doctor.ts')).doctor(options));
  addDemos(program);
  addArchive(program);
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

/** Shows with a host of its own, which nobody else needs and which is gone afterwards. */
function addDemos(program: Command): void {
  program
    .command('demo [name]')
    .summary('see a promise kept: recovery, boundary, context')
    .description(
      'Starts a host of its own in a folder of its own, kills it in the middle of work or lets a ' +
        'conversation outgrow its model, and shows in plain sentences what becomes of it. Needs no ' +
        'model provider and leaves nothing behind.',
    )
    .addHelpText('after', example('demo recovery', 'demo boundary', 'demo context'))
    .action(async (name) => (await import('./commands/demo.ts')).demo(name));
}

/** What this version makes of what another one has recorded. */
function addReplay(program: Command): void {
  program
    .command('replay')
    .summary('run a recorded conversation again and see where this version decides differently')
    .description(
      'Runs this version along the record of one conversation, with the recorded answers of models ' +
        'and tools: nothing of the installation changes, no model is asked and no tool runs. Exit ' +
        'code 0: the same decisions; 1: a different one, with both sides; 3: it cannot be replayed, ' +
        'and why. A simulated world is played again by its script, in a checkout.',
    )
    .option('--conversation <id>', 'the conversation')
    .option('--archive <file>', 'out of this export, not out of the installation')
    .option('--script <file>', 'a seed of the simulation that was saved (docs/replay.md)')
    .addOption(dataOption())
    .addOption(configOption())
    .option('--json', 'print one JSON document a line')
    .addHelpText(
      'after',
      example(
        'replay --conversation conv_7K2M9QX4R1T8WZ3C',
        'replay --conversation conv_7K2M9QX4R1T8WZ3C --archive sekisho.jsonl',
        'replay --script seed-4711.json',
      ),
    )
    .action(async (options) => (await import('./commands/replay.ts')).replay(options));
}

/** Everything that people own here, out of an installation and into another. */
function addArchive(program: Command): void {
  finding(program.command('export [file]'))
    .summary('write everything that people own here to a file')
    .description(
      'Writes conversations, tasks and all that belongs to them as JSON lines, to stdout without a ' +
        'file, as one consistent state, whether the host runs or not. Known secrets are masked.',
    )
    .option('--force', 'replace a file that is there')
    .addHelpText('after', example('export sekisho.jsonl', 'export | gzip > sekisho.jsonl.gz'))
    .action(async (file, options) =>
      (await import('./commands/export.ts')).exportAll(file, options),
    );
  program
    .command('import <file>')
    .summary('bring an export into a stopped installation')
    .description(
      'Brings an export into an installation whose host is stopped, whole or not at all. Nothing of ' +
        'it runs until the next start has judged it; what no ongoing work proves is held then.',
    )
    .addOption(dataOption())
    .addOption(configOption())
    .addHelpText('after', example('import sekisho.jsonl --data ./fresh'))
    .action(async (file, options) =>
      (await import('./commands/import.ts')).importAll(file, options),
    );
}

function addOrders(program: Command): void {
  ordering(program, 'stop <id>', 'stop a task')
    .description('Stops a task: its running calls are ended and it stays stopped.')
    .action(async (id, options) => (await import('./commands/orders.ts')).stop(id, options));
  ordering(program, 'pause <id>', 'set a task aside')
    .description(
      'Sets a task aside: a turn of it ends at the border of its step, what was done is kept, ' +
        'and nothing of it runs until `resume`.',
    )
    .addHelpText('after', example('pause task_7K2M9QX4R1T8WZ3C'))
    .action(async (id, options) => (await import('./commands/orders.ts')).pause(id, options));
  ordering(program, 'extend <id> [grants...]', 'add to the budgets or the deadline of a task')
    .description('Adds to what a task may use; what was blocked by it goes on. Needs an admin key.')
    .option('--turns <count>', 'this many turns more')
    .option('--tokens <count>', 'this many tokens more')
    .option('--cost <usd>', 'this many US dollars more')
    .option('--continuations <count>', 'this many continuations in a row more')
    .option(
      '--deadline <when>',
      'later by +90m, +12h, +2d, or at an instant like 2026-12-24T18:00:00Z',
    )
    .addHelpText(
      'after',
      example(
        'extend task_7K2M9QX4R1T8WZ3C --turns 20 --deadline +2d',
        'extend task_7K2M9QX4R1T8WZ3C turns=+20 cost=+5',
      ),
    )
    .action(async (id, grants, options) =>
      (await import('./commands/orders.ts')).extend(id, grants, options),
    );
  ordering(program, 'approve <id>', 'let a call run that waits for a person')
    .description('Approves a call: it runs once, exactly as `approval ID` shows it.')
    .addHelpText(
      'after',
      example('approval appr_7K2M9QX4R1T8WZ3C', 'approve appr_7K2M9QX4R1T8WZ3C'),
    )
    .action(async (id, options) =>
      (await import('./commands/orders.ts')).answer('approve', id, options),
    );
  ordering(program, 'deny <id>', 'refuse a call that waits for a person')
    .description('Denies a call: it does not run, and its task is told so.')
    .addHelpText('after', example('deny appr_7K2M9QX4R1T8WZ3C'))
    .action(async (id, options) =>
      (await import('./commands/orders.ts')).answer('deny', id, options),
    );
  ordering(program, 'cancel <run>', 'cancel a run')
    .description('Cancels a run and its task; a run that has ended keeps its end.')
    .addHelpText('after', example('cancel run_7K2M9QX4R1T8WZ3C'))
    .action(async (id, options) => (await import('./commands/orders.ts')).cancel(id, options));
}

function addWaking(program: Command): void {
  ordering(program, 'resume <id>', 'let a task that stands still go on')
    .description(
      'Gives a task one new turn: one that was paused, whose wait ran out, that made no progress ' +
        'or ended without an answer. One that is held, or whose check could not tell, is checked ' +
        'first; this needs an admin key, and so does a held worker (exec_…). No budget changes; ' +
        'a used-up one needs `extend` or `budget-reset`.',
    )
    .option('--late', 'carry an order out though its own time has passed')
    .addHelpText(
      'after',
      example('resume task_7K2M9QX4R1T8WZ3C', 'resume task_7K2M9QX4R1T8WZ3C --late'),
    )
    .action(async (id, options) => (await import('./commands/orders.ts')).resume(id, options));
  ordering(program, 'budget-reset <id>', 'let interrupted work be checked anew')
    .description(
      'Opens new checks for a task whose checks after an interruption are all used. No deadline ' +
        'moves, no worker and no message is replayed. Needs an admin key.',
    )
    .addHelpText('after', example('budget-reset task_7K2M9QX4R1T8WZ3C'))
    .action(async (id, options) => (await import('./commands/orders.ts')).budgetReset(id, options));
}

/** What keeps a conversation within its model's window, and the sessions that came of it. */
function addMaintenance(program: Command): void {
  reading(program.command('maintenance [id]'), 'the newest maintenance operations, or one of them')
    .option('--state <state>', 'only in this state: open, running, waiting, blocked, done, dropped')
    .option('--conversation <id>', 'only of this conversation')
    .option('--limit <count>', 'at most this many (default 50)')
    .addHelpText('after', example('maintenance --state open', 'maintenance mop_3H8D0V5B7N2K6PQA'))
    .action(async (id, options) =>
      (await import('./commands/maintenance.ts')).maintenance(id, options),
    );
  reading(program.command('session [id]'), 'the sessions of conversations, or one of them')
    .option('--conversation <id>', 'only of this conversation; else of the newest ones')
    .option('--transcript', 'of one session, also everything that was said and done in it')
    .option('--limit <count>', 'at most this many (default 50)')
    .addHelpText(
      'after',
      example(
        'session --conversation conv_7K2M9QX4R1T8WZ3C',
        'session sess_3H8D0V5B7N2K6PQA --transcript',
      ),
    )
    .action(async (id, options) => (await import('./commands/session.ts')).session(id, options));
  ordering(program, 'admit <id> [handover]', 'let a paused conversation go on')
    .description(
      'Opens a maintenance operation that is blocked: its step is tried again, and what was kept in ' +
        'its conversation is answered afterwards. Needs an admin key.',
    )
    .option('--as <kind>', 'handover: on in a following session, where a compact has no sure end')
    .option('--version <number>', 'only as this version, which a notice or `maintenance` named')
    .option('--receipt <id>', 'given again with the same one, it changes nothing more')
    .addHelpText(
      'after',
      example('admit mop_3H8D0V5B7N2K6PQA', 'admit mop_3H8D0V5B7N2K6PQA --as handover'),
    )
    .action(async (id, as, options) => {
      const how = as === undefined ? options : { ...options, as };
      await (await import('./commands/maintenance.ts')).admit(id, how);
    });
}

function addSafeMode(program: Command): void {
  const safeMode = program
    .command('safe-mode')
    .summary('let the host start work by itself again')
    .description(
      'After three unclean starts within ten minutes the host starts nothing by itself for an ' +
        'hour: it answers, and what a person orders runs. `status` says whether safe mode is on.',
    );
  ordering(safeMode, 'off', 'end safe mode')
    .description('Ends safe mode: what had to wait begins by itself again. Needs an admin key.')
    .addHelpText('after', example('safe-mode off'))
    .action(async (options) => (await import('./commands/safe-mode.ts')).safeModeOff(options));
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
