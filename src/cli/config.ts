import type { ConfigName } from '../compose/config/keys.ts';
import type { Config } from '../compose/config/load.ts';

export interface ConfigOptions {
  readonly config?: string;
  readonly data?: string;
  readonly json?: boolean;
}

/**
 * The configuration that these options, further flags, this environment and this folder come to, for a
 * host: with every secret, and checked against what is on the disk.
 */
export function configOf(
  options: ConfigOptions,
  flags: Partial<Record<ConfigName, string>> = {},
): Promise<Config> {
  return load(options, flags, 'host');
}

/**
 * The same for whoever asks a host or reads its records: the host has its secrets, and a shell beside it
 * often does not.
 */
export function recordsConfigOf(options: ConfigOptions): Promise<Config> {
  return load(options, {}, 'records');
}

async function load(
  { config, data }: ConfigOptions,
  flags: Partial<Record<ConfigName, string>>,
  use: 'host' | 'records',
): Promise<Config> {
  // Most commands ask a running host and need none.
  const { loadConfig } = await import('../compose/config/load.ts');
  return loadConfig({
    cwd: process.cwd(),
    env: process.env,
    use,
    flags: data === undefined ? flags : { ...flags, data },
    ...(config === undefined ? {} : { file: config }),
  });
}
