/** Where a value was said that nobody said. */
export const NOT_GIVEN = 'default';

/** One thing that is wrong with a configuration, said so that it can be mended without looking further. */
export interface ConfigProblem {
  /** Where it was said: `sekisho.yaml:12`, `SEKISHO_PORT`, `--port`. */
  readonly where: string;
  /** The key, as deep as it is known; empty for the file as a whole. */
  readonly key: string;
  /** What is wrong. Never a value that could be a secret. */
  readonly what: string;
  /** The allowed values, in words; empty when none would do. */
  readonly allowed: string;
}

/** One line: place, key, what is wrong, what is allowed. */
export function problemLine(problem: ConfigProblem): string {
  const key = problem.key === '' ? '' : `${problem.key}: `;
  const allowed = problem.allowed === '' ? '' : `; allowed: ${problem.allowed}`;
  return `${problem.where}: ${key}${problem.what}${allowed}`;
}

/** The configuration cannot be used; nothing was started. */
export class ConfigBroken extends Error {
  override readonly name = 'ConfigBroken';
  readonly problems: readonly ConfigProblem[];
  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(problemLine).join('\n'));
    this.problems = problems;
  }
}
