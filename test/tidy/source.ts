import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Path from the root with forward slashes, and the text. A plain map, so a test can plant one. */
export type Files = ReadonlyMap<string, string>;

const ROOT = join(import.meta.dirname, '../..');

export function readFiles(pattern: string): Files {
  const paths = globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules/**'] });
  return new Map(
    paths
      .map((path) => path.replaceAll('\\', '/'))
      .toSorted()
      .map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]),
  );
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}

/** Comments may speak of what code may not do; their lines stay, so that line numbers hold. */
export function withoutComments(text: string): string {
  const stringOrComment =
    /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  return text.replaceAll(stringOrComment, (found) =>
    found.startsWith('/') ? found.replaceAll(/[^\n]/g, ' ') : found,
  );
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
