import type { ConfigName } from '../compose/config/keys.ts';
import type { Config } from '../compose/config/load.ts';

export interface ConfigOptions {
  readonly config?: string;
  readonly data?: string;
  readonly json?: boolean;
}

/** The configuration that these options, further flags, this environment and this folder come to. */
export async function configOf(
  { config, data }: ConfigOptions,
  flags: Partial<Record<ConfigName, string>> = {},
): Promise<Config> {
  // Most commands ask a running host and need none.
  const { loadConfig } = await import('../compose/config/load.ts');
  return loadConfig({
    cwd: process.cwd(),
    env: process.env,
    flags: data === undefined ? flags : { ...flags, data },
    ...(config === undefined ? {} : { file: config }),
  });
}
