import { ToolProblem } from './tool-problem.ts';
import { codeOf } from './workspace-path.ts';

/** The system's errors in words that help the model; their own text names paths of the host. */
const SYSTEM: Readonly<Record<string, readonly [code: string, text: string]>> = {
  ENOENT: ['not_found', 'no such file or folder'],
  ENOTDIR: ['refused', 'a part of the path is no folder'],
  EISDIR: ['refused', 'a folder, not a file'],
  ELOOP: ['refused', 'leads through a link that was changed meanwhile, or in a circle'],
  ENAMETOOLONG: ['refused', 'the name is too long'],
  ENXIO: ['refused', 'not a regular file'],
  EACCES: ['refused', 'no permission'],
  EPERM: ['refused', 'no permission'],
  EROFS: ['failed', 'the disk is read-only'],
  ENOSPC: ['failed', 'the disk is full'],
  EDQUOT: ['failed', 'the disk quota is used up'],
  EMFILE: ['failed', 'too many open files'],
  EIO: ['failed', 'the disk failed'],
};

/** What went wrong, as the model reads it. */
export function problemOf(error: unknown, subject: string): ToolProblem {
  if (error instanceof ToolProblem) return error;
  const system =
    codeOf(error) ?? `internal error (${error instanceof Error ? error.name : 'unknown'})`;
  const [code, text] = SYSTEM[system] ?? ['failed', system];
  return new ToolProblem(code, `${subject}: ${text}`, { cause: error });
}

/** Runs a piece of work on `subject` and names it in whatever goes wrong. */
export async function about<T>(subject: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw problemOf(error, subject);
  }
}
