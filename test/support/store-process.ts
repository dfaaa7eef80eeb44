import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Another process that holds a store. */
export interface StoreProcess {
  readonly pid: number;
  /** Has it commit one row; what came of it: `done`, or the code of the fault. */
  commit(): Promise<string>;
  kill(): Promise<void>;
}

const SCRIPT = join(import.meta.dirname, 'store-holder.ts');

/** Starts a process on the store; `limit` is a shell line that bounds it. Resolves once it holds the store. */
export async function startStoreProcess(
  path: string,
  options: { readonly shared?: boolean; readonly limit?: string } = {},
): Promise<StoreProcess> {
  const args = [SCRIPT, path, options.shared === true ? 'shared' : 'exclusive'];
  const child: ChildProcess =
    options.limit === undefined
      ? spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] })
      : spawn('bash', ['-c', `${options.limit}; exec "$0" "$@"`, process.execPath, ...args], {
          stdio: ['pipe', 'pipe', 'ignore'],
        });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('it has no pipes');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const said = async (): Promise<string> => {
    const { value, done } = await lines.next();
    return done === true ? 'ended' : value;
  };
  const first = await said();
  if (first !== 'held') throw new Error(`it ${first}`);
  return {
    pid: child.pid ?? 0,
    commit() {
      stdin.write('1\n');
      return said();
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
