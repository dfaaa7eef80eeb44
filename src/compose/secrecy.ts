import type { Config } from './config/load.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;
/** Such a variable says where a secret lies: masking the path would only blind the logs. */
const PLACE_NAME = /_(?:FILE|PATH|DIR)$/i;
const URL_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@:]*:([^@]+)@/i;

/**
 * Every secret value that this process knows: configured ones, the generated key, and what the
 * environment holds under a name that sounds like one. Whatever leaves is masked by this list.
 */
export function knownSecrets(
  config: Config,
  env: Environment,
  generatedKey: string | undefined,
): readonly string[] {
  const { apiKeys, modelKeys } = config.secrets;
  const values = [
    ...apiKeys.map(({ secret }) => secret),
    ...modelKeys.values(),
    generatedKey,
    passwordOf(config.values.store),
    ...secretsOf(env),
  ];
  return [...new Set(values.filter((value): value is string => (value ?? '') !== ''))];
}

function secretsOf(env: Environment): (string | undefined)[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    const isNamed = SECRET_NAME.test(name) && !PLACE_NAME.test(name);
    return [isNamed ? value : undefined, passwordOf(value)];
  });
}

function passwordOf(url: string): string | undefined {
  const [, password] = URL_PASSWORD.exec(url) ?? [];
  if (password === undefined) return undefined;
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** What a command finds when it asks for its surroundings; all else stays with the host. */
const PASSED_ON = ['PATH', 'LANG', 'LC_ALL', 'TZ'];

/** The environment of tools: named one by one, and never a value that the host holds secret. */
export function toolEnvironment(
  env: Environment,
  workspace: string,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = env[name];
    return value === undefined || secrets.some((secret) => value.includes(secret))
      ? []
      : [[name, value]];
  });
  return { ...Object.fromEntries(passed), HOME: workspace };
}
