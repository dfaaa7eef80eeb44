// The kernel bounds the processes of a user (`ulimit`), but never root's. For a host that runs as
// root a control group does it, where the machine lets us make one.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import type { Clock } from '../../ports/clock.ts';

/** Where groups that count processes are made: version 1, version 2, and 2 beside 1. */
const PARENTS = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup', '/sys/fs/cgroup/unified'];
const REMOVALS_MAX = 20;
const REMOVAL_MS = 20;
/** The shell puts itself into the group and then becomes the program. */
const ENTER = 'echo $$ >"$0/cgroup.procs" && exec "$@"';

export interface ProcessBound {
  /** What to start instead, so that it is bounded from its first instant. */
  wrap(program: string, args: readonly string[]): { program: string; args: readonly string[] };
  /** Ends all that is in the group at this instant. Never rejects. */
  end(): Promise<void>;
  /** Call it when everything has ended. Never rejects. */
  release(clock: Clock): Promise<void>;
}

/** A group that holds at most `most` processes and threads; undefined where none can be made. */
export async function bindProcesses(most: number): Promise<ProcessBound | undefined> {
  for (const parent of PARENTS) {
    const path = `${parent}/sekisho-${process.pid}-${randomBytes(4).toString('hex')}`;
    if (existsSync(`${parent}/cgroup.procs`) && (await make(path, most))) return groupAt(path);
  }
  return undefined;
}

/**
 * Removes the groups of hosts that were killed and could not, and ends what still runs in one: a sandbox
 * that had not yet bound its life to its host's outlives a kill. Never rejects.
 */
export async function removeLeftGroups(): Promise<void> {
  for (const parent of PARENTS) {
    const names = await readdir(parent).catch(() => []);
    const left = names.filter((name) => {
      const host = /^sekisho-(\d+)-[0-9a-f]{8}$/.exec(name)?.[1];
      return host !== undefined && !existsSync(`/proc/${host}`);
    });
    for (const name of left) {
      await endMembers(`${parent}/${name}`);
      // The kernel keeps a group while a process of it ends; the next start removes it then.
      await rmdir(`${parent}/${name}`).catch(() => undefined);
    }
  }
}

async function endMembers(path: string): Promise<void> {
  const text = await readFile(`${path}/cgroup.procs`, 'utf8').catch(() => '');
  // A process that this namespace does not see is told as 0, which would mean our own group.
  for (const pid of text
    .split('\n')
    .map(Number)
    .filter((one) => one > 0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

async function make(path: string, most: number): Promise<boolean> {
  try {
    await mkdir(path);
  } catch {
    return false;
  }
  try {
    await writeFile(`${path}/pids.max`, String(most), { flag: 'r+' });
    return true;
  } catch {
    await rmdir(path).catch(() => undefined);
    return false;
  }
}

function groupAt(path: string): ProcessBound {
  return {
    wrap: (program, args) => ({
      program: '/bin/sh',
      args: ['-c', ENTER, path, program, ...args],
    }),
    end: () => endMembers(path),
    async release(clock) {
      // The kernel lets go of the last process a little after its end.
      for (let time = 0; time < REMOVALS_MAX && !(await isRemoved(path)); time += 1) {
        await clock.sleep(REMOVAL_MS);
      }
    },
  };
}

async function isRemoved(path: string): Promise<boolean> {
  try {
    await rmdir(path);
    return true;
  } catch {
    return !existsSync(path);
  }
}
