// Which state of the checkout a tier has proved.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** The commit that is proved; with a `+` where files differ from it, `unknown` outside of a checkout. */
export function commitNow(): string {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    const isClean = git('status', '--porcelain') === '';
    return `${git('rev-parse', 'HEAD')}${isClean ? '' : '+'}`;
  } catch {
    return 'unknown+';
  }
}
