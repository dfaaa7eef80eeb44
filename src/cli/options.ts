import { Option, type Command } from 'commander';

/** A command that reads records, of a running host or of a stopped one. */
export function reading(command: Command, about: string): Command {
  return finding(command)
    .summary(about)
    .description(`Prints ${about}. Without a running host it reads the store.`)
    .option('--json', 'print one JSON document');
}

/** How a command finds the host: `--url`, else the one on the data directory. */
export function finding(command: Command): Command {
  return command
    .option('--url <url>', 'the host, as http://127.0.0.1:7420 [SEKISHO_URL]')
    .addOption(dataOption())
    .addOption(configOption());
}

export function dataOption(): Option {
  return new Option('--data <folder>', 'the state directory (default ./data) [SEKISHO_DATA]');
}

export function configOption(): Option {
  return new Option('--config <file>', 'the configuration (default ./sekisho.yaml when it exists)');
}

/** A command that tells a running host to change something. */
export function ordering(program: Command, usage: string, about: string): Command {
  return finding(program.command(usage)).summary(about).option('--json', 'print one JSON document');
}

/** The examples under a command's help. */
export function example(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  sekisho ${line}\n`).join('')}`;
}
